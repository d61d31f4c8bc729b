// SPDX-License-Identifier: GPL-2.0-only
/* The channel adapter as a device: what it can do, and its life. */
#include <linux/module.h>
#include <linux/pci.h>
#include "vib_compat.h"
#include "vib_hca.h"
#include "vib_hca_port.h"
#include "vib_link.h"
#include "vib_mmap.h"
#include "vib_netdev.h"
#include "vib_pma.h"
#include "vib_psn.h"
#include "vib_qp.h"
#include "vib_queue.h"
#include "vib_receive.h"
#include "vib_sma.h"

/* rdmavt names the adapter in its messages by a PCI device and asks for nothing else of it. */
static struct pci_dev vib_pci_stand_in = { .dev.init_name = "vib" };

#define VIB_VENDOR 0x0002c9
#define VIB_DEVICE 0x4843
#define VIB_MAX_QP 4096
#define VIB_MAX_RD_ATOMIC 16
#define VIB_MAX_SGE 32
#define VIB_MAX_WR 16384

static const struct vib_end_ops vib_hca_end_ops = {
	.receive = vib_hca_receive,
	.link = vib_hca_link,
	.sent = vib_qp_sent,
};

static int vib_query_port(struct rvt_dev_info *rdi, u32 port, struct ib_port_attr *attributes)
{
	struct vib_hca *hca = vib_hca_of(&rdi->ibdev);
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	attributes->lid = hca->lid ?: VIB_LID_PERMISSIVE;
	attributes->lmc = hca->lmc;
	attributes->state = hca->state;
	attributes->phys_state = hca->phys_state;
	attributes->gid_tbl_len = VIB_GUIDS;
	attributes->active_width = IB_WIDTH_4X;
	attributes->active_speed = IB_SPEED_QDR;
	attributes->max_vl_num = 1;
	attributes->max_mtu = hca->mtu_cap;
	attributes->active_mtu = hca->mtu;
	spin_unlock_irqrestore(&hca->lock, flags);
	return 0;
}

static int vib_get_guid(struct rvt_dev_info *rdi, struct rvt_ibport *port, int index, __be64 *guid)
{
	if (index < 0 || index >= VIB_GUIDS)
		return -EINVAL;
	*guid = vib_hca_of(&rdi->ibdev)->guids[index];
	return 0;
}

static int vib_shut_down_port(struct rvt_dev_info *rdi, u32 port)
{
	vib_end_set_disabled(&vib_hca_of(&rdi->ibdev)->end, true);
	return 0;
}

static void vib_capabilities_changed(struct rvt_dev_info *rdi, u32 port)
{
	vib_hca_raise_capability_trap(vib_hca_of(&rdi->ibdev), 0);
}

static int vib_modify_device(struct ib_device *device, int mask, struct ib_device_modify *change)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (mask & IB_DEVICE_MODIFY_NODE_DESC) {
		memcpy(device->node_desc, change->node_desc, IB_DEVICE_NODE_DESC_MAX);
		vib_hca_raise_capability_trap(vib_hca_of(device), IB_NOTICE_TRAP_NODE_DESC_CHG);
	}
	return 0;
}

static int vib_process_mad(struct ib_device *device, int flags, u32 port, const struct ib_wc *completion,
			   const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out, size_t *out_size,
			   u16 *out_pkey_index)
{
	switch (in->mad_hdr.mgmt_class) {
	case IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE:
	case IB_MGMT_CLASS_SUBN_LID_ROUTED:
		*out = *in;
		return vib_sma_process(vib_hca_of(device), flags, (struct ib_smp *)out);
	case IB_MGMT_CLASS_PERF_MGMT:
		*out = *in;
		return vib_pma_process(vib_hca_of(device), out);
	default:
		return IB_MAD_RESULT_SUCCESS;
	}
}

static struct pci_dev *vib_get_pci_device(struct rvt_dev_info *rdi)
{
	return &vib_pci_stand_in;
}

/* All queue pairs are gone and rdmavt is about to free their table, which an arriving frame would look into. */
static unsigned int vib_free_all_qps(struct rvt_dev_info *rdi)
{
	struct vib_hca *hca = vib_hca_of(&rdi->ibdev);
	unsigned int special;

	WRITE_ONCE(hca->is_receiving, false);
	vib_flush();
	rcu_read_lock();
	special = !!rcu_dereference(hca->port.qp[0]) + !!rcu_dereference(hca->port.qp[1]);
	rcu_read_unlock();
	return special;
}

/* A driver with no attributes of its own has to say so. */
static const struct attribute_group *vib_port_groups[] = { NULL };

/* The driver id makes user space load the provider that speaks rdmavt's interface. */
static const struct ib_device_ops vib_device_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_QIB,
	.port_groups = vib_port_groups,
	.process_mad = vib_process_mad,
	.modify_device = vib_modify_device,
	.rdma_netdev_get_params = vib_netdev_get_params,
	.disassociate_ucontext = vib_mmap_disassociate,
};

