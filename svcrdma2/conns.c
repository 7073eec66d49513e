// SPDX-License-Identifier: GPL-2.0
/*
 * The connections there are, and the last that have ended.
 */
#include <linux/ktime.h>
#include <linux/mutex.h>

#include "conns.h"
#include "svcrdma2.h"

/* connections that have ended, or were refused, and are remembered */
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
 * svc2_conn_list - list a connection
 * @sp: connection, accepted
 */
void svc2_conn_list(struct svc2_xprt *sp)
{
	guard(mutex)(&conns_mutex);
	list_add_tail(&sp->sp_listed, &conns);
}

/**
 * svc2_conn_unlist - undo svc2_conn_list(), if it was called, and note the end
 * @sp: connection
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
 * svc2_conn_refused - note that a connection was not accepted
 * @sp: connection
 * @error: why
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
 * svc2_conns_each - do something with each connection that is accepted
 * @fn: what; it is not destroyed meanwhile, but may have been lost
 * @arg: for @fn
 *
 * Context: may sleep.
 */
void svc2_conns_each(void (*fn)(struct svc2_xprt *sp, void *arg), void *arg)
{
	struct svc2_xprt *sp;

	guard(mutex)(&conns_mutex);
	list_for_each_entry(sp, &conns, sp_listed)
		fn(sp, arg);
}

/**
 * svc2_ended_each - do something with each connection that has ended, or was refused
 * @fn: what
 * @arg: for @fn
 *
 * Context: may sleep.
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
