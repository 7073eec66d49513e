// SPDX-License-Identifier: GPL-2.0
/* Credits of a connection, its Receives, and the size of its messages */
#include <linux/jiffies.h>

#include "svcrdma2.h"

/*
 * Grants: credits that follow the use of a connection, within the memory for
 * Receives; "Receives" in Documentation/architecture.rst. The credits in a
 * header are written when it is posted (sendto.c), for Replies do not leave in
 * the order in which they are built.
 */

/* minimum budget in pages: a Receive has one at least, a new connection seven */
#define SVC2_MEMORY_MIN	64UL

/* Receives posted without a use of the grant until it is lowered */
#define SVC2_GRANT_UNUSED	1024

/* Each Reply reads these two. */
struct rpcrdma2_budget svc2_budget __read_mostly;

/* time when a connection below its fair share was last denied Receives, or 0 */
static unsigned long svc2_grant_denied_at __read_mostly;

/**
 * svc2_budget_set - apply receive_memory; excess Receives go back over time
 *
 * Context: module init, write of the parameter.
 */
void svc2_budget_set(void)
{
	unsigned long kib = rpcrdma2_param(&svc2_receive_memory);
	long most = max(kib >> (PAGE_SHIFT - 10), SVC2_MEMORY_MIN);

	WRITE_ONCE(svc2_budget.bu_limit, most);
	WRITE_ONCE(svc2_budget.bu_reserved, most - svc2_grant_soft_limit(most));
}

static long svc2_grant_own_pages(const struct svc2_xprt *sp)
{
	const struct rpcrdma2_rpool *rp = &sp->sp_rpool;

	return (long)READ_ONCE(rp->rp_count) *
	       (READ_ONCE(rp->rp_size) >> PAGE_SHIFT);
}

static bool svc2_grant_has_memory(long pages)
{
	return atomic_long_read(&svc2_budget.bu_pages) + pages <=
	       svc2_grant_soft_limit(READ_ONCE(svc2_budget.bu_limit));
}

static long svc2_grant_fair_share(void)
{
	return svc2_grant_soft_limit(READ_ONCE(svc2_budget.bu_limit)) /
	       max_t(long, READ_ONCE(svc2_addresses_conns), 1);
}

/*
 * True if memory is so short that a connection has to give Receives back: too
 * much is in use, or a connection below its fair share was denied Receives.
 * Connections above their fair share release Receives first. Idle ones cannot,
 * so close to exhaustion every connection does.
 */
static bool svc2_grant_is_short(const struct svc2_xprt *sp)
{
	long most = READ_ONCE(svc2_budget.bu_limit),
	     used = atomic_long_read(&svc2_budget.bu_pages);
	unsigned long since = READ_ONCE(svc2_grant_denied_at);
	bool denied = since && time_in_range(jiffies, since, since + HZ);

	if (likely(used <= svc2_grant_soft_limit(most) && !denied))
		return false;
	return used > svc2_grant_hard_limit(most) ||
	       svc2_grant_own_pages(sp) > svc2_grant_fair_share();
}

/**
 * svc2_grant_begin - set the initial grant of a connection
 * @sp: connection; sp_credits is the limit of its grant, and rp_size the
 *	intended size of its Receives, which gets smaller when memory is short
 */
void svc2_grant_begin(struct svc2_xprt *sp)
{
	struct rpcrdma2_rpool *rp = &sp->sp_rpool;

	mutex_init(&sp->sp_grant_mutex);
	sp->sp_grant = min_t(u32, sp->sp_credits, SVC2_CREDITS_MIN);
	if (!svc2_grant_has_memory(svc2_grant_recvs(0, sp->sp_grant) *
				   (rp->rp_size >> PAGE_SHIFT))) {
		rp->rp_size = PAGE_ALIGN(RPCRDMA2_INLINE_DEFAULT);
		svc2_count(grants_denied);
	}
	rp->rp_batch = rpcrdma2_recv_batch(sp->sp_grant);
	rp->rp_budget = &svc2_budget;
}

