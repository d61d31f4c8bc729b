/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue of all frames, and the one worker that takes them from it. One worker means that no two queue pairs' locks
 * nest and frames keep their order.
 */
#ifndef VIB_QUEUE_H
#define VIB_QUEUE_H

#include <linux/skbuff.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

/* The worker hands each frame in turn to carry(), which owns it from then on. */
int vib_queue_init(void (*carry)(struct sk_buff *skb));
void vib_queue_exit(void);
/* Takes ownership, never sleeps, any context. A bounded one is dropped where the queue is full. */
void vib_queue_frame(struct sk_buff *skb, bool is_bounded);
/* Waits until the queue has room (raw ports' writers). -ERESTARTSYS when interrupted. */
int vib_wait_for_room(void);
bool vib_has_room(void);
/* Woken when there may be room again, for poll(). */
wait_queue_head_t *vib_room_wait(void);
/* Waits until everything that is queued has been carried, with all callbacks returned. Not from the worker. */
void vib_flush(void);
/* Runs the work in the worker, so never beside a callback. Its delay begins anew when it was waiting. Any context. */
void vib_queue_work(struct delayed_work *work, unsigned long delay);

#endif
