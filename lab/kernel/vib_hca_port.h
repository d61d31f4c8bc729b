/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The port of an adapter: its state, and what becomes known of it, as events to the kernel and traps to the subnet
 * manager.
 */
#ifndef VIB_HCA_PORT_H
#define VIB_HCA_PORT_H

#include "vib_hca_state.h"

void vib_hca_announce(struct vib_hca *hca, enum ib_event_type event);
/* The port becomes Active if it was armed; whether it is Active now. */
bool vib_hca_activate(struct vib_hca *hca);
/* Its vib_end_ops.link. */
void vib_hca_link(struct vib_end *end, bool is_up);
/* Its vib_trap.route. */
void vib_hca_trap_route(struct vib_end *end, u16 *lid, u16 *sm_lid, u8 *sm_sl, __be64 *mkey);
void vib_hca_raise_trap(struct vib_hca *hca, enum vib_hca_trap which, const struct vib_notice *notice);
void vib_hca_raise_capability_trap(struct vib_hca *hca, u8 local_changes);
/* A frame for this queue pair had a P_Key or Q_Key that is not right: it is counted, and trap 257 or 258 raised. */
void vib_hca_bad_pkey(struct vib_hca *hca, const struct rvt_qp *qp, const struct vib_frame *head, const u8 *octets);
void vib_hca_bad_qkey(struct vib_hca *hca, const struct rvt_qp *qp, const struct vib_frame *head, const u8 *octets);

#endif
