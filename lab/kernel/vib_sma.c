// SPDX-License-Identifier: GPL-2.0-only
/* The adapter's subnet management agent (IBTA Vol 1, 14.2). PortInfo is in vib_sma_port.c. */
#include <rdma/ib_smi.h>
#include "vib_hca_port.h"
#include "vib_sma.h"
#include "vib_sma_port.h"

#define STATUS_UNSUPPORTED_VERSION cpu_to_be16(0x0004)
#define STATUS_UNSUPPORTED_ATTRIBUTE cpu_to_be16(0x000c)
#define STATUS_INVALID_VALUE cpu_to_be16(0x001c)
#define VIB_NODE_TYPE_CA 1
#define VIB_PKEYS_A_BLOCK 32
#define PROCESSED (IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY)
#define DROPPED (IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED)

static bool is_set(const struct ib_smp *smp)
{
	return smp->method == IB_MGMT_METHOD_SET;
}

static void sma_node_description(struct vib_hca *hca, struct ib_smp *smp)
{
	if (is_set(smp) || smp->attr_mod)
		smp->status |= STATUS_INVALID_VALUE;
	memcpy(smp->data, hca->rdi.ibdev.node_desc, sizeof(smp->data));
}

static void sma_node_info(struct vib_hca *hca, struct ib_smp *smp)
{
	struct ib_node_info *info = (struct ib_node_info *)smp->data;
	const struct ib_device_attr *device = &hca->rdi.dparms.props;

	if (is_set(smp) || smp->attr_mod)
		smp->status |= STATUS_INVALID_VALUE;
	memset(smp->data, 0, sizeof(smp->data));
	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = 1;
	info->node_type = VIB_NODE_TYPE_CA;
	info->num_ports = 1;
	info->sys_guid = hca->node_guid;
	info->node_guid = hca->node_guid;
	info->port_guid = hca->guids[0];
	info->partition_cap = cpu_to_be16(VIB_PKEYS);
	info->device_id = cpu_to_be16(device->vendor_part_id);
	info->revision = cpu_to_be32(1);
	info->local_port_num = 1;
	vib_put24(device->vendor_id, info->vendor_id);
}

static void sma_guid_info(struct vib_hca *hca, struct ib_smp *smp)
{
	__be64 *wanted = (__be64 *)smp->data;
	bool is_changed = false;
	unsigned long flags;
	unsigned int i;

	if (smp->attr_mod) {
		smp->status |= STATUS_INVALID_VALUE;
		return;
	}
	spin_lock_irqsave(&hca->lock, flags);
	/* The first is the adapter's own and stays. */
	for (i = 1; i < VIB_GUIDS && is_set(smp); i++) {
		is_changed |= hca->guids[i] != wanted[i];
		hca->guids[i] = wanted[i];
	}
	memcpy(smp->data, hca->guids, sizeof(hca->guids));
	spin_unlock_irqrestore(&hca->lock, flags);
	if (is_changed)
		vib_hca_announce(hca, IB_EVENT_GID_CHANGE);
}

static void sma_pkey_table(struct vib_hca *hca, struct ib_smp *smp)
{
	__be16 *entries = (__be16 *)smp->data;
	bool is_changed = false;
	unsigned long flags;
	unsigned int i;

	BUILD_BUG_ON(VIB_PKEYS != VIB_PKEYS_A_BLOCK);
	if (smp->attr_mod) {
		smp->status |= STATUS_INVALID_VALUE;
		return;
	}
	spin_lock_irqsave(&hca->lock, flags);
	for (i = 0; i < VIB_PKEYS; i++) {
		u16 wanted = be16_to_cpu(entries[i]);

		if (is_set(smp)) {
			is_changed |= hca->pkeys[i] != wanted;
			hca->pkeys[i] = wanted;
		}
		entries[i] = cpu_to_be16(hca->pkeys[i]);
	}
	spin_unlock_irqrestore(&hca->lock, flags);
	if (is_changed)
		vib_hca_announce(hca, IB_EVENT_PKEY_CHANGE);
}

/* Kept and reported; with one data lane nothing comes of it. */
static void sma_sl_to_vl(struct vib_hca *hca, struct ib_smp *smp)
{
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	if (is_set(smp))
		memcpy(hca->sl_to_vl, smp->data, sizeof(hca->sl_to_vl));
	memset(smp->data, 0, sizeof(smp->data));
	memcpy(smp->data, hca->sl_to_vl, sizeof(hca->sl_to_vl));
	spin_unlock_irqrestore(&hca->lock, flags);
}

