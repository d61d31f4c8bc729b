/* SPDX-License-Identifier: GPL-2.0-only */
/* Why a frame went no further. Each drop is counted under one reason; debugfs "drops" has them by name. */
#ifndef VIB_DROP_H
#define VIB_DROP_H

#include <linux/skbuff.h>

/* reason, name in debugfs */
#define VIB_DROP_REASONS(X) \
	X(MEMORY, "no-memory") \
	X(QUEUE, "queue-full") \
	X(LINK_DOWN, "link-down") \
	X(FAULT, "fault-injected") \
	X(MALFORMED, "malformed") \
	X(FOREIGN, "not-iba-transport") \
	X(VCRC, "bad-vcrc") \
	X(ICRC, "bad-icrc") \
	X(MTU, "over-mtu") \
	X(PORT_STATE, "port-not-active") \
	X(NO_ROUTE, "no-route") \
	X(NO_GROUP, "no-multicast-route") \
	X(SMP, "smp-misrouted") \
	X(RAW_FULL, "raw-port-full") \
	X(RAW_CLOSED, "raw-port-closed") \
	X(NOT_MINE, "lid-not-mine") \
	X(NO_QP, "no-queue-pair") \
	X(QP_STATE, "queue-pair-not-receiving") \
	X(QP_TYPE, "wrong-service-type") \
	X(NOT_ATTACHED, "group-not-attached") \
	X(PKEY, "pkey-mismatch") \
	X(QKEY, "qkey-mismatch") \
	X(NO_RECEIVE, "no-receive-posted") \
	X(RECEIVE_SHORT, "receive-too-short") \
	X(PSN, "psn-out-of-order") \
	X(OPCODE, "opcode")

enum vib_drop_reason {
#define X(reason, name) VIB_DROP_##reason,
	VIB_DROP_REASONS(X)
#undef X
	VIB_DROP_COUNT
};

/* Counts and frees. */
void vib_drop(struct sk_buff *skb, enum vib_drop_reason reason);
/* Counts one that no buffer stands for. */
void vib_count_drop(enum vib_drop_reason reason);
const char *vib_drop_name(enum vib_drop_reason reason);
u64 vib_drops(enum vib_drop_reason reason);

#endif
