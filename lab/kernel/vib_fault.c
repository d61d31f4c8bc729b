// SPDX-License-Identifier: GPL-2.0-only
/* The decision about each frame. Pure. */
#include "vib_fault.h"
#include "vib_frame.h"

/* SplitMix64 (Steele, Lea, Flood 2014): any seed will do, also zero. */
static u32 next_random(struct vib_fault *fault)
{
	u64 z = fault->random += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (u32)(z >> 32);
}

/* Below the limit. */
static u32 random_below(struct vib_fault *fault, u32 limit)
{
	return (u32)((u64)next_random(fault) * limit >> 32);
}

void vib_fault_seed(struct vib_fault *fault, u64 seed)
{
	fault->random = seed;
}

void vib_fault_clear(struct vib_fault *fault)
{
	u64 random = fault->random;

	memset(fault, 0, sizeof(*fault));
	fault->random = random;
}

struct vib_fate vib_fault_decide(struct vib_fault *fault, size_t length)
{
	struct vib_fate fate = { .delay = fault->delay };

	/* Each number is drawn whatever the others were: one fault's setting leaves the others' frames alone. */
	if (fault->drop || fault->duplicate || fault->corrupt) {
		fate.is_dropped = random_below(fault, VIB_PERMILLE) < fault->drop;
		fate.is_duplicated = random_below(fault, VIB_PERMILLE) < fault->duplicate;
		fate.is_corrupted = random_below(fault, VIB_PERMILLE) < fault->corrupt;
		/* The LRH is spared: a wrong PktLen would be found before the VCRC is. */
		if (length > VIB_LRH_SIZE)
			fate.corrupted_bit = VIB_LRH_SIZE * 8 +
					     random_below(fault, (u32)(length - VIB_LRH_SIZE) * 8);
		else
			fate.is_corrupted = false;
	}
	return fate;
}
