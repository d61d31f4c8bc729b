// SPDX-License-Identifier: GPL-2.0-only
/* PortInfo of the adapter's port (IBTA Vol 1, 14.2.5.6): reading it, and what setting it brings about. */
#include <rdma/ib_smi.h>
#include "vib_hca_port.h"
#include "vib_link.h"
#include "vib_sma_port.h"

#define STATUS_INVALID_VALUE cpu_to_be16(0x001c)
#define WIDTHS (IB_WIDTH_1X | IB_WIDTH_4X)
#define SPEEDS (IB_SPEED_SDR | IB_SPEED_DDR | IB_SPEED_QDR)
#define NO_CHANGE 0
#define ALL_SUPPORTED_WIDTHS 0xff
#define ALL_SUPPORTED_SPEEDS 0x0f
#define ONE_DATA_VL 1
#define CLIENT_REREGISTER 0x80
#define RESPONSE_TIME 8
#define ERROR_THRESHOLDS 0x88

/* What a Set has changed, to be told once the lock is free. */
struct port_changes {
	bool lid, sm, gid, active, reregister;
	bool retrain, disable, enable;
};

static bool is_this_port(const struct ib_smp *smp)
{
	/* The highest bit says that the manager knows extended speeds. */
	return (be32_to_cpu(smp->attr_mod) & ~BIT(31)) <= 1;
}

static void fill_identity(const struct vib_hca *hca, const struct ib_smp *smp, struct ib_port_info *info)
{
	const struct rvt_ibport *port = &hca->port;

	/* At protection level 1 everybody may read, but not the key. */
	if (smp->method != IB_MGMT_METHOD_GET || smp->mkey == port->mkey || port->mkeyprot != 1)
		info->mkey = port->mkey;
	info->gid_prefix = port->gid_prefix;
	info->lid = cpu_to_be16(hca->lid);
	info->sm_lid = cpu_to_be16(port->sm_lid);
	info->cap_mask = cpu_to_be32(port->port_cap_flags);
	info->mkey_lease_period = cpu_to_be16(port->mkey_lease_period);
	info->local_port_num = 1;
	info->mkeyprot_resv_lmc = port->mkeyprot << 6 | hca->lmc;
	info->mkey_violations = cpu_to_be16(port->mkey_violations);
	info->pkey_violations = cpu_to_be16(port->pkey_violations);
	info->qkey_violations = cpu_to_be16(port->qkey_violations);
	info->guid_cap = VIB_GUIDS;
	info->clientrereg_resv_subnetto = port->subnet_timeout;
	info->resv_resptimevalue = RESPONSE_TIME;
}

static void fill_link(const struct vib_hca *hca, struct ib_port_info *info)
{
	info->link_width_enabled = hca->link_width_enabled;
	info->link_width_supported = WIDTHS;
	info->link_width_active = IB_WIDTH_4X;
	info->linkspeed_portstate = SPEEDS << 4 | hca->state;
	info->portphysstate_linkdown = hca->phys_state << 4 | IB_PORT_PHYS_STATE_POLLING;
	info->linkspeedactive_enabled = IB_SPEED_QDR << 4 | hca->link_speed_enabled;
	info->neighbormtu_mastersmsl = hca->mtu << 4 | hca->port.sm_sl;
	info->vlcap_inittype = ONE_DATA_VL << 4;
	info->inittypereply_mtucap = hca->mtu_cap;
	info->operationalvl_pei_peo_fpi_fpo = ONE_DATA_VL << 4;
	info->localphyerrors_overrunerrors = ERROR_THRESHOLDS;
}

static void fill(const struct vib_hca *hca, struct ib_smp *smp)
{
	struct ib_port_info *info = (struct ib_port_info *)smp->data;

	memset(smp->data, 0, sizeof(smp->data));
	fill_identity(hca, smp, info);
	fill_link(hca, info);
}

void vib_sma_get_port_info(struct vib_hca *hca, struct ib_smp *smp)
{
	unsigned long flags;

	if (!is_this_port(smp)) {
		smp->status |= STATUS_INVALID_VALUE;
		return;
	}
	spin_lock_irqsave(&hca->lock, flags);
	fill(hca, smp);
	spin_unlock_irqrestore(&hca->lock, flags);
}

static bool is_unicast_lid(u16 lid)
{
	return lid && lid < VIB_LID_MULTICAST;
}

static bool set_addresses(struct vib_hca *hca, const struct ib_port_info *info, struct port_changes *changes)
{
	u16 lid = be16_to_cpu(info->lid), sm_lid = be16_to_cpu(info->sm_lid);
	u8 lmc = info->mkeyprot_resv_lmc & 7, sm_sl = info->neighbormtu_mastersmsl & 15;
	struct rvt_ibport *port = &hca->port;
	bool is_right = true;

	if (port->gid_prefix != info->gid_prefix) {
		port->gid_prefix = info->gid_prefix;
		changes->gid = true;
	}
	if (!is_unicast_lid(lid) || lid & (BIT(lmc) - 1)) {
		is_right = false;
	} else if (lid != hca->lid || lmc != hca->lmc) {
		hca->lid = lid;
		hca->lmc = lmc;
		changes->lid = true;
	}
	if (!is_unicast_lid(sm_lid)) {
		is_right = false;
	} else if (sm_lid != port->sm_lid || sm_sl != port->sm_sl) {
		port->sm_lid = sm_lid;
		port->sm_sl = sm_sl;
		changes->sm = true;
	}
	return is_right;
}

