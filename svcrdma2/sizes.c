// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of message sizes on existing connections.
 *
 * The module parameters receive_size and send_size apply to connections in use
 * too, and a peer may request Receives of another size. Receives become larger
 * when they are reposted, as far as there is memory for them; once no Receive
 * of the old size is left the new size is announced to the peer (C-032). They
 * become smaller only when the peer has requested it (C-033), and then at once:
 * it sends no larger messages from then on (C-034).
 *
 * props.c sends the announcements. A version 1 peer gets none: the sizes of its
 * private data apply.
 *
 * The thread that has the connection's XPT_BUSY does all of it.
 */
#include "conns.h"
#include "svcrdma2.h"

/*
 * Intended size of Receives, by parameter, device and the peer's last request
 */
static u32 svc2_sizes_wanted(const struct svc2_xprt *sp)
{
	u32 want = rpcrdma2_recv_size(rpcrdma2_conn_device(&sp->sp_conn),
				      svc2_param(&svc2_receive_size));

	if (sp->sp_recv_wish)
		want = min_t(u32, want, PAGE_ALIGN(sp->sp_recv_wish));
	return want;
}

/* True if Receives could be larger than they are */
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

/* C-032: no Receive of the old size is left. */
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
 * svc2_bound_sends - limit the server's Sends to what the peer can receive
 * @sp: connection
 * @vers: version whose limits may have changed
 *
 * Context: svc thread, before the connection is accepted or in its turn.
 */
void svc2_bound_sends(struct svc2_xprt *sp, u32 vers)
{
	u32 bytes = svc2_send_limit(vers, &sp->sp_peer, &sp->sp_ex);

	WRITE_ONCE(sp->sp_send_max[vers], bytes);
	if (vers == RPCRDMA2_VERS_TWO)
		rpcrdma2_sq_bound(&sp->sp_conn, bytes);	/* C-034 */
}

/**
 * svc2_sizes_update - adapt the sizes to parameters and requests
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
 * svc2_sizes_changed - schedule an update of sp_recv_size and sp_send_own
 * @sp: connection that is accepted
 *
 * sp_recv_size is raised when no Receive of the connection is smaller (C-028,
 * C-032), and only svc2_receives_wanted() lowers it (C-033). sp_send_own bounds
 * Sends once it is announced (S14); a REQPROP for Receives of that size follows
 * (C-034).
 *
 * An svc thread does the update, as if a message had arrived.
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
 * svc2_sizes_reposted - check the sizes after Receives have been reposted
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
 * svc2_receives_wanted - process a request of the peer for another Receive size
 * @sp: connection
 * @bytes: size; at least RPCRDMA2_INLINE_DEFAULT
 *
 * A smaller size has been granted, and the peer keeps to it. A larger size is
 * reached over time, if the parameter allows it.
 *
 * Context: svc thread, under XPT_BUSY.
 */
void svc2_receives_wanted(struct svc2_xprt *sp, u32 bytes)
{
	sp->sp_recv_wish = min_t(u32, bytes, RPCRDMA2_INLINE_MAX);
	if (bytes > READ_ONCE(sp->sp_recv_size)) {
		svc2_sizes_raise_receives(sp);
		return;
	}
	clear_bit(SVC2_F_RESIZING, &sp->sp_flags);
	if (bytes < sp->sp_recv_size)
		svc2_count(receives_lowered);
	WRITE_ONCE(sp->sp_recv_size, bytes);
	rpcrdma2_rpool_resize(&sp->sp_rpool, PAGE_ALIGN(bytes));
}

static void svc2_sizes_apply(struct svc2_xprt *sp, void *unused)
{
	svc2_sizes_changed(sp);
}

/**
 * svc2_sizes_set - apply a module parameter that has changed
 */
void svc2_sizes_set(void)
{
	svc2_conns_each(svc2_sizes_apply, NULL);
}