/*
 * Makes Receives until there are @total, and posts them. Return: 0; -ENOMEM
 * when there are fewer; or -EIO when the connection is lost.
 */
static int svc2_grant_add_recvs(struct svc2_xprt *sp, unsigned int total)
{
	if (rpcrdma2_recvs_fill(&sp->sp_conn, &sp->sp_rpool, total))
		return -ENOMEM;
	return svc_xprt_is_dead(&sp->sp_xprt) ? -EIO : 0;
}

/**
 * svc2_grant_fill - make the Receives that a grant needs, and post them (R6)
 * @sp: connection with a queue pair that has room for them
 * @limit: callbacks that may be outstanding from now on, if more than before
 *
 * Context: svc thread, or the task that sets up the backchannel; may sleep.
 * Return: 0; -ENOMEM when it has fewer; or -EIO when the connection is lost.
 */
int svc2_grant_fill(struct svc2_xprt *sp, u32 limit)
{
	int ret;

	guard(mutex)(&sp->sp_grant_mutex);
	if (limit < sp->sp_backward_limit)
		return 0;
	ret = svc2_grant_add_recvs(sp, svc2_grant_recvs(limit, sp->sp_grant));
	if (ret)
		return ret;
	/* the batch of a grant that was lowered just now may be larger */
	rpcrdma2_rpool_batch(&sp->sp_conn, &sp->sp_rpool,
			     rpcrdma2_recv_batch(sp->sp_grant));
	atomic_add(svc2_backward_contexts(limit) -
		   svc2_backward_contexts(sp->sp_backward_limit),
		   &sp->sp_backward_free);
	WRITE_ONCE(sp->sp_backward_limit, limit);
	return 0;
}

/* True if there is memory for Receives of @size bytes */
static bool svc2_grant_fits_size(const struct svc2_xprt *sp, u32 size)
{
	const struct rpcrdma2_rpool *rp = &sp->sp_rpool;

	return !svc2_grant_is_short(sp) &&
	       svc2_grant_has_memory((long)READ_ONCE(rp->rp_count) *
				     ((size - READ_ONCE(rp->rp_size)) >> PAGE_SHIFT));
}

/**
 * svc2_grant_is_used_up - check whether a new connection would get no Receives
 *
 * For the log: svc2_grant_fill() refuses it.
 */
bool svc2_grant_is_used_up(void)
{
	unsigned int least = svc2_grant_recvs(0, SVC2_CREDITS_MIN);
	long page = PAGE_ALIGN(RPCRDMA2_INLINE_DEFAULT) >> PAGE_SHIFT;

	return atomic_long_read(&svc2_budget.bu_pages) + least * page >
	       READ_ONCE(svc2_budget.bu_limit);
}

/* Receives first, then the grant (R6) */
static void svc2_grant_raise_to(struct svc2_xprt *sp, u32 grant)
{
	unsigned int recvs = svc2_grant_recvs(sp->sp_backward_limit, grant);
	struct rpcrdma2_rpool *rp = &sp->sp_rpool;
	long more = (long)recvs - rp->rp_count;

	if (svc2_grant_is_short(sp) ||
	    !svc2_grant_has_memory(more * (READ_ONCE(rp->rp_size) >> PAGE_SHIFT))) {
		svc2_count(grants_denied);
		if (svc2_grant_own_pages(sp) < svc2_grant_fair_share())
			WRITE_ONCE(svc2_grant_denied_at, jiffies ?: 1);
		return;
	}
	if (svc2_grant_add_recvs(sp, recvs))
		return;
	rpcrdma2_rpool_batch(&sp->sp_conn, rp, rpcrdma2_recv_batch(grant));
	/* pairs with sq_lock, under which the next header gets it */
	smp_store_release(&sp->sp_grant, grant);
	svc2_count(grants_raised);
}

