// SPDX-License-Identifier: GPL-2.0-only
/* The port of an adapter: state, events and traps. */
#include "vib_hca_port.h"

/* Between two traps of one kind. */
#define VIB_TRAP_INTERVAL HZ

void vib_hca_announce(struct vib_hca *hca, enum ib_event_type event)
{
	struct ib_event occurrence = { .device = &hca->rdi.ibdev, .element.port_num = 1, .event = event };

	if (READ_ONCE(hca->is_announcing))
		ib_dispatch_event(&occurrence);
}

bool vib_hca_activate(struct vib_hca *hca)
{
	unsigned long flags;
	bool is_changed;

	if (READ_ONCE(hca->state) == IB_PORT_ACTIVE)
		return true;
	spin_lock_irqsave(&hca->lock, flags);
	is_changed = hca->state == IB_PORT_ARMED;
	if (is_changed)
		hca->state = IB_PORT_ACTIVE;
	spin_unlock_irqrestore(&hca->lock, flags);
	if (is_changed)
		vib_hca_announce(hca, IB_EVENT_PORT_ACTIVE);
	return is_changed;
}

void vib_hca_link(struct vib_end *end, bool is_up)
{
	struct vib_hca *hca = container_of(end, struct vib_hca, end);
	unsigned long flags;
	bool was_active;

	spin_lock_irqsave(&hca->lock, flags);
	was_active = hca->state == IB_PORT_ACTIVE;
	if (!is_up && hca->state != IB_PORT_DOWN)
		hca->link_downed++;
	hca->state = is_up ? IB_PORT_INIT : IB_PORT_DOWN;
	if (is_up)
		hca->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	else
		hca->phys_state = end->is_disabled ? IB_PORT_PHYS_STATE_DISABLED : IB_PORT_PHYS_STATE_POLLING;
	spin_unlock_irqrestore(&hca->lock, flags);
	if (was_active)
		vib_hca_announce(hca, IB_EVENT_PORT_ERR);
}

void vib_hca_trap_route(struct vib_end *end, u16 *lid, u16 *sm_lid, u8 *sm_sl, __be64 *mkey)
{
	struct vib_hca *hca = container_of(end, struct vib_hca, end);
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	*lid = hca->lid;
	*sm_lid = hca->state == IB_PORT_ACTIVE ? hca->port.sm_lid : 0;
	*sm_sl = hca->port.sm_sl;
	*mkey = hca->port.mkey;
	spin_unlock_irqrestore(&hca->lock, flags);
}

void vib_hca_raise_trap(struct vib_hca *hca, enum vib_hca_trap which, const struct vib_notice *notice)
{
	unsigned long flags;
	bool is_due;

	spin_lock_irqsave(&hca->lock, flags);
	is_due = time_after_eq(jiffies, hca->trap_after[which]);
	if (is_due)
		hca->trap_after[which] = jiffies + VIB_TRAP_INTERVAL;
	spin_unlock_irqrestore(&hca->lock, flags);
	if (is_due)
		vib_trap_raise(&hca->traps[which], notice);
}

void vib_hca_raise_capability_trap(struct vib_hca *hca, u8 local_changes)
{
	struct vib_notice notice = { .type = 4, .producer = 1, .number = 144 };

	vib_put16(hca->lid, notice.details + 2);
	notice.details[5] = !!local_changes;
	vib_put32(hca->port.port_cap_flags, notice.details + 6);
	notice.details[11] = local_changes;
	/* Such changes are rare and each of them counts: no interval. */
	vib_trap_raise(&hca->traps[VIB_TRAP_CAPABILITY], &notice);
}

/* Notice details of the traps 257 and 258: both ends' LIDs, the key, SL and queue pairs, and GIDs if there are any. */
static void raise_key_trap(struct vib_hca *hca, enum vib_hca_trap which, u32 key, const struct rvt_qp *qp,
			   const struct vib_frame *head, const u8 *octets)
{
	struct vib_notice notice = { .type = 2, .producer = 1, .number = which == VIB_TRAP_PKEY ? 257 : 258 };

	vib_put16(head->slid, notice.details + 2);
	vib_put16(head->dlid, notice.details + 4);
	vib_put32(key, notice.details + 6);
	vib_put32((u32)head->sl << 28 | head->src_qp, notice.details + 10);
	vib_put32(qp->ibqp.qp_num, notice.details + 14);
	if (head->has_grh)
		memcpy(notice.details + 18, octets + head->grh + 8, 32);
	vib_hca_raise_trap(hca, which, &notice);
}

static void count_violation(u16 *violations)
{
	if (*violations < U16_MAX)
		++*violations;
}

void vib_hca_bad_pkey(struct vib_hca *hca, const struct rvt_qp *qp, const struct vib_frame *head, const u8 *octets)
{
	count_violation(&hca->port.pkey_violations);
	raise_key_trap(hca, VIB_TRAP_PKEY, head->pkey, qp, head, octets);
}

void vib_hca_bad_qkey(struct vib_hca *hca, const struct rvt_qp *qp, const struct vib_frame *head, const u8 *octets)
{
	count_violation(&hca->port.qkey_violations);
	raise_key_trap(hca, VIB_TRAP_QKEY, head->qkey, qp, head, octets);
}
