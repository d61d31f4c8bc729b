// SPDX-License-Identifier: GPL-2.0-only
/* Forwarding. IBTA Vol 1, 18.2.4. */
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include "vib_directed_route.h"
#include "vib_drop.h"
#include "vib_fabric.h"
#include "vib_queue.h"
#include "vib_switch.h"
#include "vib_switch_agent.h"

#define SMP_FRAME_SIZE (VIB_LRH_SIZE + VIB_BTH_SIZE + VIB_DETH_SIZE + IB_MGMT_MAD_SIZE + VIB_CRC_SIZE)
#define UD_SEND_ONLY 0x64
#define TRAP_LINK_STATE 128
#define NOTICE_URGENT 1
#define PRODUCER_SWITCH 2

static struct vib_switch_port *external(struct vib_switch *sw, unsigned int port)
{
	return port >= 1 && port <= sw->port_count ? &sw->ports[port] : NULL;
}

static u8 route(const struct vib_switch *sw, u16 dlid)
{
	return dlid < VIB_UNICAST_LIDS && dlid <= sw->linear_top ? sw->linear[dlid] : VIB_NO_PORT;
}

/* Data needs an active port, and a frame that the neighbour can take. */
static bool may_leave(const struct vib_switch_port *port, const struct vib_frame *head, enum vib_drop_reason *why)
{
	if (port->state != IB_PORT_ACTIVE) {
		*why = VIB_DROP_PORT_STATE;
		return false;
	}
	if (vib_frame_payload(head) > ib_mtu_enum_to_int(port->neighbor_mtu)) {
		*why = VIB_DROP_MTU;
		return false;
	}
	return true;
}

static void forward_unicast(struct vib_switch *sw, u8 in_port, struct sk_buff *skb)
{
	const struct vib_frame *head = &vib_cb(skb)->head;
	u8 out_port = route(sw, head->dlid);
	struct vib_switch_port *port = external(sw, out_port);
	enum vib_drop_reason why = VIB_DROP_NO_ROUTE;

	if (head->dlid == sw->lid || out_port == 0)
		vib_drop(skb, VIB_DROP_NO_QP);	/* there is a QP 0 only */
	/* Wrong tables would send it to and fro for ever. */
	else if (!port || out_port == in_port || !may_leave(port, head, &why))
		vib_drop(skb, why);
	else
		vib_send(&port->end, skb, NULL);
}

static bool is_member(const struct vib_switch *sw, unsigned int mlid, unsigned int port)
{
	const u16 *masks = sw->multicast + port / VIB_POSITION_PORTS * VIB_MULTICAST_LIDS;

	return masks[mlid] >> port % VIB_POSITION_PORTS & 1;
}

static void forward_copy(struct vib_switch_port *port, struct sk_buff *skb)
{
	enum vib_drop_reason why;
	struct sk_buff *copy;

	if (!may_leave(port, &vib_cb(skb)->head, &why)) {
		vib_count_drop(why);
		return;
	}
	copy = skb_clone(skb, GFP_KERNEL);
	if (copy)
		vib_send(&port->end, copy, NULL);
	else
		vib_count_drop(VIB_DROP_MEMORY);
}

static void forward_multicast(struct vib_switch *sw, u8 in_port, struct sk_buff *skb)
{
	unsigned int mlid = vib_cb(skb)->head.dlid - VIB_LID_MULTICAST, members = 0, port;

	if (mlid < VIB_MULTICAST_LIDS)
		for (port = 1; port <= sw->port_count; port++) {
			if (!is_member(sw, mlid, port))
				continue;
			members++;
			if (port != in_port)
				forward_copy(&sw->ports[port], skb);
		}
	if (members)
		consume_skb(skb);
	else
		vib_drop(skb, VIB_DROP_NO_GROUP);
}

/* Management needs a link, not an active port, and may leave by the port that it came in. */
static void send_management(struct vib_switch *sw, unsigned int out_port, struct sk_buff *skb, bool is_own)
{
	struct vib_switch_port *port = external(sw, out_port);

	if (!port)
		vib_drop(skb, VIB_DROP_NO_ROUTE);
	else if (is_own)
		vib_send_own(&port->end, skb);
	else
		vib_send(&port->end, skb, NULL);
}

