/* SPDX-License-Identifier: GPL-2.0-only */
/* PortInfo of the adapter's port. IBTA Vol 1, 14.2.5.6. Both make the SMP its answer. */
#ifndef VIB_SMA_PORT_H
#define VIB_SMA_PORT_H

#include "vib_hca_state.h"

void vib_sma_get_port_info(struct vib_hca *hca, struct ib_smp *smp);
void vib_sma_set_port_info(struct vib_hca *hca, struct ib_smp *smp);

#endif
