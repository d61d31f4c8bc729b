/* SPDX-License-Identifier: GPL-2.0-only */
/* The inside of a switch, between its forwarding and its agent. All of it is the fabric worker's: no locks. */
#ifndef VIB_SWITCH_STATE_H
#define VIB_SWITCH_STATE_H

#include "vib_end.h"
#include "vib_trap.h"

#define VIB_SWITCH_PORTS 254
#define VIB_UNICAST_LIDS 0xc000
#define VIB_MULTICAST_LIDS 1024
#define VIB_NO_PORT 0xff
/* Entries of one block of the tables, and ports of one position. IBTA Vol 1, 14.2.5.10 to 12. */
#define VIB_LINEAR_BLOCK 64
#define VIB_MULTICAST_BLOCK 32
#define VIB_POSITION_PORTS 16
#define VIB_PKEYS 32

enum vib_physical_state {
	VIB_POLLING = 2,
	VIB_DISABLED = 3,
	VIB_LINK_UP = 5,
};

struct vib_switch_port {
	struct vib_end end;
	struct vib_switch *sw;
	u8 number;
	u8 state;		/* enum ib_port_state */
	u8 neighbor_mtu;	/* as code */
	u8 width_enabled, speed_enabled;
};

struct vib_switch {
	struct vib_end management;	/* port 0; no cable, for the trap */
	struct vib_trap trap;
	unsigned int unit, port_count;
	__be64 guid;
	u8 mtu_cap;

	/* PortInfo of port 0 */
	u16 lid, sm_lid;
	u8 sm_sl, subnet_timeout, mkey_protection;
	__be16 mkey_lease;
	__be64 mkey, gid_prefix;
	__be16 pkeys[VIB_PKEYS];

	/* SwitchInfo */
	u16 linear_top;
	u8 default_ports[3];
	u8 life_time;
	bool port_state_change;

	u8 *linear;			/* VIB_UNICAST_LIDS ports */
	u16 *multicast;			/* by position, then by MLID */
	struct vib_switch_port ports[];	/* from 1; port 0 is not used */
};

static inline unsigned int vib_switch_positions(const struct vib_switch *sw)
{
	return sw->port_count / VIB_POSITION_PORTS + 1;
}

#endif
