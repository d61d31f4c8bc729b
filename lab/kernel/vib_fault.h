/* SPDX-License-Identifier: GPL-2.0-only */
/* What a cable does to frames in one direction when it is told to be a bad one. Pure. */
#ifndef VIB_FAULT_H
#define VIB_FAULT_H

#include "vib_types.h"

#define VIB_PERMILLE 1000u
#define VIB_DELAY_MAX 60000u

/* Zeroed: a good cable. Same seed and same frames, same faults. */
struct vib_fault {
	u16 drop, duplicate, corrupt;	/* permille */
	u32 delay;			/* milliseconds */
	u64 random;
};

/* What happens to one frame. */
struct vib_fate {
	bool is_dropped, is_duplicated, is_corrupted;
	u32 corrupted_bit;	/* counted from the frame's first; behind its LRH */
	u32 delay;
};

void vib_fault_seed(struct vib_fault *fault, u64 seed);
/* Back to a good cable; the random numbers go on. */
void vib_fault_clear(struct vib_fault *fault);
struct vib_fate vib_fault_decide(struct vib_fault *fault, size_t length);

#endif
