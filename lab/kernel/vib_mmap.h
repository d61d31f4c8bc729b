/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process has mapped of an adapter's queues, when the adapter leaves it. */
#ifndef VIB_MMAP_H
#define VIB_MMAP_H

#include "vib_hca_state.h"

/* Once rdmavt has registered the device. */
void vib_mmap_init(struct vib_hca *hca);

void vib_mmap_disassociate(struct ib_ucontext *context);

#endif
