// SPDX-License-Identifier: GPL-2.0-only
/* Raw ports. */
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "vib_drop.h"
#include "vib_fabric.h"
#include "vib_link.h"
#include "vib_queue.h"
#include "vib_raw.h"

/* Frames that wait for the process. */
#define QUEUE_FRAMES 4096
/* The longest that LRH.PktLen can tell: longer ones than nodes send are for the fabric to refuse. */
#define WRITE_MAX (0x7ff * 4 + VIB_VCRC_SIZE)

struct vib_raw {
	struct vib_end end;
	struct miscdevice device;
	char device_name[16];
	unsigned long is_taken;		/* bit 0: one process at a time */
	bool is_open;			/* under the lock of frames */
	/* An empty one says that the link went down. */
	struct sk_buff_head frames;
	wait_queue_head_t wait;
};

static void receive_frame(struct vib_raw *raw, struct sk_buff *skb)
{
	enum vib_drop_reason why = VIB_DROP_RAW_CLOSED;

	spin_lock_irq(&raw->frames.lock);
	if (raw->is_open) {
		if (skb_queue_len(&raw->frames) < QUEUE_FRAMES) {
			__skb_queue_tail(&raw->frames, skb);
			skb = NULL;
		}
		why = VIB_DROP_RAW_FULL;
	}
	spin_unlock_irq(&raw->frames.lock);
	if (skb)
		vib_drop(skb, why);
	else
		wake_up_interruptible(&raw->wait);
}

/* One mark will do for a link that goes down several times with no frame between. So the marks are bounded too. */
static void mark_link_down(struct vib_raw *raw)
{
	struct sk_buff *mark = vib_frame_alloc(0, GFP_KERNEL), *last;

	if (!mark)
		return;
	spin_lock_irq(&raw->frames.lock);
	last = skb_peek_tail(&raw->frames);
	if (raw->is_open && (!last || last->len)) {
		__skb_queue_tail(&raw->frames, mark);
		mark = NULL;
	}
	spin_unlock_irq(&raw->frames.lock);
	consume_skb(mark);
	wake_up_interruptible(&raw->wait);
}

static void raw_receive(struct vib_end *end, struct sk_buff *skb)
{
	receive_frame(container_of(end, struct vib_raw, end), skb);
}

static void raw_link(struct vib_end *end, bool is_up)
{
	if (!is_up)
		mark_link_down(container_of(end, struct vib_raw, end));
}

static const struct vib_end_ops raw_ops = {
	.receive = raw_receive,
	.link = raw_link,
};

static struct vib_raw *raw_of(struct file *file)
{
	return container_of(file->private_data, struct vib_raw, device);
}

static void set_open(struct vib_raw *raw, bool is_open)
{
	spin_lock_irq(&raw->frames.lock);
	raw->is_open = is_open;
	spin_unlock_irq(&raw->frames.lock);
}

static int raw_open(struct inode *inode, struct file *file)
{
	struct vib_raw *raw = raw_of(file);

	if (test_and_set_bit_lock(0, &raw->is_taken))
		return -EBUSY;
	set_open(raw, true);
	vib_end_set_present(&raw->end, true);
	return stream_open(inode, file);
}

static int raw_release(struct inode *inode, struct file *file)
{
	struct vib_raw *raw = raw_of(file);

	set_open(raw, false);
	vib_end_set_present(&raw->end, false);
	/* The next process is not to hear of this one's end. */
	vib_flush();
	skb_queue_purge(&raw->frames);
	clear_bit_unlock(0, &raw->is_taken);
	return 0;
}

/* The next frame, if it fits. NULL: there is none; -EMSGSIZE leaves it there. */
static struct sk_buff *take_frame(struct vib_raw *raw, size_t room)
{
	struct sk_buff *skb;

	spin_lock_irq(&raw->frames.lock);
	skb = skb_peek(&raw->frames);
	if (skb && skb->len > room)
		skb = ERR_PTR(-EMSGSIZE);
	else if (skb)
		__skb_unlink(skb, &raw->frames);
	spin_unlock_irq(&raw->frames.lock);
	return skb;
}

static ssize_t raw_read(struct file *file, char __user *buffer, size_t room, loff_t *offset)
{
	struct vib_raw *raw = raw_of(file);
	struct sk_buff *skb;
	ssize_t length;

	while (!(skb = take_frame(raw, room))) {
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(raw->wait, !skb_queue_empty_lockless(&raw->frames)))
			return -ERESTARTSYS;
	}
	if (IS_ERR(skb))
		return PTR_ERR(skb);
	length = skb->len;
	if (copy_to_user(buffer, skb->data, length))
		length = -EFAULT;
	consume_skb(skb);
	return length;
}

static ssize_t raw_write(struct file *file, const char __user *buffer, size_t length, loff_t *offset)
{
	struct vib_raw *raw = raw_of(file);
	struct sk_buff *skb;

	if (!length || length > WRITE_MAX)
		return -EMSGSIZE;
	if (!vib_has_room()) {
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (vib_wait_for_room())
			return -ERESTARTSYS;
	}
	skb = vib_frame_alloc(length, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	if (copy_from_user(skb->data, buffer, length)) {
		kfree_skb(skb);
		return -EFAULT;
	}
	vib_send(&raw->end, skb, NULL);
	return length;
}

static __poll_t raw_poll(struct file *file, poll_table *table)
{
	struct vib_raw *raw = raw_of(file);
	__poll_t events = 0;

	poll_wait(file, &raw->wait, table);
	poll_wait(file, vib_room_wait(), table);
	if (!skb_queue_empty_lockless(&raw->frames))
		events |= EPOLLIN | EPOLLRDNORM;
	if (vib_has_room())
		events |= EPOLLOUT | EPOLLWRNORM;
	return events;
}

static const struct file_operations raw_operations = {
	.owner = THIS_MODULE,
	.open = raw_open,
	.release = raw_release,
	.read = raw_read,
	.write = raw_write,
	.poll = raw_poll,
};

struct vib_raw *vib_raw_create(unsigned int unit)
{
	struct vib_raw *raw = kzalloc(sizeof(*raw), GFP_KERNEL);

	if (!raw)
		return ERR_PTR(-ENOMEM);
	raw->end.ops = &raw_ops;
	raw->end.is_edge = true;
	snprintf(raw->end.name, sizeof(raw->end.name), "raw%u", unit);
	snprintf(raw->device_name, sizeof(raw->device_name), "vibraw%u", unit);
	skb_queue_head_init(&raw->frames);
	init_waitqueue_head(&raw->wait);
	raw->device.minor = MISC_DYNAMIC_MINOR;
	raw->device.name = raw->device_name;
	raw->device.fops = &raw_operations;
	return raw;
}

struct vib_end *vib_raw_end(struct vib_raw *raw)
{
	return &raw->end;
}

int vib_raw_register(struct vib_raw *raw)
{
	return misc_register(&raw->device);
}

void vib_raw_unregister(struct vib_raw *raw)
{
	misc_deregister(&raw->device);
}

void vib_raw_destroy(struct vib_raw *raw)
{
	skb_queue_purge(&raw->frames);
	kfree(raw);
}
