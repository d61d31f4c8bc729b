// SPDX-License-Identifier: GPL-2.0-only
/*
 * The requester of a reliable connection (IBTA Vol 1, 9.7): SEND only, cut into packets, sent again from the first that
 * is missing. s_psn is the next packet to send and s_cur the request it belongs to; s_last_psn is the last that was
 * acknowledged and s_last the oldest request not completed. All of it is under s_lock.
 */
#include <rdma/ib_hdrs.h>
#include <rdma/ib_pack.h>
#include "vib_emit.h"
#include "vib_psn.h"
#include "vib_rc.h"

/* Packets of a reliable connection that may be out without having been acknowledged. */
#define WINDOW 128
/* An ACK is asked for at a message's end, and after so many packets of a long one. */
#define ACK_INTERVAL 32

#define AETH_ACK 0
#define AETH_RNR 1
#define AETH_NAK 3
#define RNR_FOR_EVER 7

struct sk_buff *vib_rc_frame(struct rvt_qp *qp, const struct vib_head *wanted, u32 payload, size_t *at)
{
	struct vib_hca *hca = vib_qp_hca(qp);
	struct vib_head head = *wanted;
	struct sk_buff *skb;

	vib_fill_path(hca, &qp->remote_ah_attr, &head);
	head.pkey = hca->pkeys[qp->s_pkey_index];
	head.dest_qp = qp->remote_qpn;
	skb = vib_frame_alloc(vib_head_frame_size(&head, payload), GFP_ATOMIC);
	if (skb)
		*at = vib_head_write(&head, payload, skb->data);
	return skb;
}

static bool rc_is_waiting(const struct rvt_qp *qp)
{
	return vib_psn_distance(vib_psn_add(qp->s_last_psn, 1), qp->s_psn) != 0;
}

/* Zero means: wait for ever. */
static void rc_start_timer(struct rvt_qp *qp)
{
	if (qp->timeout)
		rvt_mod_retry_timer(qp);
}

/* The next packet to send is this one, of whichever request it belongs to. */
static void rc_seek(struct rvt_qp *qp, u32 psn)
{
	u32 head = READ_ONCE(qp->s_head);

	smp_rmb(); /* the requests, after the index that says they are there */
	qp->s_psn = psn;
	for (qp->s_cur = qp->s_last; qp->s_cur != head; qp->s_cur = rvt_qp_swqe_incr(qp, qp->s_cur))
		if (vib_psn_compare(rvt_get_swqe_ptr(qp, qp->s_cur)->lpsn, psn) >= 0)
			break;
}

static void rc_fail(struct rvt_qp *qp, enum ib_wc_status status)
{
	struct vib_qp *private = qp->priv;

	if (qp->s_last != READ_ONCE(qp->s_head))
		rvt_send_complete(qp, rvt_get_swqe_ptr(qp, qp->s_last), status);
	if (rvt_error_qp(qp, IB_WC_WR_FLUSH_ERR))
		private->owes_last_wqe_event = true;
	vib_qp_schedule(qp);
}

static void rc_restart(struct rvt_qp *qp, u32 psn)
{
	if (!qp->s_retry) {
		rc_fail(qp, IB_WC_RETRY_EXC_ERR);
		return;
	}
	qp->s_retry--;
	rvt_to_iport(qp)->n_rc_resends += vib_psn_distance(psn, qp->s_psn);
	rc_seek(qp, psn);
	vib_qp_schedule(qp);
}

static u8 rc_opcode(enum vib_part part, bool has_immediate)
{
	switch (part) {
	case VIB_PART_FIRST:
		return IB_OPCODE_RC_SEND_FIRST;
	case VIB_PART_MIDDLE:
		return IB_OPCODE_RC_SEND_MIDDLE;
	case VIB_PART_LAST:
		return has_immediate ? IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE : IB_OPCODE_RC_SEND_LAST;
	case VIB_PART_ONLY:
		break;
	}
	return has_immediate ? IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE : IB_OPCODE_RC_SEND_ONLY;
}

