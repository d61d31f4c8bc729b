// SPDX-License-Identifier: GPL-2.0-only
/* The subnet management agent of a switch. IBTA Vol 1, 14.2.5. */
#include <rdma/ib_verbs.h>
#include "vib_link.h"
#include "vib_switch_agent.h"

#define DESCRIPTION "vib switch "
#define VENDOR_ID 0x77
#define DEVICE_ID 0x5157

/* MAD status. IBTA Vol 1, 13.4.7. */
#define STATUS_BAD_VERSION 0x0004
#define STATUS_BAD_METHOD 0x0008
#define STATUS_BAD_ATTRIBUTE 0x000c
#define STATUS_BAD_VALUE 0x001c

/* 1x and 4x; 2.5, 5 and 10 Gb/s, at 4x and 10. */
#define WIDTH_SUPPORTED 3
#define WIDTH_ACTIVE 2
#define SPEED_SUPPORTED 7
#define SPEED_ACTIVE 4
#define WIDTH_ALL 0xff
#define SPEED_ALL 0x0f
/* One data lane. */
#define VL0_ONLY 1

#define LIFE_TIME_SHIFT 3
#define PORT_STATE_CHANGE 0x04
#define CLIENT_REREGISTER 0x80
#define SUBNET_TIMEOUT_MASK 0x1f
#define SLEEP 1

/* IBTA Vol 1, 14.2.5.4. */
struct switch_info {
	__be16 linear_cap, random_cap, multicast_cap, linear_top;
	u8 default_ports[3];
	u8 life_time_change;
	__be16 lids_per_port, enforcement_cap;
	u8 capabilities, reserved;
	__be16 multicast_top;
} __packed;

struct request {
	struct ib_smp *smp;
	u32 modifier;
	bool is_set;
	u8 in_port;
};

static u16 node_description(struct vib_switch *sw, const struct request *request)
{
	if (request->is_set)
		return STATUS_BAD_ATTRIBUTE;
	memset(request->smp->data, 0, IB_SMP_DATA_SIZE);
	snprintf((char *)request->smp->data, IB_SMP_DATA_SIZE, DESCRIPTION "%u", sw->unit);
	return 0;
}

static u16 node_info(struct vib_switch *sw, const struct request *request)
{
	struct ib_node_info *info = (struct ib_node_info *)request->smp->data;

	if (request->is_set)
		return STATUS_BAD_ATTRIBUTE;
	memset(request->smp->data, 0, IB_SMP_DATA_SIZE);
	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = 1;
	info->node_type = RDMA_NODE_IB_SWITCH;
	info->num_ports = sw->port_count;
	info->sys_guid = sw->guid;
	info->node_guid = sw->guid;
	info->port_guid = sw->guid;
	info->partition_cap = cpu_to_be16(VIB_PKEYS);
	info->device_id = cpu_to_be16(DEVICE_ID);
	info->revision = cpu_to_be32(1);
	info->local_port_num = request->in_port;
	info->vendor_id[2] = VENDOR_ID;
	return 0;
}

static u16 switch_info(struct vib_switch *sw, const struct request *request)
{
	struct switch_info *info = (struct switch_info *)request->smp->data;

	if (request->is_set) {
		if (be16_to_cpu(info->linear_top) >= VIB_UNICAST_LIDS)
			return STATUS_BAD_VALUE;
		sw->linear_top = be16_to_cpu(info->linear_top);
		memcpy(sw->default_ports, info->default_ports, sizeof(sw->default_ports));
		sw->life_time = info->life_time_change >> LIFE_TIME_SHIFT;
		if (info->life_time_change & PORT_STATE_CHANGE)
			sw->port_state_change = false;
	}
	memset(request->smp->data, 0, IB_SMP_DATA_SIZE);
	info->linear_cap = cpu_to_be16(VIB_UNICAST_LIDS);
	info->multicast_cap = cpu_to_be16(VIB_MULTICAST_LIDS);
	info->linear_top = cpu_to_be16(sw->linear_top);
	memcpy(info->default_ports, sw->default_ports, sizeof(sw->default_ports));
	info->life_time_change = sw->life_time << LIFE_TIME_SHIFT | (sw->port_state_change ? PORT_STATE_CHANGE : 0);
	return 0;
}