static struct ib_smp *smp_of(struct sk_buff *skb)
{
	return (struct ib_smp *)(skb->data + SMP_FRAME_SIZE - VIB_CRC_SIZE - IB_MGMT_MAD_SIZE);
}

static bool is_smp(const struct sk_buff *skb)
{
	const struct vib_frame *head = &vib_cb(skb)->head;

	return skb->len == SMP_FRAME_SIZE && !head->has_grh && head->opcode == UD_SEND_ONLY && head->pad == 0 &&
	       head->dest_qp == 0;
}

/* The worker seals it anew: the hop pointer is under the ICRC. */
static void address(struct sk_buff *skb, u16 dlid, u16 slid)
{
	vib_put16(dlid, skb->data + 2);
	vib_put16(slid, skb->data + 6);
	memset(skb->data + skb->len - VIB_CRC_SIZE, 0, VIB_CRC_SIZE);
	skb->ip_summed = CHECKSUM_NONE;
}

static void send_hop(struct vib_switch *sw, struct vib_hop hop, struct sk_buff *skb, bool is_own)
{
	if (hop.to == VIB_HOP_PORT) {
		address(skb, VIB_LID_PERMISSIVE, VIB_LID_PERMISSIVE);
		send_management(sw, hop.port, skb, is_own);
	} else if (hop.to == VIB_HOP_LID) {
		address(skb, hop.lid, sw->lid);
		send_management(sw, route(sw, hop.lid), skb, is_own);
	} else {
		vib_drop(skb, VIB_DROP_SMP);
	}
}

static void answer_directed(struct vib_switch *sw, u8 in_port, struct sk_buff *skb)
{
	struct ib_smp *smp = smp_of(skb);

	if (ib_get_smp_direction(smp) || !vib_switch_answer(sw, smp, in_port)) {
		vib_drop(skb, VIB_DROP_SMP);
		return;
	}
	smp->status |= IB_SMP_DIRECTION;
	send_hop(sw, vib_take_hop((u8 *)smp, in_port, sw->port_count), skb, true);
}

static void answer_by_lid(struct vib_switch *sw, u8 in_port, struct sk_buff *skb)
{
	u16 slid = vib_cb(skb)->head.slid, dlid = vib_cb(skb)->head.dlid;

	if (!vib_switch_answer(sw, smp_of(skb), in_port)) {
		consume_skb(skb);
		return;
	}
	address(skb, slid, dlid);
	/* Its sender may have no LID yet, or none that the tables know. */
	send_management(sw, in_port, skb, true);
}

static void take_smp(struct vib_switch *sw, u8 in_port, struct sk_buff *skb)
{
	struct vib_hop hop;

	if (!is_smp(skb)) {
		vib_drop(skb, VIB_DROP_SMP);
		return;
	}
	skb = skb_unshare(skb, GFP_KERNEL);
	if (!skb) {
		vib_count_drop(VIB_DROP_MEMORY);
		return;
	}
	if (smp_of(skb)->mgmt_class == IB_MGMT_CLASS_SUBN_LID_ROUTED) {
		answer_by_lid(sw, in_port, skb);
		return;
	}
	if (smp_of(skb)->mgmt_class != IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE) {
		vib_drop(skb, VIB_DROP_SMP);
		return;
	}
	hop = vib_take_hop((u8 *)smp_of(skb), in_port, sw->port_count);
	if (hop.to == VIB_HOP_MANAGEMENT)
		answer_directed(sw, in_port, skb);
	else
		send_hop(sw, hop, skb, false);
}

static void take_management(struct vib_switch *sw, u8 in_port, struct sk_buff *skb)
{
	u16 dlid = vib_cb(skb)->head.dlid;
	u8 out_port = route(sw, dlid);

	if (dlid == VIB_LID_PERMISSIVE || (dlid && dlid == sw->lid))
		take_smp(sw, in_port, skb);
	else
		send_management(sw, out_port == in_port ? VIB_NO_PORT : out_port, skb, false);
}

