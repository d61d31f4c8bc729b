/* SPDX-License-Identifier: GPL-2.0-only */
/* A channel adapter with one port, on the kernel's rdmavt library, as the rest of the module sees it. */
#ifndef VIB_HCA_H
#define VIB_HCA_H

#include "vib_end.h"

struct vib_hca;

struct vib_hca_config {
	unsigned int unit;	/* "vib<unit>" */
	u64 node_guid, port_guid;
	u8 mtu;			/* MTUCap, as code: 4 is 2048 */
	bool is_enhanced;	/* IPoIB's datagrams go by the adapter's own driver */
	bool blocks_loopback;	/* then: multicast comes to nobody on the port that has sent it */
};

/* Makes an adapter, not yet known to the kernel. ERR_PTR on failure. */
struct vib_hca *vib_hca_create(const struct vib_hca_config *config);
/* Its port, to be connected before it is registered. Named "hca<unit>". */
struct vib_end *vib_hca_end(struct vib_hca *hca);
/* Shows it to the kernel: ib_mad, ib_umad, ib_uverbs and ib_ipoib bind to it. Its end is present from here on. */
int vib_hca_register(struct vib_hca *hca);
/* Takes it away again; safe under traffic. Its cable is to be disconnected afterwards, by the caller. */
void vib_hca_unregister(struct vib_hca *hca);
void vib_hca_destroy(struct vib_hca *hca);

#endif
