/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/vibcap: every frame that a node sends, once, as a pcap stream of ERF records (link type 197, InfiniBand), with
 * nanoseconds. Each open file is a capture of its own; frames that a slow reader missed are counted in the ERF loss
 * counter of the next record.
 */
#ifndef VIB_CAPTURE_H
#define VIB_CAPTURE_H

#include <linux/skbuff.h>

/* By the fabric's worker, before the cable's faults. */
void vib_capture(const struct sk_buff *skb);
int vib_capture_init(void);
void vib_capture_exit(void);

#endif
