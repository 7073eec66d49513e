// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that have cost their connection.
 *
 * When the requester's device refuses a transfer, because the memory that the Call
 * offers is not there, or its Reply is longer than the requester's Receives, the
 * connection is lost. The requester connects again and sends the Call again, and
 * the next connection goes the same way, with all other RPCs on it. So the server
 * remembers for a while which Call it was, by its xid and the address it came from,
 * and answers it with an error when it comes again, which ends that RPC alone (C-093,
 * C-094). The address is the one that transfer.c has, which another peer cannot claim.
 *
 * There is room for a few of them. A peer that fills it up makes the server forget
 * those of others: they cost one more connection.
 */
#include <linux/sunrpc/addr.h>
#include <net/net_namespace.h>

#include "svcrdma2.h"

#define LOST_MAX	64
#define LOST_FOR	(120 * HZ)

/**
 * struct lost - a Call that has cost its connection
 * @net: cookie of the network namespace
 * @peer: address that it came from; the port says nothing
 * @xid: its own
 * @since: when the connection was lost, in jiffies
 * @used: there is one
 */
struct lost {
	u64			net;
	struct sockaddr_storage	peer;
	u32			xid;
	unsigned long		since;
	bool			used;
};

static DEFINE_SPINLOCK(lost_lock);	/* guards the next three */
static struct lost losses[LOST_MAX];
static unsigned int next_loss;
static unsigned int nlost __read_mostly;	/* those in use; read without the lock */

static void forget_locked(struct lost *lo)
{
	lockdep_assert_held(&lost_lock);
	if (!lo->used)
		return;
	lo->used = false;
	WRITE_ONCE(nlost, nlost - 1);
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
	struct lost *lo;

	svc2_count(calls_lost);
	guard(spinlock)(&lost_lock);
	lo = &losses[next_loss++ % LOST_MAX];
	forget_locked(lo);
	lo->net = sp->sp_xprt.xpt_net->net_cookie;
	lo->peer = *svc2_transfer_address(sp);
	lo->xid = xid;
	lo->since = jiffies;
	lo->used = true;
	WRITE_ONCE(nlost, nlost + 1);
}

static bool is_of(const struct lost *lo, const struct svc2_xprt *sp, u32 xid)
{
	return lo->xid == xid && lo->net == sp->sp_xprt.xpt_net->net_cookie &&
	       rpc_cmp_addr((const struct sockaddr *)&lo->peer,
			    (const struct sockaddr *)svc2_transfer_address(sp));
}

/**
 * svc2_was_lost - has this Call cost a connection? Then it is forgotten.
 * @sp: connection that it has come on
 * @xid: of the Call
 *
 * Context: svc thread.
 */
bool svc2_was_lost(struct svc2_xprt *sp, u32 xid)
{
	bool found = false;
	struct lost *lo;

	if (likely(!READ_ONCE(nlost)))
		return false;
	guard(spinlock)(&lost_lock);
	for (lo = losses; lo < losses + LOST_MAX; lo++) {
		if (!lo->used)
			continue;
		if (time_after(jiffies, lo->since + LOST_FOR)) {
			forget_locked(lo);
		} else if (is_of(lo, sp, xid)) {
			forget_locked(lo);
			found = true;
		}
	}
	return found;
}