static bool set_management(struct vib_hca *hca, const struct ib_port_info *info, struct port_changes *changes)
{
	struct rvt_ibport *port = &hca->port;

	port->mkey = info->mkey;
	port->mkeyprot = info->mkeyprot_resv_lmc >> 6;
	port->mkey_lease_period = be16_to_cpu(info->mkey_lease_period);
	port->subnet_timeout = info->clientrereg_resv_subnetto & 0x1f;
	/* Counters can be set back to zero and to nothing else. */
	if (!info->mkey_violations)
		port->mkey_violations = 0;
	if (!info->pkey_violations)
		port->pkey_violations = 0;
	if (!info->qkey_violations)
		port->qkey_violations = 0;
	changes->reregister = info->clientrereg_resv_subnetto & CLIENT_REREGISTER;
	return true;
}

static bool set_capabilities(struct vib_hca *hca, const struct ib_port_info *info)
{
	u8 width = info->link_width_enabled, speed = info->linkspeedactive_enabled & 15;
	u8 mtu = info->neighbormtu_mastersmsl >> 4;
	bool is_right = true;

	if (width == ALL_SUPPORTED_WIDTHS)
		width = WIDTHS;
	if (width & ~WIDTHS)
		is_right = false;
	else if (width != NO_CHANGE)
		hca->link_width_enabled = width;
	if (speed == ALL_SUPPORTED_SPEEDS)
		speed = SPEEDS;
	if (speed & ~SPEEDS)
		is_right = false;
	else if (speed != NO_CHANGE)
		hca->link_speed_enabled = speed;
	if (mtu < IB_MTU_256 || mtu > hca->mtu_cap)
		is_right = false;
	else
		hca->mtu = mtu;
	return is_right && info->operationalvl_pei_peo_fpi_fpo >> 4 <= ONE_DATA_VL;
}

/* The states of the link and of the port: IBTA Vol 1, 7.2.7 and 14.2.5.6. */
static bool set_states(struct vib_hca *hca, const struct ib_port_info *info, struct port_changes *changes)
{
	u8 state = info->linkspeed_portstate & 15, physical = info->portphysstate_linkdown >> 4;

	switch (state) {
	case IB_PORT_NOP:
		break;
	case IB_PORT_DOWN:
		changes->disable = physical == IB_PORT_PHYS_STATE_DISABLED;
		changes->enable = physical == IB_PORT_PHYS_STATE_POLLING;
		changes->retrain = physical == NO_CHANGE || changes->enable;
		return physical == NO_CHANGE || changes->disable || changes->enable;
	case IB_PORT_ARMED:
		if (hca->state != IB_PORT_INIT && hca->state != IB_PORT_ARMED)
			return false;
		hca->state = IB_PORT_ARMED;
		break;
	case IB_PORT_ACTIVE:
		if (hca->state != IB_PORT_ARMED && hca->state != IB_PORT_ACTIVE)
			return false;
		changes->active = hca->state == IB_PORT_ARMED;
		hca->state = IB_PORT_ACTIVE;
		break;
	default:
		return false;
	}
	return physical == NO_CHANGE;
}

static void carry_out(struct vib_hca *hca, const struct port_changes *changes)
{
	if (changes->disable)
		vib_end_set_disabled(&hca->end, true);
	if (changes->enable)
		vib_end_set_disabled(&hca->end, false);
	if (changes->retrain)
		vib_end_retrain(&hca->end);
	if (changes->lid)
		vib_hca_announce(hca, IB_EVENT_LID_CHANGE);
	if (changes->sm)
		vib_hca_announce(hca, IB_EVENT_SM_CHANGE);
	if (changes->gid)
		vib_hca_announce(hca, IB_EVENT_GID_CHANGE);
	if (changes->active)
		vib_hca_announce(hca, IB_EVENT_PORT_ACTIVE);
	if (changes->reregister)
		vib_hca_announce(hca, IB_EVENT_CLIENT_REREGISTER);
}

void vib_sma_set_port_info(struct vib_hca *hca, struct ib_smp *smp)
{
	struct ib_port_info *info = (struct ib_port_info *)smp->data;
	struct port_changes changes = {};
	unsigned long flags;
	bool is_right = true;

	if (!is_this_port(smp)) {
		smp->status |= STATUS_INVALID_VALUE;
		return;
	}
	spin_lock_irqsave(&hca->lock, flags);
	/* What is right takes effect even where something else is not. */
	is_right &= set_management(hca, info, &changes);
	is_right &= set_addresses(hca, info, &changes);
	is_right &= set_capabilities(hca, info);
	is_right &= set_states(hca, info, &changes);
	fill(hca, smp);
	spin_unlock_irqrestore(&hca->lock, flags);
	if (changes.reregister)
		info->clientrereg_resv_subnetto |= CLIENT_REREGISTER;
	if (!is_right)
		smp->status |= STATUS_INVALID_VALUE;
	carry_out(hca, &changes);
}
