// SPDX-License-Identifier: GPL-2.0
/*
 * Properties: what the peer says of itself, and what the server answers.
 *
 * A CONNPROP is the first message of a version 2 client; the server answers with
 * its own, once (S29). What the peer announces bounds the server's Sends from then
 * on. The server's properties hold for the life of the connection, so there is
 * nothing to announce later; the answer to a REQPROP says that a wish is granted
 * already, or that it is not (S16).
 *
 * svc2_recvfrom() lets control messages through one at a time, in the order
 * in which they came. Therefore nothing here is locked.
 */
#include <linux/bitops.h>

#include "svcrdma2.h"

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
	h->h_credit = sp->sp_grant;		/* S26 */
	ret = svc2_tx_header(tx, h, pm);
	if (!ret && tx->tx_len > READ_ONCE(sp->sp_send_max[h->h_vers]))
		ret = -EMSGSIZE;
	if (!ret)
		ret = svc2_tx_post(sp, tx, 0);	/* S49 */
	if (ret)
		svc2_error_instead(sp, tx, h, &plan, ret);
}

static void count(const struct rpcrdma2_propmsg *pm, u32 frozen)
{
	static const enum svc2_counter counters[] = {
		[RDMA2_OPT_CONNPROP]	= SVC2_C_connprops,
		[RDMA2_OPT_REQPROP]	= SVC2_C_reqprops,
		[RDMA2_OPT_UPDPROP]	= SVC2_C_updprops,
	};

	this_cpu_inc(svc2_counters[counters[pm->pm_type]]);
	svc2_count_add(odd_properties, pm->pm_set.ps_odd);	/* S12 */
	svc2_count_add(frozen_properties, hweight32(frozen));	/* S15 */
}

/**
 * svc2_take_property - obey a property message
 * @rqstp: thread
 * @msg: the message, well-formed, in either spelling (S01); gone afterwards
 *
 * Context: svc thread; may sleep.
 * Return: 0, for ->xpo_recvfrom to return.
 */
int svc2_take_property(struct svc_rqst *rqstp, struct svc2_msg *msg)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	const struct rpcrdma2_propmsg *pm = &msg->sm_msg.mg_prop;
	struct rpcrdma2_propmsg answer;
	u32 effects;

	svc2_msg_put_recv(sp, msg);		/* R6 */
	count(pm, rpcrdma2_exchange_take(&sp->sp_ex, pm, &effects));
	if (effects & RPCRDMA2_EFFECT_MESSAGES)
		svc2_bound_sends(sp, RPCRDMA2_VERS_TWO);
	if (rpcrdma2_exchange_answer(&sp->sp_ex, pm, &answer))
		send_property(sp, &msg->sm_msg.mg_hdr, &answer);
	svc2_msg_put(sp, msg);
	return 0;
}
