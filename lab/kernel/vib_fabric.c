// SPDX-License-Identifier: GPL-2.0-only
/* What is done to a frame on its way. */
#include "vib_crc.h"
#include "vib_fabric.h"
#include "vib_link.h"
#include "vib_queue.h"

static void send(struct vib_end *from, struct vib_end *to, struct sk_buff *skb, void *cookie, bool is_own)
{
	struct vib_cb *cb = vib_cb(skb);

	cb->from = from;
	cb->sending.to = to;
	cb->sending.cookie = cookie;
	cb->sending.is_own = is_own;
	vib_queue_frame(skb, !cookie);
}

void vib_send(struct vib_end *from, struct sk_buff *skb, void *cookie)
{
	send(from, NULL, skb, cookie, false);
}

void vib_send_own(struct vib_end *from, struct sk_buff *skb)
{
	send(from, NULL, skb, NULL, true);
}

void vib_send_to_self(struct vib_end *end, struct sk_buff *skb, void *cookie)
{
	send(NULL, end, skb, cookie, false);
}

static void carry(struct sk_buff *skb)
{
	struct vib_end *from = vib_cb(skb)->from, *to = vib_cb(skb)->sending.to;
	void *cookie = vib_cb(skb)->sending.cookie;
	struct vib_end *sender = from ? from : to;

	if (vib_frame_is_unsealed(skb->data, skb->len)) {
		vib_frame_seal(skb->data, skb->len);
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	}
	if (from)
		vib_link_carry(from, skb);
	else
		vib_deliver(NULL, to, skb);
	if (cookie)
		sender->ops->sent(sender, cookie);
}

int vib_fabric_init(void)
{
	return vib_queue_init(carry);
}

void vib_fabric_exit(void)
{
	vib_queue_exit();
}