/* The only GUID cannot be set. */
static u16 guid_info(struct vib_switch *sw, const struct request *request)
{
	if (request->modifier)
		return STATUS_BAD_VALUE;
	memset(request->smp->data, 0, IB_SMP_DATA_SIZE);
	memcpy(request->smp->data, &sw->guid, sizeof(sw->guid));
	return 0;
}

static void describe_port(const struct vib_switch_port *port, struct ib_port_info *info)
{
	u8 physical = vib_end_is_up(&port->end) ? VIB_LINK_UP : port->end.is_disabled ? VIB_DISABLED : VIB_POLLING;

	info->link_width_enabled = port->width_enabled ?: WIDTH_SUPPORTED;
	info->linkspeed_portstate = SPEED_SUPPORTED << 4 | port->state;
	info->portphysstate_linkdown = physical << 4 | VIB_POLLING;
	info->linkspeedactive_enabled = SPEED_ACTIVE << 4 | (port->speed_enabled ?: SPEED_SUPPORTED);
	info->neighbormtu_mastersmsl = port->neighbor_mtu << 4;
}

static void describe_management(const struct vib_switch *sw, struct ib_port_info *info)
{
	info->mkey = sw->mkey;
	info->gid_prefix = sw->gid_prefix;
	info->lid = cpu_to_be16(sw->lid);
	info->sm_lid = cpu_to_be16(sw->sm_lid);
	info->cap_mask = cpu_to_be32(IB_PORT_TRAP_SUP | IB_PORT_SYS_IMAGE_GUID_SUP);
	info->mkey_lease_period = sw->mkey_lease;
	info->mkeyprot_resv_lmc = sw->mkey_protection << 6;
	info->link_width_enabled = WIDTH_SUPPORTED;
	info->linkspeed_portstate = SPEED_SUPPORTED << 4 | IB_PORT_ACTIVE;
	info->portphysstate_linkdown = VIB_LINK_UP << 4 | VIB_POLLING;
	info->linkspeedactive_enabled = SPEED_ACTIVE << 4 | SPEED_SUPPORTED;
	info->neighbormtu_mastersmsl = sw->mtu_cap << 4 | sw->sm_sl;
	info->guid_cap = 1;
	info->clientrereg_resv_subnetto = sw->subnet_timeout;
}

static void read_port_info(const struct vib_switch *sw, const struct request *request)
{
	struct ib_port_info *info = (struct ib_port_info *)request->smp->data;

	memset(request->smp->data, 0, IB_SMP_DATA_SIZE);
	if (request->modifier == 0)
		describe_management(sw, info);
	else
		describe_port(&sw->ports[request->modifier], info);
	info->local_port_num = request->in_port;
	info->link_width_supported = WIDTH_SUPPORTED;
	info->link_width_active = WIDTH_ACTIVE;
	info->vlcap_inittype = VL0_ONLY << 4;
	info->inittypereply_mtucap = sw->mtu_cap;
	info->operationalvl_pei_peo_fpi_fpo = VL0_ONLY << 4;
	info->resv_resptimevalue = 8;
}

static bool is_unicast(u16 lid)
{
	return lid && lid < VIB_LID_MULTICAST;
}

static u16 set_management(struct vib_switch *sw, const struct ib_port_info *info)
{
	u16 lid = be16_to_cpu(info->lid), sm_lid = be16_to_cpu(info->sm_lid), status = 0;

	sw->mkey = info->mkey;
	sw->mkey_lease = info->mkey_lease_period;
	sw->mkey_protection = info->mkeyprot_resv_lmc >> 6;
	sw->gid_prefix = info->gid_prefix;
	sw->subnet_timeout = info->clientrereg_resv_subnetto & SUBNET_TIMEOUT_MASK;
	if (is_unicast(lid))
		sw->lid = lid;
	else
		status = STATUS_BAD_VALUE;
	if (is_unicast(sm_lid)) {
		sw->sm_lid = sm_lid;
		sw->sm_sl = info->neighbormtu_mastersmsl & 0xf;
	} else {
		status = STATUS_BAD_VALUE;
	}
	return status;
}

