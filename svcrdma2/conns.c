// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: the list of all, the queue of those that wait to be accepted,
 * why the latest ended, and the counters.
 */
#include <linux/ktime.h>

#include <net/net_namespace.h>

#include "svcrdma2.h"

static_assert(SVC2_C_errors_system - SVC2_C_errors_vers ==
	      RDMA2_ERR_SYSTEM - RDMA2_ERR_VERS);

/**
 * svc2_count_error - count an RDMA2_ERROR that was sent
 * @code: its code
 */
void svc2_count_error(u32 code)
{
	if (code >= RDMA2_ERR_VERS && code <= RDMA2_ERR_SYSTEM)
		this_cpu_inc(svc2_counters[SVC2_C_errors_vers + code -
					   RDMA2_ERR_VERS]);
}

/*
 * Calls that broke their connection: the requester's device has refused a
 * transfer, and may do so again when the requester sends the Call again, at the
 * cost of all other RPCs. If the refusal was transient, the upper layer
 * answers, perhaps from its reply cache. But a Call, recognized by xid and
 * address, that has broken two connections gets an error, which ends that RPC
 * alone (C-093, C-094). The peer does not choose the address (limits.c). Peers
 * that share one, as hosts behind an InfiniBand router do, can get the error
 * for a Call of another peer with the same xid. A peer that fills the small
 * table evicts the Calls of others: these break one more connection.
 */

static DEFINE_SPINLOCK(lost_lock);	/* guards the next; lo_used is read without it */
static struct svc2_losses losses;

static struct svc2_loss svc2_lost_key(const struct svc2_xprt *sp, u32 xid)
{
	return (struct svc2_loss){
		.ls_net	 = sp->sp_xprt.xpt_net->net_cookie,
		.ls_peer = sp->sp_quota.qu_address->ad_addr,
		.ls_xid	 = xid,
	};
}

/**
 * svc2_lost_note - record that a Call broke its connection
 * @sp: connection
 * @xid: xid of the Call
 *
 * Context: send CQ.
 */
void svc2_lost_note(struct svc2_xprt *sp, u32 xid)
{
	const struct svc2_loss key = svc2_lost_key(sp, xid);

	svc2_count(calls_lost);
	guard(spinlock)(&lost_lock);
	svc2_loss_note(&losses, &key, jiffies);
}

/**
 * svc2_was_lost - check whether a Call is refused because it broke connections
 * @sp: connection on which it was received
 * @xid: xid of the Call
 *
 * Return: true once, and its losses are forgotten.
 */
bool svc2_was_lost(struct svc2_xprt *sp, u32 xid)
{
	struct svc2_loss key;

	if (likely(!READ_ONCE(losses.lo_used)))
		return false;
	key = svc2_lost_key(sp, xid);
	guard(spinlock)(&lost_lock);
	return svc2_loss_is_last(&losses, &key, jiffies);
}

/* ended or refused connections that are remembered */
#define SVC2_ENDED	32

static DEFINE_MUTEX(conns_mutex);	/* guards the next three */
static LIST_HEAD(conns);
static struct svc2_ended ended[SVC2_ENDED];
static unsigned int ended_next;

static struct svc2_ended *svc2_conn_note_end(const struct svc2_xprt *sp)
{
	struct svc2_ended *ed = &ended[ended_next++ % SVC2_ENDED];

	lockdep_assert_held(&conns_mutex);
	ed->ed_net = sp->sp_xprt.xpt_net->net_cookie;
	strscpy(ed->ed_peer, sp->sp_xprt.xpt_remotebuf, sizeof(ed->ed_peer));
	ed->ed_version = sp->sp_last_vers;
	ed->ed_error = 0;
	return ed;
}

/**
 * svc2_conn_list - list a connection that is accepted
 * @sp: connection
 */
void svc2_conn_list(struct svc2_xprt *sp)
{
	guard(mutex)(&conns_mutex);
	list_add_tail(&sp->sp_listed, &conns);
}

/**
 * svc2_conn_unlist - undo svc2_conn_list(), if it was called; record the end
 * @sp: connection
 *
 * Context: ->xpo_free.
 */
void svc2_conn_unlist(struct svc2_xprt *sp)
{
	char what[96];

	guard(mutex)(&conns_mutex);
	if (list_empty(&sp->sp_listed))
		return;
	list_del_init(&sp->sp_listed);
	snprintf(what, sizeof(what), "of client %s",
		 sp->sp_xprt.xpt_remotebuf);
	svc2_count_ended(rpcrdma2_conn_ended(&sp->sp_conn,
					     &svc2_conn_note_end(sp)->ed_end,
					     "svcrdma2", what));
}

