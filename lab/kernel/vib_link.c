// SPDX-License-Identifier: GPL-2.0-only
/* Cables: coming up and going down, and faults. */
#include <linux/ktime.h>
#include <linux/slab.h>
#include "vib_capture.h"
#include "vib_drop.h"
#include "vib_link.h"
#include "vib_queue.h"

/* Frames that a delay holds back, in one direction. */
#define DELAYED_LIMIT 8192
/* After which a port obeys what its subnet manager says, so that the answer gets out. */
#define SETTLE msecs_to_jiffies(10)

LIST_HEAD(vib_links);
DEFINE_MUTEX(vib_links_lock);

static void drop_delayed(struct vib_link *link)
{
	struct sk_buff *skb;
	int side;

	for (side = 0; side < 2; side++)
		while ((skb = __skb_dequeue(&link->ways[side].delayed)))
			vib_drop(skb, VIB_DROP_LINK_DOWN);
}

static void set_up(struct vib_link *link, bool is_up)
{
	int side;

	WRITE_ONCE(link->is_up, is_up);
	if (!is_up)
		drop_delayed(link);
	for (side = 0; side < 2; side++)
		link->ends[side]->ops->link(link->ends[side], is_up);
}

static void update(struct vib_link *link)
{
	const struct vib_end *a = link->ends[0], *b = link->ends[1];
	bool is_wanted, must_fall;

	spin_lock_irq(&link->lock);
	is_wanted = !link->is_cut && a->is_present && b->is_present && !a->is_disabled && !b->is_disabled;
	must_fall = link->must_fall;
	link->must_fall = false;
	spin_unlock_irq(&link->lock);
	if (link->is_up && (must_fall || !is_wanted))
		set_up(link, false);
	if (!link->is_up && is_wanted)
		set_up(link, true);
}

static void change(struct work_struct *work)
{
	update(container_of(to_delayed_work(work), struct vib_link, change));
}

static void settle(struct work_struct *work)
{
	update(container_of(to_delayed_work(work), struct vib_link, settle));
}

void vib_end_set_present(struct vib_end *end, bool is_present)
{
	struct vib_link *link = end->link;
	unsigned long flags;

	if (!link) {
		end->is_present = is_present;
		return;
	}
	spin_lock_irqsave(&link->lock, flags);
	end->is_present = is_present;
	link->must_fall |= !is_present;
	spin_unlock_irqrestore(&link->lock, flags);
	vib_queue_work(&link->change, 0);
}

void vib_end_set_disabled(struct vib_end *end, bool is_disabled)
{
	struct vib_link *link = end->link;
	unsigned long flags;

	if (!link) {
		end->is_disabled = is_disabled;
		return;
	}
	spin_lock_irqsave(&link->lock, flags);
	end->is_disabled = is_disabled;
	link->must_fall |= is_disabled;
	spin_unlock_irqrestore(&link->lock, flags);
	vib_queue_work(&link->settle, SETTLE);
}

void vib_end_retrain(struct vib_end *end)
{
	struct vib_link *link = end->link;
	unsigned long flags;

	if (!link)
		return;
	spin_lock_irqsave(&link->lock, flags);
	link->must_fall = true;
	spin_unlock_irqrestore(&link->lock, flags);
	vib_queue_work(&link->settle, SETTLE);
}

void vib_link_cut(struct vib_link *link, bool is_cut)
{
	spin_lock_irq(&link->lock);
	link->is_cut = is_cut;
	link->must_fall |= is_cut;
	spin_unlock_irq(&link->lock);
	vib_queue_work(&link->change, 0);
}

bool vib_end_is_up(const struct vib_end *end)
{
	const struct vib_link *link = READ_ONCE(end->link);

	return link && READ_ONCE(link->is_up);
}

/* Frees the frame where it fails. */
static struct sk_buff *corrupt(struct sk_buff *skb, u32 bit)
{
	skb = skb_unshare(skb, GFP_KERNEL);
	if (!skb) {
		vib_count_drop(VIB_DROP_MEMORY);
		return NULL;
	}
	skb->data[bit / 8] ^= 1 << bit % 8;
	skb->ip_summed = CHECKSUM_NONE;
	return skb;
}

static void deliver_delayed(struct work_struct *work)
{
	struct vib_way *way = container_of(to_delayed_work(work), struct vib_way, work);
	struct vib_link *link = way->link;
	struct sk_buff *skb;

	while ((skb = skb_peek(&way->delayed))) {
		s64 left = ktime_us_delta(skb->tstamp, ktime_get());

		if (left > 0) {
			vib_queue_work(&way->work, usecs_to_jiffies(left));
			return;
		}
		__skb_unlink(skb, &way->delayed);
		vib_deliver(link->ends[way->from], link->ends[!way->from], skb);
	}
}

