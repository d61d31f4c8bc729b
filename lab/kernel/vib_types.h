/* SPDX-License-Identifier: GPL-2.0-only */
/* The integers of the pure parts, in the kernel and in user space. */
#ifndef VIB_TYPES_H
#define VIB_TYPES_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/string.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#endif

static inline u16 vib_get16(const u8 *octets)
{
	return (u16)(octets[0] << 8 | octets[1]);
}

static inline u32 vib_get24(const u8 *octets)
{
	return (u32)octets[0] << 16 | (u32)octets[1] << 8 | octets[2];
}

static inline u32 vib_get32(const u8 *octets)
{
	return (u32)vib_get16(octets) << 16 | vib_get16(octets + 2);
}

static inline void vib_put16(u16 value, u8 *octets)
{
	octets[0] = (u8)(value >> 8);
	octets[1] = (u8)value;
}

static inline void vib_put24(u32 value, u8 *octets)
{
	octets[0] = (u8)(value >> 16);
	octets[1] = (u8)(value >> 8);
	octets[2] = (u8)value;
}

static inline void vib_put32(u32 value, u8 *octets)
{
	vib_put16((u16)(value >> 16), octets);
	vib_put16((u16)value, octets + 2);
}

#endif