#define VIB_SEND_TYPES (BIT(IB_QPT_UD) | BIT(IB_QPT_SMI) | BIT(IB_QPT_GSI) | BIT(IB_QPT_RC))

static const struct rvt_operation_params vib_operations[RVT_OPERATION_MAX] = {
	[IB_WR_SEND] = { .length = sizeof(struct ib_send_wr), .qpt_support = VIB_SEND_TYPES },
	[IB_WR_SEND_WITH_IMM] = { .length = sizeof(struct ib_send_wr), .qpt_support = VIB_SEND_TYPES },
};

static const enum ib_wc_opcode vib_completion_opcodes[] = {
	[IB_WR_SEND] = IB_WC_SEND,
	[IB_WR_SEND_WITH_IMM] = IB_WC_SEND,
};

static void vib_set_limits(struct vib_hca *hca)
{
	struct ib_device_attr *limits = &hca->rdi.dparms.props;

	limits->max_pd = 1024;
	limits->max_ah = 65535;
	limits->max_qp = VIB_MAX_QP;
	limits->max_qp_wr = VIB_MAX_WR;
	limits->max_send_sge = VIB_MAX_SGE;
	limits->max_recv_sge = VIB_MAX_SGE;
	limits->max_sge_rd = VIB_MAX_SGE;
	limits->max_cq = 8192;
	limits->max_cqe = 0x2ffff;
	limits->max_mr_size = ~0ULL;
	limits->page_size_cap = PAGE_SIZE;
	limits->max_srq = 256;
	limits->max_srq_wr = VIB_MAX_WR;
	limits->max_srq_sge = VIB_MAX_SGE;
	limits->max_pkeys = VIB_PKEYS;
	limits->max_mcast_grp = 4096;
	limits->max_mcast_qp_attach = 16;
	limits->max_total_mcast_qp_attach = 65536;
	limits->max_qp_rd_atom = VIB_MAX_RD_ATOMIC;
	limits->max_qp_init_rd_atom = VIB_MAX_RD_ATOMIC;
	limits->sys_image_guid = hca->node_guid;
	limits->vendor_id = VIB_VENDOR;
	limits->vendor_part_id = VIB_DEVICE;
	limits->device_cap_flags = IB_DEVICE_BAD_PKEY_CNTR | IB_DEVICE_BAD_QKEY_CNTR | IB_DEVICE_SYS_IMAGE_GUID |
				   IB_DEVICE_PORT_ACTIVE_EVENT;
}

static void vib_set_parameters(struct vib_hca *hca)
{
	struct rvt_driver_params *parameters = &hca->rdi.dparms;

	parameters->lkey_table_size = 12;
	parameters->qp_table_size = 256;
	parameters->qpn_start = 1;
	parameters->qpn_inc = 1;
	parameters->qos_shift = 1;
	/* A reserved range is asked for; this one matters to nobody, and numbers above it are not handed out. */
	parameters->qpn_res_start = 0x656b78;
	parameters->qpn_res_end = 0x656b78;
	parameters->psn_mask = VIB_PSN_MASK;
	parameters->psn_modify_mask = VIB_PSN_MASK;
	parameters->psn_shift = 8;
	parameters->nports = 1;
	parameters->npkeys = VIB_PKEYS;
	parameters->node = 0;
	parameters->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	parameters->max_mad_size = IB_MGMT_MAD_SIZE;
	parameters->max_rdma_atomic = VIB_MAX_RD_ATOMIC;
	parameters->sge_copy_mode = RVT_SGE_COPY_MEMCPY;
	vib_set_limits(hca);
}

static void vib_set_driver(struct rvt_dev_info *rdi)
{
	struct rvt_driver_provided *driver = &rdi->driver_f;

	driver->get_pci_dev = vib_get_pci_device;
	driver->get_guid_be = vib_get_guid;
	driver->query_port_state = vib_query_port;
	driver->shut_down_port = vib_shut_down_port;
	driver->cap_mask_chg = vib_capabilities_changed;
	driver->free_all_qps = vib_free_all_qps;
	vib_qp_set_driver(rdi);
	rdi->post_parms = vib_operations;
	rdi->wc_opcode = vib_completion_opcodes;
	ib_set_device_ops(&rdi->ibdev, &vib_device_ops);
}