/**
 * svc2_conn_refused - record that a connection was not accepted
 * @sp: connection
 * @error: reason, a negative errno
 */
void svc2_conn_refused(const struct svc2_xprt *sp, int error)
{
	struct svc2_ended *ed;

	guard(mutex)(&conns_mutex);
	ed = svc2_conn_note_end(sp);
	ed->ed_error = error;
	ed->ed_end = (struct rpcrdma2_end){
		.en_why	= RPCRDMA2_LOSS_NONE,
		.en_at	= ktime_get_boottime_seconds(),
	};
}

/**
 * svc2_conns_each - call a function for each accepted connection
 * @fn: function; the connection may be lost, but is not destroyed meanwhile
 * @arg: for @fn
 *
 * Context: any task; may sleep.
 */
void svc2_conns_each(void (*fn)(struct svc2_xprt *sp, void *arg), void *arg)
{
	struct svc2_xprt *sp;

	guard(mutex)(&conns_mutex);
	list_for_each_entry(sp, &conns, sp_listed)
		fn(sp, arg);
}

/**
 * svc2_ended_each - call a function for each ended or refused connection
 * @fn: function
 * @arg: for @fn
 *
 * Context: any task; may sleep.
 */
void svc2_ended_each(void (*fn)(const struct svc2_ended *ed, void *arg),
		     void *arg)
{
	unsigned int i;

	guard(mutex)(&conns_mutex);
	for (i = 0; i < SVC2_ENDED; i++)
		if (ended[i].ed_net)
			fn(&ended[i], arg);
}

/*
 * Connections wait on ls_pending until an svc thread accepts them; meanwhile
 * their own CM events may end them. The task that takes one off ls_pending
 * decides. Work ends it: a handler cannot wait for the end of its own cm_id.
 */

/*
 * Guards ls_pending, ls_npending, sp_pending, and XPT_CONN against them, of all
 * listeners: a connection outlives its listener.
 */
static DEFINE_SPINLOCK(pending_lock);

static void svc2_pending_unlink(struct svc2_xprt *sp)
{
	lockdep_assert_held(&pending_lock);
	list_del_init(&sp->sp_pending);
	sp->sp_listener->ls_npending--;
}

static void svc2_pending_reap(struct work_struct *work)
{
	struct svc2_xprt *sp = container_of(work, struct svc2_xprt, sp_reap);
	struct svc_xprt *listener = &sp->sp_listener->ls_xprt;

	svc2_count(accept_failures);
	svc_xprt_put(&sp->sp_xprt);
	svc_xprt_put(listener);
}

/**
 * svc2_reap - end a connection, if it was never accepted
 * @sp: connection
 *
 * Context: CM handler of @sp.
 * Return: false when the RPC layer has to close it.
 */
bool svc2_reap(struct svc2_xprt *sp)
{
	bool taken;

	spin_lock(&pending_lock);
	taken = !list_empty(&sp->sp_pending);
	if (taken) {
		svc2_pending_unlink(sp);
		queue_work(svc2_wq, &sp->sp_reap);
	}
	spin_unlock(&pending_lock);
	return taken;
}

/**
 * svc2_add_pending - queue a connection until it is accepted
 * @ls: listener that received the request; the connection holds a reference
 * @sp: connection
 *
 * Context: CM handler of @sp.
 */
void svc2_add_pending(struct svc2_listener *ls, struct svc2_xprt *sp)
{
	INIT_WORK(&sp->sp_reap, svc2_pending_reap);
	sp->sp_listener = ls;
	svc_xprt_get(&ls->ls_xprt);

	spin_lock(&pending_lock);
	list_add_tail(&sp->sp_pending, &ls->ls_pending);
	ls->ls_npending++;
	set_bit(XPT_CONN, &ls->ls_xprt.xpt_flags);
	spin_unlock(&pending_lock);
	svc_xprt_enqueue(&ls->ls_xprt);
}

/**
 * svc2_next_pending - take the first connection off ls_pending
 * @ls: listener
 *
 * Return: a connection to accept or reap, with its reference on @ls; or NULL.
 */
struct svc2_xprt *svc2_next_pending(struct svc2_listener *ls)
{
	struct svc2_xprt *sp;

	spin_lock(&pending_lock);
	sp = list_first_entry_or_null(&ls->ls_pending, struct svc2_xprt,
				      sp_pending);
	if (sp)
		svc2_pending_unlink(sp);
	else
		clear_bit(XPT_CONN, &ls->ls_xprt.xpt_flags);
	spin_unlock(&pending_lock);
	return sp;
}