/**
 * svc2_grant_raise - raise the grant, if the connection was found busy
 * @sp: connection whose Reply was just posted
 */
void svc2_grant_raise(struct svc2_xprt *sp)
{
	if (likely(!test_bit(SVC2_F_MORE_CREDITS, &sp->sp_flags)) ||
	    !mutex_trylock(&sp->sp_grant_mutex))
		return;
	if (test_and_clear_bit(SVC2_F_MORE_CREDITS, &sp->sp_flags) &&
	    sp->sp_grant < sp->sp_credits)
		svc2_grant_raise_to(sp, min(2 * sp->sp_grant, sp->sp_credits));
	mutex_unlock(&sp->sp_grant_mutex);
}

/*
 * True if there are more Receives than the least grant needs, and Calls have
 * not used the grant for long
 */
static bool svc2_grant_is_unused(const struct svc2_xprt *sp)
{
	const struct rpcrdma2_rpool *rp = &sp->sp_rpool;

	/* another thread may have found the grant used, with a later rp_posts */
	return (int)(READ_ONCE(rp->rp_posts) - READ_ONCE(sp->sp_grant_used)) >
	       SVC2_GRANT_UNUSED &&
	       READ_ONCE(rp->rp_count) >
	       svc2_grant_recvs(READ_ONCE(sp->sp_backward_limit),
				SVC2_CREDITS_MIN);
}

/*
 * @others: Receives in use, without the batch that is posted. Return: true if
 * the Calls use the grant: svc2_grant_is_used()
 */
static bool svc2_grant_note_use(struct svc2_xprt *sp, unsigned int others)
{
	bool used = svc2_grant_is_used(READ_ONCE(sp->sp_grant), others);

	if (used)
		WRITE_ONCE(sp->sp_grant_used, READ_ONCE(sp->sp_rpool.rp_posts));
	return used;
}

/*
 * Number of Receives that Calls use, without @others: an estimate, since svc
 * threads return and post Receives meanwhile. Calls that arrive make it too
 * high, not too low: rp_nfree is read before sp_received.
 */
static unsigned int svc2_grant_busy(const struct svc2_xprt *sp, int others)
{
	const struct rpcrdma2_rpool *rp = &sp->sp_rpool;
	int busy = -max(atomic_read_acquire(&rp->rp_nfree), 0) - others;

	busy += READ_ONCE(rp->rp_count);
	busy -= READ_ONCE(rp->rp_posts) - READ_ONCE(sp->sp_received);
	return max(busy, 0);
}

/*
 * Checks a grant that is about to be lowered, while no batch is posted. The
 * Receive of the caller's Call belongs to the next batch.
 */
static bool svc2_grant_is_used_now(struct svc2_xprt *sp)
{
	guard(spinlock)(&sp->sp_rpool.rp_lock);
	return svc2_grant_note_use(sp, svc2_grant_busy(sp, 1));
}

/*
 * Lowers the grant by one, unless the connection has spare Receives.
 * Return: true when a Receive may be freed; false at the least grant.
 */
static bool svc2_grant_lower_locked(struct svc2_xprt *sp, bool is_short)
{
	struct rpcrdma2_rpool *rp = &sp->sp_rpool;
	unsigned int batch = rpcrdma2_recv_batch(sp->sp_grant);

	lockdep_assert_held(&sp->sp_grant_mutex);
	if (rp->rp_count > svc2_grant_recvs(sp->sp_backward_limit, sp->sp_grant)) {
		if (rp->rp_batch > batch)
			rpcrdma2_rpool_batch(&sp->sp_conn, rp, batch);
		return true;
	}
	if (sp->sp_grant <= SVC2_CREDITS_MIN)
		return false;
	WRITE_ONCE(sp->sp_grant, sp->sp_grant - 1);
	if (is_short)
		svc2_count(grants_lowered);
	else
		svc2_count(grants_unused);
	return true;
}