static void receive(struct vib_end *end, struct sk_buff *skb)
{
	struct vib_switch_port *port = container_of(end, struct vib_switch_port, end);
	const struct vib_frame *head = &vib_cb(skb)->head;

	if (head->vl == VIB_VL_MANAGEMENT) {
		take_management(port->sw, port->number, skb);
		return;
	}
	/* The first data makes an armed port active: its neighbour is already. IBTA Vol 1, 7.2.7. */
	if (port->state == IB_PORT_ARMED)
		port->state = IB_PORT_ACTIVE;
	if (port->state != IB_PORT_ACTIVE)
		vib_drop(skb, VIB_DROP_PORT_STATE);
	else if (head->dlid < VIB_LID_MULTICAST || head->dlid == VIB_LID_PERMISSIVE)
		forward_unicast(port->sw, port->number, skb);
	else
		forward_multicast(port->sw, port->number, skb);
}

static void link_changed(struct vib_end *end, bool is_up)
{
	struct vib_switch_port *port = container_of(end, struct vib_switch_port, end);
	struct vib_switch *sw = port->sw;
	struct vib_notice notice = {
		.type = NOTICE_URGENT,
		.producer = PRODUCER_SWITCH,
		.number = TRAP_LINK_STATE,
	};

	port->state = is_up ? IB_PORT_INIT : IB_PORT_DOWN;
	sw->port_state_change = true;
	vib_put16(sw->lid, notice.details);
	vib_trap_raise(&sw->trap, &notice);
}

static const struct vib_end_ops port_ops = {
	.receive = receive,
	.link = link_changed,
};

static void trap_route(struct vib_end *end, u16 *lid, u16 *sm_lid, u8 *sm_sl, __be64 *mkey)
{
	const struct vib_switch *sw = container_of(end, struct vib_switch, management);

	*lid = sw->lid;
	*sm_lid = sw->sm_lid;
	*sm_sl = sw->sm_sl;
	*mkey = sw->mkey;
}

static void trap_send(struct vib_end *end, struct sk_buff *skb)
{
	struct vib_switch *sw = container_of(end, struct vib_switch, management);

	send_management(sw, route(sw, sw->sm_lid), skb, true);
}

static void init_port(struct vib_switch *sw, u8 number)
{
	struct vib_switch_port *port = &sw->ports[number];

	port->sw = sw;
	port->number = number;
	port->state = IB_PORT_DOWN;
	port->neighbor_mtu = sw->mtu_cap;
	port->end.ops = &port_ops;
	port->end.is_present = true;
	snprintf(port->end.name, sizeof(port->end.name), "sw%u.%u", sw->unit, number);
}

struct vib_switch *vib_switch_create(unsigned int unit, u64 guid, unsigned int ports, u8 mtu)
{
	struct vib_switch *sw;
	unsigned int i;

	if (ports < 1 || ports > VIB_SWITCH_PORTS)
		return ERR_PTR(-EINVAL);
	sw = kvzalloc(struct_size(sw, ports, ports + 1), GFP_KERNEL);
	if (!sw)
		return ERR_PTR(-ENOMEM);
	sw->unit = unit;
	sw->port_count = ports;
	sw->guid = cpu_to_be64(guid);
	sw->mtu_cap = mtu;
	sw->gid_prefix = cpu_to_be64(0xfe80000000000000ULL);
	sw->pkeys[0] = cpu_to_be16(0xffff);
	memset(sw->default_ports, VIB_NO_PORT, sizeof(sw->default_ports));
	sw->linear = kvmalloc(VIB_UNICAST_LIDS, GFP_KERNEL);
	sw->multicast = kvcalloc(vib_switch_positions(sw) * VIB_MULTICAST_LIDS, sizeof(u16), GFP_KERNEL);
	if (!sw->linear || !sw->multicast) {
		vib_switch_destroy(sw);
		return ERR_PTR(-ENOMEM);
	}
	memset(sw->linear, VIB_NO_PORT, VIB_UNICAST_LIDS);
	vib_trap_init(&sw->trap, &sw->management, trap_route);
	sw->trap.send = trap_send;
	for (i = 1; i <= ports; i++)
		init_port(sw, i);
	return sw;
}

struct vib_end *vib_switch_end(struct vib_switch *sw, unsigned int port)
{
	return &sw->ports[port].end;
}

void vib_switch_destroy(struct vib_switch *sw)
{
	if (sw->trap.route) {
		vib_trap_cancel(&sw->trap);
		/* What it had sent last names one of the ports. */
		vib_flush();
	}
	kvfree(sw->linear);
	kvfree(sw->multicast);
	kvfree(sw);
}