static struct sk_buff *rc_build(struct rvt_qp *qp, struct rvt_swqe *wqe, u32 packet, u32 packets)
{
	u32 offset = packet << qp->log_pmtu, length = min_t(u32, wqe->length - offset, qp->pmtu);
	enum vib_part part = vib_part_of(packet, packets);
	bool is_last = vib_part_ends(part);
	bool has_immediate = is_last && wqe->wr.opcode == IB_WR_SEND_WITH_IMM;
	struct vib_head head = {
		.opcode = rc_opcode(part, has_immediate),
		.psn = qp->s_psn,
		.wants_ack = is_last || (packet + 1) % ACK_INTERVAL == 0,
		.is_solicited = is_last && (wqe->wr.send_flags & IB_SEND_SOLICITED),
		.extension = has_immediate ? 4 : 0,
	};
	struct sk_buff *skb;
	size_t at;

	skb = vib_rc_frame(qp, &head, length, &at);
	if (!skb)
		return NULL;
	if (has_immediate)
		memcpy(skb->data + at, &wqe->wr.ex.imm_data, 4);
	vib_copy_request(wqe, offset, skb->data + at + head.extension, length);
	return skb;
}

static bool rc_may_send(const struct rvt_qp *qp)
{
	const struct vib_qp *private = qp->priv;

	if (qp->s_cur == READ_ONCE(qp->s_head) || (qp->s_flags & RVT_S_WAIT_RNR))
		return false;
	if (vib_psn_distance(qp->s_last_psn, qp->s_psn) > WINDOW)
		return false;
	return atomic_read(&private->in_flight) < VIB_QP_IN_FLIGHT;
}

/* One packet; true if there may be another to send. One that cannot be sent is lost, and comes again by the timer. */
static bool rc_send_next(struct rvt_qp *qp)
{
	struct vib_hca *hca = vib_qp_hca(qp);
	struct vib_qp *private = qp->priv;
	struct rvt_swqe *wqe;
	struct sk_buff *skb;
	u32 packet, packets;

	if (!rc_may_send(qp))
		return false;
	smp_rmb(); /* the request, after the index that says it is there */
	wqe = rvt_get_swqe_ptr(qp, qp->s_cur);
	packet = vib_psn_distance(wqe->psn, qp->s_psn);
	packets = vib_psn_distance(wqe->psn, wqe->lpsn) + 1;
	/* A queue pair that is drained finishes what it has begun. */
	if (!(ib_rvt_state_ops[qp->state] & RVT_PROCESS_NEXT_SEND_OK) && qp->s_psn == private->fresh_psn && !packet)
		return false;
	if (hca->state == IB_PORT_ACTIVE) {
		skb = rc_build(qp, wqe, packet, packets);
		if (skb)
			vib_qp_emit(qp, skb, rdma_ah_get_dlid(&qp->remote_ah_attr));
	} else {
		vib_count_drop(VIB_DROP_PORT_STATE);
		hca->xmit_discards++;
	}
	if (qp->s_psn == private->fresh_psn)
		private->fresh_psn = vib_psn_add(qp->s_psn, 1);
	qp->s_psn = vib_psn_add(qp->s_psn, 1);
	if (packet + 1 == packets)
		qp->s_cur = rvt_qp_swqe_incr(qp, qp->s_cur);
	if (!(qp->s_flags & RVT_S_TIMER))
		rc_start_timer(qp);
	return true;
}

void vib_rc_send(struct rvt_qp *qp)
{
	while (rc_send_next(qp))
		;
}

void vib_rc_sent(struct rvt_qp *qp)
{
	/* The time to wait for an answer begins when the frame has left. */
	if (qp->s_flags & RVT_S_TIMER)
		rc_start_timer(qp);
}

