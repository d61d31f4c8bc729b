/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a switch sends a directed-route SMP next. IBTA Vol 1, 14.2.2. Pure. */
#ifndef VIB_DIRECTED_ROUTE_H
#define VIB_DIRECTED_ROUTE_H

#include "vib_types.h"

enum vib_hop_to {
	VIB_HOP_NOWHERE,	/* hop pointer, hop count or path are wrong: discarded */
	VIB_HOP_PORT,
	VIB_HOP_LID,		/* its directed part is over: by the forwarding table */
	VIB_HOP_MANAGEMENT,	/* this switch is where it goes */
};

struct vib_hop {
	enum vib_hop_to to;
	u8 port;
	u16 lid;
};

/*
 * Takes an SMP of class 0x81, 256 octets, one hop further at a switch with this many ports: it came in at in_port, or
 * is the switch's own answer. Updates hop pointer and return path.
 */
struct vib_hop vib_take_hop(u8 *mad, u8 in_port, unsigned int ports);

#endif
