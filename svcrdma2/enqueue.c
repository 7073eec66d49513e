// SPDX-License-Identifier: GPL-2.0
/*
 * Wakeup of an svc thread for a connection: when a Call can go on, and when
 * there is room for messages again.
 *
 * When Calls meet a shortage, of memory or of mappings for their RDMA Reads,
 * the thread of one Call waits until it has passed. The other Calls go on when
 * that Call does.
 */
#include "svcrdma2.h"

/**
 * svc2_msg_ready - queue a Call for a thread that goes on with it
 * @sp: its connection
 * @call: Call; no longer the caller's (R2)
 *
 * Context: any task or either CQ.
 */
void svc2_msg_ready(struct svc2_xprt *sp, struct svc2_msg *call)
{
	struct list_head *queue = svc2_msg_is_read(call) ? &sp->sp_ready_q :
							   &sp->sp_served_q;

	spin_lock(&sp->sp_recv_lock);
	list_add_tail(&call->sm_list, queue);
	set_bit(XPT_DATA, &sp->sp_xprt.xpt_flags);
	/*
	 * A thread that finds both queues empty, in svc2_gate_has_room(), has
	 * XPT_BUSY until it has requested a wakeup: see smp_mb__after_atomic()
	 * in svc2_has_wspace().
	 */
	smp_mb__after_atomic();
	spin_unlock(&sp->sp_recv_lock);
	svc_xprt_enqueue(&sp->sp_xprt);
}

/**
 * svc2_shortage_begin - note that a Call has met a shortage
 * @sp: its connection
 *
 * Context: svc thread.
 * Return: true when its thread has to wait, until svc2_shortage_end(); false
 * when another thread does.
 */
bool svc2_shortage_begin(struct svc2_xprt *sp)
{
	bool begins;

	guard(spinlock)(&sp->sp_recv_lock);
	begins = !sp->sp_shortage;
	sp->sp_shortage = true;
	return begins;
}

/**
 * svc2_shortage_wait - queue a Call until the waiting thread goes on
 * @sp: its connection
 * @call: Call whose RDMA Reads have not begun; no longer the caller's (R2)
 *
 * Context: svc thread.
 */
void svc2_shortage_wait(struct svc2_xprt *sp, struct svc2_msg *call)
{
	svc2_count(shortages);
	scoped_guard(spinlock, &sp->sp_recv_lock) {
		if (sp->sp_shortage) {
			list_add_tail(&call->sm_list, &sp->sp_short_q);
			return;
		}
	}
	/* the shortage has just passed */
	svc2_msg_ready(sp, call);
}

/**
 * svc2_shortage_end - end a shortage that has passed, or lasted too long
 * @sp: connection
 *
 * Context: svc thread chosen by svc2_shortage_begin().
 */
void svc2_shortage_end(struct svc2_xprt *sp)
{
	spin_lock(&sp->sp_recv_lock);
	sp->sp_shortage = false;
	list_splice_tail_init(&sp->sp_short_q, &sp->sp_served_q);
	if (!list_empty(&sp->sp_served_q))
		set_bit(XPT_DATA, &sp->sp_xprt.xpt_flags);
	/* see svc2_msg_ready(); XPT_DATA may not have been set */
	smp_mb();
	spin_unlock(&sp->sp_recv_lock);
	svc_xprt_enqueue(&sp->sp_xprt);
}

/**
 * svc2_unthrottle - queue a connection again, if svc2_has_wspace() was false
 * @sp: connection; the caller has given something back, and passed a full
 *	barrier since
 *
 * The RPC layer calls svc2_has_wspace() again before it assigns a thread.
 *
 * Context: any task or either CQ.
 */
void svc2_unthrottle(struct svc2_xprt *sp)
{
	if (test_bit(SVC2_F_THROTTLED, &sp->sp_flags) &&
	    test_and_clear_bit(SVC2_F_THROTTLED, &sp->sp_flags))
		svc_xprt_enqueue(&sp->sp_xprt);
}
