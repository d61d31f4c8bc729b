/* SPDX-License-Identifier: GPL-2.0-only */
/* The responder of a reliable connection, and what comes in on a connection at all. IBTA Vol 1, 9.7.5. */
#ifndef VIB_RC_RESPOND_H
#define VIB_RC_RESPOND_H

#include "vib_hca_state.h"

/* With r_lock held. VIB_DELIVERED, or why the frame is dropped; the caller counts and frees it. */
enum vib_drop_reason vib_rc_receive(struct rvt_qp *qp, struct sk_buff *skb);

#endif
