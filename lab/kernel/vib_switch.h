/* SPDX-License-Identifier: GPL-2.0-only */
/* A switch: forwarding tables, port states, and the subnet management agent that lets a manager set them. */
#ifndef VIB_SWITCH_H
#define VIB_SWITCH_H

#include "vib_end.h"

struct vib_switch;

/* ports: 1 to 254. ERR_PTR on failure. */
struct vib_switch *vib_switch_create(unsigned int unit, u64 guid, unsigned int ports, u8 mtu);
/* An external port, from 1, for vib_connect(). Present from the beginning. */
struct vib_end *vib_switch_end(struct vib_switch *sw, unsigned int port);
/* After its cables are disconnected. */
void vib_switch_destroy(struct vib_switch *sw);

#endif
