// SPDX-License-Identifier: GPL-2.0-only
/* The responder of a reliable connection (IBTA Vol 1, 9.7.5), for SEND. All of it is under r_lock. */
#include <rdma/ib_hdrs.h>
#include <rdma/ib_pack.h>
#include "vib_emit.h"
#include "vib_hca_port.h"
#include "vib_psn.h"
#include "vib_rc.h"
#include "vib_rc_respond.h"

/* An ACK that limits nothing: end-to-end credits are not handed out. */
#define SYNDROME_ACK 0x1f
#define VIB_OPCODE_SERVICE 0xe0
#define AETH_SIZE 4

struct rc_request {
	enum vib_part part;
	bool has_immediate;
	u8 *payload;
	u32 length;
};

static void rc_answer(struct rvt_qp *qp, u8 syndrome, u32 psn)
{
	const struct vib_head head = {
		.opcode = IB_OPCODE_RC_ACKNOWLEDGE,
		.psn = psn & VIB_PSN_MASK,
		.extension = AETH_SIZE,
	};
	struct sk_buff *skb;
	size_t at;

	skb = vib_rc_frame(qp, &head, 0, &at);
	if (!skb)
		return;
	vib_put32((u32)syndrome << IB_AETH_CREDIT_SHIFT | (qp->r_msn & IB_MSN_MASK), skb->data + at);
	vib_qp_emit(qp, skb, rdma_ah_get_dlid(&qp->remote_ah_attr));
}

/* Says no, for good: the connection is over. */
static enum vib_drop_reason rc_refuse(struct rvt_qp *qp, u8 syndrome, enum ib_wc_status status,
				      enum vib_drop_reason reason)
{
	rvt_to_iport(qp)->n_other_naks++;
	rc_answer(qp, syndrome, qp->r_psn);
	rvt_rc_error(qp, status);
	return reason;
}

static bool rc_is_request(u8 opcode, struct rc_request *request)
{
	request->has_immediate = false;
	switch (opcode) {
	case IB_OPCODE_RC_SEND_FIRST:
		request->part = VIB_PART_FIRST;
		return true;
	case IB_OPCODE_RC_SEND_MIDDLE:
		request->part = VIB_PART_MIDDLE;
		return true;
	case IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE:
		request->has_immediate = true;
		fallthrough;
	case IB_OPCODE_RC_SEND_LAST:
		request->part = VIB_PART_LAST;
		return true;
	case IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE:
		request->has_immediate = true;
		fallthrough;
	case IB_OPCODE_RC_SEND_ONLY:
		request->part = VIB_PART_ONLY;
		return true;
	default:
		return false;
	}
}

static bool rc_is_inside_message(const struct rvt_qp *qp)
{
	return qp->r_state == IB_OPCODE_RC_SEND_FIRST || qp->r_state == IB_OPCODE_RC_SEND_MIDDLE;
}

static void rc_complete(struct rvt_qp *qp, const struct vib_frame *head, const struct rc_request *request,
			const u8 *immediate)
{
	struct ib_wc completion = {};

	rvt_put_ss(&qp->r_sge);
	qp->r_msn++;
	if (!test_and_clear_bit(RVT_R_WRID_VALID, &qp->r_aflags))
		return;
	completion.wr_id = qp->r_wr_id;
	completion.status = IB_WC_SUCCESS;
	completion.opcode = IB_WC_RECV;
	completion.qp = &qp->ibqp;
	completion.src_qp = qp->remote_qpn;
	completion.byte_len = qp->r_rcv_len;
	completion.slid = rdma_ah_get_dlid(&qp->remote_ah_attr);
	completion.sl = rdma_ah_get_sl(&qp->remote_ah_attr);
	completion.port_num = 1;
	if (request->has_immediate) {
		memcpy(&completion.ex.imm_data, immediate, 4);
		completion.wc_flags = IB_WC_WITH_IMM;
	}
	rvt_recv_cq(qp, &completion, head->is_solicited);
}

/* A message begins: it needs a posted receive. */
static enum vib_drop_reason rc_begin(struct rvt_qp *qp)
{
	int taken = rvt_get_rwqe(qp, false);

	if (taken < 0)
		return rc_refuse(qp, IB_NAK_REMOTE_OPERATIONAL_ERROR, IB_WC_LOC_QP_OP_ERR, VIB_DROP_NO_RECEIVE);
	if (!taken) {
		qp->r_nak_state = IB_RNR_NAK | qp->r_min_rnr_timer;
		rc_answer(qp, qp->r_nak_state, qp->r_psn);
		return VIB_DROP_NO_RECEIVE;
	}
	qp->r_rcv_len = 0;
	return VIB_DELIVERED;
}

