/* SPDX-License-Identifier: GPL-2.0-only */
/* Traps from a port to its subnet manager, repeated until repressed. IBTA Vol 1, 13.4.9 and 14.2.5. */
#ifndef VIB_TRAP_H
#define VIB_TRAP_H

#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_mad.h>
#include "vib_end.h"

/* Notice of class SubnLIDRouted, 64 octets in SMP.data. IBTA Vol 1, 14.2.5.1. */
struct vib_notice {
	u8 type;		/* 1 urgent, 4 informational */
	u8 producer;		/* 1 channel adapter, 2 switch */
	u16 number;		/* 128 link state of a switch's port, 144 capabilities, 257/258 bad P_Key/Q_Key */
	u8 details[54];
};

/* One repeating trap of a port. All is sent by the fabric's worker, which calls route() and send(). */
struct vib_trap {
	struct delayed_work work;
	spinlock_t lock;
	struct vib_end *end;
	/* Where to: read at each sending. A zero SM LID means nobody to tell. */
	void (*route)(struct vib_end *end, u16 *lid, u16 *sm_lid, u8 *sm_sl, __be64 *mkey);
	/* NULL: vib_send(). A switch looks up which port it is. */
	void (*send)(struct vib_end *end, struct sk_buff *skb);
	struct vib_notice notice;
	__be64 tid;
	unsigned int left;	/* sendings */
};

void vib_trap_init(struct vib_trap *trap, struct vib_end *end,
		   void (*route)(struct vib_end *, u16 *, u16 *, u8 *, __be64 *));
/* Sends it now and repeats it, at most 5 times, one second apart. Any context. */
void vib_trap_raise(struct vib_trap *trap, const struct vib_notice *notice);
/* A TrapRepress with this transaction id came. */
void vib_trap_repress(struct vib_trap *trap, __be64 tid);
void vib_trap_cancel(struct vib_trap *trap);

#endif
