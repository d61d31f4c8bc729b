// SPDX-License-Identifier: GPL-2.0-only
/* The counters of dropped frames. */
#include <linux/netdevice.h>
#include "vib_drop.h"

static atomic64_t drops[VIB_DROP_COUNT];

static const char *const names[VIB_DROP_COUNT] = {
#define X(reason, name) [VIB_DROP_##reason] = name,
	VIB_DROP_REASONS(X)
#undef X
};

void vib_count_drop(enum vib_drop_reason reason)
{
	atomic64_inc(&drops[reason]);
}

void vib_drop(struct sk_buff *skb, enum vib_drop_reason reason)
{
	vib_count_drop(reason);
	dev_kfree_skb_any(skb);
}

const char *vib_drop_name(enum vib_drop_reason reason)
{
	return names[reason];
}

u64 vib_drops(enum vib_drop_reason reason)
{
	return atomic64_read(&drops[reason]);
}
