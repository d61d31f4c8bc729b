// SPDX-License-Identifier: GPL-2.0-only
/* Arrival of a frame, and buffers for new ones. */
#include "vib_crc.h"
#include "vib_drop.h"
#include "vib_end.h"

struct sk_buff *vib_frame_alloc(size_t length, gfp_t gfp)
{
	struct sk_buff *skb = alloc_skb(length, gfp);

	if (skb)
		skb_put(skb, length);
	else
		vib_count_drop(VIB_DROP_MEMORY);
	return skb;
}

/* CRCs are checked once; from then on ip_summed says so, until something changes the octets. */
static bool is_sound(const struct vib_frame *head, struct sk_buff *skb, enum vib_fault_of_frame fault)
{
	if (fault == VIB_FRAME_GOOD && skb->ip_summed != CHECKSUM_UNNECESSARY)
		fault = vib_frame_check(head, skb->data, skb->len);
	switch (fault) {
	case VIB_FRAME_GOOD:
		skb->ip_summed = CHECKSUM_UNNECESSARY;
		return true;
	case VIB_FRAME_FOREIGN:
		vib_drop(skb, VIB_DROP_FOREIGN);
		return false;
	case VIB_FRAME_BAD_VCRC:
		vib_drop(skb, VIB_DROP_VCRC);
		return false;
	case VIB_FRAME_BAD_ICRC:
		vib_drop(skb, VIB_DROP_ICRC);
		return false;
	default:
		vib_drop(skb, VIB_DROP_MALFORMED);
		return false;
	}
}

void vib_deliver(struct vib_end *from, struct vib_end *to, struct sk_buff *skb)
{
	struct vib_frame *head = &vib_cb(skb)->head;

	vib_cb(skb)->from = from;
	if (!is_sound(head, skb, vib_frame_parse(head, skb->data, skb->len)))
		return;
	if (from) {
		atomic64_inc(&to->received_frames);
		atomic64_add(skb->len, &to->received_octets);
	}
	to->ops->receive(to, skb);
}
