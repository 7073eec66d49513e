// SPDX-License-Identifier: GPL-2.0
/* Version of a connection: negotiated, remembered, or pinned */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include <linux/sunrpc/addr.h>

#include <net/net_namespace.h>

#include "xprtrdma2.h"
#include "trace.h"

/*
 * The module parameter "pin" is for a server's address, because the NFS client
 * shares a transport among all mounts of a server, and passes it only address,
 * port and timeouts of the mount options.
 */
static DEFINE_MUTEX(pin_mutex);	/* guards the pointer and its text */
static char *pin_text;		/* value of the parameter; its words are valid */

static int xprt2_pin_set(const char *val, const struct kernel_param *kp)
{
	char word[XPRT2_PIN_WORD], *text;
	const char *at = val, *fault;
	struct xprt2_pin pin;
	int len;

	while ((len = xprt2_pin_next_word(&at, word))) {
		fault = xprt2_parse_pin(word, &pin);
		if (fault) {
			pr_err("parameter pin, word '%.*s': %s; nothing is changed\n",
			       len, at - len, fault);
			return -EINVAL;
		}
	}
	text = kstrdup(skip_spaces(val), GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	strim(text);
	scoped_guard(mutex, &pin_mutex)
		swap(pin_text, text);
	kfree(text);
	return 0;
}

static int xprt2_pin_get(char *buffer, const struct kernel_param *kp)
{
	guard(mutex)(&pin_mutex);
	return scnprintf(buffer, PAGE_SIZE, "%s\n", pin_text ?: "");
}

static void xprt2_pin_free(void *arg)
{
	kfree(pin_text);
}

static const struct kernel_param_ops pin_ops = {
	.set	= xprt2_pin_set,
	.get	= xprt2_pin_get,
	.free	= xprt2_pin_free,
};

module_param_cb(pin, &pin_ops, NULL, 0644);
MODULE_PARM_DESC(pin, "Servers and the RPC-over-RDMA version to use with each, regardless of the parameter versions, for example \"192.0.2.1=1 [fd00::2]:20049=2\"; applies to new connections");

/*
 * Version that is pinned for a server, or 0. A pin of the port takes precedence
 * over a pin of the address, and a later pin over an earlier one.
 */
static u32 xprt2_pinned_version(const struct sockaddr *sap)
{
	char word[XPRT2_PIN_WORD];
	unsigned int best = 1;
	struct xprt2_pin pin;
	const char *at;
	u32 vers = 0;

	guard(mutex)(&pin_mutex);
	at = pin_text ?: "";
	while (xprt2_pin_next_word(&at, word)) {
		/* the interface of a link-local address may be gone */
		if (xprt2_parse_pin(word, &pin) ||
		    xprt2_pin_fits(&pin, sap) < best)
			continue;
		best = xprt2_pin_fits(&pin, sap);
		vers = pin.pin_vers;
	}
	return vers;
}

/*
 * Carry out the decisions of pure.h. The probe is part of connecting, so a
 * fallback to version 1 costs no RPC. All transports share the list of servers
 * that have proved version 1 by a good Reply. Until then version 1 applies to
 * one connection of one transport, and all others begin with a probe.
 *
 * Memory of earlier connections:
 *
 *   xp_fallback, xp_plain	the next connection, for 90 s or 240 s at most:
 *				xprt2_version_note() sets them, and
 *				xprt2_drop_notes() clears them when a connection
 *				was probed or is up in version 1; a good Reply
 *				and xprt2_forget() clear xp_fallback too
 *   known_servers		xprt2_version_remember() adds a server at the
 *				first good Reply in version 1, and may drop the
 *				one with the oldest connection; xprt2_forget()
 *				drops it. A probe is due after an hour, or when
 *				xprt2_end_version() has set it
 *   xp_refused, rq2_versions, xp_probes: see xprtrdma2.h
 */

#define KNOWN_SERVERS_MAX	256

/* A server of version 1 */
struct known_server {
	struct list_head	ks_list;	/* latest connection first */
	u64			ks_net;		/* cookie of its namespace */
	struct sockaddr_storage	ks_addr;	/* address and port */
	const char		*ks_why;	/* reason for version 1 */
	u64			ks_since;	/* last probe, get_jiffies_64() */
	bool			ks_proved;	/* good Reply since then */
};

/* In the order of enum xprt2_answer */
static const char *const answer_names[] = {
#define XPRT2_ANSWER_NAME(_name, _text) _text,
	XPRT2_ANSWERS(XPRT2_ANSWER_NAME)
#undef XPRT2_ANSWER_NAME
};

static DEFINE_SPINLOCK(known_lock);	/* guards the next two */
static LIST_HEAD(known_servers);
static unsigned int known_count;

static void xprt2_drop_known_locked(struct known_server *ks)
{
	list_del(&ks->ks_list);
	known_count--;
	kfree(ks);
}

static struct known_server *xprt2_find_known_locked(const struct rpc_xprt *xprt)
{
	const struct sockaddr *addr = (const struct sockaddr *)&xprt->addr;
	const struct sockaddr *known;
	struct known_server *ks;

	list_for_each_entry(ks, &known_servers, ks_list) {
		known = (const struct sockaddr *)&ks->ks_addr;
		if (ks->ks_net == xprt->xprt_net->net_cookie &&
		    rpc_cmp_addr(known, addr) &&
		    rpc_get_port(known) == rpc_get_port(addr))
			return ks;
	}
	return NULL;
}

/*
 * Return the answer that led to version 1; or NULL, if the server is not known,
 * or if its hour is over and no RPC waits (@busy). @expired is set when the hour
 * is over: this transport probes the server, and the hour begins again for all
 * others.
 */
static const char *xprt2_version_known(const struct rpc_xprt *xprt, bool busy,
				       bool *expired)
{
	struct known_server *ks;

	guard(spinlock)(&known_lock);
	ks = xprt2_find_known_locked(xprt);
	if (!ks)
		return NULL;
	list_move(&ks->ks_list, &known_servers);
	*expired = xprt2_probe_is_due(ks->ks_since, get_jiffies_64(), busy);
	if (!*expired)
		return ks->ks_why;
	ks->ks_since = get_jiffies_64();
	ks->ks_proved = false;
	return NULL;
}

/*
 * Remember a server of version 1. Return true when it was not known before.
 * When memory is short, the next connection probes the server again.
 */
static bool xprt2_version_remember(const struct rpc_xprt *xprt, const char *why)
{
	struct known_server *ks;

	guard(spinlock)(&known_lock);
	ks = xprt2_find_known_locked(xprt);
	if (!ks) {
		ks = kzalloc(sizeof(*ks), GFP_NOWAIT | __GFP_NOWARN);
		if (!ks)
			return false;
		if (known_count == KNOWN_SERVERS_MAX)
			xprt2_drop_known_locked(list_last_entry(&known_servers,
								struct known_server,
								ks_list));
		ks->ks_net = xprt->xprt_net->net_cookie;
		ks->ks_addr = xprt->addr;
		ks->ks_since = get_jiffies_64();
		list_add(&ks->ks_list, &known_servers);
		known_count++;
	}
	if (ks->ks_proved)
		return false;
	ks->ks_why = why;
	ks->ks_proved = true;
	return true;
}

static void xprt2_forget(struct xprt2_xprt *xp)
{
	struct known_server *ks;

	WRITE_ONCE(xp->xp_fallback, NULL);
	guard(spinlock)(&known_lock);
	ks = xprt2_find_known_locked(&xp->xp_xprt);
	if (ks)
		xprt2_drop_known_locked(ks);
}

/**
 * xprt2_forget_servers - forget all servers, at unload
 */
void xprt2_forget_servers(void)
{
	struct known_server *ks, *next;

	list_for_each_entry_safe(ks, next, &known_servers, ks_list)
		xprt2_drop_known_locked(ks);
}

/* version 1 uses the private data, or its own default (S33) */
static void xprt2_version_settle_v1(struct xprt2_ep *ep)
{
	WRITE_ONCE(ep->ep_vers, RPCRDMA2_VERS_ONE);
	WRITE_ONCE(ep->ep_call_threshold,
		   min_t(u32, ep->ep_send_size, ep->ep_peer.cl_recv));
	WRITE_ONCE(ep->ep_reply_threshold,
		   min(ep->ep_recv_size, ep->ep_peer.cl_send));
}

/* The next connection uses version 1, or its probe only the draft's properties. */
static void xprt2_version_note(struct xprt2_xprt *xp, enum xprt2_answer answer,
			       bool plain)
{
	WRITE_ONCE(xp->xp_note_end, xprt2_note_end(answer, get_jiffies_64()));
	if (plain)
		WRITE_ONCE(xp->xp_plain, true);
	else
		WRITE_ONCE(xp->xp_fallback, answer_names[answer]);
}

static void xprt2_drop_notes(struct xprt2_xprt *xp)
{
	WRITE_ONCE(xp->xp_fallback, NULL);
	WRITE_ONCE(xp->xp_plain, false);
}

static void xprt2_version_settle(struct xprt2_ep *ep, u32 vers,
				 enum xprt2_answer answer)
{
	struct xprt2_xprt *xp = ep->ep_xp;

	if (vers == RPCRDMA2_VERS_ONE) {
		xprt2_version_settle_v1(ep);
		/* also when this connection brings no Reply (C-102) */
		xprt2_version_note(xp, answer, false);
	} else {
		xprt2_forget(xp);
	}
	xp->xp_probes = 0;
	if (!ep->ep_nego.ng_pinned)
		WRITE_ONCE(ep->ep_why, answer_names[answer]);
	/* Pairs with xprt2_recv_take(), which reads ep_vers after the phase */
	smp_store_release(&ep->ep_nego.ng_phase, XPRT2_SETTLED);
	trace_xprt2_settled(ep, vers);
}

/**
 * xprt2_version_works - record the first good Reply of a connection
 * @ep: endpoint
 *
 * Context: receive CQ.
 */
void xprt2_version_works(struct xprt2_ep *ep)
{
	const struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;

	if (!xprt2_proves_v1(&ep->ep_nego, ep->ep_vers))
		return;
	WRITE_ONCE(ep->ep_xp->xp_fallback, NULL);
	if (xprt2_version_remember(xprt, ep->ep_why))
		pr_info_ratelimited("version 1 of RPC-over-RDMA with server %s port %s (%s); version 2 is probed again after %lu minutes\n",
				    xprt->address_strings[RPC_DISPLAY_ADDR],
				    xprt->address_strings[RPC_DISPLAY_PORT],
				    ep->ep_why, XPRT2_MEMORY_TIME / (60 * HZ));
}

static void xprt2_report_no_version(struct xprt2_ep *ep,
				    enum xprt2_answer answer)
{
	const struct rpc_xprt *xprt = &ep->ep_xp->xp_xprt;
	const char *advice = "change the module parameter versions or pin";
	const struct xprt2_nego *ng = &ep->ep_nego;
	bool none = ep->ep_xp->xp_refused == XPRT2_ALL_VERSIONS;
	bool range = answer == XPRT2_A_ERR_VERS && !none;
	char offer[48] = "none that is known here";

	if (ep->ep_mismatch_logged)
		return;
	ep->ep_mismatch_logged = true;
	if (range)
		snprintf(offer, sizeof(offer), "%u to %u", ng->ng_low,
			 ng->ng_high);
	if (none || (range && (ng->ng_low > RPCRDMA2_VERS_TWO ||
			       ng->ng_high < RPCRDMA2_VERS_ONE)))
		advice = "the server has to offer one of them";
	else if (ng->ng_pinned)
		advice = "change the module parameter pin";
	pr_warn_ratelimited("no common version with server %s port %s: of RPC-over-RDMA it offers %s, allowed are %u to %u; %s\n",
			    xprt->address_strings[RPC_DISPLAY_ADDR],
			    xprt->address_strings[RPC_DISPLAY_PORT], offer,
			    ng->ng_min, ng->ng_max, advice);
}

/*
 * Return: 0 to go on with this connection, -EAGAIN to make another at once,
 * -ENOTCONN to make another later, -EPROTONOSUPPORT to give up.
 */
static int xprt2_version_apply(struct xprt2_ep *ep, enum xprt2_answer answer,
			       enum xprt2_action action)
{
	struct xprt2_xprt *xp = ep->ep_xp;

	switch (action) {
	case XPRT2_ACT_WAIT:
		return 0;
	case XPRT2_ACT_TRIAL:
		WRITE_ONCE(ep->ep_nego.ng_phase, XPRT2_TRIAL);
		return 0;
	case XPRT2_ACT_ONE:
	case XPRT2_ACT_TWO:
		xprt2_version_settle(ep, action == XPRT2_ACT_ONE ?
				     RPCRDMA2_VERS_ONE : RPCRDMA2_VERS_TWO,
				     answer);
		return 0;
	case XPRT2_ACT_AGAIN:
		xprt2_forget(xp);
		return -EAGAIN;
	case XPRT2_ACT_AGAIN_PLAIN:
		xprt2_version_note(xp, answer, true);
		return -EAGAIN;
	case XPRT2_ACT_AGAIN_ONE:
		xp->xp_probes = 0;
		xprt2_version_note(xp, answer, false);
		return -EAGAIN;
	case XPRT2_ACT_LATER:
		return -ENOTCONN;
	case XPRT2_ACT_FAIL:
		break;
	}
	xprt2_forget(xp);
	xprt2_report_no_version(ep, answer);
	return -EPROTONOSUPPORT;
}

/*
 * An action on a connection that carries RPCs. If no version is left, the
 * refused RPC ends; if it is not known which RPC was refused, the next attempt
 * to connect fails. A settled connection stays for the RPCs that were not
 * refused. The receive CQ, the timer and teardown may all decide the same
 * trial: the first decision counts.
 *
 * Return: 0 to go on with this connection; -EPROTONOSUPPORT when there is no
 * common version; another error when the connection is given up.
 */
static int xprt2_version_apply_or_lose(struct xprt2_ep *ep,
				       enum xprt2_phase phase,
				       enum xprt2_answer answer)
{
	struct xprt2_xprt *xp = ep->ep_xp;
	/* the send path may set ng_trial_sent, before this copy or after it */
	struct xprt2_nego ng = data_race(ep->ep_nego);
	enum xprt2_action action;
	int ret;

	ng.ng_phase = phase;
	ng.ng_vers = ep->ep_vers;
	ng.ng_refused = xp->xp_refused;
	action = xprt2_next_action(&ng, answer);
	if (action == XPRT2_ACT_WAIT)
		return 0;
	if (cmpxchg(&ep->ep_nego.ng_phase, phase, XPRT2_OVER) != phase)
		return xprt2_result_given_up(answer);
	trace_xprt2_negotiate(ep, answer, action);
	if (xprt2_is_refusal(answer))
		xp->xp_refused |= BIT(ep->ep_vers);
	ret = xprt2_version_apply(ep, answer, action);
	if (!ret)
		return 0;
	if (action == XPRT2_ACT_FAIL && phase == XPRT2_SETTLED) {
		WRITE_ONCE(ep->ep_nego.ng_phase, XPRT2_SETTLED);
		return ret;
	}
	if (action == XPRT2_ACT_FAIL && !xprt2_is_refusal(answer))
		WRITE_ONCE(xp->xp_no_version, true);
	rpcrdma2_conn_lose(&ep->ep_conn, RPCRDMA2_LOSS_VERSION);
	return ret;
}

/**
 * xprt2_trial_timeout - end a trial that got no answer in time (S34)
 * @work: ep_trial
 */
void xprt2_trial_timeout(struct work_struct *work)
{
	struct xprt2_ep *ep = container_of(work, struct xprt2_ep,
					   ep_trial.work);

	if (READ_ONCE(ep->ep_nego.ng_phase) == XPRT2_TRIAL)
		xprt2_version_apply_or_lose(ep, XPRT2_TRIAL, XPRT2_A_NONE);
}

/**
 * xprt2_trial_lost - take the loss of a connection as the answer to a trial
 * @ep: endpoint that its peer or the network gave up; a loss that the server
 *	did not cause is no answer
 */
void xprt2_trial_lost(struct xprt2_ep *ep)
{
	if (READ_ONCE(ep->ep_nego.ng_phase) == XPRT2_TRIAL &&
	    !rpcrdma2_loss_is_innocent(rpcrdma2_conn_why(&ep->ep_conn)))
		xprt2_version_apply_or_lose(ep, XPRT2_TRIAL, XPRT2_A_LOST);
}

/**
 * xprt2_begin_version - decide how a connection begins, before it is made
 * @ep: endpoint under construction
 */
void xprt2_begin_version(struct xprt2_ep *ep)
{
	struct xprt2_xprt *xp = ep->ep_xp;
	const struct rpc_xprt *xprt = &xp->xp_xprt;
	u32 pin = xprt2_pinned_version((const struct sockaddr *)&xprt->addr);
	u32 only = pin ?: rpcrdma2_param(&xprt2_param_versions);
	u32 min = only ?: RPCRDMA2_VERS_ONE;
	u32 max = only ?: RPCRDMA2_VERS_TWO;
	struct xprt2_nego *ng = &ep->ep_nego;
	const char *why;
	bool plain;

	if (!time_before64(get_jiffies_64(), READ_ONCE(xp->xp_note_end)))
		xprt2_drop_notes(xp);
	why = READ_ONCE(xp->xp_fallback);
	plain = READ_ONCE(xp->xp_plain);
	/* A plain probe continues the negotiation of the last connection. */
	if (!why && !plain) {
		why = xprt2_version_known(xprt, xp->xp_busy, &ng->ng_expired);
		ng->ng_known = why;
	}
	ng->ng_phase = xprt2_first_phase(min, max, why);
	ng->ng_plain = plain;
	ng->ng_min = min;
	ng->ng_max = max;
	ng->ng_pinned = pin;
	ep->ep_why = pin ? "pin" : max < RPCRDMA2_VERS_TWO ? "versions" : why;
	ep->ep_vers = ng->ng_phase == XPRT2_SETTLED ? RPCRDMA2_VERS_ONE :
						      RPCRDMA2_VERS_TWO;
}

/**
 * xprt2_end_version - note at the end of a connection if a probe is due (S34)
 * @ep: endpoint that is torn down
 *
 * An attempt that ended before its probe did, and not because of the server,
 * has not probed it.
 */
void xprt2_end_version(struct xprt2_ep *ep)
{
	enum rpcrdma2_loss why = rpcrdma2_conn_why(&ep->ep_conn);
	const struct xprt2_nego *ng = &ep->ep_nego;
	struct xprt2_xprt *xp = ep->ep_xp;
	struct rpc_xprt *xprt = &xp->xp_xprt;
	bool busy = !RB_EMPTY_ROOT(&xprt->recv_queue) ||
		    !list_empty(&xprt->xmit_queue);
	/* an RPC timeout counts as silence of the server */
	bool innocent = why != RPCRDMA2_LOSS_TIMEOUT &&
			rpcrdma2_loss_is_innocent(why);
	bool doubt = ep->ep_was_up &&
		     xprt2_doubts_v1(ep->ep_vers, ep->ep_replied, busy,
				     innocent);
	struct known_server *ks;

	xp->xp_busy = busy && !doubt && (ep->ep_was_up || xp->xp_busy);
	if (!doubt && (!ng->ng_expired || ng->ng_probes))
		return;
	guard(spinlock)(&known_lock);
	ks = xprt2_find_known_locked(xprt);
	if (ks)		/* the next transport that is not busy probes it */
		ks->ks_since = get_jiffies_64() - XPRT2_MEMORY_TIME;
}

/* Count a probe that is over, and drop the notes of the last connection. */
static void xprt2_version_count_probe(struct xprt2_ep *ep)
{
	struct xprt2_xprt *xp = ep->ep_xp;
	u64 now = get_jiffies_64();

	xprt2_drop_notes(xp);
	if (xprt2_probe_is_due(xp->xp_probed, now, false))
		xp->xp_probes = 0;
	if (!xp->xp_probes++)
		xp->xp_probed = now;
	ep->ep_nego.ng_probes = xp->xp_probes;
	ep->ep_nego.ng_outlasted = now - xp->xp_probed >= XPRT2_OUTAGE;
}

/**
 * xprt2_negotiate - negotiate the version of a connection that has come up
 * @ep: endpoint
 *
 * Context: connect.
 * Return: 0 when RPCs may be sent; -EAGAIN, at most XPRT2_PROBES_MAX times, to
 * connect again at once; -ENOTCONN to do so later; -EPROTONOSUPPORT.
 */
int xprt2_negotiate(struct xprt2_ep *ep)
{
	enum xprt2_answer answer, none = XPRT2_A_NONE;
	enum xprt2_action action;
	int ret;

	/* not the phase: a server that sends first may have moved that */
	if (ep->ep_vers == RPCRDMA2_VERS_ONE) {
		xprt2_drop_notes(ep->ep_xp);
		xprt2_version_settle_v1(ep);
		trace_xprt2_settled(ep, ep->ep_vers);
		return 0;
	}

	/* An error here is not an answer of the server. */
	ret = xprt2_send_connprop(ep);
	if (ret && ret != -ENOTCONN)
		return ret;
	wait_for_completion_timeout(&ep->ep_answered, XPRT2_PROBE_TIMEOUT);
	/* C-102: an answer counts even when the connection was lost after it */
	if (rpcrdma2_conn_is_lost(&ep->ep_conn)) {
		ib_drain_rq(ep->ep_conn.co_id->qp);
		none = XPRT2_A_LOST;
	}
	answer = READ_ONCE(ep->ep_answer) ?: none;
	if (answer == XPRT2_A_LOST &&
	    rpcrdma2_loss_is_innocent(rpcrdma2_conn_why(&ep->ep_conn)))
		return -ENOTCONN;
	xprt2_version_count_probe(ep);
	action = xprt2_next_action(&ep->ep_nego, answer);
	trace_xprt2_negotiate(ep, answer, action);
	/* the receive CQ may be about to apply the limits of version 2 */
	guard(mutex)(&ep->ep_prop_mutex);
	return xprt2_version_apply(ep, answer, action);
}

static enum xprt2_answer
xprt2_version_classify(struct xprt2_ep *ep, const struct rpcrdma2_msg *msg,
		       bool to_probe, bool to_property)
{
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;
	enum xprt2_answer answer = xprt2_classify(msg, to_probe);

	if (answer != XPRT2_A_NONE && h->h_proc == RDMA2_ERROR &&
	    !to_probe &&
	    !xprt2_error_counts(answer, to_property,
				xprt2_req_is_awaited(ep, h->h_xid)))
		return XPRT2_A_NONE;
	if (answer == XPRT2_A_ERR_VERS) {
		ep->ep_nego.ng_low = h->h_error.er_arg;
		ep->ep_nego.ng_high = h->h_error.er_arg2;
	}
	/* A Reply to another RPC does not permit a third attempt of this one. */
	if (!to_probe && xprt2_is_refusal(answer) &&
	    (answer == XPRT2_A_ERR_VERS || h->h_vers == ep->ep_vers))
		ep->ep_xp->xp_refused |= xprt2_req_note_refusal(ep, h->h_xid);
	return answer;
}

/**
 * xprt2_negotiate_message - evaluate a message for the negotiation
 * @ep: endpoint
 * @msg: the message, not behind an answer for which xprt2_probe_failed(); an
 *	error, or @phase is not settled
 * @phase: of the negotiation
 * @to_property: it is an error for a REQPROP or an UPDPROP, and may change the
 *	version
 *
 * Context: receive CQ.
 * Return: XPRT2_D_HANDLE, XPRT2_D_FAIL or XPRT2_D_DONE.
 */
enum xprt2_disposition
xprt2_negotiate_message(struct xprt2_ep *ep, const struct rpcrdma2_msg *msg,
			enum xprt2_phase phase, bool to_property)
{
	/* Pairs with rpcrdma2_exchange_announce() */
	bool to_probe = smp_load_acquire(&ep->ep_ex.ex_connprop_sent) &&
			msg->mg_hdr.h_xid == ep->ep_connprop_xid;
	enum xprt2_disposition disposition;
	enum xprt2_answer answer;

	answer = xprt2_version_classify(ep, msg, to_probe, to_property);
	disposition = xprt2_judge_message(phase, answer, to_probe);
	if (disposition == XPRT2_D_NEGOTIATE)
		return xprt2_disposition_after(answer,
				xprt2_version_apply_or_lose(ep, phase, answer));
	if (disposition != XPRT2_D_PROBE)
		return disposition;
	if (rpcrdma2_msg_is_error(msg))
		xprt2_count_error(ep, &msg->mg_hdr);
	if (xprt2_next_action(&ep->ep_nego, answer) != XPRT2_ACT_WAIT) {
		/* the first answer counts */
		cmpxchg(&ep->ep_answer, XPRT2_A_NONE, answer);
		complete(&ep->ep_answered);
	}
	return XPRT2_D_DONE;
}
