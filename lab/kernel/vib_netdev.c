// SPDX-License-Identifier: GPL-2.0-only
/* An interface's queue pair, its rings and what comes out of them. include/rdma/ib_verbs.h, struct rdma_netdev. */
#include <linux/delay.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>
#include "vib_hca_state.h"
#include "vib_netdev.h"

#define SENDS 512
#define RECEIVES 256
#define ADDRESS_OCTETS 20	/* link-layer address: flags, QPN, GID (RFC 4391, 9.1.1) */
#define GID_IN_ADDRESS 4
#define ENCAP_OCTETS 4
#define GRH_OCTETS 40
#define BUFFER_OCTETS (GRH_OCTETS + 4096)
#define PATIENCE (5 * HZ)

struct vib_netdev;

struct vib_buffer {
	struct ib_cqe cqe;
	struct vib_netdev *of;
	struct sk_buff *skb;
	u64 mapping;
};

struct vib_netdev {
	struct rdma_netdev rn;	/* first: ib_ipoib finds it there */
	struct net_device *dev;
	struct vib_hca *hca;
	struct ib_pd *pd;
	struct ib_cq *send_cq, *receive_cq;
	struct ib_qp *qp;
	u32 qkey;
	u16 pkey_index;
	struct vib_buffer *sends, *receives;
	u32 sent, completed;	/* of sends, counted on: the senders' lock, and the completions' */
	atomic_t posted;	/* of receives */
};

static struct vib_netdev *vib_netdev_of(struct net_device *dev)
{
	return netdev_priv(dev);
}

/* ib_ipoib keeps 20 octets in front of each packet, as if the destination's address stood there. */
static void push_address(struct sk_buff *skb)
{
	memset(skb_push(skb, ADDRESS_OCTETS), 0, ADDRESS_OCTETS);
	skb_reset_mac_header(skb);
	skb_pull(skb, ADDRESS_OCTETS + ENCAP_OCTETS);
}

static bool comes_from_itself(const struct vib_netdev *nd, const struct ib_wc *wc, const struct ib_grh *grh)
{
	return wc->src_qp == nd->qp->qp_num &&
	       !memcmp(nd->dev->dev_addr + GID_IN_ADDRESS, &grh->sgid, sizeof(grh->sgid));
}

/*
 * Adapters that block the loopback of multicast keep it from every queue pair that has sent by the same port, so that an
 * interface and its children do not hear each other.
 */
static bool is_blocked(const struct vib_netdev *nd, const struct ib_wc *wc)
{
	return nd->hca->blocks_loopback && vib_lid_is_mine(nd->hca, wc->slid);
}

static void deliver(struct vib_netdev *nd, struct sk_buff *skb, const struct ib_wc *wc)
{
	const struct ib_grh *grh = (struct ib_grh *)skb->data;
	bool is_multicast = (wc->wc_flags & IB_WC_GRH) && grh->dgid.raw[0] == 0xff;
	struct net_device *dev = nd->dev;

	if (is_multicast && (comes_from_itself(nd, wc, grh) || is_blocked(nd, wc))) {
		dev_kfree_skb_any(skb);
		return;
	}
	if (wc->byte_len < GRH_OCTETS + ENCAP_OCTETS) {
		dev->stats.rx_errors++;
		dev_kfree_skb_any(skb);
		return;
	}
	if (!is_multicast)
		skb->pkt_type = PACKET_HOST;
	else if (!memcmp(&grh->dgid, dev->broadcast + GID_IN_ADDRESS, sizeof(grh->dgid)))
		skb->pkt_type = PACKET_BROADCAST;
	else
		skb->pkt_type = PACKET_MULTICAST;
	skb_put(skb, wc->byte_len);
	skb_pull(skb, GRH_OCTETS);
	skb->protocol = *(__be16 *)skb->data;
	push_address(skb);
	skb->dev = dev;
	dev->stats.rx_packets++;
	dev->stats.rx_bytes += skb->len;
	if (skb->pkt_type == PACKET_MULTICAST)
		dev->stats.multicast++;
	netif_receive_skb(skb);
}

static void unmap(struct vib_netdev *nd, struct vib_buffer *buffer, enum dma_data_direction direction, size_t octets)
{
	ib_dma_unmap_single(&nd->hca->rdi.ibdev, buffer->mapping, octets, direction);
}

