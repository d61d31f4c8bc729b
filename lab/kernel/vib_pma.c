// SPDX-License-Identifier: GPL-2.0-only
/* The adapter's performance management agent (IBTA Vol 1, 16.1): ClassPortInfo and PortCounters. */
#include <rdma/ib_pma.h>
#include "vib_pma.h"

#define STATUS_UNSUPPORTED_VERSION cpu_to_be16(0x0004)
#define STATUS_UNSUPPORTED_METHOD cpu_to_be16(0x0008)
#define STATUS_UNSUPPORTED_ATTRIBUTE cpu_to_be16(0x000c)
#define STATUS_INVALID_VALUE cpu_to_be16(0x001c)
#define ALL_PORTS 0xff
#define RESPONSE_TIME 18

/* The counters of today, as if they had never been set. */
static struct vib_pma count_now(const struct vib_hca *hca)
{
	const struct vib_end *end = &hca->end;
	struct vib_pma now = {
		.sent_frames = atomic64_read(&end->sent_frames),
		.received_frames = atomic64_read(&end->received_frames),
		.vl15_dropped = hca->port.n_vl15_dropped,
		.link_downed = hca->link_downed,
		.xmit_discards = hca->xmit_discards,
	};

	/* From LRH to ICRC: the VCRC does not count. */
	now.sent_words = (atomic64_read(&end->sent_octets) - now.sent_frames * VIB_VCRC_SIZE) / 4;
	now.received_words = (atomic64_read(&end->received_octets) - now.received_frames * VIB_VCRC_SIZE) / 4;
	return now;
}

/* Counters stop at their largest value and wait there to be set. */
static u32 since(u64 now, u64 then, u32 largest)
{
	return min_t(u64, now > then ? now - then : 0, largest);
}

static void pma_class_port_info(struct ib_pma_mad *mad)
{
	struct ib_class_port_info *info = (struct ib_class_port_info *)mad->data;

	memset(mad->data, 0, sizeof(mad->data));
	if (mad->mad_hdr.method != IB_MGMT_METHOD_GET || mad->mad_hdr.attr_mod)
		mad->mad_hdr.status |= STATUS_INVALID_VALUE;
	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = 1;
	ib_set_cpi_resp_time(info, RESPONSE_TIME);
}

static void fill_counters(const struct vib_hca *hca, struct ib_pma_portcounters *counters)
{
	struct vib_pma now = count_now(hca);
	const struct vib_pma *then = &hca->pma;

	counters->link_downed_counter = since(now.link_downed, then->link_downed, U8_MAX);
	counters->port_xmit_discards = cpu_to_be16(since(now.xmit_discards, then->xmit_discards, U16_MAX));
	counters->vl15_dropped = cpu_to_be16(since(now.vl15_dropped, then->vl15_dropped, U16_MAX));
	counters->port_xmit_data = cpu_to_be32(since(now.sent_words, then->sent_words, U32_MAX));
	counters->port_rcv_data = cpu_to_be32(since(now.received_words, then->received_words, U32_MAX));
	counters->port_xmit_packets = cpu_to_be32(since(now.sent_frames, then->sent_frames, U32_MAX));
	counters->port_rcv_packets = cpu_to_be32(since(now.received_frames, then->received_frames, U32_MAX));
}

/* The selected counters count on from the given values. */
static void set_counters(struct vib_hca *hca, const struct ib_pma_portcounters *wanted)
{
	struct vib_pma now = count_now(hca);
	struct vib_pma *then = &hca->pma;
	__be16 selected = wanted->counter_select;

	if (selected & IB_PMA_SEL_LINK_DOWNED)
		then->link_downed = now.link_downed - wanted->link_downed_counter;
	if (selected & IB_PMA_SEL_PORT_XMIT_DISCARDS)
		then->xmit_discards = now.xmit_discards - be16_to_cpu(wanted->port_xmit_discards);
	if (selected & IB_PMA_SEL_PORT_VL15_DROPPED)
		then->vl15_dropped = now.vl15_dropped - be16_to_cpu(wanted->vl15_dropped);
	if (selected & IB_PMA_SEL_PORT_XMIT_DATA)
		then->sent_words = now.sent_words - be32_to_cpu(wanted->port_xmit_data);
	if (selected & IB_PMA_SEL_PORT_RCV_DATA)
		then->received_words = now.received_words - be32_to_cpu(wanted->port_rcv_data);
	if (selected & IB_PMA_SEL_PORT_XMIT_PACKETS)
		then->sent_frames = now.sent_frames - be32_to_cpu(wanted->port_xmit_packets);
	if (selected & IB_PMA_SEL_PORT_RCV_PACKETS)
		then->received_frames = now.received_frames - be32_to_cpu(wanted->port_rcv_packets);
}

static void pma_port_counters(struct vib_hca *hca, struct ib_pma_mad *mad)
{
	struct ib_pma_portcounters *counters = (struct ib_pma_portcounters *)mad->data;
	struct ib_pma_portcounters wanted = *counters;
	unsigned long flags;

	memset(mad->data, 0, sizeof(mad->data));
	counters->port_select = wanted.port_select;
	counters->counter_select = wanted.counter_select;
	if (mad->mad_hdr.attr_mod || (wanted.port_select != 1 && wanted.port_select != ALL_PORTS)) {
		mad->mad_hdr.status |= STATUS_INVALID_VALUE;
		return;
	}
	spin_lock_irqsave(&hca->lock, flags);
	if (mad->mad_hdr.method == IB_MGMT_METHOD_SET)
		set_counters(hca, &wanted);
	fill_counters(hca, counters);
	spin_unlock_irqrestore(&hca->lock, flags);
}

int vib_pma_process(struct vib_hca *hca, struct ib_mad *mad)
{
	struct ib_pma_mad *pma = (struct ib_pma_mad *)mad;

	switch (mad->mad_hdr.method) {
	case IB_MGMT_METHOD_GET:
	case IB_MGMT_METHOD_SET:
		break;
	case IB_MGMT_METHOD_TRAP:
	case IB_MGMT_METHOD_GET_RESP:
		/* Answers are for whoever asked. */
		return IB_MAD_RESULT_SUCCESS;
	default:
		mad->mad_hdr.status = STATUS_UNSUPPORTED_METHOD;
		mad->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	}
	mad->mad_hdr.status = 0;
	if (mad->mad_hdr.class_version != 1)
		mad->mad_hdr.status |= STATUS_UNSUPPORTED_VERSION;
	else if (mad->mad_hdr.attr_id == IB_PMA_CLASS_PORT_INFO)
		pma_class_port_info(pma);
	else if (mad->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS)
		pma_port_counters(hca, pma);
	else
		mad->mad_hdr.status |= STATUS_UNSUPPORTED_ATTRIBUTE;
	mad->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
