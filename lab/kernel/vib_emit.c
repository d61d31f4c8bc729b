// SPDX-License-Identifier: GPL-2.0-only
/* How frames of queue pairs are addressed, filled, and given to the fabric. */
#include "vib_emit.h"
#include "vib_fabric.h"

bool vib_qp_schedule(struct rvt_qp *qp)
{
	struct vib_qp *private = qp->priv;

	return queue_work(vib_qp_hca(qp)->send_queue, &private->work);
}

void vib_fill_path(const struct vib_hca *hca, const struct rdma_ah_attr *path, struct vib_head *head)
{
	const struct ib_global_route *route;

	head->sl = rdma_ah_get_sl(path);
	head->dlid = rdma_ah_get_dlid(path);
	if (hca->lid && head->dlid != VIB_LID_PERMISSIVE)
		head->slid = hca->lid | (rdma_ah_get_path_bits(path) & vib_path_mask(hca));
	else
		head->slid = VIB_LID_PERMISSIVE;
	head->has_grh = rdma_ah_get_ah_flags(path) & IB_AH_GRH;
	if (!head->has_grh)
		return;
	route = rdma_ah_read_grh(path);
	head->traffic_class = route->traffic_class;
	head->hop_limit = route->hop_limit;
	head->flow_label = route->flow_label;
	memcpy(head->sgid, &hca->port.gid_prefix, 8);
	memcpy(head->sgid + 8, &hca->guids[route->sgid_index < VIB_GUIDS ? route->sgid_index : 0], 8);
	memcpy(head->dgid, &route->dgid, 16);
}

void vib_copy_request(struct rvt_swqe *wqe, u32 offset, u8 *to, u32 length)
{
	struct rvt_sge_state state;

	/* Without octets there may be no first element either. */
	if (!length)
		return;
	rvt_restart_sge(&state, wqe, offset);
	while (length) {
		u32 part = rvt_get_sge_length(&state.sge, length);

		memcpy(to, state.sge.vaddr, part);
		rvt_update_sge(&state, part, false);
		to += part;
		length -= part;
	}
}

void vib_qp_emit(struct rvt_qp *qp, struct sk_buff *skb, u16 dlid)
{
	struct vib_hca *hca = vib_qp_hca(qp);
	struct vib_qp *private = qp->priv;

	atomic_inc(&private->in_flight);
	if (vib_lid_is_mine(hca, dlid))
		vib_send_to_self(&hca->end, skb, qp);
	else
		vib_send(&hca->end, skb, qp);
}