static struct sk_buff *fresh_buffer(struct vib_netdev *nd, u64 *mapping)
{
	struct sk_buff *skb = dev_alloc_skb(ADDRESS_OCTETS + BUFFER_OCTETS);

	if (!skb)
		return NULL;
	skb_reserve(skb, ADDRESS_OCTETS);
	*mapping = ib_dma_map_single(&nd->hca->rdi.ibdev, skb->data, BUFFER_OCTETS, DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(&nd->hca->rdi.ibdev, *mapping)) {
		dev_kfree_skb_any(skb);
		return NULL;
	}
	return skb;
}

static int post_receive(struct vib_netdev *nd, struct vib_buffer *buffer)
{
	struct ib_sge piece = { .addr = buffer->mapping, .length = BUFFER_OCTETS, .lkey = nd->pd->local_dma_lkey };
	struct ib_recv_wr request = { .wr_cqe = &buffer->cqe, .sg_list = &piece, .num_sge = 1 };
	int error;

	atomic_inc(&nd->posted);
	error = ib_post_recv(nd->qp, &request, NULL);
	if (error) {
		atomic_dec(&nd->posted);
		unmap(nd, buffer, DMA_FROM_DEVICE, BUFFER_OCTETS);
		dev_kfree_skb_any(buffer->skb);
		buffer->skb = NULL;
	}
	return error;
}

static void received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct vib_buffer *buffer = container_of(wc->wr_cqe, struct vib_buffer, cqe);
	struct vib_netdev *nd = buffer->of;
	struct sk_buff *full = buffer->skb, *fresh = NULL;
	u64 mapping;

	atomic_dec(&nd->posted);
	if (wc->status == IB_WC_WR_FLUSH_ERR) {
		unmap(nd, buffer, DMA_FROM_DEVICE, BUFFER_OCTETS);
		dev_kfree_skb_any(full);
		buffer->skb = NULL;
		return;
	}
	if (wc->status == IB_WC_SUCCESS)
		fresh = fresh_buffer(nd, &mapping);
	if (fresh) {
		unmap(nd, buffer, DMA_FROM_DEVICE, BUFFER_OCTETS);
		buffer->skb = fresh;
		buffer->mapping = mapping;
		deliver(nd, full, wc);
	} else {
		nd->dev->stats.rx_dropped++;
	}
	post_receive(nd, buffer);
}

static void sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct vib_buffer *buffer = container_of(wc->wr_cqe, struct vib_buffer, cqe);
	struct vib_netdev *nd = buffer->of;
	struct net_device *dev = nd->dev;

	unmap(nd, buffer, DMA_TO_DEVICE, buffer->skb->len);
	if (wc->status == IB_WC_SUCCESS) {
		dev->stats.tx_packets++;
		dev->stats.tx_bytes += buffer->skb->len;
	}
	dev_consume_skb_any(buffer->skb);
	buffer->skb = NULL;
	/* Whoever sees the room sees the entry empty. */
	smp_store_release(&nd->completed, nd->completed + 1);
	if (netif_queue_stopped(dev) && wc->status == IB_WC_SUCCESS)
		netif_wake_queue(dev);
}

static bool is_full(const struct vib_netdev *nd)
{
	return nd->sent - smp_load_acquire(&nd->completed) == SENDS;
}

