// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue pairs: what rdmavt asks of a driver about them. A frame in the fabric carries its queue pair as a cookie; a
 * queue pair that is reset or destroyed waits until none of its frames is left there, so that no cookie outlives it.
 */
#include <linux/wait_bit.h>
#include "vib_emit.h"
#include "vib_qp.h"
#include "vib_rc.h"
#include "vib_send.h"

static void vib_qp_announce_last_wqe(struct rvt_qp *qp)
{
	struct vib_qp *private = qp->priv;
	struct ib_event event = { .device = qp->ibqp.device, .element.qp = &qp->ibqp,
				  .event = IB_EVENT_QP_LAST_WQE_REACHED };
	unsigned long flags;
	bool is_owed;

	spin_lock_irqsave(&qp->s_lock, flags);
	is_owed = private->owes_last_wqe_event;
	private->owes_last_wqe_event = false;
	spin_unlock_irqrestore(&qp->s_lock, flags);
	if (is_owed && qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

static void vib_qp_work(struct work_struct *work)
{
	struct rvt_qp *qp = container_of(work, struct vib_qp, work)->qp;

	vib_qp_send(qp);
	vib_qp_announce_last_wqe(qp);
}

static bool vib_qp_has_work(const struct rvt_qp *qp)
{
	if (ib_rvt_state_ops[qp->state] & RVT_FLUSH_SEND)
		return qp->s_last != READ_ONCE(qp->s_head);
	return (ib_rvt_state_ops[qp->state] & RVT_PROCESS_SEND_OK) && qp->s_cur != READ_ONCE(qp->s_head);
}

void vib_qp_sent(struct vib_end *end, void *cookie)
{
	struct rvt_qp *qp = cookie;
	struct vib_qp *private = qp->priv;
	unsigned long flags;
	bool is_last;

	spin_lock_irqsave(&qp->s_lock, flags);
	if (qp->ibqp.qp_type == IB_QPT_RC)
		vib_rc_sent(qp);
	else if (qp->s_last != qp->s_cur)
		rvt_send_complete(qp, rvt_get_swqe_ptr(qp, qp->s_last), IB_WC_SUCCESS);
	if (vib_qp_has_work(qp))
		vib_qp_schedule(qp);
	/* At zero the queue pair may go: nothing of it is touched any more once the lock is free. */
	is_last = atomic_dec_and_test(&private->in_flight);
	spin_unlock_irqrestore(&qp->s_lock, flags);
	if (is_last)
		wake_up_var(&private->in_flight);
}

static void *vib_qp_alloc(struct rvt_dev_info *rdi, struct rvt_qp *qp)
{
	struct vib_qp *private;

	if (qp->allowed_ops == IB_OPCODE_UC)
		return ERR_PTR(-EOPNOTSUPP);
	private = kzalloc(sizeof(*private), GFP_KERNEL);
	if (!private)
		return ERR_PTR(-ENOMEM);
	private->qp = qp;
	INIT_WORK(&private->work, vib_qp_work);
	return private;
}

/*
 * rdmavt remembers that an adapter has its queue pairs 0 and 1, but not that they are gone: it would refuse them to the
 * clients of an adapter that moves to another network namespace. One without a port got no number.
 */
static void release_special(struct rvt_dev_info *rdi, const struct rvt_qp *qp)
{
	struct rvt_qpn_table *numbers = &rdi->qp_dev->qpn_table;

	if (!qp->port_num || qp->ibqp.qp_num > 1)
		return;
	spin_lock(&numbers->lock);
	numbers->flags &= ~BIT(qp->ibqp.qp_num);
	spin_unlock(&numbers->lock);
}

static void vib_qp_free(struct rvt_dev_info *rdi, struct rvt_qp *qp)
{
	release_special(rdi, qp);
	kfree(qp->priv);
}

static void vib_qp_stop(struct rvt_qp *qp)
{
	struct vib_qp *private = qp->priv;

	cancel_work_sync(&private->work);
}

/* The state is Reset and the timers are gone: only frames in the fabric may still call in. */
static void vib_qp_quiesce(struct rvt_qp *qp)
{
	struct vib_qp *private = qp->priv;
	unsigned long flags;

	wait_var_event(&private->in_flight, !atomic_read(&private->in_flight));
	/* The callback that took it to zero may still hold the lock. */
	spin_lock_irqsave(&qp->s_lock, flags);
	spin_unlock_irqrestore(&qp->s_lock, flags);
	cancel_work_sync(&private->work);
}

static void vib_qp_reset(struct rvt_qp *qp)
{
	struct vib_qp *private = qp->priv;

	private->owes_last_wqe_event = false;
}

static void vib_qp_modified(struct rvt_qp *qp, struct ib_qp_attr *attributes, int mask, struct ib_udata *udata)
{
	struct vib_qp *private = qp->priv;

	if (mask & IB_QP_SQ_PSN)
		private->fresh_psn = qp->s_psn;
}

/* Nothing of a queue pair waits outside its own send queue. */
static void vib_qp_nothing_waits(struct rvt_qp *qp)
{
}

static int vib_path_mtu(struct rvt_dev_info *rdi, struct rvt_qp *qp, struct ib_qp_attr *attributes)
{
	if (attributes->path_mtu < IB_MTU_256 || attributes->path_mtu > vib_hca_of(&rdi->ibdev)->mtu_cap)
		return -EINVAL;
	return attributes->path_mtu;
}

static u32 vib_mtu_octets(struct rvt_dev_info *rdi, struct rvt_qp *qp, u32 mtu)
{
	return ib_mtu_enum_to_int(mtu);
}

static int vib_mtu_code(u32 octets)
{
	/* Zero until a connection has a path. */
	return octets ? ib_mtu_int_to_enum(octets) : IB_MTU_4096;
}

static int vib_check_path(struct ib_device *device, struct rdma_ah_attr *path)
{
	u32 dlid = rdma_ah_get_dlid(path);

	if (rdma_ah_get_sl(path) >= VIB_SLS || !dlid || dlid > VIB_LID_PERMISSIVE)
		return -EINVAL;
	if (vib_lid_is_multicast(dlid) && !(rdma_ah_get_ah_flags(path) & IB_AH_GRH))
		return -EINVAL;
	return 0;
}

static void vib_new_path(struct ib_device *device, struct rdma_ah_attr *path, struct rvt_ah *ah)
{
	ah->log_pmtu = ilog2(ib_mtu_enum_to_int(vib_hca_of(device)->mtu));
}

static int vib_check_request(struct rvt_qp *qp, struct rvt_swqe *wqe, bool *call_send)
{
	if (qp->ibqp.qp_type == IB_QPT_RC)
		return wqe->length > 0x80000000U ? -EINVAL : 0;
	if (wqe->length > BIT(rvt_get_swqe_ah(wqe)->log_pmtu))
		return -EINVAL;
	*call_send = true;
	return 0;
}

void vib_qp_set_driver(struct rvt_dev_info *rdi)
{
	struct rvt_driver_provided *driver = &rdi->driver_f;

	driver->schedule_send = vib_qp_schedule;
	driver->schedule_send_no_lock = vib_qp_schedule;
	driver->setup_wqe = vib_check_request;
	driver->do_send = vib_qp_send;
	driver->qp_priv_alloc = vib_qp_alloc;
	driver->qp_priv_free = vib_qp_free;
	driver->notify_qp_reset = vib_qp_reset;
	driver->modify_qp = vib_qp_modified;
	driver->flush_qp_waiters = vib_qp_nothing_waits;
	driver->notify_error_qp = vib_qp_nothing_waits;
	driver->stop_send_queue = vib_qp_stop;
	driver->quiesce_qp = vib_qp_quiesce;
	driver->get_pmtu_from_attr = vib_path_mtu;
	driver->mtu_from_qp = vib_mtu_octets;
	driver->mtu_to_path_mtu = vib_mtu_code;
	driver->check_ah = vib_check_path;
	driver->notify_new_ah = vib_new_path;
	driver->notify_restart_rc = vib_rc_timeout;
}
