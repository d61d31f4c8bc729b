// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which blocks of some modules have run, in whatever context: an octet for each octet of their code. The modules are built
 * with -fsanitize-coverage=trace-pc and callback.h, so each block begins with a call of vibcov_block().
 *
 * /sys/kernel/debug/vibcov/blocks gives each block once, "function+0x1f/0x80 [module]" a line, as many as a read has room
 * for; none: no new ones have run.
 */
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

enum { MOST_TARGETS = 8, LONGEST_LINE = 160, MOST_OF_A_READ = 32768 };
enum { NEVER, RAN, TOLD };

static char *modules[MOST_TARGETS] = { "ib_core", "ib_cm", "ib_ipoib" };
static int module_count = 3;
module_param_array(modules, charp, &module_count, 0444);
MODULE_PARM_DESC(modules, "the modules whose blocks are kept");

static struct target {
	unsigned long base, size;
	u8 *ran;
} targets[MOST_TARGETS];
static int target_count;
static DEFINE_MUTEX(reading);
static struct dentry *folder;

void vibcov_block(void);

/* Without locks: all contexts come here. The table only grows, its size after its contents. */
void notrace vibcov_block(void)
{
	unsigned long place = _RET_IP_;
	int count = smp_load_acquire(&target_count);
	struct target *target;

	for (target = targets; target < targets + count; ++target) {
		unsigned long offset = place - READ_ONCE(target->base);

		if (offset < target->size) {
			if (READ_ONCE(target->ran[offset]) == NEVER)
				WRITE_ONCE(target->ran[offset], RAN);
			return;
		}
	}
}
EXPORT_SYMBOL_GPL(vibcov_block);

static void text_of(const struct module *module, unsigned long *base, unsigned long *size)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
	*base = (unsigned long)module->core_layout.base;
	*size = module->core_layout.text_size;
#else
	*base = (unsigned long)module->mem[MOD_TEXT].base;
	*size = module->mem[MOD_TEXT].size;
#endif
}

/* Before the module's own code runs. One that is loaded again has a place of its own. */
static int module_event(struct notifier_block *block, unsigned long event, void *data)
{
	const struct module *module = data;
	struct target *target = targets + target_count;
	int i;

	if (event != MODULE_STATE_COMING || target_count == MOST_TARGETS)
		return NOTIFY_DONE;
	for (i = 0; i < module_count; ++i) {
		if (strcmp(module->name, modules[i]) != 0)
			continue;
		text_of(module, &target->base, &target->size);
		target->ran = vzalloc(target->size);
		if (target->ran)
			smp_store_release(&target_count, target_count + 1);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = module_event };

/* The lines of blocks that nobody was told of, as many as fit. */
static size_t write_lines(char *lines, size_t room)
{
	size_t length = 0;
	int i;

	for (i = 0; i < target_count; ++i) {
		struct target *target = &targets[i];
		unsigned long offset;

		for (offset = 0; offset < target->size; ++offset) {
			if (READ_ONCE(target->ran[offset]) != RAN)
				continue;
			if (room - length < LONGEST_LINE)
				return length;
			WRITE_ONCE(target->ran[offset], TOLD);
			length += scnprintf(lines + length, LONGEST_LINE, "%pS\n", (void *)(target->base + offset));
		}
	}
	return length;
}

static ssize_t read_blocks(struct file *file, char __user *to, size_t room, loff_t *position)
{
	size_t length;
	char *lines;

	room = min_t(size_t, room, MOST_OF_A_READ);
	if (room < LONGEST_LINE)
		return -EINVAL;
	lines = kvmalloc(room, GFP_KERNEL);
	if (!lines)
		return -ENOMEM;
	mutex_lock(&reading);
	length = write_lines(lines, room);
	mutex_unlock(&reading);
	if (copy_to_user(to, lines, length))
		length = -EFAULT;
	kvfree(lines);
	return length;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.read = read_blocks,
};

static int __init vibcov_init(void)
{
	int error = register_module_notifier(&notifier);

	if (error)
		return error;
	folder = debugfs_create_dir("vibcov", NULL);
	debugfs_create_file("blocks", 0400, folder, NULL, &operations);
	return 0;
}

static void __exit vibcov_exit(void)
{
	int i;

	debugfs_remove(folder);
	unregister_module_notifier(&notifier);
	for (i = 0; i < target_count; ++i)
		vfree(targets[i].ran);
}

module_init(vibcov_init);
module_exit(vibcov_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Which blocks of some modules have run");
