/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The way of every frame: by the one worker (vib_queue.h) from its sender over the cable (vib_link.h) to the other end,
 * which is an HCA port, a switch port or a raw port.
 */
#ifndef VIB_FABRIC_H
#define VIB_FABRIC_H

#include "vib_end.h"

/*
 * Hands a frame over; takes ownership in any case, never sleeps, any context. An unsealed frame is sealed by the
 * worker. The queue is bounded for frames without a cookie only: HCAs bound themselves by waiting for sent().
 */
void vib_send(struct vib_end *from, struct sk_buff *skb, void *cookie);
/* The same to the sender itself: loopback inside an adapter. Neither captured nor subject to the cable's faults. */
void vib_send_to_self(struct vib_end *end, struct sk_buff *skb, void *cookie);
/* The same over the cable, for what a switch says itself: an end that is no edge, yet the frame is captured. */
void vib_send_own(struct vib_end *from, struct sk_buff *skb);

int vib_fabric_init(void);
void vib_fabric_exit(void);

#endif
