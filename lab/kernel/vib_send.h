/* SPDX-License-Identifier: GPL-2.0-only */
/* The send side of queue pairs. */
#ifndef VIB_SEND_H
#define VIB_SEND_H

#include "vib_hca_state.h"

/* Sends what the send queue has, as far as it may now; or completes it as flushed. */
void vib_qp_send(struct rvt_qp *qp);

#endif
