// SPDX-License-Identifier: GPL-2.0-only
/* The capture device. */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "vib_capture.h"
#include "vib_types.h"

/* That a reader may be behind. */
#define QUEUE_FRAMES 8192
#define QUEUE_OCTETS (8u << 20)

#define PCAP_MAGIC_NANOSECONDS 0xa1b23c4d
#define LINKTYPE_ERF 197
#define SNAPLEN 65535
#define ERF_TYPE_INFINIBAND 21
#define ERF_VARYING_RECORD_LENGTH 4

/* In the machine's own byte order, as the magic number tells. */
struct pcap_header {
	u32 magic;
	u16 major, minor;
	u32 zone, accuracy, snaplen, linktype;
};

struct record_header {
	u32 seconds, nanoseconds, captured, length;
	/* ERF. Endace EDM11-01, "Generic header". */
	__le64 time;		/* seconds, 32 bits of them fraction */
	u8 type, flags;
	__be16 record_length, lost, wire_length;
} __packed;
#define ERF_HEADER_SIZE (sizeof(struct record_header) - offsetof(struct record_header, time))

static_assert(ERF_HEADER_SIZE == 16);

/* In skb->cb of a captured frame. */
struct captured {
	u64 time;	/* nanoseconds since 1970 */
	u16 lost;	/* before this one */
};
#define captured(skb) ((struct captured *)(skb)->cb)

/* An open file. */
struct reader {
	struct list_head node;
	struct sk_buff_head frames;
	wait_queue_head_t wait;
	u32 octets, lost;	/* under the lock of frames */

	struct mutex lock;	/* of what is below */
	struct sk_buff *current_frame;	/* NULL: before the first record */
	union {
		struct pcap_header pcap;
		struct record_header record;
	} header;
	size_t header_size, done;	/* done: octets of header and frame that were read */
};

static LIST_HEAD(readers);
static DEFINE_MUTEX(readers_lock);

static void queue(struct reader *reader, const struct sk_buff *skb, u64 time)
{
	struct sk_buff *copy = skb_clone((struct sk_buff *)skb, GFP_KERNEL);

	spin_lock_irq(&reader->frames.lock);
	if (!copy || skb_queue_len(&reader->frames) >= QUEUE_FRAMES || reader->octets + skb->len > QUEUE_OCTETS) {
		reader->lost++;
		spin_unlock_irq(&reader->frames.lock);
		kfree_skb(copy);
		return;
	}
	captured(copy)->time = time;
	captured(copy)->lost = min_t(u32, reader->lost, U16_MAX);
	reader->lost = 0;
	reader->octets += skb->len;
	__skb_queue_tail(&reader->frames, copy);
	spin_unlock_irq(&reader->frames.lock);
	wake_up_interruptible(&reader->wait);
}

void vib_capture(const struct sk_buff *skb)
{
	struct reader *reader;
	u64 time;

	if (list_empty(&readers))
		return;
	time = ktime_get_real_ns();
	mutex_lock(&readers_lock);
	list_for_each_entry(reader, &readers, node)
		queue(reader, skb, time);
	mutex_unlock(&readers_lock);
}

static void begin_record(struct reader *reader, struct sk_buff *skb)
{
	struct record_header *record = &reader->header.record;
	u32 nanoseconds;
	u64 seconds = div_u64_rem(captured(skb)->time, NSEC_PER_SEC, &nanoseconds);

	*record = (struct record_header){
		.seconds = seconds,
		.nanoseconds = nanoseconds,
		.captured = ERF_HEADER_SIZE + skb->len,
		.length = ERF_HEADER_SIZE + skb->len,
		/* Rounded up, so that taking it apart again gives the same nanosecond. */
		.time = cpu_to_le64(seconds << 32 | div_u64(((u64)nanoseconds << 32) + NSEC_PER_SEC - 1, NSEC_PER_SEC)),
		.type = ERF_TYPE_INFINIBAND,
		.flags = ERF_VARYING_RECORD_LENGTH,
		.record_length = cpu_to_be16(ERF_HEADER_SIZE + skb->len),
		.lost = cpu_to_be16(captured(skb)->lost),
		.wire_length = cpu_to_be16(skb->len),
	};
	reader->header_size = sizeof(*record);
	reader->done = 0;
	reader->current_frame = skb;
}

