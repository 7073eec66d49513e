// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that no svc thread has accepted yet.
 *
 * They wait on the ls_pending of their listener. Meanwhile their own CM events
 * may end them: what takes a connection off ls_pending decides what becomes of it.
 * Work ends it: a handler cannot wait for its own cm_id to go.
 */
#include "svcrdma2.h"

/*
 * Guards every ls_pending, ls_npending and sp_pending, and XPT_CONN against
 * them. Not one for each listener: a connection outlives its listener.
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
 * Context: CM handler of that very connection, or any that may sleep.
 * Return: false when it is the RPC layer's to close.
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
 * svc2_add_pending - a connection waits to be accepted
 * @ls: listener that it was requested of
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
 * svc2_next_pending - take the connection that has waited longest
 * @ls: listener
 *
 * Return: a connection that the caller accepts or reaps, or NULL.
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
