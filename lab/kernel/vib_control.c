// SPDX-License-Identifier: GPL-2.0-only
/* The state of the fabric, and commands to it. */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include "vib_command.h"
#include "vib_control.h"
#include "vib_drop.h"
#include "vib_link.h"
#include "vib_queue.h"

/* Octets of one write. */
#define WRITE_MAX 4096

static struct dentry *directory;

static const char *state_name(const struct vib_link *link)
{
	if (READ_ONCE(link->is_up))
		return "up";
	return READ_ONCE(link->is_cut) ? "cut" : "down";
}

static s64 count(const atomic64_t *counter)
{
	return atomic64_read(counter);
}

/*
 * Name, state, the other end; then what was sent over the cable and what came out of it, from the named end and towards
 * it.
 */
static int links_show(struct seq_file *file, void *unused)
{
	const struct vib_link *link;

	mutex_lock(&vib_links_lock);
	list_for_each_entry(link, &vib_links, node) {
		const struct vib_end *near = link->ends[0], *far = link->ends[1];

		seq_printf(file, "%s %s %s", link->name, state_name(link), far->name);
		seq_printf(file, " out sent %lld arrived %lld octets %lld", count(&near->sent_frames),
			   count(&far->received_frames), count(&near->sent_octets));
		seq_printf(file, " in sent %lld arrived %lld octets %lld\n", count(&far->sent_frames),
			   count(&near->received_frames), count(&far->sent_octets));
	}
	mutex_unlock(&vib_links_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(links);

static int drops_show(struct seq_file *file, void *unused)
{
	unsigned int reason;

	for (reason = 0; reason < VIB_DROP_COUNT; reason++)
		seq_printf(file, "%s %llu\n", vib_drop_name(reason), vib_drops(reason));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(drops);

static void set_fault(struct vib_link *link, u8 side, const struct vib_command *command)
{
	struct vib_fault *fault = &link->ways[command->is_inward ? !side : side].fault;

	switch (command->kind) {
	case VIB_COMMAND_DROP:
		fault->drop = command->value;
		break;
	case VIB_COMMAND_DUPLICATE:
		fault->duplicate = command->value;
		break;
	case VIB_COMMAND_CORRUPT:
		fault->corrupt = command->value;
		break;
	case VIB_COMMAND_DELAY:
		fault->delay = command->value;
		break;
	default:
		vib_fault_clear(&link->ways[0].fault);
		vib_fault_clear(&link->ways[1].fault);
	}
}

static void execute(struct vib_link *link, u8 side, const struct vib_command *command)
{
	switch (command->kind) {
	case VIB_COMMAND_LINK_DOWN:
		vib_link_cut(link, true);
		break;
	case VIB_COMMAND_LINK_UP:
		vib_link_cut(link, false);
		break;
	default:
		spin_lock_irq(&link->lock);
		set_fault(link, side, command);
		spin_unlock_irq(&link->lock);
	}
}

static int run_line(const char *line, size_t length)
{
	struct vib_command command;
	struct vib_link *link;
	u8 side;

	if (!vib_command_parse(&command, line, length))
		return -EINVAL;
	mutex_lock(&vib_links_lock);
	link = vib_link_find(command.name, &side);
	if (link)
		execute(link, side, &command);
	mutex_unlock(&vib_links_lock);
	return link ? 0 : -EINVAL;
}

/* Lines up to the first that is wrong; that one is refused when it comes first. */
static ssize_t run_lines(const char *text, size_t length)
{
	size_t done = 0;

	while (done < length) {
		const char *line = text + done, *feed = memchr(line, '\n', length - done);
		size_t size = feed ? feed - line : length - done;
		int error = run_line(line, size);

		if (error)
			return done ?: error;
		done += size + (feed ? 1 : 0);
	}
	return done;
}

static ssize_t control_write(struct file *file, const char __user *buffer, size_t length, loff_t *offset)
{
	ssize_t done;
	char *text;

	if (length > WRITE_MAX)
		return -EINVAL;
	text = memdup_user(buffer, length);
	if (IS_ERR(text))
		return PTR_ERR(text);
	done = run_lines(text, length);
	kfree(text);
	/* What was told has happened when the write returns, but for the nodes' reaction. */
	vib_flush();
	return done;
}

static const struct file_operations control_operations = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = control_write,
};

void vib_control_init(void)
{
	directory = debugfs_create_dir("vib", NULL);
	debugfs_create_file("links", 0444, directory, NULL, &links_fops);
	debugfs_create_file("drops", 0444, directory, NULL, &drops_fops);
	debugfs_create_file("control", 0200, directory, NULL, &control_operations);
}

void vib_control_exit(void)
{
	debugfs_remove(directory);
}
