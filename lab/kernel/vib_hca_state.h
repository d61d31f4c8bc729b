/* SPDX-License-Identifier: GPL-2.0-only */
/* The inside of a channel adapter and of its queue pairs, which its files share. */
#ifndef VIB_HCA_STATE_H
#define VIB_HCA_STATE_H

#include <linux/platform_device.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_smi.h>
#include <rdma/rdma_vt.h>
#include <rdma/rdmavt_qp.h>
#include "vib_drop.h"
#include "vib_end.h"
#include "vib_trap.h"

#define VIB_PKEYS 32
#define VIB_PKEY_MEMBERSHIP 0x8000
#define VIB_PKEY_DEFAULT 0xffff
#define VIB_GUIDS 8
#define VIB_SLS 16

/* Frames of one queue pair in the fabric at a time: bounds memory where a send queue is deep. */
#define VIB_QP_IN_FLIGHT 64
/* No reason to drop a frame was found. */
#define VIB_DELIVERED VIB_DROP_COUNT

enum vib_hca_trap {
	VIB_TRAP_CAPABILITY,	/* 144 */
	VIB_TRAP_MKEY,		/* 256 */
	VIB_TRAP_PKEY,		/* 257 */
	VIB_TRAP_QKEY,		/* 258 */
	VIB_TRAPS
};

/* PortCounters; the performance manager sets them back, the cable's own counters run on. */
struct vib_pma {
	u64 sent_frames, received_frames, sent_words, received_words;	/* what the cable had when they were set */
	u64 vl15_dropped, link_downed, xmit_discards;
};

struct vib_hca {
	struct rvt_dev_info rdi;	/* first: rdmavt allocates and frees the whole */
	struct rvt_ibport port;
	struct vib_end end;
	struct platform_device *parent;
	struct workqueue_struct *send_queue;
	struct ib_ucontext mapped;	/* stands for those of processes in what they have mapped */
	int (*rvt_mmap)(struct ib_ucontext *context, struct vm_area_struct *area);

	bool is_enhanced, blocks_loopback;	/* as configured */
	bool is_receiving;		/* rdmavt's tables are there */
	bool is_announcing;		/* the device is registered: events may be dispatched */

	spinlock_t lock;		/* of everything below */
	__be64 node_guid;
	__be64 guids[VIB_GUIDS];
	u16 pkeys[VIB_PKEYS];
	u16 lid;
	u8 lmc, state, phys_state;
	u8 mtu, mtu_cap;		/* codes */
	u8 link_width_enabled, link_speed_enabled;
	u8 sl_to_vl[VIB_SLS / 2];
	struct vib_pma pma;
	u64 link_downed, xmit_discards;
	unsigned long trap_after[VIB_TRAPS];	/* jiffies: not again before */
	struct vib_trap traps[VIB_TRAPS];
};

/* Private part of a queue pair. */
struct vib_qp {
	struct rvt_qp *qp;
	struct work_struct work;
	atomic_t in_flight;		/* frames given to the fabric that have not left it */
	bool owes_last_wqe_event;	/* under s_lock */
	u32 fresh_psn;			/* RC requester, under s_lock: the first PSN that was never sent */
};

static inline struct vib_hca *vib_hca_of(const struct ib_device *device)
{
	return container_of(device, struct vib_hca, rdi.ibdev);
}

static inline struct vib_hca *vib_qp_hca(const struct rvt_qp *qp)
{
	return vib_hca_of(qp->ibqp.device);
}

static inline bool vib_lid_is_multicast(u16 lid)
{
	return lid >= VIB_LID_MULTICAST && lid != VIB_LID_PERMISSIVE;
}

static inline u16 vib_path_mask(const struct vib_hca *hca)
{
	return (1 << hca->lmc) - 1;
}

static inline bool vib_lid_is_mine(const struct vib_hca *hca, u16 lid)
{
	return hca->lid && (lid & ~vib_path_mask(hca)) == hca->lid;
}

/* IBTA Vol 1, 10.9.1.2: the same partition, and not two limited members. */
static inline bool vib_pkey_matches(u16 a, u16 b)
{
	return (a & ~VIB_PKEY_MEMBERSHIP) && !((a ^ b) & ~VIB_PKEY_MEMBERSHIP) && ((a | b) & VIB_PKEY_MEMBERSHIP);
}

#endif
