/* SPDX-License-Identifier: GPL-2.0-only */
/* The adapter's subnet management agent. IBTA Vol 1, 14.2. */
#ifndef VIB_SMA_H
#define VIB_SMA_H

#include "vib_hca_state.h"

/* Makes the SMP its answer. IB_MAD_RESULT_*, as ib_device_ops.process_mad() returns them. */
int vib_sma_process(struct vib_hca *hca, int flags, struct ib_smp *smp);

#endif
