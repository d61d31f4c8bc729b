/* SPDX-License-Identifier: GPL-2.0-only */
/* The two CRCs of a frame, ICRC and VCRC. IBTA Vol 1, 7.8. Pure. */
#ifndef VIB_CRC_H
#define VIB_CRC_H

#include "vib_frame.h"

/* Checks both CRCs of a frame that was parsed. */
enum vib_fault_of_frame vib_frame_check(const struct vib_frame *frame, const u8 *octets, size_t length);
/* Writes both CRCs, and only the VCRC where a switch has changed nothing but the link's fields. */
void vib_frame_seal(u8 *octets, size_t length);
void vib_frame_seal_link(u8 *octets, size_t length);
/* Whether the six octets of the CRCs are zero: "fill in". */
bool vib_frame_is_unsealed(const u8 *octets, size_t length);

u32 vib_icrc(const u8 *octets, size_t length_before_icrc);
u16 vib_vcrc(const u8 *octets, size_t length_before_vcrc);

#endif
