// SPDX-License-Identifier: GPL-2.0-only
/* The queue of all frames, and the worker that carries them. */
#include "vib_capture.h"
#include "vib_link.h"

/* Frames; some 20 MB with the longest. */
#define QUEUE_LIMIT 8192
#define ROOM_BELOW 1024
/* Frames in a row before other work of the fabric gets its turn. */
#define BUDGET 64

static struct {
	struct workqueue_struct *workqueue;	/* ordered */
	struct work_struct work;
	struct sk_buff_head frames;
	u64 queued;				/* under the lock of frames */
	atomic64_t carried;
	wait_queue_head_t wait;			/* for room, and for carried */
} fabric;

static void enqueue(struct sk_buff *skb, bool is_bounded)
{
	unsigned long flags;
	bool is_full;

	spin_lock_irqsave(&fabric.frames.lock, flags);
	is_full = is_bounded && skb_queue_len(&fabric.frames) >= QUEUE_LIMIT;
	if (!is_full) {
		fabric.queued++;
		__skb_queue_tail(&fabric.frames, skb);
	}
	spin_unlock_irqrestore(&fabric.frames.lock, flags);
	if (is_full)
		vib_drop(skb, VIB_DROP_QUEUE);
	else
		queue_work(fabric.workqueue, &fabric.work);
}

static void send(struct vib_end *from, struct vib_end *to, struct sk_buff *skb, void *cookie, bool is_own)
{
	struct vib_cb *cb = vib_cb(skb);

	cb->from = from;
	cb->sending.to = to;
	cb->sending.cookie = cookie;
	cb->sending.is_own = is_own;
	enqueue(skb, !cookie);
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

static void work(struct work_struct *work)
{
	unsigned int left = BUDGET;
	struct sk_buff *skb;

	while (left && (skb = skb_dequeue(&fabric.frames))) {
		carry(skb);
		atomic64_inc(&fabric.carried);
		left--;
	}
	if (wq_has_sleeper(&fabric.wait))
		wake_up_all(&fabric.wait);
	if (!left)
		queue_work(fabric.workqueue, work);
}

bool vib_has_room(void)
{
	return skb_queue_len_lockless(&fabric.frames) < ROOM_BELOW;
}

int vib_wait_for_room(void)
{
	return wait_event_interruptible(fabric.wait, vib_has_room());
}

wait_queue_head_t *vib_room_wait(void)
{
	return &fabric.wait;
}

void vib_flush(void)
{
	u64 queued;

	spin_lock_irq(&fabric.frames.lock);
	queued = fabric.queued;
	spin_unlock_irq(&fabric.frames.lock);
	wait_event(fabric.wait, (s64)(atomic64_read(&fabric.carried) - queued) >= 0);
	flush_workqueue(fabric.workqueue);
}

void vib_queue_work(struct delayed_work *work, unsigned long delay)
{
	mod_delayed_work(fabric.workqueue, work, delay);
}

struct sk_buff *vib_frame_alloc(size_t length, gfp_t gfp)
{
	struct sk_buff *skb = alloc_skb(length, gfp);

	if (skb)
		skb_put(skb, length);
	else
		vib_count_drop(VIB_DROP_MEMORY);
	return skb;
}

int vib_fabric_init(void)
{
	skb_queue_head_init(&fabric.frames);
	init_waitqueue_head(&fabric.wait);
	INIT_WORK(&fabric.work, work);
	fabric.workqueue = alloc_ordered_workqueue("vib_fabric", WQ_MEM_RECLAIM | WQ_HIGHPRI);
	return fabric.workqueue ? 0 : -ENOMEM;
}

void vib_fabric_exit(void)
{
	destroy_workqueue(fabric.workqueue);
	skb_queue_purge(&fabric.frames);
}
