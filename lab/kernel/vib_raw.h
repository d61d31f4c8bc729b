/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/vibraw<unit>: a process is the node at the other end of a cable. One read or write is one frame, LRH to VCRC;
 * the cable is up while the device is open. A read of no octets says that the link went down; frames come again once it
 * is up. A read with too little room fails with EMSGSIZE and leaves the frame. Six zero octets for the CRCs ask to have
 * them filled in.
 */
#ifndef VIB_RAW_H
#define VIB_RAW_H

#include "vib_end.h"

struct vib_raw;

struct vib_raw *vib_raw_create(unsigned int unit);
struct vib_end *vib_raw_end(struct vib_raw *raw);
int vib_raw_register(struct vib_raw *raw);
void vib_raw_unregister(struct vib_raw *raw);
/* After its cable is disconnected. */
void vib_raw_destroy(struct vib_raw *raw);

#endif