/* rdmavt's timer has fired, and has cleared its flag; it schedules the send queue afterwards. */
void vib_rc_timeout(struct rvt_qp *qp, u32 psn, int wait)
{
	const struct vib_qp *private = qp->priv;

	if (!(ib_rvt_state_ops[qp->state] & RVT_PROCESS_SEND_OK) || !rc_is_waiting(qp))
		return;
	if (atomic_read(&private->in_flight))
		rc_start_timer(qp);
	else
		rc_restart(qp, psn & VIB_PSN_MASK);
}

/* Everything up to this packet has arrived. */
static void rc_acknowledge(struct rvt_qp *qp, u32 psn)
{
	if (vib_psn_compare(psn, qp->s_last_psn) <= 0)
		return;
	while (qp->s_last != READ_ONCE(qp->s_head)) {
		struct rvt_swqe *wqe;

		smp_rmb(); /* the request, after the index that says it is there */
		wqe = rvt_get_swqe_ptr(qp, qp->s_last);
		if (vib_psn_compare(wqe->lpsn, psn) > 0)
			break;
		rvt_send_complete(qp, wqe, IB_WC_SUCCESS);
	}
	qp->s_last_psn = psn;
	qp->s_retry = qp->s_retry_cnt;
	qp->s_rnr_retry = qp->s_rnr_retry_cnt;
	/* It was being sent again, and turns out to have arrived the first time. */
	if (vib_psn_compare(psn, qp->s_psn) >= 0)
		rc_seek(qp, vib_psn_add(psn, 1));
	if (!(ib_rvt_state_ops[qp->state] & RVT_PROCESS_SEND_OK) || (qp->s_flags & RVT_S_WAIT_RNR))
		return;
	if (rc_is_waiting(qp))
		rc_start_timer(qp);
	else
		rvt_stop_rc_timers(qp);
}

static void rc_receiver_not_ready(struct rvt_qp *qp, u32 psn, u32 aeth)
{
	rvt_to_iport(qp)->n_rnr_naks++;
	if (!qp->s_rnr_retry) {
		rc_fail(qp, IB_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	if (qp->s_rnr_retry_cnt != RNR_FOR_EVER)
		qp->s_rnr_retry--;
	rc_seek(qp, psn);
	rvt_stop_rc_timers(qp);
	rvt_add_rnr_timer(qp, aeth);
}

static void rc_refused(struct rvt_qp *qp, u32 psn, u32 aeth)
{
	switch (aeth >> IB_AETH_CREDIT_SHIFT & IB_AETH_CREDIT_MASK) {
	case 0:
		rvt_to_iport(qp)->n_seq_naks++;
		rc_restart(qp, psn);
		break;
	case 1:
		rc_fail(qp, IB_WC_REM_INV_REQ_ERR);
		break;
	case 2:
		rc_fail(qp, IB_WC_REM_ACCESS_ERR);
		break;
	case 3:
		rc_fail(qp, IB_WC_REM_OP_ERR);
		break;
	default:
		/* Reserved codes: the timer decides. */
		break;
	}
}

void vib_rc_response(struct rvt_qp *qp, const struct vib_frame *head, u32 aeth)
{
	const struct vib_qp *private = qp->priv;
	u32 kind = aeth >> IB_AETH_NAK_SHIFT;

	if (!(ib_rvt_state_ops[qp->state] & RVT_PROCESS_SEND_OK))
		return;
	/* Not to what was never sent, nor to what was answered before. */
	if (vib_psn_compare(head->psn, private->fresh_psn) >= 0 || vib_psn_compare(head->psn, qp->s_last_psn) <= 0)
		return;
	if (kind == AETH_ACK) {
		rc_acknowledge(qp, head->psn);
	} else {
		/* A refusal says too that all before it has arrived. */
		rc_acknowledge(qp, vib_psn_previous(head->psn));
		if (!(ib_rvt_state_ops[qp->state] & RVT_PROCESS_SEND_OK))
			return;
		if (kind == AETH_RNR)
			rc_receiver_not_ready(qp, head->psn, aeth);
		else if (kind == AETH_NAK)
			rc_refused(qp, head->psn, aeth);
	}
	if (qp->s_cur != READ_ONCE(qp->s_head))
		vib_qp_schedule(qp);
}
