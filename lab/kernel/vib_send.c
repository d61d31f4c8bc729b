// SPDX-License-Identifier: GPL-2.0-only
/* The send side: draining a send queue, and datagrams in particular. */
#include <rdma/ib_pack.h>
#include "vib_emit.h"
#include "vib_fabric.h"
#include "vib_psn.h"
#include "vib_rc.h"
#include "vib_send.h"

static u16 ud_pkey(const struct vib_hca *hca, const struct rvt_qp *qp, struct rvt_swqe *wqe)
{
	u16 index = qp->s_pkey_index;

	if (qp->ibqp.qp_type == IB_QPT_SMI)
		return VIB_PKEY_DEFAULT;
	if (qp->ibqp.qp_type == IB_QPT_GSI)
		index = rvt_get_swqe_pkey_index(wqe);
	return index < VIB_PKEYS ? hca->pkeys[index] : 0;
}

/* Why a datagram cannot go out; VIB_DELIVERED if it can. */
static enum vib_drop_reason ud_refuse(const struct vib_hca *hca, const struct rvt_qp *qp, struct rvt_swqe *wqe)
{
	if (hca->state == IB_PORT_DOWN)
		return VIB_DROP_LINK_DOWN;
	if (qp->ibqp.qp_type == IB_QPT_SMI)
		return VIB_DELIVERED;
	if (hca->state != IB_PORT_ACTIVE)
		return VIB_DROP_PORT_STATE;
	if (wqe->length > ib_mtu_enum_to_int(hca->mtu))
		return VIB_DROP_MTU;
	if (!(ud_pkey(hca, qp, wqe) & ~VIB_PKEY_MEMBERSHIP))
		return VIB_DROP_PKEY;
	return VIB_DELIVERED;
}

static void ud_fill_head(const struct vib_hca *hca, const struct rvt_qp *qp, struct rvt_swqe *wqe,
			 struct vib_head *head)
{
	u32 qkey = rvt_get_swqe_remote_qkey(wqe);
	bool has_immediate = wqe->wr.opcode == IB_WR_SEND_WITH_IMM;

	vib_fill_path(hca, rvt_get_swqe_ah_attr(wqe), head);
	head->vl = qp->ibqp.qp_type == IB_QPT_SMI ? VIB_VL_MANAGEMENT : 0;
	head->opcode = has_immediate ? IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE : IB_OPCODE_UD_SEND_ONLY;
	head->extension = has_immediate ? 4 : 0;
	head->is_solicited = wqe->wr.send_flags & IB_SEND_SOLICITED;
	head->pkey = ud_pkey(hca, qp, wqe);
	head->dest_qp = vib_lid_is_multicast(head->dlid) ? VIB_QPN_MULTICAST :
							   rvt_get_swqe_remote_qpn(wqe) & RVT_QPN_MASK;
	head->psn = wqe->psn & VIB_PSN_MASK;
	head->has_deth = true;
	/* With the high bit set the queue pair's own is meant: IBTA Vol 1, 10.2.5. */
	head->qkey = (s32)qkey < 0 ? qp->qkey : qkey;
	head->src_qp = qp->ibqp.qp_num;
}

static struct sk_buff *ud_build(const struct vib_head *head, struct rvt_swqe *wqe)
{
	struct sk_buff *skb = vib_frame_alloc(vib_head_frame_size(head, wqe->length), GFP_ATOMIC);
	size_t at;

	if (!skb)
		return NULL;
	at = vib_head_write(head, wqe->length, skb->data);
	if (head->extension)
		memcpy(skb->data + at, &wqe->wr.ex.imm_data, head->extension);
	vib_copy_request(wqe, 0, skb->data + at + head->extension, wqe->length);
	return skb;
}

/*
 * A group's members in this adapter get their copy inside it, the sender among them if it is attached, as ConnectX does
 * it; ib_ipoib knows its own by LID and queue pair.
 */
static void ud_loop_multicast(struct vib_hca *hca, const struct vib_head *head, const struct sk_buff *skb)
{
	struct rvt_mcast *group;
	struct sk_buff *copy;
	union ib_gid gid;

	memcpy(&gid, head->dgid, sizeof(gid));
	group = rvt_mcast_find(&hca->port, &gid, head->dlid);
	if (!group)
		return;
	if (atomic_dec_return(&group->refcount) <= 1)
		wake_up(&group->wait);
	copy = skb_copy(skb, GFP_ATOMIC);
	if (!copy) {
		vib_count_drop(VIB_DROP_MEMORY);
		return;
	}
	hca->port.n_loop_pkts++;
	vib_send_to_self(&hca->end, copy, NULL);
}

/* One datagram; true if there may be another to send. */
static bool ud_send_next(struct vib_hca *hca, struct rvt_qp *qp)
{
	struct vib_qp *private = qp->priv;
	enum vib_drop_reason refusal;
	struct vib_head head = {};
	struct sk_buff *skb = NULL;
	struct rvt_swqe *wqe;

	if (!(ib_rvt_state_ops[qp->state] & RVT_PROCESS_NEXT_SEND_OK) || qp->s_cur == READ_ONCE(qp->s_head) ||
	    atomic_read(&private->in_flight) >= VIB_QP_IN_FLIGHT)
		return false;
	smp_rmb(); /* the request, after the index that says it is there */
	wqe = rvt_get_swqe_ptr(qp, qp->s_cur);
	refusal = ud_refuse(hca, qp, wqe);
	if (refusal == VIB_DELIVERED) {
		ud_fill_head(hca, qp, wqe, &head);
		skb = ud_build(&head, wqe);
	}
	if (!skb) {
		/* Its completion must not overtake those of frames still on their way; the last comes back here. */
		if (atomic_read(&private->in_flight))
			return false;
		if (refusal != VIB_DELIVERED) {
			vib_count_drop(refusal);
			hca->xmit_discards++;
		}
		qp->s_cur = rvt_qp_swqe_incr(qp, qp->s_cur);
		rvt_send_complete(qp, wqe, IB_WC_SUCCESS);
		return true;
	}
	qp->s_cur = rvt_qp_swqe_incr(qp, qp->s_cur);
	if (vib_lid_is_multicast(head.dlid))
		ud_loop_multicast(hca, &head, skb);
	vib_qp_emit(qp, skb, head.dlid);
	return true;
}

static void flush_send_queue(struct rvt_qp *qp)
{
	struct vib_qp *private = qp->priv;

	/* Datagrams in the fabric complete first, as what they are; the last of them brings the rest back here. */
	if (qp->ibqp.qp_type != IB_QPT_RC && atomic_read(&private->in_flight))
		return;
	while (qp->s_last != READ_ONCE(qp->s_head)) {
		smp_rmb(); /* the request, after the index that says it is there */
		rvt_send_complete(qp, rvt_get_swqe_ptr(qp, qp->s_last), IB_WC_WR_FLUSH_ERR);
	}
}

void vib_qp_send(struct rvt_qp *qp)
{
	struct vib_hca *hca = vib_qp_hca(qp);
	unsigned long flags;

	spin_lock_irqsave(&qp->s_lock, flags);
	if (ib_rvt_state_ops[qp->state] & RVT_FLUSH_SEND)
		flush_send_queue(qp);
	else if (!(ib_rvt_state_ops[qp->state] & RVT_PROCESS_SEND_OK))
		;
	else if (qp->ibqp.qp_type == IB_QPT_RC)
		vib_rc_send(qp);
	else
		while (ud_send_next(hca, qp))
			;
	spin_unlock_irqrestore(&qp->s_lock, flags);
}
