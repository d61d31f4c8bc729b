// SPDX-License-Identifier: GPL-2.0-only
/* The queue and its worker. */
#include "vib_drop.h"
#include "vib_queue.h"

/* Frames; some 20 MB with the longest. */
#define QUEUE_LIMIT 8192
#define ROOM_BELOW 1024
/* Frames in a row before other work of the fabric gets its turn. */
#define BUDGET 64

static struct {
	void (*carry)(struct sk_buff *skb);
	struct workqueue_struct *workqueue;	/* ordered */
	struct work_struct work;
	struct sk_buff_head frames;
	u64 queued;				/* under the lock of frames */
	atomic64_t carried;
	wait_queue_head_t wait;			/* for room, and for carried */
} queue;

void vib_queue_frame(struct sk_buff *skb, bool is_bounded)
{
	unsigned long flags;
	bool is_full;

	spin_lock_irqsave(&queue.frames.lock, flags);
	is_full = is_bounded && skb_queue_len(&queue.frames) >= QUEUE_LIMIT;
	if (!is_full) {
		queue.queued++;
		__skb_queue_tail(&queue.frames, skb);
	}
	spin_unlock_irqrestore(&queue.frames.lock, flags);
	if (is_full)
		vib_drop(skb, VIB_DROP_QUEUE);
	else
		queue_work(queue.workqueue, &queue.work);
}

static void work(struct work_struct *work)
{
	unsigned int left = BUDGET;
	struct sk_buff *skb;

	while (left && (skb = skb_dequeue(&queue.frames))) {
		queue.carry(skb);
		atomic64_inc(&queue.carried);
		left--;
	}
	if (wq_has_sleeper(&queue.wait))
		wake_up_all(&queue.wait);
	if (!left)
		queue_work(queue.workqueue, work);
}

bool vib_has_room(void)
{
	return skb_queue_len_lockless(&queue.frames) < ROOM_BELOW;
}

int vib_wait_for_room(void)
{
	return wait_event_interruptible(queue.wait, vib_has_room());
}

wait_queue_head_t *vib_room_wait(void)
{
	return &queue.wait;
}

void vib_flush(void)
{
	u64 queued;

	spin_lock_irq(&queue.frames.lock);
	queued = queue.queued;
	spin_unlock_irq(&queue.frames.lock);
	wait_event(queue.wait, (s64)(atomic64_read(&queue.carried) - queued) >= 0);
	flush_workqueue(queue.workqueue);
}

void vib_queue_work(struct delayed_work *work, unsigned long delay)
{
	mod_delayed_work(queue.workqueue, work, delay);
}

int vib_queue_init(void (*carry)(struct sk_buff *skb))
{
	queue.carry = carry;
	skb_queue_head_init(&queue.frames);
	init_waitqueue_head(&queue.wait);
	INIT_WORK(&queue.work, work);
	queue.workqueue = alloc_ordered_workqueue("vib_fabric", WQ_MEM_RECLAIM | WQ_HIGHPRI);
	return queue.workqueue ? 0 : -ENOMEM;
}

void vib_queue_exit(void)
{
	destroy_workqueue(queue.workqueue);
	skb_queue_purge(&queue.frames);
}
