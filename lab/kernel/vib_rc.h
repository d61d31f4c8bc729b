/* SPDX-License-Identifier: GPL-2.0-only */
/* The requester of a reliable connection. IBTA Vol 1, 9.7. */
#ifndef VIB_RC_H
#define VIB_RC_H

#include "vib_frame.h"
#include "vib_hca_state.h"

/* With s_lock held: sends as many packets of the send queue as may be out. */
void vib_rc_send(struct rvt_qp *qp);
/* With s_lock held: a frame has left the fabric. */
void vib_rc_sent(struct rvt_qp *qp);
/* rvt_driver_provided.notify_restart_rc. */
void vib_rc_timeout(struct rvt_qp *qp, u32 psn, int wait);
/* With r_lock and s_lock held: an acknowledgement has come. */
void vib_rc_response(struct rvt_qp *qp, const struct vib_frame *head, u32 aeth);
/* A frame of this connection, but for its payload and extension, which begin at *at. */
struct sk_buff *vib_rc_frame(struct rvt_qp *qp, const struct vib_head *wanted, u32 payload, size_t *at);

#endif
