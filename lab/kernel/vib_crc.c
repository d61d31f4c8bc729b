// SPDX-License-Identifier: GPL-2.0-only
/* ICRC and VCRC. IBTA Vol 1, 7.8. Pure. */
#include "vib_crc.h"

/*
 * A CRC is linear: the table's entry of an octet is the sum of the entries of its bits. So each table is written as
 * eight numbers, and the compiler makes the 256 out of them. Table k is of an octet with k zero octets behind it, which
 * lets eight octets be taken in one step.
 */
#define BIT_OF(i, n, value) ((i) >> (n) & 1 ? (value) : 0)
#define ENTRY(i, a, b, c, d, e, f, g, h) \
	(BIT_OF(i, 0, a) ^ BIT_OF(i, 1, b) ^ BIT_OF(i, 2, c) ^ BIT_OF(i, 3, d) ^ \
	 BIT_OF(i, 4, e) ^ BIT_OF(i, 5, f) ^ BIT_OF(i, 6, g) ^ BIT_OF(i, 7, h))
#define ENTRIES_4(i, ...) \
	ENTRY(i, __VA_ARGS__), ENTRY((i) + 1, __VA_ARGS__), ENTRY((i) + 2, __VA_ARGS__), ENTRY((i) + 3, __VA_ARGS__)
#define ENTRIES_16(i, ...) \
	ENTRIES_4(i, __VA_ARGS__), ENTRIES_4((i) + 4, __VA_ARGS__), \
	ENTRIES_4((i) + 8, __VA_ARGS__), ENTRIES_4((i) + 12, __VA_ARGS__)
#define ENTRIES_64(i, ...) \
	ENTRIES_16(i, __VA_ARGS__), ENTRIES_16((i) + 16, __VA_ARGS__), \
	ENTRIES_16((i) + 32, __VA_ARGS__), ENTRIES_16((i) + 48, __VA_ARGS__)
#define TABLE(...) \
	{ ENTRIES_64(0, __VA_ARGS__), ENTRIES_64(64, __VA_ARGS__), \
	  ENTRIES_64(128, __VA_ARGS__), ENTRIES_64(192, __VA_ARGS__) }

#define SLICES 8

/* Polynomial 0x04c11db7, reflected: Ethernet's. */
static const u32 icrc_tables[SLICES][256] = {
	TABLE(0x77073096, 0xee0e612c, 0x076dc419, 0x0edb8832, 0x1db71064, 0x3b6e20c8, 0x76dc4190, 0xedb88320),
	TABLE(0x191b3141, 0x32366282, 0x646cc504, 0xc8d98a08, 0x4ac21251, 0x958424a2, 0xf0794f05, 0x3b83984b),
	TABLE(0x01c26a37, 0x0384d46e, 0x0709a8dc, 0x0e1351b8, 0x1c26a370, 0x384d46e0, 0x709a8dc0, 0xe1351b80),
	TABLE(0xb8bc6765, 0xaa09c88b, 0x8f629757, 0xc5b428ef, 0x5019579f, 0xa032af3e, 0x9b14583d, 0xed59b63b),
	TABLE(0x3d6029b0, 0x7ac05360, 0xf580a6c0, 0x30704bc1, 0x60e09782, 0xc1c12f04, 0x58f35849, 0xb1e6b092),
	TABLE(0xcb5cd3a5, 0x4dc8a10b, 0x9b914216, 0xec53826d, 0x03d6029b, 0x07ac0536, 0x0f580a6c, 0x1eb014d8),
	TABLE(0xa6770bb4, 0x979f1129, 0xf44f2413, 0x33ef4e67, 0x67de9cce, 0xcfbd399c, 0x440b7579, 0x8816eaf2),
	TABLE(0xccaa009e, 0x4225077d, 0x844a0efa, 0xd3e51bb5, 0x7cbb312b, 0xf9766256, 0x299dc2ed, 0x533b85da),
};

/* Polynomial 0x100b, reflected. */
static const u16 vcrc_tables[SLICES][256] = {
	TABLE(0x1ba1, 0x3742, 0x6e84, 0xdd08, 0x1a01, 0x3402, 0x6804, 0xd008),
	TABLE(0xffb0, 0x5f71, 0xbee2, 0xddd5, 0x1bbb, 0x3776, 0x6eec, 0xddd8),
	TABLE(0xfef4, 0x5df9, 0xbbf2, 0xd7f5, 0x0ffb, 0x1ff6, 0x3fec, 0x7fd8),
	TABLE(0xf875, 0x50fb, 0xa1f6, 0xe3fd, 0x67eb, 0xcfd6, 0x3fbd, 0x7f7a),
	TABLE(0x33da, 0x67b4, 0xcf68, 0x3ec1, 0x7d82, 0xfb04, 0x5619, 0xac32),
	TABLE(0x4874, 0x90e8, 0x81c1, 0xa393, 0xe737, 0x6e7f, 0xdcfe, 0x19ed),
	TABLE(0x28cb, 0x5196, 0xa32c, 0xe649, 0x6c83, 0xd906, 0x121d, 0x243a),
	TABLE(0x49cf, 0x939e, 0x872d, 0xae4b, 0xfc87, 0x591f, 0xb23e, 0xc46d),
};