/**
 * svc2_grant_lower - if memory is short or the grant too large, free a Receive,
 *	and lower the grant unless the Receive was spare
 * @sp: connection
 * @call: Call whose Reply is next; its Receive is not read any longer
 */
void svc2_grant_lower(struct svc2_xprt *sp, struct svc2_msg *call)
{
	bool is_short = svc2_grant_is_short(sp);

	if (likely(!is_short && !svc2_grant_is_unused(sp)) || !call->sm_recv ||
	    !mutex_trylock(&sp->sp_grant_mutex))
		return;
	if ((is_short || !svc2_grant_is_used_now(sp)) &&
	    svc2_grant_lower_locked(sp, is_short)) {
		rpcrdma2_recv_free(call->sm_recv);
		call->sm_recv = NULL;
	}
	mutex_unlock(&sp->sp_grant_mutex);
}

/*
 * Changes of message sizes on existing connections of version 2, by the thread
 * with XPT_BUSY: receive_size or send_size changes, or the peer requests it.
 */

/* Size of Receives, by parameter, device and the peer's last request */
static u32 svc2_sizes_target(const struct svc2_xprt *sp)
{
	u32 bytes = rpcrdma2_recv_size(&sp->sp_conn,
				       rpcrdma2_param(&svc2_receive_size));

	if (sp->sp_recv_requested)
		bytes = min_t(u32, bytes, PAGE_ALIGN(sp->sp_recv_requested));
	return bytes;
}

/* True if Receives could be larger than they are */
static bool svc2_sizes_lag(const struct svc2_xprt *sp)
{
	return READ_ONCE(sp->sp_ex.ex_peer.pp_announced) &&
	       READ_ONCE(sp->sp_rpool.rp_size) < svc2_sizes_target(sp);
}

static void svc2_sizes_raise_receives(struct svc2_xprt *sp)
{
	u32 bytes = svc2_sizes_target(sp);

	if (!svc2_sizes_lag(sp) || !svc2_grant_fits_size(sp, bytes))
		return;
	rpcrdma2_rpool_resize(&sp->sp_rpool, bytes);
	set_bit(SVC2_F_RESIZING, &sp->sp_flags);
}

/**
 * svc2_bound_sends - limit the server's Sends to what the peer can receive
 * @sp: connection
 * @vers: version whose limit may have changed
 *
 * Context: svc thread, before the connection is accepted or under XPT_BUSY.
 */
void svc2_bound_sends(struct svc2_xprt *sp, u32 vers)
{
	u32 bytes = svc2_send_limit(vers, &sp->sp_peer, &sp->sp_ex);

	WRITE_ONCE(sp->sp_send_max[vers], bytes);
	if (vers == RPCRDMA2_VERS_TWO)
		rpcrdma2_sq_bound(&sp->sp_conn, bytes);	/* at once (C-034) */
}

/**
 * svc2_sizes_update - adapt both sizes to parameters and requests
 * @sp: connection; sets sp_recv_size and sp_send_own
 *
 * Context: svc thread, under XPT_BUSY.
 */
void svc2_sizes_update(struct svc2_xprt *sp)
{
	struct rpcrdma2_rpool *rp = &sp->sp_rpool;

	WRITE_ONCE(sp->sp_send_own,
		   min_t(u32, sp->sp_send_able, rpcrdma2_param(&svc2_send_size)));
	if (test_bit(SVC2_F_RESIZING, &sp->sp_flags)) {
		guard(spinlock)(&rp->rp_lock);
		/* no Receive of the old size is left (C-032) */
		if (!rp->rp_small) {
			clear_bit(SVC2_F_RESIZING, &sp->sp_flags);
			WRITE_ONCE(sp->sp_recv_size, rp->rp_size);
			svc2_count(receives_raised);
		}
	}
	svc2_sizes_raise_receives(sp);
}

