// SPDX-License-Identifier: GPL-2.0-only
/* The receive side (IBTA Vol 1, 9.6 and 9.8): is a frame for this port, for which queue pairs, and datagrams. */
#include <rdma/ib_pack.h>
#include "vib_hca_port.h"
#include "vib_rc_respond.h"
#include "vib_receive.h"

#define VIB_GRH_VERSION 6
#define VIB_GRH_NEXT_HEADER 0x1b
#define VIB_OPCODE_SERVICE 0xe0

static bool gid_is_mine(const struct vib_hca *hca, const u8 *gid)
{
	static const u8 default_prefix[8] = { 0xfe, 0x80 };
	unsigned int i;

	if (memcmp(gid, &hca->port.gid_prefix, 8) && memcmp(gid, default_prefix, 8))
		return false;
	for (i = 0; i < VIB_GUIDS; i++)
		if (hca->guids[i] && !memcmp(gid + 8, &hca->guids[i], 8))
			return true;
	return false;
}

/* The link layer's and the network layer's checks; VIB_DELIVERED if it may go on to a queue pair. */
static enum vib_drop_reason admit(struct vib_hca *hca, const struct vib_frame *head, const u8 *octets)
{
	bool is_multicast = vib_lid_is_multicast(head->dlid);

	if (!READ_ONCE(hca->is_receiving) || hca->state == IB_PORT_DOWN)
		return VIB_DROP_LINK_DOWN;
	if (head->vl != VIB_VL_MANAGEMENT && !vib_hca_activate(hca))
		return VIB_DROP_PORT_STATE;
	if (head->dlid != VIB_LID_PERMISSIVE && !is_multicast && !vib_lid_is_mine(hca, head->dlid))
		return VIB_DROP_NOT_MINE;
	if (head->vl != VIB_VL_MANAGEMENT && vib_frame_payload(head) > ib_mtu_enum_to_int(hca->mtu))
		return VIB_DROP_MTU;
	if (head->has_grh) {
		const u8 *grh = octets + head->grh;

		if (grh[0] >> 4 != VIB_GRH_VERSION || grh[6] != VIB_GRH_NEXT_HEADER)
			return VIB_DROP_MALFORMED;
		if (!is_multicast && !gid_is_mine(hca, grh + 24))
			return VIB_DROP_NOT_MINE;
	}
	/* Multicast has its own queue pair number, a GRH that names the group, and nothing else has. */
	if (is_multicast != (head->dest_qp == VIB_QPN_MULTICAST) || (is_multicast && !head->has_grh))
		return VIB_DROP_NO_QP;
	return VIB_DELIVERED;
}

/* Where in the table a management datagram's P_Key is; -1 if nowhere. */
static int find_pkey(const struct vib_hca *hca, u16 pkey)
{
	int i;

	for (i = 0; i < VIB_PKEYS; i++)
		if (vib_pkey_matches(hca->pkeys[i], pkey))
			return i;
	return -1;
}

static bool ud_pkey_is_right(const struct vib_hca *hca, const struct rvt_qp *qp, u16 pkey)
{
	if (qp->ibqp.qp_type == IB_QPT_GSI)
		return find_pkey(hca, pkey) >= 0;
	return vib_pkey_matches(hca->pkeys[qp->s_pkey_index], pkey);
}

static enum vib_drop_reason smp_check(const struct vib_frame *head, const u8 *payload, u32 length)
{
	bool is_permissive = head->dlid == VIB_LID_PERMISSIVE || head->slid == VIB_LID_PERMISSIVE;

	if (head->vl != VIB_VL_MANAGEMENT || length != IB_MGMT_MAD_SIZE)
		return VIB_DROP_SMP;
	/* Only directed routes do without LIDs: the class is a MAD's second octet. */
	if (is_permissive && payload[1] != IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		return VIB_DROP_SMP;
	return VIB_DELIVERED;
}

static enum vib_drop_reason ud_check(struct vib_hca *hca, const struct rvt_qp *qp, const struct vib_frame *head,
				     const u8 *octets, const u8 *payload, u32 length)
{
	if (qp->ibqp.qp_type == IB_QPT_SMI)
		return smp_check(head, payload, length);
	if (head->vl == VIB_VL_MANAGEMENT)
		return VIB_DROP_SMP;
	if (head->dlid == VIB_LID_PERMISSIVE || head->slid == VIB_LID_PERMISSIVE)
		return VIB_DROP_NOT_MINE;
	if (!ud_pkey_is_right(hca, qp, head->pkey)) {
		vib_hca_bad_pkey(hca, qp, head, octets);
		return VIB_DROP_PKEY;
	}
	if (head->qkey != qp->qkey) {
		vib_hca_bad_qkey(hca, qp, head, octets);
		return VIB_DROP_QKEY;
	}
	if (qp->ibqp.qp_type == IB_QPT_GSI && length != IB_MGMT_MAD_SIZE)
		return VIB_DROP_MALFORMED;
	return VIB_DELIVERED;
}

/* A posted receive large enough for this many octets. */
static enum vib_drop_reason ud_take_receive(struct vib_hca *hca, struct rvt_qp *qp, u32 length)
{
	if (qp->r_flags & RVT_R_REUSE_SGE) {
		qp->r_flags &= ~RVT_R_REUSE_SGE;
	} else {
		int taken = rvt_get_rwqe(qp, false);

		if (taken < 0)
			rvt_rc_error(qp, IB_WC_LOC_QP_OP_ERR);
		if (taken <= 0) {
			if (qp->ibqp.qp_type == IB_QPT_SMI)
				hca->port.n_vl15_dropped++;
			return VIB_DROP_NO_RECEIVE;
		}
	}
	if (length > qp->r_len) {
		qp->r_flags |= RVT_R_REUSE_SGE;
		return VIB_DROP_RECEIVE_SHORT;
	}
	return VIB_DELIVERED;
}

static void ud_complete(struct vib_hca *hca, struct rvt_qp *qp, const struct vib_frame *head, struct ib_wc *completion)
{
	if (!test_and_clear_bit(RVT_R_WRID_VALID, &qp->r_aflags))
		return;
	completion->wr_id = qp->r_wr_id;
	completion->status = IB_WC_SUCCESS;
	completion->opcode = IB_WC_RECV;
	completion->qp = &qp->ibqp;
	completion->src_qp = head->src_qp;
	completion->slid = head->slid;
	completion->sl = head->sl;
	completion->dlid_path_bits = head->dlid < VIB_LID_MULTICAST ? head->dlid & vib_path_mask(hca) : 0;
	completion->port_num = 1;
	if (qp->ibqp.qp_type == IB_QPT_GSI)
		completion->pkey_index = max(find_pkey(hca, head->pkey), 0);
	rvt_recv_cq(qp, completion, head->is_solicited);
}

static enum vib_drop_reason ud_receive(struct vib_hca *hca, struct rvt_qp *qp, struct sk_buff *skb)
{
	const struct vib_frame *head = &vib_cb(skb)->head;
	bool has_immediate = head->opcode == IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE;
	u8 *payload = skb->data + head->extension + (has_immediate ? 4 : 0);
	int length = (int)head->end - head->pad - (int)(payload - skb->data);
	struct ib_wc completion = {};
	enum vib_drop_reason reason;

