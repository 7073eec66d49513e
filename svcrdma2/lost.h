/* SPDX-License-Identifier: GPL-2.0 */
/* Calls that broke their connection, see conns.c. Pure functions. */
#ifndef _SVCRDMA2_LOST_H
#define _SVCRDMA2_LOST_H

#include <linux/jiffies.h>
#include <linux/types.h>

#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/svc_xprt.h>

#define SVC2_LOST_MAX	64
#define SVC2_LOST_FOR	(120 * HZ)
/* Connections that a Call may break before it is refused */
#define SVC2_LOST_TIMES	2

/**
 * struct svc2_lost_key - key by which a repeated Call is recognized
 * @lk_net: cookie of the network namespace
 * @lk_peer: address of the peer; the port is ignored
 * @lk_xid: xid of the Call
 */
struct svc2_lost_key {
	u64			lk_net;
	const struct sockaddr	*lk_peer;
	u32			lk_xid;
};

/**
 * struct svc2_loss - a Call that broke a connection
 * @ls_net: as in the key
 * @ls_peer: as in the key
 * @ls_xid: as in the key
 * @ls_times: number of connections that it broke, 0 in an unused entry
 * @ls_since: time of the last loss, in jiffies
 */
struct svc2_loss {
	u64			ls_net;
	struct sockaddr_storage	ls_peer;
	u32			ls_xid;
	u32			ls_times;
	unsigned long		ls_since;
};

/**
 * struct svc2_losses - the last Calls that broke a connection
 * @lo_all: entries
 * @lo_next: next entry to use
 * @lo_used: number of entries in use
 */
struct svc2_losses {
	struct svc2_loss	lo_all[SVC2_LOST_MAX];
	unsigned int		lo_next;
	unsigned int		lo_used;
};

static inline void svc2_loss_forget(struct svc2_losses *lo, struct svc2_loss *ls)
{
	lo->lo_used -= !!ls->ls_times;
	ls->ls_times = 0;
}

/* Drops entries that are too old. */
static inline struct svc2_loss *svc2_loss_find(struct svc2_losses *lo,
					       const struct svc2_lost_key *key,
					       unsigned long now)
{
	struct svc2_loss *ls, *found = NULL;

	for (ls = lo->lo_all; ls < lo->lo_all + SVC2_LOST_MAX; ls++) {
		if (ls->ls_times && time_before(ls->ls_since + SVC2_LOST_FOR, now))
			svc2_loss_forget(lo, ls);
		if (ls->ls_times && ls->ls_xid == key->lk_xid &&
		    ls->ls_net == key->lk_net &&
		    rpc_cmp_addr((const struct sockaddr *)&ls->ls_peer, key->lk_peer))
			found = ls;
	}
	return found;
}

/**
 * svc2_loss_note - record that a Call broke a connection
 * @lo: known losses
 * @key: the Call
 * @now: in jiffies
 */
static inline void svc2_loss_note(struct svc2_losses *lo,
				  const struct svc2_lost_key *key,
				  unsigned long now)
{
	struct svc2_loss *ls = svc2_loss_find(lo, key, now);

	if (!ls) {
		ls = &lo->lo_all[lo->lo_next++ % SVC2_LOST_MAX];
		svc2_loss_forget(lo, ls);
		ls->ls_net = key->lk_net;
		ls->ls_xid = key->lk_xid;
		memset(&ls->ls_peer, 0, sizeof(ls->ls_peer));
		memcpy(&ls->ls_peer, key->lk_peer, svc_addr_len(key->lk_peer));
		lo->lo_used++;
	}
	ls->ls_times++;
	ls->ls_since = now;
}

/**
 * svc2_loss_is_last - check whether a Call broke its maximum of connections
 * @lo: known losses; the Call is removed if so
 * @key: the Call
 * @now: in jiffies
 */
static inline bool svc2_loss_is_last(struct svc2_losses *lo,
				     const struct svc2_lost_key *key,
				     unsigned long now)
{
	struct svc2_loss *ls = svc2_loss_find(lo, key, now);

	if (!ls || ls->ls_times < SVC2_LOST_TIMES)
		return false;
	svc2_loss_forget(lo, ls);
	return true;
}

#endif /* _SVCRDMA2_LOST_H */