/* 0 leaves it, all ones ask for all that is supported. */
static bool set_enabled(u8 *enabled, u8 wanted, u8 all, u8 supported)
{
	if (wanted == all)
		wanted = supported;
	if (wanted & ~supported)
		return false;
	if (wanted)
		*enabled = wanted;
	return true;
}

static bool set_link_values(struct vib_switch_port *port, const struct ib_port_info *info)
{
	u8 mtu = info->neighbormtu_mastersmsl >> 4, lanes = info->operationalvl_pei_peo_fpi_fpo >> 4;
	u8 down_default = info->portphysstate_linkdown & 0xf;
	bool is_good = lanes <= VL0_ONLY && (down_default == 0 || down_default == VIB_POLLING);

	if (mtu >= IB_MTU_256 && mtu <= port->sw->mtu_cap)
		port->neighbor_mtu = mtu;
	else
		is_good = false;
	is_good &= set_enabled(&port->width_enabled, info->link_width_enabled, WIDTH_ALL, WIDTH_SUPPORTED);
	is_good &= set_enabled(&port->speed_enabled, info->linkspeedactive_enabled & 0xf, SPEED_ALL, SPEED_SUPPORTED);
	return is_good;
}

/* Down, by which way. The port goes down at once; the cable a little later. IBTA Vol 1, 7.2.7 and 14.2.5.6. */
static bool set_down(struct vib_switch_port *port, u8 physical)
{
	if (physical != 0 && physical != VIB_POLLING && physical != VIB_DISABLED)
		return false;
	port->state = IB_PORT_DOWN;
	if (physical == VIB_DISABLED) {
		vib_end_set_disabled(&port->end, true);
	} else {
		vib_end_set_disabled(&port->end, false);
		vib_end_retrain(&port->end);
	}
	return true;
}

static bool set_state(struct vib_switch_port *port, u8 state, u8 physical)
{
	if (state == IB_PORT_DOWN || physical != 0)
		return state <= IB_PORT_DOWN && set_down(port, physical);
	switch (state) {
	case IB_PORT_NOP:
		return true;
	case IB_PORT_ARMED:
		if (port->state < IB_PORT_INIT)
			return false;
		port->state = IB_PORT_ARMED;
		return true;
	case IB_PORT_ACTIVE:
		if (port->state < IB_PORT_ARMED)
			return false;
		port->state = IB_PORT_ACTIVE;
		return true;
	default:
		return false;
	}
}

static u16 set_port(struct vib_switch_port *port, const struct ib_port_info *info)
{
	bool is_good = set_link_values(port, info);

	is_good &= set_state(port, info->linkspeed_portstate & 0xf, info->portphysstate_linkdown >> 4);
	return is_good ? 0 : STATUS_BAD_VALUE;
}

static u16 port_info(struct vib_switch *sw, const struct request *request)
{
	struct ib_port_info *info = (struct ib_port_info *)request->smp->data;
	u8 reregister = info->clientrereg_resv_subnetto & CLIENT_REREGISTER;
	u16 status = 0;

	if (request->modifier > sw->port_count)
		return STATUS_BAD_VALUE;
	if (request->is_set)
		status = request->modifier ? set_port(&sw->ports[request->modifier], info) : set_management(sw, info);
	read_port_info(sw, request);
	if (request->is_set && !request->modifier)
		info->clientrereg_resv_subnetto |= reregister;
	return status;
}

/* Of port 0 only: the others enforce no partitions. The modifier is port and block. */
static u16 pkey_table(struct vib_switch *sw, const struct request *request)
{
	static_assert(sizeof(sw->pkeys) == IB_SMP_DATA_SIZE);
	if (request->modifier)
		return STATUS_BAD_VALUE;
	if (request->is_set)
		memcpy(sw->pkeys, request->smp->data, sizeof(sw->pkeys));
	else
		memcpy(request->smp->data, sw->pkeys, sizeof(sw->pkeys));
	return 0;
}

/* By input and output port. All goes over VL 0, whatever is set. */
static u16 sl_to_vl(struct vib_switch *sw, const struct request *request)
{
	if (request->modifier >> 16 || (request->modifier >> 8) > sw->port_count ||
	    (request->modifier & 0xff) > sw->port_count)
		return STATUS_BAD_VALUE;
	memset(request->smp->data, 0, IB_SMP_DATA_SIZE);
	return 0;
}