/*
 * Wakes a thread that updates sp_recv_size, which only svc2_receives_resize()
 * lowers (C-033), and sp_send_own, which bounds Sends once it is announced (S14);
 * a REQPROP for Receives of that size follows (C-034). Any context
 */
static void svc2_sizes_changed(struct svc2_xprt *sp)
{
	/* pairs with svc2_props_update() */
	smp_mb__before_atomic();
	set_bit(SVC2_F_CHANGED, &sp->sp_flags);
	/* pairs with svc2_recv_take_next() */
	smp_mb__before_atomic();
	set_bit(XPT_DATA, &sp->sp_xprt.xpt_flags);
	svc_xprt_enqueue(&sp->sp_xprt);
}

/**
 * svc2_grant_reposted - check whether grant or sizes are due for a change
 * @sp: connection
 * @reposted: number of Receives that were posted just now
 *
 * Context: svc thread, send CQ, ->xpo_free.
 */
void svc2_grant_reposted(struct svc2_xprt *sp, unsigned int reposted)
{
	const struct rpcrdma2_rpool *rp = &sp->sp_rpool;
	unsigned int busy = svc2_grant_busy(sp, 0);
	u32 grant = READ_ONCE(sp->sp_grant);
	bool due;

	if (svc2_grant_next(grant, busy + reposted, sp->sp_credits) > grant)
		set_bit(SVC2_F_MORE_CREDITS, &sp->sp_flags);
	/* more than a batch, if others returned Receives during the last post */
	reposted -= min(reposted, READ_ONCE(rp->rp_batch));
	svc2_grant_note_use(sp, busy + reposted);
	if (unlikely(test_bit(SVC2_F_RESIZING, &sp->sp_flags)))
		due = !READ_ONCE(rp->rp_small);
	else
		due = unlikely(svc2_sizes_lag(sp)) &&
		      svc2_grant_fits_size(sp, svc2_sizes_target(sp));
	if (due && !test_bit(SVC2_F_CHANGED, &sp->sp_flags))
		svc2_sizes_changed(sp);
}

/**
 * svc2_receives_resize - process a request of the peer for another Receive size
 * @ex: properties of the connection
 * @bytes: size; at least RPCRDMA2_INLINE_DEFAULT
 *
 * A smaller size has been granted, and the peer keeps to it. A larger size is
 * reached over time, if the parameter allows it.
 *
 * Context: svc thread, under XPT_BUSY.
 */
void svc2_receives_resize(struct rpcrdma2_exchange *ex, u32 bytes)
{
	struct svc2_xprt *sp = container_of(ex, struct svc2_xprt, sp_ex);

	sp->sp_recv_requested = min_t(u32, bytes, RPCRDMA2_INLINE_MAX);
	if (bytes > READ_ONCE(sp->sp_recv_size)) {
		/* no Receive has fewer pages */
		if (svc2_sizes_target(sp) > sp->sp_recv_size)
			WRITE_ONCE(sp->sp_recv_size, PAGE_ALIGN(sp->sp_recv_size));
		svc2_sizes_raise_receives(sp);
		return;
	}
	clear_bit(SVC2_F_RESIZING, &sp->sp_flags);
	if (bytes < sp->sp_recv_size)
		svc2_count(receives_lowered);
	WRITE_ONCE(sp->sp_recv_size, bytes);
	rpcrdma2_rpool_resize(&sp->sp_rpool, PAGE_ALIGN(bytes));
}

/**
 * svc2_sizes_set - apply receive_size and send_size to all connections
 *
 * Context: write of a parameter; may sleep.
 */
void svc2_sizes_set(void)
{
	struct svc2_xprt *sp;

	guard(mutex)(&svc2_conns_mutex);
	list_for_each_entry(sp, &svc2_conns, sp_listed)
		svc2_sizes_changed(sp);
}
