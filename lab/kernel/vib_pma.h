/* SPDX-License-Identifier: GPL-2.0-only */
/* The adapter's performance management agent. IBTA Vol 1, 16.1. */
#ifndef VIB_PMA_H
#define VIB_PMA_H

#include "vib_hca_state.h"

/* Makes the MAD its answer. IB_MAD_RESULT_*, as ib_device_ops.process_mad() returns them. */
int vib_pma_process(struct vib_hca *hca, struct ib_mad *mad);

#endif