static void vib_init_port(struct vib_hca *hca, const struct vib_hca_config *config)
{
	unsigned int trap;

	spin_lock_init(&hca->lock);
	hca->node_guid = cpu_to_be64(config->node_guid);
	hca->guids[0] = cpu_to_be64(config->port_guid);
	hca->pkeys[0] = VIB_PKEY_DEFAULT;
	hca->is_enhanced = config->is_enhanced;
	hca->blocks_loopback = config->blocks_loopback;
	hca->mtu_cap = config->mtu;
	hca->mtu = config->mtu;
	hca->link_width_enabled = IB_WIDTH_1X | IB_WIDTH_4X;
	hca->link_speed_enabled = IB_SPEED_SDR | IB_SPEED_DDR | IB_SPEED_QDR;
	hca->state = IB_PORT_DOWN;
	hca->phys_state = IB_PORT_PHYS_STATE_POLLING;
	hca->end.ops = &vib_hca_end_ops;
	hca->end.is_edge = true;
	snprintf(hca->end.name, sizeof(hca->end.name), "hca%u", config->unit);
	spin_lock_init(&hca->port.lock);
	hca->port.gid_prefix = cpu_to_be64(0xfe80000000000000ULL);
	hca->port.port_cap_flags = IB_PORT_SYS_IMAGE_GUID_SUP | IB_PORT_CLIENT_REG_SUP | IB_PORT_TRAP_SUP |
				   IB_PORT_CAP_MASK_NOTICE_SUP;
	for (trap = 0; trap < VIB_TRAPS; trap++) {
		hca->trap_after[trap] = jiffies;
		vib_trap_init(&hca->traps[trap], &hca->end, vib_hca_trap_route);
	}
}

struct vib_hca *vib_hca_create(const struct vib_hca_config *config)
{
	struct rvt_dev_info *rdi;
	struct vib_hca *hca;
	int error = -ENOMEM;

	rdi = rvt_alloc_device(sizeof(*hca), 1);
	if (!rdi)
		return ERR_PTR(-ENOMEM);
	hca = vib_hca_of(&rdi->ibdev);
	vib_init_port(hca, config);
	/* rdmavt registers the device by the name that it has here. */
	error = dev_set_name(&rdi->ibdev.dev, "vib%u", config->unit);
	if (error)
		goto free_device;
	strscpy(rdi->ibdev.name, dev_name(&rdi->ibdev.dev), IB_DEVICE_NAME_MAX);
	error = -ENOMEM;
	snprintf(rdi->ibdev.node_desc, sizeof(rdi->ibdev.node_desc), "vib%u", config->unit);
	rdi->ibdev.node_guid = hca->node_guid;
	rdi->ibdev.phys_port_cnt = 1;
	vib_set_parameters(hca);
	vib_set_driver(rdi);
	hca->send_queue = alloc_workqueue("vib_send%u", WQ_MEM_RECLAIM | WQ_PERCPU, 0, config->unit);
	if (!hca->send_queue)
		goto free_device;
	hca->parent = platform_device_register_simple("vib", config->unit, NULL, 0);
	if (IS_ERR(hca->parent)) {
		error = PTR_ERR(hca->parent);
		goto free_queue;
	}
	rdi->ibdev.dev.parent = &hca->parent->dev;
	error = rvt_init_port(rdi, &hca->port, 0, hca->pkeys);
	if (error)
		goto free_parent;
	return hca;

free_parent:
	platform_device_unregister(hca->parent);
free_queue:
	destroy_workqueue(hca->send_queue);
free_device:
	rvt_dealloc_device(rdi);
	return ERR_PTR(error);
}

struct vib_end *vib_hca_end(struct vib_hca *hca)
{
	return &hca->end;
}

/*
 * rdmavt registers an agent to send MADs by, and keeps it for the device's life; the MAD layer's ports end whenever the
 * device moves to another network namespace. Nothing here sends by it.
 */
static void give_up_mad_agent(struct rvt_ibport *port)
{
	struct ib_mad_agent *agent = port->send_agent;

	port->send_agent = NULL;
	if (agent)
		ib_unregister_mad_agent(agent);
}

int vib_hca_register(struct vib_hca *hca)
{
	int error = rvt_register_device(&hca->rdi);

	if (error)
		return error;
	give_up_mad_agent(&hca->port);
	vib_mmap_init(hca);
	WRITE_ONCE(hca->is_receiving, true);
	WRITE_ONCE(hca->is_announcing, true);
	vib_end_set_present(&hca->end, true);
	return 0;
}

void vib_hca_unregister(struct vib_hca *hca)
{
	unsigned int trap;

	/* The link stays up meanwhile: clients take leave of their groups and connections over it. */
	WRITE_ONCE(hca->is_announcing, false);
	vib_flush();
	rvt_unregister_device(&hca->rdi);
	for (trap = 0; trap < VIB_TRAPS; trap++)
		vib_trap_cancel(&hca->traps[trap]);
	vib_end_set_present(&hca->end, false);
}

void vib_hca_destroy(struct vib_hca *hca)
{
	struct platform_device *parent = hca->parent;

	destroy_workqueue(hca->send_queue);
	rvt_dealloc_device(&hca->rdi);
	platform_device_unregister(parent);
}
