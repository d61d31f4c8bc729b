/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A frame of the InfiniBand link layer, LRH to VCRC (IBTA Vol 1, 5 and 7 to 9). Pure: this and vib_frame.c compile in
 * user space too, where their tests are.
 */
#ifndef VIB_FRAME_H
#define VIB_FRAME_H

#include "vib_types.h"

#define VIB_LRH_SIZE 8
#define VIB_GRH_SIZE 40
#define VIB_BTH_SIZE 12
#define VIB_DETH_SIZE 8
#define VIB_ICRC_SIZE 4
#define VIB_VCRC_SIZE 2
#define VIB_CRC_SIZE (VIB_ICRC_SIZE + VIB_VCRC_SIZE)
#define VIB_FRAME_MIN (VIB_LRH_SIZE + VIB_BTH_SIZE + VIB_CRC_SIZE)
/* MTU 4096 behind the longest headers. */
#define VIB_FRAME_MAX 4300

#define VIB_LID_PERMISSIVE 0xffff
#define VIB_LID_MULTICAST 0xc000
#define VIB_QPN_MULTICAST 0xffffff
#define VIB_VL_MANAGEMENT 15

enum vib_fault_of_frame {
	VIB_FRAME_GOOD,
	VIB_FRAME_SHORT,	/* ends within a header that it announces */
	VIB_FRAME_LONG,
	VIB_FRAME_LENGTH,	/* LRH.PktLen is another */
	VIB_FRAME_FOREIGN,	/* LNH: raw, no BTH */
	VIB_FRAME_BAD_VCRC,
	VIB_FRAME_BAD_ICRC,
};

/* What the headers say. Offsets count from the frame's first octet. */
struct vib_frame {
	u16 dlid, slid;
	u8 vl, sl;
	u8 opcode, pad;
	bool has_grh, is_solicited, wants_ack;
	u16 pkey;
	u32 dest_qp, psn;
	u32 qkey, src_qp;	/* of a UD frame, else 0 */
	u16 grh, bth;		/* offsets; grh is 0 without a GRH */
	u16 extension;		/* behind BTH, and behind DETH where the opcode is UD's */
	u16 end;		/* where the ICRC begins */
};

/* Takes the headers apart; CRCs are not looked at (vib_crc.h). */
enum vib_fault_of_frame vib_frame_parse(struct vib_frame *frame, const u8 *octets, size_t length);
/* Octets of the payload proper, behind all extended headers, with its padding: what an MTU limits. */
size_t vib_frame_payload(const struct vib_frame *frame);

/* What a sender gives; the rest of the headers follows from it. */
struct vib_head {
	u8 vl, sl;
	u16 dlid, slid;
	bool has_grh;
	u8 traffic_class, hop_limit;
	u32 flow_label;
	u8 sgid[16], dgid[16];
	u8 opcode;
	bool is_solicited, wants_ack;
	u16 pkey;
	u32 dest_qp, psn;
	bool has_deth;
	u32 qkey, src_qp;
	u8 extension;		/* octets between the headers and the payload: immediate data, AETH */
};

/* Octets of a frame with this head and payload, padding and CRCs included. */
size_t vib_head_frame_size(const struct vib_head *head, size_t payload);
/* Writes the headers and zeroes padding and CRCs; returns the offset of the extension, which the payload follows. */
size_t vib_head_write(const struct vib_head *head, size_t payload, u8 *octets);

#endif