	if ((head->opcode & VIB_OPCODE_SERVICE) != IB_OPCODE_UD)
		return VIB_DROP_QP_TYPE;
	if (head->opcode != IB_OPCODE_UD_SEND_ONLY && (!has_immediate || qp->ibqp.qp_num <= 1))
		return VIB_DROP_OPCODE;
	if (length < 0)
		return VIB_DROP_MALFORMED;
	reason = ud_check(hca, qp, head, skb->data, payload, length);
	if (reason != VIB_DELIVERED)
		return reason;
	reason = ud_take_receive(hca, qp, length + VIB_GRH_SIZE);
	if (reason != VIB_DELIVERED)
		return reason;
	completion.byte_len = length + VIB_GRH_SIZE;
	if (has_immediate) {
		memcpy(&completion.ex.imm_data, skb->data + head->extension, 4);
		completion.wc_flags |= IB_WC_WITH_IMM;
	}
	/* The GRH's place is there also where the frame has none. */
	if (head->has_grh) {
		rvt_copy_sge(qp, &qp->r_sge, skb->data + head->grh, VIB_GRH_SIZE, true, false);
		completion.wc_flags |= IB_WC_GRH;
	} else {
		rvt_skip_sge(&qp->r_sge, VIB_GRH_SIZE, true);
	}
	rvt_copy_sge(qp, &qp->r_sge, payload, length, true, false);
	rvt_put_ss(&qp->r_sge);
	ud_complete(hca, qp, head, &completion);
	return VIB_DELIVERED;
}

static enum vib_drop_reason qp_receive(struct vib_hca *hca, struct rvt_qp *qp, struct sk_buff *skb)
{
	enum vib_drop_reason reason;
	unsigned long flags;

	spin_lock_irqsave(&qp->r_lock, flags);
	if (!(ib_rvt_state_ops[qp->state] & RVT_PROCESS_RECV_OK))
		reason = VIB_DROP_QP_STATE;
	else if (qp->ibqp.qp_type == IB_QPT_RC)
		reason = vib_rc_receive(qp, skb);
	else
		reason = ud_receive(hca, qp, skb);
	spin_unlock_irqrestore(&qp->r_lock, flags);
	return reason;
}

static void count(struct vib_hca *hca, enum vib_drop_reason reason)
{
	if (reason == VIB_DELIVERED)
		return;
	hca->port.n_pkt_drops++;
	vib_count_drop(reason);
}

static void deliver_to_group(struct vib_hca *hca, struct sk_buff *skb)
{
	const struct vib_frame *head = &vib_cb(skb)->head;
	struct rvt_mcast_qp *member;
	struct rvt_mcast *group;
	union ib_gid gid;

	memcpy(&gid, skb->data + head->grh + 24, sizeof(gid));
	group = rvt_mcast_find(&hca->port, &gid, head->dlid);
	if (!group) {
		count(hca, VIB_DROP_NOT_ATTACHED);
		return;
	}
	rcu_read_lock();
	list_for_each_entry_rcu(member, &group->qp_list, list)
		count(hca, qp_receive(hca, member->qp, skb));
	rcu_read_unlock();
	if (atomic_dec_return(&group->refcount) <= 1)
		wake_up(&group->wait);
}

static void deliver(struct vib_hca *hca, struct sk_buff *skb)
{
	enum vib_drop_reason reason = VIB_DROP_NO_QP;
	struct rvt_qp *qp;

	rcu_read_lock();
	qp = rvt_lookup_qpn(&hca->rdi, &hca->port, vib_cb(skb)->head.dest_qp);
	if (qp)
		reason = qp_receive(hca, qp, skb);
	rcu_read_unlock();
	count(hca, reason);
}

void vib_hca_receive(struct vib_end *end, struct sk_buff *skb)
{
	struct vib_hca *hca = container_of(end, struct vib_hca, end);
	const struct vib_frame *head = &vib_cb(skb)->head;
	enum vib_drop_reason reason = admit(hca, head, skb->data);

	if (reason != VIB_DELIVERED)
		count(hca, reason);
	else if (head->dest_qp == VIB_QPN_MULTICAST)
		deliver_to_group(hca, skb);
	else
		deliver(hca, skb);
	consume_skb(skb);
}
