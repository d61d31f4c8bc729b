// SPDX-License-Identifier: GPL-2.0-only
/* Frames: headers apart and together. IBTA Vol 1, 7.7 (LRH), 8.3 (GRH), 9.2 (BTH), 9.3 (extended headers). */
#include "vib_frame.h"

#define LNH_BTH 2
#define LNH_GRH 3
#define GRH_VERSION 6
#define GRH_NEXT_BTH 0x1b
#define BTH_MIGRATED 0x40
#define LENGTH_MASK 0x7ff

/* Service type, in an opcode's upper three bits. */
#define SERVICE_SHIFT 5
#define OPERATION_MASK 0x1f
#define SERVICE_RC 0
#define SERVICE_UC 1
#define SERVICE_UD 3
#define UD_SEND_IMMEDIATE 5

static bool is_ud(u8 opcode)
{
	return opcode >> SERVICE_SHIFT == SERVICE_UD;
}

static void parse_bth(struct vib_frame *frame, const u8 *bth)
{
	frame->opcode = bth[0];
	frame->is_solicited = bth[1] & 0x80;
	frame->pad = bth[1] >> 4 & 3;
	frame->pkey = vib_get16(bth + 2);
	frame->dest_qp = vib_get24(bth + 5);
	frame->wants_ack = bth[8] & 0x80;
	frame->psn = vib_get24(bth + 9);
}

static enum vib_fault_of_frame parse_lrh(struct vib_frame *frame, const u8 *octets, size_t length)
{
	if (length < VIB_LRH_SIZE)
		return VIB_FRAME_SHORT;
	if (length > VIB_FRAME_MAX)
		return VIB_FRAME_LONG;
	if ((vib_get16(octets + 4) & LENGTH_MASK) * 4u + VIB_VCRC_SIZE != length)
		return VIB_FRAME_LENGTH;
	frame->vl = octets[0] >> 4;
	frame->sl = octets[1] >> 4;
	frame->dlid = vib_get16(octets + 2);
	frame->slid = vib_get16(octets + 6);
	frame->has_grh = (octets[1] & 3) == LNH_GRH;
	frame->grh = frame->has_grh ? VIB_LRH_SIZE : 0;
	frame->bth = (u16)(VIB_LRH_SIZE + (frame->has_grh ? VIB_GRH_SIZE : 0));
	return octets[1] & LNH_BTH ? VIB_FRAME_GOOD : VIB_FRAME_FOREIGN;
}

static enum vib_fault_of_frame check_grh(const struct vib_frame *frame, const u8 *octets)
{
	const u8 *grh = octets + frame->grh;

	if (grh[0] >> 4 != GRH_VERSION || grh[6] != GRH_NEXT_BTH)
		return VIB_FRAME_FOREIGN;
	return frame->bth + vib_get16(grh + 4) == frame->end + VIB_ICRC_SIZE ? VIB_FRAME_GOOD : VIB_FRAME_LENGTH;
}

enum vib_fault_of_frame vib_frame_parse(struct vib_frame *frame, const u8 *octets, size_t length)
{
	enum vib_fault_of_frame fault;

	memset(frame, 0, sizeof(*frame));
	fault = parse_lrh(frame, octets, length);
	if (fault != VIB_FRAME_GOOD)
		return fault;
	if (length < (size_t)frame->bth + VIB_BTH_SIZE + VIB_CRC_SIZE)
		return VIB_FRAME_SHORT;
	frame->end = (u16)(length - VIB_CRC_SIZE);
	if (frame->has_grh) {
		fault = check_grh(frame, octets);
		if (fault != VIB_FRAME_GOOD)
			return fault;
	}
	parse_bth(frame, octets + frame->bth);
	frame->extension = (u16)(frame->bth + VIB_BTH_SIZE);
	if (is_ud(frame->opcode)) {
		const u8 *deth = octets + frame->extension;

		frame->extension = (u16)(frame->extension + VIB_DETH_SIZE);
		if (frame->extension > frame->end)
			return VIB_FRAME_SHORT;
		frame->qkey = vib_get32(deth);
		frame->src_qp = vib_get24(deth + 5);
	}
	return frame->extension + frame->pad <= frame->end ? VIB_FRAME_GOOD : VIB_FRAME_SHORT;
}

