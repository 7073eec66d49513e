// SPDX-License-Identifier: GPL-2.0
/*
 * Sizes of messages, while a connection lasts.
 *
 * The module parameters receive_size and send_size hold for connections in use too,
 * and a peer may ask for Receives of another size. Receives become larger as they
 * come back, as far as there is memory for them; when none of the old size is left
 * the peer is told (C-032). They become smaller only when the peer has asked for it
 * (C-033), and then at once: it sends nothing larger any more (C-034).
 *
 * What a peer is told with is in props.c. A version 1 peer is told nothing: for
 * it the sizes are those of the private data.
 *
 * All of it is done by the thread that has the connection's XPT_BUSY.
 */
#include "conns.h"
#include "svcrdma2.h"

/* What Receives should have, by parameter, device and what the peer asked for last */
static u32 svc2_sizes_wanted(const struct svc2_xprt *sp)
{
	u32 want = rpcrdma2_recv_size(rpcrdma2_conn_device(&sp->sp_conn),
				      svc2_param(&svc2_receive_size));

	if (sp->sp_recv_wish)
		want = min_t(u32, want, PAGE_ALIGN(sp->sp_recv_wish));
	return want;
}

/* Might Receives be larger than they are? */
static bool svc2_sizes_lag(const struct svc2_xprt *sp)
{
	return READ_ONCE(sp->sp_ex.ex_peer.pp_spoken) &&
	       READ_ONCE(sp->sp_rpool.rp_size) < svc2_sizes_wanted(sp);
}

static void svc2_sizes_raise_receives(struct svc2_xprt *sp)
{
	u32 want = svc2_sizes_wanted(sp);

	if (!svc2_sizes_lag(sp) || !svc2_grant_has_room(sp, want))
		return;
	rpcrdma2_rpool_resize(&sp->sp_rpool, want);
	set_bit(SVC2_F_RESIZING, &sp->sp_flags);
}

/* C-032: none of the old size is left. */
static void svc2_sizes_settle_receives(struct svc2_xprt *sp)
{
	struct rpcrdma2_rpool *rp = &sp->sp_rpool;

	if (!test_bit(SVC2_F_RESIZING, &sp->sp_flags))
		return;
	guard(spinlock)(&rp->rp_lock);
	if (rp->rp_small)
		return;
	clear_bit(SVC2_F_RESIZING, &sp->sp_flags);
	WRITE_ONCE(sp->sp_recv_size, rp->rp_size);
	svc2_count(receives_raised);
}

/**
 * svc2_bound_sends - let what is known of the peer bound the server's Sends
 * @sp: connection
 * @vers: version that something has become known in
 *
 * Context: svc thread, before the connection is accepted or in its turn.
 */
void svc2_bound_sends(struct svc2_xprt *sp, u32 vers)
{
	u32 octets = svc2_send_limit(vers, &sp->sp_peer, &sp->sp_ex);

	WRITE_ONCE(sp->sp_send_max[vers], octets);
	if (vers == RPCRDMA2_VERS_TWO)
		rpcrdma2_sq_bound(&sp->sp_conn, octets);	/* C-034 */
}

/**
 * svc2_sizes_update - let sizes follow what has been set or asked for
 * @sp: connection
 *
 * Sets sp_recv_size and sp_send_own.
 *
 * Context: svc thread, under XPT_BUSY.
 */
void svc2_sizes_update(struct svc2_xprt *sp)
{
	WRITE_ONCE(sp->sp_send_own,
		   min_t(u32, sp->sp_send_able, svc2_param(&svc2_send_size)));
	svc2_sizes_settle_receives(sp);
	svc2_sizes_raise_receives(sp);
}

/**
 * svc2_sizes_changed - sp_recv_size or sp_send_own may have to be another
 * @sp: connection that is accepted
 *
 * sp_recv_size is raised when no Receive of the connection is smaller (C-028, C-032),
 * and not lowered but by svc2_receives_wanted() (C-033). sp_send_own bounds Sends
 * once it is announced (S14); a REQPROP for Receives of that size follows (C-034).
 *
 * An svc thread does it, as if a message had come.
 *
 * Context: any that may take sp_recv_lock.
 */
static void svc2_sizes_changed(struct svc2_xprt *sp)
{
	/* pairs with svc2_converse() */
	smp_mb__before_atomic();
	set_bit(SVC2_F_CHANGED, &sp->sp_flags);
	scoped_guard(spinlock, &sp->sp_recv_lock)
		set_bit(XPT_DATA, &sp->sp_xprt.xpt_flags);
	svc_xprt_enqueue(&sp->sp_xprt);
}

/**
 * svc2_sizes_reposted - Receives have come back
 * @sp: connection
 *
 * Context: any task or either CQ.
 */
void svc2_sizes_reposted(struct svc2_xprt *sp)
{
	bool due;

	if (unlikely(test_bit(SVC2_F_RESIZING, &sp->sp_flags)))
		due = !READ_ONCE(sp->sp_rpool.rp_small);
	else
		due = unlikely(svc2_sizes_lag(sp)) &&
		      svc2_grant_has_room(sp, svc2_sizes_wanted(sp));
	if (due && !test_bit(SVC2_F_CHANGED, &sp->sp_flags))
		svc2_sizes_changed(sp);
}

/**
 * svc2_receives_wanted - the peer has asked for Receives of another size
 * @sp: connection
 * @octets: how large; at least RPCRDMA2_INLINE_DEFAULT
 *
 * Smaller ones have been granted, and the peer keeps to it. Larger ones come by and
 * by, if the parameter allows them.
 *
 * Context: svc thread, under XPT_BUSY.
 */
void svc2_receives_wanted(struct svc2_xprt *sp, u32 octets)
{
	sp->sp_recv_wish = min_t(u32, octets, RPCRDMA2_INLINE_MAX);
	if (octets > READ_ONCE(sp->sp_recv_size)) {
		svc2_sizes_raise_receives(sp);
		return;
	}
	clear_bit(SVC2_F_RESIZING, &sp->sp_flags);
	if (octets < sp->sp_recv_size)
		svc2_count(receives_lowered);
	WRITE_ONCE(sp->sp_recv_size, octets);
	rpcrdma2_rpool_resize(&sp->sp_rpool, PAGE_ALIGN(octets));
}

static void svc2_sizes_apply(struct svc2_xprt *sp, void *unused)
{
	svc2_sizes_changed(sp);
}

/**
 * svc2_sizes_set - a module parameter has changed
 */
void svc2_sizes_set(void)
{
	svc2_conns_each(svc2_sizes_apply, NULL);
}
