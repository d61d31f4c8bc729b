/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cables, and the one worker that carries every frame: from its sender over the cable to the other end, which is an HCA
 * port, a switch port or a raw port. One worker means that no two queue pairs' locks nest and frames keep their order.
 */
#ifndef VIB_FABRIC_H
#define VIB_FABRIC_H

#include <linux/skbuff.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "vib_drop.h"
#include "vib_frame.h"

struct vib_end;
struct vib_link;

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

/* One end of a cable, part of its owner. Zeroed, with ops and name set, before vib_connect(). */
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

/*
 * Hands a frame over; takes ownership in any case, never sleeps, any context. An unsealed frame is sealed by the
 * worker. The queue is bounded for frames without a cookie only: HCAs bound themselves by waiting for sent().
 */
void vib_send(struct vib_end *from, struct sk_buff *skb, void *cookie);
/* The same to the sender itself: loopback inside an adapter. Neither captured nor subject to the cable's faults. */
void vib_send_to_self(struct vib_end *end, struct sk_buff *skb, void *cookie);
/* The same over the cable, for what a switch says itself: an end that is no edge, yet the frame is captured. */
void vib_send_own(struct vib_end *from, struct sk_buff *skb);
/* Waits until the queue has room (raw ports' writers). -ERESTARTSYS when interrupted. */
int vib_wait_for_room(void);
bool vib_has_room(void);
/* Woken when there may be room again, for poll(). */
wait_queue_head_t *vib_room_wait(void);
/* Waits until everything that is queued has been carried, with all callbacks returned. Not from the worker. */
void vib_flush(void);
/* Runs the work in the worker, so never beside a callback. Its delay begins anew when it was waiting. Any context. */
void vib_queue_work(struct delayed_work *work, unsigned long delay);

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

/* A fresh frame buffer of this length, not yet filled; NULL counts VIB_DROP_MEMORY. */
struct sk_buff *vib_frame_alloc(size_t length, gfp_t gfp);

int vib_fabric_init(void);
void vib_fabric_exit(void);

#endif
