// SPDX-License-Identifier: GPL-2.0
/*
 * What brings an svc thread to a connection: a Call that can go on, and room for
 * messages where there was none.
 */
#include "svcrdma2.h"

/**
 * svc2_msg_ready - put a Call where a thread goes on with it
 * @sp: its connection
 * @call: Call; the caller's no longer (R2)
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
	 * Whoever finds neither queue, in has_room(), has XPT_BUSY until it has asked
	 * for more: see smp_mb__after_atomic() in svc2_has_wspace().
	 */
	smp_mb__after_atomic();
	spin_unlock(&sp->sp_recv_lock);
	svc_xprt_enqueue(&sp->sp_xprt);
}

/**
 * svc2_unthrottle - queue a connection again, if svc2_has_wspace() was false
 * @sp: connection; the caller has given something back, and passed a full barrier since
 *
 * The RPC layer asks svc2_has_wspace() once more before a thread comes.
 *
 * Context: any task or either CQ.
 */
void svc2_unthrottle(struct svc2_xprt *sp)
{
	if (test_bit(SVC2_F_THROTTLED, &sp->sp_flags) &&
	    test_and_clear_bit(SVC2_F_THROTTLED, &sp->sp_flags))
		svc_xprt_enqueue(&sp->sp_xprt);
}