/* A frame without a delay stays behind those that still wait. */
static void arrive(struct vib_way *way, struct sk_buff *skb, u32 delay)
{
	struct vib_link *link = way->link;

	if (!delay && skb_queue_empty(&way->delayed)) {
		vib_deliver(link->ends[way->from], link->ends[!way->from], skb);
		return;
	}
	if (skb_queue_len(&way->delayed) >= DELAYED_LIMIT) {
		vib_drop(skb, VIB_DROP_QUEUE);
		return;
	}
	skb->tstamp = ktime_add_ms(ktime_get(), delay);
	__skb_queue_tail(&way->delayed, skb);
	if (skb_queue_len(&way->delayed) == 1)
		vib_queue_work(&way->work, msecs_to_jiffies(delay));
}

static void suffer(struct vib_way *way, struct sk_buff *skb)
{
	struct sk_buff *copy = NULL;
	struct vib_fate fate;

	spin_lock_irq(&way->link->lock);
	fate = vib_fault_decide(&way->fault, skb->len);
	spin_unlock_irq(&way->link->lock);
	if (fate.is_dropped) {
		vib_drop(skb, VIB_DROP_FAULT);
		return;
	}
	if (fate.is_duplicated) {
		copy = skb_copy(skb, GFP_KERNEL);
		if (!copy)
			vib_count_drop(VIB_DROP_MEMORY);
	}
	if (fate.is_corrupted)
		skb = corrupt(skb, fate.corrupted_bit);
	if (skb)
		arrive(way, skb, fate.delay);
	if (copy)
		arrive(way, copy, fate.delay);
}

void vib_link_carry(struct vib_end *from, struct sk_buff *skb)
{
	struct vib_link *link = from->link;

	if (!link || !link->is_up) {
		vib_drop(skb, VIB_DROP_LINK_DOWN);
		return;
	}
	if (from->is_edge || vib_cb(skb)->sending.is_own)
		vib_capture(skb);
	atomic64_inc(&from->sent_frames);
	atomic64_add(skb->len, &from->sent_octets);
	suffer(&link->ways[from->side], skb);
}

struct vib_link *vib_connect(struct vib_end *a, struct vib_end *b, u64 seed)
{
	struct vib_link *link = kzalloc(sizeof(*link), GFP_KERNEL);
	int side;

	if (!link)
		return NULL;
	snprintf(link->name, sizeof(link->name), "%.*s", (int)strcspn(a->name, "."), a->name);
	spin_lock_init(&link->lock);
	INIT_DELAYED_WORK(&link->change, change);
	INIT_DELAYED_WORK(&link->settle, settle);
	link->ends[0] = a;
	link->ends[1] = b;
	for (side = 0; side < 2; side++) {
		struct vib_way *way = &link->ways[side];

		way->link = link;
		way->from = side;
		vib_fault_seed(&way->fault, seed + side);
		__skb_queue_head_init(&way->delayed);
		INIT_DELAYED_WORK(&way->work, deliver_delayed);
		link->ends[side]->side = side;
		WRITE_ONCE(link->ends[side]->link, link);
	}
	mutex_lock(&vib_links_lock);
	list_add_tail(&link->node, &vib_links);
	mutex_unlock(&vib_links_lock);
	vib_queue_work(&link->change, 0);
	return link;
}

struct parting {
	struct delayed_work work;
	struct vib_link *link;
};

static void part(struct work_struct *work)
{
	struct vib_link *link = container_of(to_delayed_work(work), struct parting, work)->link;
	int side;

	/* A change that still waits is not to bring it up again. */
	spin_lock_irq(&link->lock);
	link->is_cut = true;
	spin_unlock_irq(&link->lock);
	WRITE_ONCE(link->is_up, false);
	drop_delayed(link);
	for (side = 0; side < 2; side++)
		WRITE_ONCE(link->ends[side]->link, NULL);
}

void vib_disconnect(struct vib_link *link)
{
	struct parting parting = { .link = link };
	int side;

	mutex_lock(&vib_links_lock);
	list_del(&link->node);
	mutex_unlock(&vib_links_lock);
	/* The worker takes it off the ends, so that no frame is on its way meanwhile. */
	INIT_DELAYED_WORK_ONSTACK(&parting.work, part);
	vib_queue_work(&parting.work, 0);
	flush_delayed_work(&parting.work);
	destroy_delayed_work_on_stack(&parting.work);
	cancel_delayed_work_sync(&link->change);
	cancel_delayed_work_sync(&link->settle);
	for (side = 0; side < 2; side++)
		cancel_delayed_work_sync(&link->ways[side].work);
	/* Frames that the ends had queued before are counted as lost, and their cookies given back. */
	vib_flush();
	kfree(link);
}

struct vib_link *vib_link_find(const char *name, u8 *side)
{
	struct vib_link *link;
	int i;

	list_for_each_entry(link, &vib_links, node)
		for (i = 0; i < 2; i++)
			if ((i == 0 && !strcmp(link->name, name)) || !strcmp(link->ends[i]->name, name)) {
				*side = i;
				return link;
			}
	return NULL;
}
