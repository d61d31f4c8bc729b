/* SPDX-License-Identifier: GPL-2.0-only */
/* Cables: whether they are up, and what they do to frames. Between vib_fabric.c, vib_link.c and vib_control.c. */
#ifndef VIB_LINK_H
#define VIB_LINK_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include "vib_fabric.h"
#include "vib_fault.h"

/* What goes from one end to the other. */
struct vib_way {
	struct vib_link *link;
	u8 from;			/* the sender's side */
	struct vib_fault fault;		/* under the link's lock */
	struct sk_buff_head delayed;	/* the worker's; skb->tstamp is when each is due */
	struct delayed_work work;
};

struct vib_link {
	struct list_head node;		/* of all links, under vib_links_lock */
	char name[sizeof_field(struct vib_end, name)];
	struct vib_end *ends[2];
	struct vib_way ways[2];		/* by the sender's side */
	spinlock_t lock;		/* also of the ends' is_present and is_disabled */
	bool is_cut;			/* by command */
	bool must_fall;			/* has been away since, though it may be there again */
	bool is_up;			/* written by the worker only */
	struct delayed_work change, settle;	/* now, and a little later */
};

/* The worker's: carries a frame, or drops it, over the sender's cable. */
void vib_link_carry(struct vib_end *from, struct sk_buff *skb);
/* The worker's: hands a frame that has arrived to its receiver. */
void vib_deliver(struct vib_end *from, struct vib_end *to, struct sk_buff *skb);

extern struct list_head vib_links;
extern struct mutex vib_links_lock;

/* Under vib_links_lock. By the cable's name or that of either end; tells which side that is. NULL: there is none. */
struct vib_link *vib_link_find(const char *name, u8 *side);
void vib_link_cut(struct vib_link *link, bool is_cut);

#endif