static u32 icrc_update(u32 crc, const u8 *at, size_t left)
{
	const u32 (*t)[256] = icrc_tables;

	for (; left >= SLICES; at += SLICES, left -= SLICES)
		crc = t[7][(at[0] ^ crc) & 0xff] ^ t[6][(at[1] ^ crc >> 8) & 0xff] ^
		      t[5][(at[2] ^ crc >> 16) & 0xff] ^ t[4][(at[3] ^ crc >> 24) & 0xff] ^
		      t[3][at[4]] ^ t[2][at[5]] ^ t[1][at[6]] ^ t[0][at[7]];
	for (; left; at++, left--)
		crc = crc >> 8 ^ t[0][(crc ^ *at) & 0xff];
	return crc;
}

static u16 vcrc_update(u16 crc, const u8 *at, size_t left)
{
	const u16 (*t)[256] = vcrc_tables;

	for (; left >= SLICES; at += SLICES, left -= SLICES)
		crc = (u16)(t[7][(at[0] ^ crc) & 0xff] ^ t[6][at[1] ^ crc >> 8] ^ t[5][at[2]] ^ t[4][at[3]] ^
			    t[3][at[4]] ^ t[2][at[5]] ^ t[1][at[6]] ^ t[0][at[7]]);
	for (; left; at++, left--)
		crc = (u16)(crc >> 8 ^ t[0][(crc ^ *at) & 0xff]);
	return crc;
}

/* Fields that change on the way count as ones. */
u32 vib_icrc(const u8 *octets, size_t length_before_icrc)
{
	u8 head[VIB_LRH_SIZE + VIB_GRH_SIZE + VIB_BTH_SIZE];
	bool has_grh = length_before_icrc >= VIB_LRH_SIZE && (octets[1] & 3) == 3;
	size_t bth = VIB_LRH_SIZE + (has_grh ? VIB_GRH_SIZE : 0u), size = bth + VIB_BTH_SIZE;

	if (length_before_icrc < size)
		return ~icrc_update(~(u32)0, octets, length_before_icrc);
	memcpy(head, octets, size);
	if (has_grh) {
		memset(head, 0xff, VIB_LRH_SIZE);
		head[8] |= 0x0f;		/* TClass, FlowLabel */
		memset(head + 9, 0xff, 3);
		head[15] = 0xff;		/* HopLmt */
	} else {
		head[0] |= 0xf0;		/* VL */
	}
	head[bth + 4] = 0xff;			/* Resv8a */
	return ~icrc_update(icrc_update(~(u32)0, head, size), octets + size, length_before_icrc - size);
}

u16 vib_vcrc(const u8 *octets, size_t length_before_vcrc)
{
	return (u16)~vcrc_update(0xffff, octets, length_before_vcrc);
}

static u16 get16_little(const u8 *octets)
{
	return (u16)(octets[1] << 8 | octets[0]);
}

static void put16_little(u16 value, u8 *octets)
{
	octets[0] = (u8)value;
	octets[1] = (u8)(value >> 8);
}

enum vib_fault_of_frame vib_frame_check(const struct vib_frame *frame, const u8 *octets, size_t length)
{
	u32 icrc = vib_icrc(octets, frame->end);
	const u8 *at = octets + frame->end;

	if (get16_little(octets + length - VIB_VCRC_SIZE) != vib_vcrc(octets, length - VIB_VCRC_SIZE))
		return VIB_FRAME_BAD_VCRC;
	if (get16_little(at) != (u16)icrc || get16_little(at + 2) != (u16)(icrc >> 16))
		return VIB_FRAME_BAD_ICRC;
	return VIB_FRAME_GOOD;
}

void vib_frame_seal_link(u8 *octets, size_t length)
{
	if (length >= VIB_VCRC_SIZE)
		put16_little(vib_vcrc(octets, length - VIB_VCRC_SIZE), octets + length - VIB_VCRC_SIZE);
}

void vib_frame_seal(u8 *octets, size_t length)
{
	u32 icrc;
	u8 *at;

	if (length < VIB_CRC_SIZE)
		return;
	at = octets + length - VIB_CRC_SIZE;
	icrc = vib_icrc(octets, length - VIB_CRC_SIZE);
	put16_little((u16)icrc, at);
	put16_little((u16)(icrc >> 16), at + 2);
	vib_frame_seal_link(octets, length);
}

bool vib_frame_is_unsealed(const u8 *octets, size_t length)
{
	static const u8 zeros[VIB_CRC_SIZE];

	return length >= VIB_CRC_SIZE && memcmp(octets + length - VIB_CRC_SIZE, zeros, VIB_CRC_SIZE) == 0;
}
