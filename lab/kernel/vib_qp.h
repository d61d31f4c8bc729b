/* SPDX-License-Identifier: GPL-2.0-only */
/* Queue pairs: what rdmavt asks of a driver about them. */
#ifndef VIB_QP_H
#define VIB_QP_H

#include "vib_hca_state.h"

void vib_qp_set_driver(struct rvt_dev_info *rdi);
/* The vib_end_ops.sent of an adapter, whose cookies are queue pairs. */
void vib_qp_sent(struct vib_end *end, void *cookie);

#endif
