// SPDX-License-Identifier: GPL-2.0-only
/* Traps: their frames, and their repetition. */
#include <rdma/ib_smi.h>
#include "vib_fabric.h"
#include "vib_queue.h"
#include "vib_trap.h"

#define SENDINGS 5
#define IS_GENERIC 0x80
#define FULL_MEMBER_DEFAULT_PKEY 0xffff
#define UD_SEND_ONLY 0x64

static_assert(sizeof(struct ib_smp) == IB_MGMT_MAD_SIZE);

/* IBTA Vol 1, 13.4.8.2. */
static void write_notice(const struct vib_notice *notice, u16 lid, u8 *data)
{
	data[0] = IS_GENERIC | notice->type;
	vib_put24(notice->producer, data + 1);
	vib_put16(notice->number, data + 4);
	vib_put16(lid, data + 6);
	memcpy(data + 10, notice->details, sizeof(notice->details));
}

static struct sk_buff *make_frame(const struct vib_notice *notice, __be64 tid, const struct vib_head *head, __be64 mkey)
{
	struct sk_buff *skb = vib_frame_alloc(vib_head_frame_size(head, IB_MGMT_MAD_SIZE), GFP_KERNEL);
	struct ib_smp *smp;

	if (!skb)
		return NULL;
	smp = (struct ib_smp *)(skb->data + vib_head_write(head, IB_MGMT_MAD_SIZE, skb->data));
	memset(smp, 0, sizeof(*smp));
	smp->base_version = IB_MGMT_BASE_VERSION;
	smp->mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED;
	smp->class_version = 1;
	smp->method = IB_MGMT_METHOD_TRAP;
	smp->tid = tid;
	smp->attr_id = IB_SMP_ATTR_NOTICE;
	smp->mkey = mkey;
	write_notice(notice, head->slid, smp->data);
	return skb;
}

static void send_trap(struct vib_trap *trap, const struct vib_notice *notice, __be64 tid)
{
	struct vib_head head = {
		.vl = VIB_VL_MANAGEMENT,
		.opcode = UD_SEND_ONLY,
		.pkey = FULL_MEMBER_DEFAULT_PKEY,
		.has_deth = true,
	};
	struct sk_buff *skb;
	__be64 mkey = 0;

	trap->route(trap->end, &head.slid, &head.dlid, &head.sl, &mkey);
	if (!head.slid || !head.dlid)
		return;
	skb = make_frame(notice, tid, &head, mkey);
	if (!skb)
		return;
	if (trap->send)
		trap->send(trap->end, skb);
	else
		vib_send(trap->end, skb, NULL);
}

static void work(struct work_struct *work)
{
	struct vib_trap *trap = container_of(to_delayed_work(work), struct vib_trap, work);
	struct vib_notice notice;
	bool is_due, is_last;
	__be64 tid;

	spin_lock_irq(&trap->lock);
	is_due = trap->left > 0;
	if (is_due)
		trap->left--;
	is_last = trap->left == 0;
	notice = trap->notice;
	tid = trap->tid;
	spin_unlock_irq(&trap->lock);
	if (is_due)
		send_trap(trap, &notice, tid);
	if (!is_last)
		vib_queue_work(&trap->work, HZ);
}

void vib_trap_init(struct vib_trap *trap, struct vib_end *end,
		   void (*route)(struct vib_end *, u16 *, u16 *, u8 *, __be64 *))
{
	spin_lock_init(&trap->lock);
	INIT_DELAYED_WORK(&trap->work, work);
	trap->end = end;
	trap->route = route;
}

void vib_trap_raise(struct vib_trap *trap, const struct vib_notice *notice)
{
	static atomic64_t last_tid;
	unsigned long flags;

	spin_lock_irqsave(&trap->lock, flags);
	trap->notice = *notice;
	trap->tid = cpu_to_be64(atomic64_inc_return(&last_tid));
	trap->left = SENDINGS;
	spin_unlock_irqrestore(&trap->lock, flags);
	vib_queue_work(&trap->work, 0);
}

void vib_trap_repress(struct vib_trap *trap, __be64 tid)
{
	unsigned long flags;

	spin_lock_irqsave(&trap->lock, flags);
	if (trap->tid == tid)
		trap->left = 0;
	spin_unlock_irqrestore(&trap->lock, flags);
}

void vib_trap_cancel(struct vib_trap *trap)
{
	cancel_delayed_work_sync(&trap->work);
}
