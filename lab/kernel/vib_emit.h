/* SPDX-License-Identifier: GPL-2.0-only */
/* What datagrams and connections have in common where they send. */
#ifndef VIB_EMIT_H
#define VIB_EMIT_H

#include "vib_frame.h"
#include "vib_hca_state.h"

/* Lets the send queue be drained, by the adapter's workqueue. */
bool vib_qp_schedule(struct rvt_qp *qp);
/* Addresses, SL and GRH of a frame along this path. */
void vib_fill_path(const struct vib_hca *hca, const struct rdma_ah_attr *path, struct vib_head *head);
/* Octets of a work request, from an offset into it. */
void vib_copy_request(struct rvt_swqe *wqe, u32 offset, u8 *to, u32 length);
/* Gives a frame to the fabric on behalf of this queue pair. With s_lock or r_lock held. */
void vib_qp_emit(struct rvt_qp *qp, struct sk_buff *skb, u16 dlid);

#endif