static void sma_answer(struct vib_hca *hca, struct ib_smp *smp)
{
	switch (smp->attr_id) {
	case IB_SMP_ATTR_NODE_DESC:
		sma_node_description(hca, smp);
		break;
	case IB_SMP_ATTR_NODE_INFO:
		sma_node_info(hca, smp);
		break;
	case IB_SMP_ATTR_GUID_INFO:
		sma_guid_info(hca, smp);
		break;
	case IB_SMP_ATTR_PORT_INFO:
		if (is_set(smp))
			vib_sma_set_port_info(hca, smp);
		else
			vib_sma_get_port_info(hca, smp);
		break;
	case IB_SMP_ATTR_PKEY_TABLE:
		sma_pkey_table(hca, smp);
		break;
	case IB_SMP_ATTR_SL_TO_VL_TABLE:
		sma_sl_to_vl(hca, smp);
		break;
	case IB_SMP_ATTR_VL_ARB_TABLE:
		/* VLArbCap is zero: there are no entries. */
		memset(smp->data, 0, sizeof(smp->data));
		break;
	default:
		smp->status |= STATUS_UNSUPPORTED_ATTRIBUTE;
	}
}

/* Notice details of trap 256. */
static void raise_mkey_trap(struct vib_hca *hca, const struct ib_smp *smp)
{
	struct vib_notice notice = { .type = 2, .producer = 1, .number = 256 };
	u8 hops;

	vib_put16(hca->lid, notice.details + 2);
	vib_put16(hca->lid, notice.details + 4);
	notice.details[8] = smp->method;
	memcpy(notice.details + 10, &smp->attr_id, 2);
	memcpy(notice.details + 12, &smp->attr_mod, 4);
	memcpy(notice.details + 16, &smp->mkey, 8);
	if (smp->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE) {
		memcpy(notice.details + 6, &smp->dr_slid, 2);
		hops = min_t(u8, smp->hop_cnt, 30);
		notice.details[25] = IB_NOTICE_TRAP_DR_NOTICE | hops;
		if (smp->hop_cnt > hops)
			notice.details[25] |= IB_NOTICE_TRAP_DR_TRUNC;
		memcpy(notice.details + 26, smp->return_path, hops);
	}
	vib_hca_raise_trap(hca, VIB_TRAP_MKEY, &notice);
}

static bool mkey_is_needed(const struct vib_hca *hca, const struct ib_smp *smp)
{
	switch (smp->method) {
	case IB_MGMT_METHOD_GET:
		return hca->port.mkeyprot >= 2;
	case IB_MGMT_METHOD_SET:
	case IB_MGMT_METHOD_TRAP_REPRESS:
		return true;
	default:
		return false;
	}
}

/* IBTA Vol 1, 14.2.4: the M_Key, its protection level, and the lease after which protection falls. */
static bool mkey_is_right(struct vib_hca *hca, int mad_flags, const struct ib_smp *smp)
{
	struct rvt_ibport *port = &hca->port;
	unsigned long flags;
	bool is_right;

	spin_lock_irqsave(&hca->lock, flags);
	if (port->mkey_lease_timeout && time_after_eq(jiffies, port->mkey_lease_timeout)) {
		port->mkey_lease_timeout = 0;
		port->mkeyprot = 0;
		port->mkey = 0;
	}
	is_right = (mad_flags & IB_MAD_IGNORE_MKEY) || !port->mkey || port->mkey == smp->mkey;
	if (is_right) {
		port->mkey_lease_timeout = 0;
	} else if (mkey_is_needed(hca, smp)) {
		if (port->mkey_violations < U16_MAX)
			port->mkey_violations++;
		if (port->mkey_lease_period && !port->mkey_lease_timeout)
			port->mkey_lease_timeout = (jiffies + port->mkey_lease_period * HZ) ?: 1;
	} else {
		is_right = true;
	}
	spin_unlock_irqrestore(&hca->lock, flags);
	return is_right;
}

static int sma_repress(struct vib_hca *hca, const struct ib_smp *smp)
{
	unsigned int trap;

	if (smp->attr_id == IB_SMP_ATTR_NOTICE)
		for (trap = 0; trap < VIB_TRAPS; trap++)
			vib_trap_repress(&hca->traps[trap], smp->tid);
	return DROPPED;
}

static int sma_reply(struct ib_smp *smp)
{
	smp->method = IB_MGMT_METHOD_GET_RESP;
	if (smp->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		smp->status |= IB_SMP_DIRECTION;
	return PROCESSED;
}

int vib_sma_process(struct vib_hca *hca, int flags, struct ib_smp *smp)
{
	if (smp->method != IB_MGMT_METHOD_GET && smp->method != IB_MGMT_METHOD_SET &&
	    smp->method != IB_MGMT_METHOD_TRAP_REPRESS)
		return IB_MAD_RESULT_SUCCESS;
	if (!mkey_is_right(hca, flags, smp)) {
		raise_mkey_trap(hca, smp);
		return DROPPED;
	}
	if (smp->method == IB_MGMT_METHOD_TRAP_REPRESS)
		return sma_repress(hca, smp);
	/* A subnet manager in user space answers for itself. */
	if (smp->attr_id == IB_SMP_ATTR_SM_INFO && (hca->port.port_cap_flags & IB_PORT_SM))
		return IB_MAD_RESULT_SUCCESS;
	smp->status = 0;
	if (smp->base_version != IB_MGMT_BASE_VERSION || smp->class_version != 1)
		smp->status |= STATUS_UNSUPPORTED_VERSION;
	else
		sma_answer(hca, smp);
	return sma_reply(smp);
}
