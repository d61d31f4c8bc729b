/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * IPoIB's data path by the adapter's own driver (rdma_netdev), as ConnectX-4 and newer have it: ib_ipoib keeps the control
 * path, which is joins, paths, addresses and P_Keys, and datagrams go by the adapter's queue pair. There is no connected mode.
 */
#ifndef VIB_NETDEV_H
#define VIB_NETDEV_H

#include <rdma/ib_verbs.h>

/* What ib_ipoib asks an adapter for before it makes an interface. -EOPNOTSUPP: the data path is to be ib_ipoib's. */
int vib_netdev_get_params(struct ib_device *device, u32 port, enum rdma_netdev_t type,
			  struct rdma_netdev_alloc_params *params);

#endif
