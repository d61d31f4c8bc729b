/* SPDX-License-Identifier: GPL-2.0-only */
/* Cables: between which ends they are, whether they are up, and what they do to frames. */
#ifndef VIB_LINK_H
#define VIB_LINK_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "vib_end.h"
#include "vib_fault.h"

/*
 * A cable between two ends; named after the node of its first end. Starts down; comes up once both ends are present.
 * The seed is that of its faults. NULL when there is no memory.
 */
struct vib_link *vib_connect(struct vib_end *a, struct vib_end *b, u64 seed);
/* Takes the cable away: after it returns no callback of its ends runs any more. */
void vib_disconnect(struct vib_link *link);
/*
 * Presence, and the SM's Disabled state. Asynchronous: link() tells what came of it. Any context. What the SM asks for
 * comes a little later, so that the answer to it still goes over the cable.
 */
void vib_end_set_present(struct vib_end *end, bool is_present);
void vib_end_set_disabled(struct vib_end *end, bool is_disabled);
/* Down and up again, as a port does that is told to go to Polling. */
void vib_end_retrain(struct vib_end *end);
bool vib_end_is_up(const struct vib_end *end);

/* The worker's: carries a frame, or drops it, over the sender's cable. */
void vib_link_carry(struct vib_end *from, struct sk_buff *skb);

/* What is below is for vib_control.c, which shows cables and makes them bad ones. */

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

extern struct list_head vib_links;
extern struct mutex vib_links_lock;

/* Under vib_links_lock. By the cable's name or that of either end; tells which side that is. NULL: there is none. */
struct vib_link *vib_link_find(const char *name, u8 *side);
void vib_link_cut(struct vib_link *link, bool is_cut);

#endif