/* Octets of the extended headers by an RC or UC opcode's operation. IBTA Vol 1, table 38. */
static const u8 connected_extension[OPERATION_MASK + 1] = {
	[0x03] = 4, [0x05] = 4,					/* SEND with immediate data */
	[0x06] = 16, [0x09] = 4, [0x0a] = 16, [0x0b] = 20,	/* RDMA WRITE */
	[0x0c] = 16, [0x0d] = 4, [0x0f] = 4, [0x10] = 4,	/* RDMA READ and its responses */
	[0x11] = 4, [0x12] = 12, [0x13] = 28, [0x14] = 28,	/* ACK, atomic operations */
	[0x16] = 4, [0x17] = 4,					/* SEND with invalidate */
};

size_t vib_frame_payload(const struct vib_frame *frame)
{
	u8 service = frame->opcode >> SERVICE_SHIFT, operation = frame->opcode & OPERATION_MASK;
	size_t left = (size_t)frame->end - frame->extension, headers = 0;

	if (service == SERVICE_RC || service == SERVICE_UC)
		headers = connected_extension[operation];
	else if (service == SERVICE_UD && operation == UD_SEND_IMMEDIATE)
		headers = 4;
	return left > headers ? left - headers : 0;
}

static size_t padding(size_t payload)
{
	return (4 - payload % 4) % 4;
}

static size_t head_size(const struct vib_head *head)
{
	size_t grh = head->has_grh ? VIB_GRH_SIZE : 0, deth = head->has_deth ? VIB_DETH_SIZE : 0;

	return VIB_LRH_SIZE + grh + VIB_BTH_SIZE + deth;
}

size_t vib_head_frame_size(const struct vib_head *head, size_t payload)
{
	return head_size(head) + head->extension + payload + padding(payload) + VIB_CRC_SIZE;
}

static u8 *write_grh(const struct vib_head *head, size_t rest, u8 *octets)
{
	vib_put32((u32)GRH_VERSION << 28 | (u32)head->traffic_class << 20 | (head->flow_label & 0xfffff), octets);
	vib_put16((u16)rest, octets + 4);
	octets[6] = GRH_NEXT_BTH;
	octets[7] = head->hop_limit;
	memcpy(octets + 8, head->sgid, sizeof(head->sgid));
	memcpy(octets + 24, head->dgid, sizeof(head->dgid));
	return octets + VIB_GRH_SIZE;
}

static u8 *write_bth(const struct vib_head *head, size_t pad, u8 *octets)
{
	octets[0] = head->opcode;
	octets[1] = (u8)((head->is_solicited ? 0x80u : 0) | BTH_MIGRATED | pad << 4);
	vib_put16(head->pkey, octets + 2);
	octets[4] = 0;
	vib_put24(head->dest_qp, octets + 5);
	octets[8] = head->wants_ack ? 0x80 : 0;
	vib_put24(head->psn, octets + 9);
	return octets + VIB_BTH_SIZE;
}

size_t vib_head_write(const struct vib_head *head, size_t payload, u8 *octets)
{
	size_t size = vib_head_frame_size(head, payload), pad = padding(payload);
	u8 *at = octets + VIB_LRH_SIZE;

	octets[0] = (u8)(head->vl << 4);
	octets[1] = (u8)(head->sl << 4 | (head->has_grh ? LNH_GRH : LNH_BTH));
	vib_put16(head->dlid, octets + 2);
	vib_put16((u16)((size - VIB_VCRC_SIZE) / 4), octets + 4);
	vib_put16(head->slid, octets + 6);
	if (head->has_grh)
		at = write_grh(head, size - VIB_LRH_SIZE - VIB_GRH_SIZE - VIB_VCRC_SIZE, at);
	at = write_bth(head, pad, at);
	if (head->has_deth) {
		vib_put32(head->qkey, at);
		at[4] = 0;
		vib_put24(head->src_qp, at + 5);
	}
	memset(octets + size - VIB_CRC_SIZE - pad, 0, pad + VIB_CRC_SIZE);
	return head_size(head);
}
