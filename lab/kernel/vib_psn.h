/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packet sequence numbers, and how a message is cut into packets, for reliable connections (IBTA Vol 1, 9.7). Pure:
 * user space compiles it too, where its test is.
 */
#ifndef VIB_PSN_H
#define VIB_PSN_H

#include "vib_types.h"

#define VIB_PSN_MASK 0xffffffU

static inline u32 vib_psn_add(u32 psn, u32 packets)
{
	return (psn + packets) & VIB_PSN_MASK;
}

static inline u32 vib_psn_previous(u32 psn)
{
	return (psn - 1) & VIB_PSN_MASK;
}

/* How many packets "to" is behind "from", in the circle. */
static inline u32 vib_psn_distance(u32 from, u32 to)
{
	return (to - from) & VIB_PSN_MASK;
}

/* Below, at or above zero, as a is before, at or after b. Half of the circle is before, the other half after. */
static inline int vib_psn_compare(u32 a, u32 b)
{
	u32 distance = vib_psn_distance(b, a);

	return distance < (VIB_PSN_MASK + 1) / 2 ? (int)distance : (int)distance - (int)(VIB_PSN_MASK + 1);
}

enum vib_psn_place {
	VIB_PSN_EXPECTED,
	VIB_PSN_DUPLICATE,
	VIB_PSN_AHEAD,		/* one or more before it are missing */
};

/* What a responder is to think of a request. IBTA Vol 1, 9.7.5.1. */
static inline enum vib_psn_place vib_psn_place(u32 psn, u32 expected)
{
	int order = vib_psn_compare(psn, expected);

	if (order == 0)
		return VIB_PSN_EXPECTED;
	return order < 0 ? VIB_PSN_DUPLICATE : VIB_PSN_AHEAD;
}

enum vib_part {
	VIB_PART_FIRST,
	VIB_PART_MIDDLE,
	VIB_PART_LAST,
	VIB_PART_ONLY,
};

static inline enum vib_part vib_part_of(u32 packet, u32 packets)
{
	if (packets == 1)
		return VIB_PART_ONLY;
	if (packet == 0)
		return VIB_PART_FIRST;
	return packet + 1 == packets ? VIB_PART_LAST : VIB_PART_MIDDLE;
}

static inline bool vib_part_begins(enum vib_part part)
{
	return part == VIB_PART_FIRST || part == VIB_PART_ONLY;
}

static inline bool vib_part_ends(enum vib_part part)
{
	return part == VIB_PART_LAST || part == VIB_PART_ONLY;
}

/* Whether a packet may come next, inside a message or between two. */
static inline bool vib_part_follows(enum vib_part part, bool is_inside)
{
	return vib_part_begins(part) != is_inside;
}

/* Whether a packet of this part may have this many octets of payload. IBTA Vol 1, 9.7.4.1.6. */
static inline bool vib_part_length_is_right(enum vib_part part, u32 length, u32 mtu)
{
	switch (part) {
	case VIB_PART_FIRST:
	case VIB_PART_MIDDLE:
		return length == mtu;
	case VIB_PART_LAST:
		return length > 0 && length <= mtu;
	case VIB_PART_ONLY:
		break;
	}
	return length <= mtu;
}

#endif
