/* SPDX-License-Identifier: GPL-2.0-only */
/* An end of a cable, where a node is, and the buffers in which frames come and go there. */
#ifndef VIB_END_H
#define VIB_END_H

#include <linux/skbuff.h>
#include "vib_frame.h"

struct vib_end;
struct vib_link;	/* vib_link.h */

/* All are called by the fabric's worker, in process context, one at a time and in order. */
struct vib_end_ops {
	/*
	 * A whole frame with right CRCs, its headers in vib_cb(skb)->head. The callee owns the buffer, but its octets
	 * may be shared with a capture or with other receivers: whoever changes them calls skb_unshare() first.
	 */
	void (*receive)(struct vib_end *end, struct sk_buff *skb);
	/* The cable has come up (Polling to LinkUp), or gone down. */
	void (*link)(struct vib_end *end, bool is_up);
	/*
	 * A frame that went in with a cookie has left its sender, once for each, also where it was dropped or the link
	 * is down. May be NULL for an end that gives no cookies.
	 */
	void (*sent)(struct vib_end *end, void *cookie);
};

/* One end of a cable, part of its owner. Zeroed, with ops and name set, before it is connected. */
struct vib_end {
	const struct vib_end_ops *ops;
	char name[16];			/* "hca0", "raw1", "sw0.3" */
	struct vib_link *link;		/* NULL: no cable */
	u8 side;			/* which end of the cable this is */
	bool is_present;		/* somebody is there: a raw port is while its device is open */
	bool is_disabled;		/* PortPhysicalState Disabled, by its subnet manager */
	bool is_edge;			/* an end node or a switch's own port 0: what it sends is captured */
	atomic64_t sent_frames, received_frames, sent_octets, received_octets;
};

/* In skb->cb while a frame is in the fabric; all of its octets there are. */
struct vib_cb {
	struct vib_end *from;	/* who sent it over this cable; NULL: to itself */
	union {
		struct vib_frame head;	/* from receive() on */
		struct {		/* until then, the fabric's own */
			struct vib_end *to;	/* for a frame that loops inside an adapter */
			void *cookie;
			bool is_own;
		} sending;
	};
};
static_assert(sizeof(struct vib_cb) <= sizeof_field(struct sk_buff, cb));
#define vib_cb(skb) ((struct vib_cb *)(skb)->cb)

/* A fresh frame buffer of this length, not yet filled; NULL counts VIB_DROP_MEMORY. */
struct sk_buff *vib_frame_alloc(size_t length, gfp_t gfp);
/* The worker's: hands a frame that has arrived to its receiver, if its CRCs are right. "from" is NULL for loopback. */
void vib_deliver(struct vib_end *from, struct vib_end *to, struct sk_buff *skb);

#endif