static int lose(struct net_device *dev, struct sk_buff *skb)
{
	dev->stats.tx_errors++;
	dev->stats.tx_dropped++;
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

/*
 * Addresses are ib_ipoib's, of its protection domain, which such adapters do not ask for and rdmavt does. Both domains are the
 * kernel's: nothing else differs.
 */
static int post_send(struct vib_netdev *nd, struct ib_ud_wr *request)
{
	int error;

	nd->qp->pd = request->ah->pd;
	error = ib_post_send(nd->qp, &request->wr, NULL);
	nd->qp->pd = nd->pd;
	return error;
}

/* Under the queue's lock. The address may go as soon as this has returned: rdmavt has copied it. */
static int vib_netdev_send(struct net_device *dev, struct sk_buff *skb, struct ib_ah *address, u32 dqpn)
{
	struct vib_netdev *nd = vib_netdev_of(dev);
	struct vib_buffer *buffer = &nd->sends[nd->sent % SENDS];
	struct ib_sge piece = { .lkey = nd->pd->local_dma_lkey };
	struct ib_ud_wr request = {
		.wr = { .wr_cqe = &buffer->cqe, .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED,
			.sg_list = &piece, .num_sge = 1 },
		.ah = address,
		.remote_qpn = dqpn,
		.remote_qkey = nd->qkey,
	};

	if (skb->len > nd->rn.mtu + ENCAP_OCTETS || is_full(nd) || skb_linearize(skb))
		return lose(dev, skb);
	buffer->mapping = ib_dma_map_single(&nd->hca->rdi.ibdev, skb->data, skb->len, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(&nd->hca->rdi.ibdev, buffer->mapping))
		return lose(dev, skb);
	piece.addr = buffer->mapping;
	piece.length = skb->len;
	skb_orphan(skb);
	skb_dst_drop(skb);
	buffer->skb = skb;
	nd->sent++;
	if (post_send(nd, &request)) {
		nd->sent--;
		buffer->skb = NULL;
		unmap(nd, buffer, DMA_TO_DEVICE, skb->len);
		return lose(dev, skb);
	}
	netif_trans_update(dev);
	if (is_full(nd)) {
		netif_stop_queue(dev);
		smp_mb__after_atomic();
		if (!is_full(nd))
			netif_wake_queue(dev);
	}
	return NETDEV_TX_OK;
}

static int vib_netdev_attach(struct net_device *dev, struct ib_device *device, union ib_gid *mgid, u16 mlid, int set_qkey,
			     u32 qkey)
{
	struct vib_netdev *nd = vib_netdev_of(dev);
	struct ib_qp_attr attributes = { .qkey = qkey };
	int error;

	if (set_qkey) {
		error = ib_modify_qp(nd->qp, &attributes, IB_QP_QKEY);
		if (error)
			return error;
		nd->qkey = qkey;
	}
	return ib_attach_mcast(nd->qp, mgid, mlid);
}

static int vib_netdev_detach(struct net_device *dev, struct ib_device *device, union ib_gid *mgid, u16 mlid)
{
	return ib_detach_mcast(vib_netdev_of(dev)->qp, mgid, mlid);
}

/* Used when the interface is opened, which follows every change of it. */
static void vib_netdev_set_id(struct net_device *dev, int pkey_index)
{
	vib_netdev_of(dev)->pkey_index = pkey_index;
}

static int to_state(struct vib_netdev *nd, enum ib_qp_state state)
{
	struct ib_qp_attr attributes = { .qp_state = state };

	return ib_modify_qp(nd->qp, &attributes, IB_QP_STATE);
}

static int start_queue_pair(struct vib_netdev *nd)
{
	struct ib_qp_attr attributes = {
		.qp_state = IB_QPS_INIT,
		.qkey = nd->qkey,
		.port_num = 1,
		.pkey_index = nd->pkey_index,
	};
	int error = ib_modify_qp(nd->qp, &attributes, IB_QP_STATE | IB_QP_QKEY | IB_QP_PORT | IB_QP_PKEY_INDEX);

	if (!error)
		error = to_state(nd, IB_QPS_RTR);
	if (error)
		return error;
	attributes.qp_state = IB_QPS_RTS;
	attributes.sq_psn = 0;
	return ib_modify_qp(nd->qp, &attributes, IB_QP_STATE | IB_QP_SQ_PSN);
}

/* All that was posted comes back. */
static void stop_queue_pair(struct vib_netdev *nd)
{
	unsigned long end = jiffies + PATIENCE;

	to_state(nd, IB_QPS_ERR);
	while ((nd->sent != smp_load_acquire(&nd->completed) || atomic_read(&nd->posted)) && time_before(jiffies, end))
		usleep_range(1000, 2000);
	WARN_ON(nd->sent != nd->completed || atomic_read(&nd->posted));
	to_state(nd, IB_QPS_RESET);
}

static int vib_netdev_open(struct net_device *dev)
{
	struct vib_netdev *nd = vib_netdev_of(dev);
	unsigned int i;
	int error = start_queue_pair(nd);

	for (i = 0; i < RECEIVES && !error; i++) {
		struct vib_buffer *buffer = &nd->receives[i];

		buffer->skb = fresh_buffer(nd, &buffer->mapping);
		error = buffer->skb ? post_receive(nd, buffer) : -ENOMEM;
	}
	if (error)
		stop_queue_pair(nd);
	return error;
}

static int vib_netdev_stop(struct net_device *dev)
{
	stop_queue_pair(vib_netdev_of(dev));
	return 0;
}

static struct vib_buffer *create_ring(struct vib_netdev *nd, unsigned int count, void (*done)(struct ib_cq *, struct ib_wc *))
{
	struct vib_buffer *ring = kvcalloc(count, sizeof(*ring), GFP_KERNEL);
	unsigned int i;

	for (i = 0; ring && i < count; i++) {
		ring[i].cqe.done = done;
		ring[i].of = nd;
	}
	return ring;
}

static int create_queues(struct vib_netdev *nd)
{
	struct ib_device *device = &nd->hca->rdi.ibdev;
	struct ib_qp_init_attr wanted = {
		.cap = { .max_send_wr = SENDS, .max_recv_wr = RECEIVES, .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.qp_type = IB_QPT_UD,
	};

	nd->pd = ib_alloc_pd(device, 0);
	if (IS_ERR(nd->pd))
		return PTR_ERR(nd->pd);
	nd->send_cq = ib_alloc_cq(device, nd, SENDS, 0, IB_POLL_SOFTIRQ);
	if (IS_ERR(nd->send_cq))
		return PTR_ERR(nd->send_cq);
	nd->receive_cq = ib_alloc_cq(device, nd, RECEIVES, 0, IB_POLL_SOFTIRQ);
	if (IS_ERR(nd->receive_cq))
		return PTR_ERR(nd->receive_cq);
	wanted.send_cq = nd->send_cq;
	wanted.recv_cq = nd->receive_cq;
	nd->qp = ib_create_qp(nd->pd, &wanted);
	return PTR_ERR_OR_ZERO(nd->qp);
}

static void vib_netdev_uninit(struct net_device *dev)
{
	struct vib_netdev *nd = vib_netdev_of(dev);

	if (!IS_ERR_OR_NULL(nd->qp))
		ib_destroy_qp(nd->qp);
	if (!IS_ERR_OR_NULL(nd->receive_cq))
		ib_free_cq(nd->receive_cq);
	if (!IS_ERR_OR_NULL(nd->send_cq))
		ib_free_cq(nd->send_cq);
	if (!IS_ERR_OR_NULL(nd->pd))
		ib_dealloc_pd(nd->pd);
	kvfree(nd->sends);
	kvfree(nd->receives);
	nd->qp = NULL;
	nd->receive_cq = nd->send_cq = NULL;
	nd->pd = NULL;
	nd->sends = nd->receives = NULL;
}

static int vib_netdev_init(struct net_device *dev)
{
	struct vib_netdev *nd = vib_netdev_of(dev);
	int error = -ENOMEM;
	u8 qpn[3];

	nd->sends = create_ring(nd, SENDS, sent);
	nd->receives = create_ring(nd, RECEIVES, received);
	if (nd->sends && nd->receives)
		error = create_queues(nd);
	if (error) {
		vib_netdev_uninit(dev);
		return error;
	}
	qpn[0] = nd->qp->qp_num >> 16;
	qpn[1] = nd->qp->qp_num >> 8;
	qpn[2] = nd->qp->qp_num;
	dev_addr_mod(dev, 1, qpn, sizeof(qpn));
	return 0;
}

static const struct net_device_ops vib_netdev_ops = {
	.ndo_init = vib_netdev_init,
	.ndo_uninit = vib_netdev_uninit,
	.ndo_open = vib_netdev_open,
	.ndo_stop = vib_netdev_stop,
};

static int initialize(struct ib_device *device, u32 port, struct net_device *dev, void *unused)
{
	struct vib_netdev *nd = vib_netdev_of(dev);

	nd->dev = dev;
	nd->hca = vib_hca_of(device);
	atomic_set(&nd->posted, 0);
	nd->rn.hca = device;
	nd->rn.port_num = port;
	nd->rn.send = vib_netdev_send;
	nd->rn.attach_mcast = vib_netdev_attach;
	nd->rn.detach_mcast = vib_netdev_detach;
	nd->rn.set_id = vib_netdev_set_id;
	dev->netdev_ops = &vib_netdev_ops;
	return 0;
}

int vib_netdev_get_params(struct ib_device *device, u32 port, enum rdma_netdev_t type,
			  struct rdma_netdev_alloc_params *params)
{
	if (type != RDMA_NETDEV_IPOIB || !vib_hca_of(device)->is_enhanced)
		return -EOPNOTSUPP;
	*params = (struct rdma_netdev_alloc_params){
		.sizeof_priv = sizeof(struct vib_netdev),
		.txqs = 1,
		.rxqs = 1,
		.initialize_rdma_netdev = initialize,
	};
	return 0;
}
