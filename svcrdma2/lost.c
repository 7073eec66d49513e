// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that have cost their connection.
 *
 * When the requester's device refuses a transfer, because the memory that the Call
 * offers is not there, or its Reply is longer than the requester's Receives, the
 * connection is lost. The requester connects again and sends the Call again. If the
 * refusal has passed, the upper layer answers, if need be from its reply cache: the Call
 * may have been carried out. If it has not, the next connection goes the same way, with
 * all other RPCs on it. So the server remembers for a while which Call it was, by its xid
 * and the address it came from, and answers it with an error when it has cost two
 * connections, which ends that RPC alone (C-093, C-094). The address is the one of
 * address.c, which the peer does not choose. Peers that share one, as behind a router of
 * InfiniBand, can get the error for a Call of another with the same xid.
 *
 * There is room for a few of them. A peer that fills it up makes the server forget
 * those of others: they cost one more connection.
 */
#include <net/net_namespace.h>

#include "lost.h"
#include "svcrdma2.h"

static DEFINE_SPINLOCK(lost_lock);	/* guards the next; lo_used is read without it */
static struct svc2_losses losses;

static struct svc2_lost_key svc2_lost_key(const struct svc2_xprt *sp, u32 xid)
{
	return (struct svc2_lost_key){
		.lk_net	 = sp->sp_xprt.xpt_net->net_cookie,
		.lk_peer = (const struct sockaddr *)svc2_transfer_address(sp),
		.lk_xid	 = xid,
	};
}

/**
 * svc2_lost_note - a Call has cost its connection
 * @sp: connection
 * @xid: of the Call
 *
 * Context: send CQ, or what drains it.
 */
void svc2_lost_note(struct svc2_xprt *sp, u32 xid)
{
	const struct svc2_lost_key key = svc2_lost_key(sp, xid);

	svc2_count(calls_lost);
	guard(spinlock)(&lost_lock);
	svc2_loss_note(&losses, &key, jiffies);
}

/**
 * svc2_was_lost - is this Call one that is refused, for it has cost its connections?
 * @sp: connection that it has come on
 * @xid: of the Call
 *
 * Context: svc thread.
 */
bool svc2_was_lost(struct svc2_xprt *sp, u32 xid)
{
	struct svc2_lost_key key;

	if (likely(!READ_ONCE(losses.lo_used)))
		return false;
	key = svc2_lost_key(sp, xid);
	guard(spinlock)(&lost_lock);
	return svc2_loss_is_last(&losses, &key, jiffies);
}
