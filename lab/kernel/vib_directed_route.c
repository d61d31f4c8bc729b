// SPDX-License-Identifier: GPL-2.0-only
/* The rules for hop pointers at switches: C14-9 on the way out, C14-13 on the way back. Pure. */
#include "vib_directed_route.h"
#include "vib_frame.h"

/* Of a directed-route SMP. IBTA Vol 1, 14.2.1.2. */
#define MAD_STATUS 4
#define MAD_RETURNING 0x80
#define MAD_HOP_POINTER 6
#define MAD_HOP_COUNT 7
#define MAD_DR_SLID 32
#define MAD_DR_DLID 34
#define MAD_INITIAL_PATH 128
#define MAD_RETURN_PATH 192
#define MAX_HOPS 63u

static const struct vib_hop nowhere = { .to = VIB_HOP_NOWHERE };
static const struct vib_hop management = { .to = VIB_HOP_MANAGEMENT };

static struct vib_hop leave(u8 *mad, unsigned int path, unsigned int pointer, unsigned int ports)
{
	u8 port = mad[path + pointer];

	mad[MAD_HOP_POINTER] = (u8)pointer;
	if (port == 0 || port > ports)
		return nowhere;
	return (struct vib_hop){ .to = VIB_HOP_PORT, .port = port };
}

/* At the end of the directed part. */
static struct vib_hop end(u8 *mad, unsigned int pointer, unsigned int lid_at)
{
	u16 lid = vib_get16(mad + lid_at);

	mad[MAD_HOP_POINTER] = (u8)pointer;
	if (lid == VIB_LID_PERMISSIVE)
		return management;
	return (struct vib_hop){ .to = VIB_HOP_LID, .lid = lid };
}

static struct vib_hop forth(u8 *mad, u8 in_port, unsigned int pointer, unsigned int hops, unsigned int ports)
{
	if (hops != 0 && pointer == 0) {
		/* Whoever sends it makes the first hop; only behind a LID-routed part that is a switch. */
		if (vib_get16(mad + MAD_DR_SLID) == VIB_LID_PERMISSIVE)
			return nowhere;
		return leave(mad, MAD_INITIAL_PATH, 1, ports);
	}
	if (pointer < hops) {
		mad[MAD_RETURN_PATH + pointer] = in_port;
		return leave(mad, MAD_INITIAL_PATH, pointer + 1, ports);
	}
	if (pointer == hops) {
		if (hops != 0)
			mad[MAD_RETURN_PATH + pointer] = in_port;
		return end(mad, pointer + 1, MAD_DR_DLID);
	}
	return pointer == hops + 1 ? management : nowhere;
}

static struct vib_hop back(u8 *mad, unsigned int pointer, unsigned int hops, unsigned int ports)
{
	if (pointer >= 2 && pointer <= hops + 1)
		return leave(mad, MAD_RETURN_PATH, pointer - 1, ports);
	if (pointer == 1)
		return end(mad, 0, MAD_DR_SLID);
	return pointer == 0 ? management : nowhere;
}

struct vib_hop vib_take_hop(u8 *mad, u8 in_port, unsigned int ports)
{
	unsigned int pointer = mad[MAD_HOP_POINTER], hops = mad[MAD_HOP_COUNT];

	if (hops > MAX_HOPS)
		return nowhere;
	if (mad[MAD_STATUS] & MAD_RETURNING)
		return back(mad, pointer, hops, ports);
	return forth(mad, in_port, pointer, hops, ports);
}