static bool take_next(struct reader *reader)
{
	struct sk_buff *skb;

	spin_lock_irq(&reader->frames.lock);
	skb = __skb_dequeue(&reader->frames);
	if (skb)
		reader->octets -= skb->len;
	spin_unlock_irq(&reader->frames.lock);
	if (!skb)
		return false;
	consume_skb(reader->current_frame);
	begin_record(reader, skb);
	return true;
}

static size_t record_size(const struct reader *reader)
{
	return reader->header_size + (reader->current_frame ? reader->current_frame->len : 0);
}

/* Copies some of the record; octets, or -EFAULT. */
static ssize_t copy_some(struct reader *reader, char __user *buffer, size_t room)
{
	const u8 *from;
	size_t left;

	if (reader->done < reader->header_size) {
		from = (const u8 *)&reader->header + reader->done;
		left = reader->header_size - reader->done;
	} else {
		from = reader->current_frame->data + (reader->done - reader->header_size);
		left = record_size(reader) - reader->done;
	}
	left = min(left, room);
	if (copy_to_user(buffer, from, left))
		return -EFAULT;
	reader->done += left;
	return left;
}

static ssize_t read_some(struct reader *reader, char __user *buffer, size_t room)
{
	size_t total = 0;
	ssize_t copied;

	while (total < room) {
		if (reader->done == record_size(reader) && !take_next(reader))
			break;
		copied = copy_some(reader, buffer + total, room - total);
		if (copied < 0)
			return total ?: copied;
		total += copied;
	}
	return total;
}

static ssize_t capture_read(struct file *file, char __user *buffer, size_t room, loff_t *offset)
{
	struct reader *reader = file->private_data;
	ssize_t result;

	if (!room)
		return 0;
	for (;;) {
		if (mutex_lock_interruptible(&reader->lock))
			return -ERESTARTSYS;
		result = read_some(reader, buffer, room);
		mutex_unlock(&reader->lock);
		if (result)
			return result;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(reader->wait, !skb_queue_empty_lockless(&reader->frames)))
			return -ERESTARTSYS;
	}
}

static __poll_t capture_poll(struct file *file, poll_table *table)
{
	struct reader *reader = file->private_data;
	__poll_t events = 0;

	poll_wait(file, &reader->wait, table);
	mutex_lock(&reader->lock);
	if (reader->done < record_size(reader) || !skb_queue_empty_lockless(&reader->frames))
		events = EPOLLIN | EPOLLRDNORM;
	mutex_unlock(&reader->lock);
	return events;
}

static int capture_open(struct inode *inode, struct file *file)
{
	struct reader *reader = kzalloc(sizeof(*reader), GFP_KERNEL);

	if (!reader)
		return -ENOMEM;
	skb_queue_head_init(&reader->frames);
	init_waitqueue_head(&reader->wait);
	mutex_init(&reader->lock);
	reader->header.pcap = (struct pcap_header){
		.magic = PCAP_MAGIC_NANOSECONDS,
		.major = 2,
		.minor = 4,
		.snaplen = SNAPLEN,
		.linktype = LINKTYPE_ERF,
	};
	reader->header_size = sizeof(reader->header.pcap);
	file->private_data = reader;
	mutex_lock(&readers_lock);
	list_add(&reader->node, &readers);
	mutex_unlock(&readers_lock);
	return stream_open(inode, file);
}

static int capture_release(struct inode *inode, struct file *file)
{
	struct reader *reader = file->private_data;

	mutex_lock(&readers_lock);
	list_del(&reader->node);
	mutex_unlock(&readers_lock);
	skb_queue_purge(&reader->frames);
	consume_skb(reader->current_frame);
	kfree(reader);
	return 0;
}

static const struct file_operations capture_operations = {
	.owner = THIS_MODULE,
	.open = capture_open,
	.release = capture_release,
	.read = capture_read,
	.poll = capture_poll,
};

static struct miscdevice capture_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "vibcap",
	.fops = &capture_operations,
};

int vib_capture_init(void)
{
	return misc_register(&capture_device);
}

void vib_capture_exit(void)
{
	misc_deregister(&capture_device);
}