static enum vib_drop_reason rc_expected(struct rvt_qp *qp, const struct vib_frame *head, struct rc_request *request,
					const u8 *immediate)
{
	enum vib_drop_reason reason;

	if (!vib_part_follows(request->part, rc_is_inside_message(qp)))
		return rc_refuse(qp, IB_NAK_INVALID_REQUEST, IB_WC_LOC_QP_OP_ERR, VIB_DROP_OPCODE);
	if (!vib_part_length_is_right(request->part, request->length, qp->pmtu))
		return rc_refuse(qp, IB_NAK_INVALID_REQUEST, IB_WC_LOC_LEN_ERR, VIB_DROP_MALFORMED);
	if (vib_part_begins(request->part)) {
		reason = rc_begin(qp);
		if (reason != VIB_DELIVERED)
			return reason;
	}
	if (request->length > qp->r_len - qp->r_rcv_len)
		return rc_refuse(qp, IB_NAK_INVALID_REQUEST, IB_WC_LOC_LEN_ERR, VIB_DROP_RECEIVE_SHORT);
	rvt_copy_sge(qp, &qp->r_sge, request->payload, request->length, true, false);
	qp->r_rcv_len += request->length;
	qp->r_psn = vib_psn_add(qp->r_psn, 1);
	qp->r_nak_state = 0;
	qp->r_state = head->opcode;
	if (vib_part_ends(request->part))
		rc_complete(qp, head, request, immediate);
	if (head->wants_ack)
		rc_answer(qp, SYNDROME_ACK, head->psn);
	return VIB_DELIVERED;
}

static enum vib_drop_reason rc_request(struct rvt_qp *qp, const struct vib_frame *head, struct sk_buff *skb)
{
	const u8 *immediate = skb->data + head->extension;
	struct rc_request request;
	int length;

	if (qp->state == IB_QPS_RTR && !(qp->r_flags & RVT_R_COMM_EST))
		rvt_comm_est(qp);
	switch (vib_psn_place(head->psn, qp->r_psn)) {
	case VIB_PSN_DUPLICATE:
		/* Its answer was lost, or is on its way still: the newest answer covers it. */
		rvt_to_iport(qp)->n_rc_dupreq++;
		rc_answer(qp, SYNDROME_ACK, vib_psn_previous(qp->r_psn));
		return VIB_DROP_PSN;
	case VIB_PSN_AHEAD:
		rvt_to_iport(qp)->n_rc_seqnak++;
		/* One refusal for a gap, and none while the requester waits for a receive to be posted. */
		if (!qp->r_nak_state) {
			qp->r_nak_state = IB_NAK_PSN_ERROR;
			rc_answer(qp, IB_NAK_PSN_ERROR, qp->r_psn);
		}
		return VIB_DROP_PSN;
	case VIB_PSN_EXPECTED:
		break;
	}
	if (!rc_is_request(head->opcode, &request))
		return rc_refuse(qp, IB_NAK_INVALID_REQUEST, IB_WC_LOC_QP_OP_ERR, VIB_DROP_OPCODE);
	request.payload = skb->data + head->extension + (request.has_immediate ? 4 : 0);
	length = (int)head->end - head->pad - (int)(request.payload - skb->data);
	if (length < 0)
		return VIB_DROP_MALFORMED;
	request.length = length;
	return rc_expected(qp, head, &request, immediate);
}

static enum vib_drop_reason rc_response(struct rvt_qp *qp, const struct vib_frame *head, struct sk_buff *skb)
{
	if (head->end < head->extension + AETH_SIZE)
		return VIB_DROP_MALFORMED;
	spin_lock(&qp->s_lock);
	vib_rc_response(qp, head, vib_get32(skb->data + head->extension));
	spin_unlock(&qp->s_lock);
	return VIB_DELIVERED;
}

enum vib_drop_reason vib_rc_receive(struct rvt_qp *qp, struct sk_buff *skb)
{
	const struct vib_frame *head = &vib_cb(skb)->head;
	struct vib_hca *hca = vib_qp_hca(qp);

	if ((head->opcode & VIB_OPCODE_SERVICE) != IB_OPCODE_RC || head->vl == VIB_VL_MANAGEMENT)
		return VIB_DROP_QP_TYPE;
	if (!vib_pkey_matches(hca->pkeys[qp->s_pkey_index], head->pkey)) {
		vib_hca_bad_pkey(hca, qp, head, skb->data);
		return VIB_DROP_PKEY;
	}
	if (head->slid != rdma_ah_get_dlid(&qp->remote_ah_attr) || head->dlid == VIB_LID_PERMISSIVE)
		return VIB_DROP_NOT_MINE;
	switch (head->opcode) {
	case IB_OPCODE_RC_ACKNOWLEDGE:
		return rc_response(qp, head, skb);
	case IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST:
	case IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE:
	case IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST:
	case IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY:
	case IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE:
		/* Answers to what is never asked here. */
		return VIB_DROP_OPCODE;
	default:
		return rc_request(qp, head, skb);
	}
}
