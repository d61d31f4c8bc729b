// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues stay mapped in a process that has lost its device to another network namespace. rdmavt frees them when they are
 * unmapped, and asks the process's context for the device then: the context is gone, and the module might be.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include "vib_mmap.h"

/* rdmavt's own, the same for every mapping. */
static const struct vm_operations_struct *rvt_operations;

static void open_area(struct vm_area_struct *area)
{
	__module_get(THIS_MODULE);
	rvt_operations->open(area);
}

static void close_area(struct vm_area_struct *area)
{
	rvt_operations->close(area);
	module_put(THIS_MODULE);
}

static const struct vm_operations_struct operations = {
	.open = open_area,
	.close = close_area,
};

static int map(struct ib_ucontext *context, struct vm_area_struct *area)
{
	struct vib_hca *hca = vib_hca_of(context->device);
	struct rvt_mmap_info *info;
	int error;

	/* An open file does not hold the module of a device that it can lose. */
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	error = hca->rvt_mmap(context, area);
	if (error) {
		module_put(THIS_MODULE);
		return error;
	}
	info = area->vm_private_data;
	info->context = &hca->mapped;
	rvt_operations = area->vm_ops;
	area->vm_ops = &operations;
	return 0;
}

void vib_mmap_init(struct vib_hca *hca)
{
	hca->mapped.device = &hca->rdi.ibdev;
	hca->rvt_mmap = hca->rdi.ibdev.ops.mmap;
	hca->rdi.ibdev.ops.mmap = map;
}

/* There is no doorbell that could be rung: the memory is the process's until it ends. */
void vib_mmap_disassociate(struct ib_ucontext *context)
{
}
