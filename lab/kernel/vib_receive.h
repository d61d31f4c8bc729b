/* SPDX-License-Identifier: GPL-2.0-only */
/* The receive side. */
#ifndef VIB_RECEIVE_H
#define VIB_RECEIVE_H

#include "vib_hca_state.h"

/* Its port's vib_end_ops.receive. */
void vib_hca_receive(struct vib_end *end, struct sk_buff *skb);

#endif