/* Four blocks of each port. One lane needs no arbitration. */
static u16 vl_arbitration(struct vib_switch *sw, const struct request *request)
{
	u32 block = request->modifier >> 16;

	if (block < 1 || block > 4 || (request->modifier & 0xffff) > sw->port_count)
		return STATUS_BAD_VALUE;
	memset(request->smp->data, 0, IB_SMP_DATA_SIZE);
	return 0;
}

static u16 linear_table(struct vib_switch *sw, const struct request *request)
{
	u8 *block;

	if (request->modifier >= VIB_UNICAST_LIDS / VIB_LINEAR_BLOCK)
		return STATUS_BAD_VALUE;
	block = sw->linear + request->modifier * VIB_LINEAR_BLOCK;
	if (request->is_set)
		memcpy(block, request->smp->data, VIB_LINEAR_BLOCK);
	else
		memcpy(request->smp->data, block, VIB_LINEAR_BLOCK);
	return 0;
}

/* The modifier is the position of the ports and the block of the MLIDs. */
static u16 multicast_table(struct vib_switch *sw, const struct request *request)
{
	u32 position = request->modifier >> 28, block = request->modifier & 0x1ff;
	u8 *data = request->smp->data;
	u16 *masks;
	int i;

	if (block >= VIB_MULTICAST_LIDS / VIB_MULTICAST_BLOCK || position >= vib_switch_positions(sw))
		return STATUS_BAD_VALUE;
	masks = sw->multicast + position * VIB_MULTICAST_LIDS + block * VIB_MULTICAST_BLOCK;
	for (i = 0; i < VIB_MULTICAST_BLOCK; i++) {
		if (request->is_set)
			masks[i] = vib_get16(data + 2 * i);
		else
			vib_put16(masks[i], data + 2 * i);
	}
	return 0;
}

static u16 attribute(struct vib_switch *sw, const struct request *request)
{
	switch (request->smp->attr_id) {
	case IB_SMP_ATTR_NODE_DESC:
		return node_description(sw, request);
	case IB_SMP_ATTR_NODE_INFO:
		return node_info(sw, request);
	case IB_SMP_ATTR_SWITCH_INFO:
		return switch_info(sw, request);
	case IB_SMP_ATTR_GUID_INFO:
		return guid_info(sw, request);
	case IB_SMP_ATTR_PORT_INFO:
		return port_info(sw, request);
	case IB_SMP_ATTR_PKEY_TABLE:
		return pkey_table(sw, request);
	case IB_SMP_ATTR_SL_TO_VL_TABLE:
		return sl_to_vl(sw, request);
	case IB_SMP_ATTR_VL_ARB_TABLE:
		return vl_arbitration(sw, request);
	case IB_SMP_ATTR_LINEAR_FORWARD_TABLE:
		return linear_table(sw, request);
	case IB_SMP_ATTR_MCAST_FORWARD_TABLE:
		return multicast_table(sw, request);
	default:
		return STATUS_BAD_ATTRIBUTE;
	}
}

bool vib_switch_answer(struct vib_switch *sw, struct ib_smp *smp, u8 in_port)
{
	struct request request = {
		.smp = smp,
		.modifier = be32_to_cpu(smp->attr_mod),
		.is_set = smp->method == IB_MGMT_METHOD_SET,
		.in_port = in_port,
	};
	u16 status;

	if (smp->method == IB_MGMT_METHOD_TRAP_REPRESS) {
		vib_trap_repress(&sw->trap, smp->tid);
		return false;
	}
	if (smp->method & IB_MGMT_METHOD_RESP || smp->method == IB_MGMT_METHOD_TRAP)
		return false;
	if (smp->base_version != IB_MGMT_BASE_VERSION || smp->class_version != 1)
		status = STATUS_BAD_VERSION;
	else if (!request.is_set && smp->method != IB_MGMT_METHOD_GET)
		status = STATUS_BAD_METHOD;
	else
		status = attribute(sw, &request);
	smp->method = IB_MGMT_METHOD_GET_RESP;
	smp->status = cpu_to_be16(status);
	return true;
}
