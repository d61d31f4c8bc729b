/* SPDX-License-Identifier: GPL-2.0-only */
/* The subnet management agent of a switch. IBTA Vol 1, 14.2.5. */
#ifndef VIB_SWITCH_AGENT_H
#define VIB_SWITCH_AGENT_H

#include <rdma/ib_smi.h>
#include "vib_switch_state.h"

/*
 * Does what an SMP asks for and makes it the answer, but for hop pointer, path and addresses. False: there is no answer
 * to it.
 */
bool vib_switch_answer(struct vib_switch *sw, struct ib_smp *smp, u8 in_port);

#endif
