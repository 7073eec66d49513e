// SPDX-License-Identifier: GPL-2.0
/*
 * Properties: what the peer says of itself, and what we answer.
 *
 * A CONNPROP is the first thing a version 2 client says; it draws one of ours,
 * once (S29). What it announces bounds our Sends from then on. Our own
 * properties hold for the life of the connection, so there is nothing to
 * announce later; a REQPROP is told that it has what it wants, or that it does
 * not get it (S16).
 *
 * svc2_recvfrom() lets control messages through one at a time, in the order
 * in which they came. Therefore nothing here is locked.
 */
#include <linux/bitops.h>

#include <rpcrdma2/propset.h>

#include "svcrdma2.h"
#include "trace.h"

/*
 * A requester takes us to send as much as we receive (S14): we claim to
 * receive no more than we send.
 */
static void describe_us(const struct svc2_xprt *sp, struct rpcrdma2_props *us)
{
	us->pr_rbsiz = min(sp->sp_conn.co_recv_size, sp->sp_send_own);	/* S13 */
	us->pr_brs = RDMA2_BKREQSUP_INLINE;			/* S20, S22 */
}

/*
 * @h is the header of the message that is answered, and is overwritten: the
 * answer has its spelling (S01). One that the peer cannot take becomes an error
 * (C-093).
 */
static void send_property(struct svc2_xprt *sp, struct rpcrdma2_hdr *h,
			  const struct rpcrdma2_propmsg *pm)
{
	struct svc2_tx *tx = svc2_tx_get(sp);
	struct rpcrdma2_reply_plan plan = { };
	int ret;

	if (IS_ERR(tx))
		return;
	h->h_credit = sp->sp_credits;		/* S26 */
	ret = svc2_tx_property(tx, h, pm);
	if (!ret && tx->tx_len > READ_ONCE(sp->sp_send_max[h->h_vers]))
		ret = -EMSGSIZE;
	if (!ret)
		ret = svc2_tx_post(sp, tx, 0);	/* S49 */
	if (ret)
		svc2_error_instead(sp, tx, h, &plan, ret);
}

/* C-043, C-045: everything, for good */
static void answer_connprop(struct svc2_xprt *sp, struct svc2_call *call)
{
	struct rpcrdma2_propmsg us = {
		.pm_type  = RDMA2_OPT_CONNPROP,
		.pm_nochg = RPCRDMA2_PROPS_ALL,
	};

	describe_us(sp, &sp->sp_told);
	rpcrdma2_propset_init(&us.pm_set, RPCRDMA2_PROPS_ALL, &sp->sp_told);
	send_property(sp, &call->ca_hdr, &us);
}

/* S15: a second one is an update, and draws nothing (C-023) */
static void take_connprop(struct svc2_xprt *sp, struct svc2_call *call,
			  const struct rpcrdma2_propmsg *pm)
{
	bool first = !sp->sp_props.pp_spoken;
	u32 frozen;

	svc2_count(connprops);
	frozen = rpcrdma2_apply_connprop(&sp->sp_props, &pm->pm_set.ps_val,
					 pm->pm_set.ps_rows, pm->pm_nochg);
	svc2_count_add(frozen_properties, hweight32(frozen));
	svc2_bound_sends(sp, RPCRDMA2_VERS_TWO);
	if (first)
		answer_connprop(sp, call);
}

static void take_updprop(struct svc2_xprt *sp,
			 const struct rpcrdma2_propmsg *pm)
{
	u32 frozen;

	svc2_count(updprops);
	frozen = rpcrdma2_apply_updprop(&sp->sp_props, &pm->pm_set.ps_val,
					pm->pm_set.ps_rows);
	svc2_count_add(frozen_properties, hweight32(frozen));
	svc2_bound_sends(sp, RPCRDMA2_VERS_TWO);
}

static void answer_reqprop(struct svc2_xprt *sp, struct svc2_call *call,
			   const struct rpcrdma2_propmsg *pm)
{
	struct rpcrdma2_propmsg answer;
	struct rpcrdma2_props able;

	svc2_count(reqprops);
	describe_us(sp, &able);
	rpcrdma2_answer_reqprop(&answer, &pm->pm_set, &sp->sp_told, &able);
	send_property(sp, &call->ca_hdr, &answer);
}

/**
 * svc2_take_property - obey a property message, or an option
 * @rqstp: thread
 * @call: the message, in either spelling (S01); gone afterwards
 *
 * A bad one is refused as a whole (S11), and so is an option that is none of
 * ours (C-012, S40).
 *
 * Context: svc thread; may sleep.
 * Return: 0, for ->xpo_recvfrom to return.
 */
int svc2_take_property(struct svc_rqst *rqstp, struct svc2_call *call)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	struct rpcrdma2_propmsg pm;
	enum rpcrdma2_errcode verdict;
	struct xdr_buf message;

	rpcrdma2_recv_buf(call->ca_recv, 0, &message);
	verdict = rpcrdma2_decode_propmsg(&pm, &call->ca_hdr, &message);
	if (verdict)
		return svc2_refuse(sp, call, verdict);
	svc2_count_add(odd_properties, pm.pm_set.ps_odd);	/* S12 */

	svc2_call_put_recv(sp, call);		/* R6 */
	switch (pm.pm_type) {
	case RDMA2_OPT_CONNPROP:
		take_connprop(sp, call, &pm);
		break;
	case RDMA2_OPT_REQPROP:
		answer_reqprop(sp, call, &pm);
		break;
	case RDMA2_OPT_UPDPROP:
		take_updprop(sp, &pm);
		break;
	}
	trace_svc2_property(sp, pm.pm_type);
	svc2_call_put(sp, call);
	return 0;
}
