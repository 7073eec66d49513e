// SPDX-License-Identifier: GPL-2.0
/*
 * The backward direction: Calls of the service, which NFSv4.1 and later name
 * callbacks, and the peer's answers.
 *
 * When a client has told the service that it takes callbacks on a connection
 * (B-13), the service asks for an rpc_xprt that calls back on it:
 *
 *   setup:   rpc_create --> svc2_bc_setup, and Receives for the answers
 *   Call:    RPC task --> svc2_bc_send_request --> send.c
 *   answer:  svc thread: parse.c --> svc2_take_answer --> RPC task
 *
 * That rpc_xprt has no connection of its own. It cannot connect, it is closed
 * by the RPC layer when the svc_xprt is, and the svc_xprt is there for as long
 * as there are Calls.
 *
 * Credits of the two directions have nothing to do with each other (B-04,
 * B-17): the RPC layer's congestion window is the peer's grant (B-05). A Call
 * that the service gives up gives its credit back, though the peer may still
 * be at work on it.
 */
#include <linux/inet.h>
#include <linux/slab.h>

#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/sched.h>

#include <rpcrdma2/codec.h>
#include <rpcrdma2/credit.h>

#include "backchannel.h"
#include "svcrdma2.h"
#include "trace.h"

/**
 * struct backchannel - a connection, as the RPC client sees it
 * @bc_xprt: what it sees
 * @bc_hdr: header of the Call that is being sent; belongs to the RPC task that holds
 *	XPRT_LOCKED
 * @bc_addr: printable address of the peer
 */
struct backchannel {
	struct rpc_xprt		bc_xprt;
	struct rpcrdma2_hdr	bc_hdr;
	char			bc_addr[INET6_ADDRSTRLEN];
};

/**
 * struct call_buf - memory of one Call, and of its Reply
 * @cb_vers: version it was sent in; 0 when nothing can answer it yet
 * @cb_failed: it has been answered with nothing of use; written under
 *	queue_lock
 * @cb_data: rq_buffer, and rq_rbuffer behind it
 */
struct call_buf {
	u32	cb_vers;
	bool	cb_failed;
	u8	cb_data[] __aligned(8);
};

static struct call_buf *from_rqst(const struct rpc_rqst *rqst)
{
	return container_of(rqst->rq_buffer, struct call_buf, cb_data);
}

static struct backchannel *from_xprt(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct backchannel, bc_xprt);
}

static int svc2_bc_alloc(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	size_t callsize = round_up(rqst->rq_callsize, 8);
	struct call_buf *buf;

	buf = kmalloc(struct_size(buf, cb_data, callsize + rqst->rq_rcvsize),
		      rpc_task_gfp_mask());
	if (!buf)
		return -ENOMEM;
	buf->cb_vers = 0;
	buf->cb_failed = false;
	rqst->rq_buffer = buf->cb_data;
	rqst->rq_rbuffer = buf->cb_data + callsize;
	return 0;
}

static void svc2_bc_free(struct rpc_task *task)
{
	kfree(from_rqst(task->tk_rqstp));
}

static int build_call(struct svc2_xprt *sp, struct svc2_tx *tx,
		      struct rpcrdma2_hdr *h, const struct rpc_rqst *rqst)
{
	const struct xdr_buf *message = &rqst->rq_snd_buf;
	u32 most = min_t(u32, READ_ONCE(sp->sp_send_max[h->h_vers]),
			 SVC2_TX_BUFSIZE);
	int ret;

	ret = svc2_tx_header(tx, h, NULL);
	if (ret)
		return ret;
	if (message->len > most - tx->tx_len)
		return -EMSGSIZE;
	svc2_count_add(inline_bytes, message->len);
	svc2_count_add(pullup_bytes, message->len);
	read_bytes_from_xdr_buf(message, 0, tx->tx_buf + tx->tx_len,
				message->len);
	tx->tx_len += message->len;
	return 0;
}

/* From the moment it is posted it can be answered. */
static int post_call(struct svc2_xprt *sp, struct svc2_tx *tx, u32 vers,
		     struct rpc_rqst *rqst)
{
	struct call_buf *buf = from_rqst(rqst);
	int ret;

	rqst->rq_xtime = ktime_get();
	WRITE_ONCE(buf->cb_vers, vers);
	ret = svc2_tx_post(sp, tx, 0);
	if (ret)
		WRITE_ONCE(buf->cb_vers, 0);
	return ret;
}

static int send_call(struct svc2_xprt *sp, struct rpcrdma2_hdr *h,
		     struct rpc_rqst *rqst)
{
	struct svc2_tx *tx;
	int ret;

	svc2_call_header(h, READ_ONCE(sp->sp_last_vers),
			 be32_to_cpu(rqst->rq_xid), SVC2_BACKWARD_CREDITS);
	if (!svc2_may_call(h->h_vers, READ_ONCE(sp->sp_ex.ex_peer.pp_now.pr_brs)))
		return -EOPNOTSUPP;

	tx = svc2_tx_try_get(sp);
	if (!tx)
		return -ENOBUFS;
	ret = build_call(sp, tx, h, rqst);
	if (!ret)
		ret = post_call(sp, tx, h->h_vers, rqst);
	if (ret)
		svc2_tx_put(sp, tx);
	return ret;
}

/*
 * nfsd repeats a callback that fails at once, at once. So a Call that the
 * connection can not carry, now or at all, is tried again a quarter of a
 * second later, until the service's timer ends it, and one on a connection
 * that is lost until that is detached.
 *
 * Return: 0 when the Call is posted, or need not be: an error has answered it;
 * -EBADSLT when it has to wait for a credit (B-05); -ENOBUFS to be called again
 * a quarter of a second later; -ENOTCONN when there is no connection any more.
 */
static int svc2_bc_send_request(struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct svc2_xprt *sp = svc2_from_xprt(xprt->bc_xprt);
	struct rpcrdma2_hdr *h = &from_xprt(xprt)->bc_hdr;
	int ret;

	if (test_bit(XPT_DEAD, &sp->sp_xprt.xpt_flags)) {
		/* also where this transport came too late to be closed */
		xprt_disconnect_done(xprt);
		return -ENOTCONN;
	}
	/* The status belongs to the task that sends, perhaps for another Call. */
	if (READ_ONCE(from_rqst(rqst)->cb_failed))
		return 0;
	if (!xprt_request_get_cong(xprt, rqst))
		return -EBADSLT;

	ret = send_call(sp, h, rqst);
	trace_svc2_backward_call(sp, h, rqst->rq_snd_buf.len, ret);
	if (ret)
		return -ENOBUFS;
	svc2_count(backward_calls);
	return 0;
}

/* CONFIG_FAIL_SUNRPC calls it unasked. */
static void svc2_bc_inject_disconnect(struct rpc_xprt *xprt)
{
	svc2_close(svc2_from_xprt(xprt->bc_xprt), RPCRDMA2_LOSS_INJECTED);
}

static void svc2_bc_destroy(struct rpc_xprt *xprt)
{
	xprt_free(xprt);
	module_put(THIS_MODULE);
}

static void take_grant(struct svc2_xprt *sp, struct rpc_xprt *xprt,
		       const struct rpcrdma2_hdr *h)
{
	u32 grant;

	spin_lock(&xprt->transport_lock);
	grant = rpcrdma2_grant_next(h, sp->sp_backward_grant,
				    SVC2_BACKWARD_CREDITS,
				    sp->sp_backward_grant);
	WRITE_ONCE(sp->sp_backward_grant, grant);
	if (grant)
		xprt->cwnd = min(grant, READ_ONCE(sp->sp_answers)) <<
			     RPC_CWNDSHIFT;
	spin_unlock(&xprt->transport_lock);
}

static void complete_with_reply(struct rpc_rqst *rqst,
				const struct rpcrdma2_msg *msg)
{
	rqst->rq_private_buf = rqst->rq_rcv_buf;
	memcpy(rqst->rq_private_buf.head[0].iov_base, msg->mg_payload,
	       msg->mg_paylen);
	xprt_complete_rqst(rqst->rq_task, msg->mg_paylen);
	svc2_count(backward_replies);
}

static void wake_with_error(struct rpc_task *task)
{
	task->tk_status = -EIO;
	rpc_wake_up_queued_task(&task->tk_rqstp->rq_xprt->pending, task);
}

/*
 * A task that has not gone to sleep yet forgets its status when it does; then
 * svc2_bc_wait_for_reply() finds the mark.
 */
static void fail_call(struct rpc_rqst *rqst)
{
	WRITE_ONCE(from_rqst(rqst)->cb_failed, true);
	rqst->rq_xprt->stat.recvs++;
	wake_with_error(rqst->rq_task);
	svc2_count(backward_errors);
}

/* Under queue_lock */
static void svc2_bc_wait_for_reply(struct rpc_task *task)
{
	xprt_wait_for_reply_request_def(task);
	if (from_rqst(task->tk_rqstp)->cb_failed)
		wake_with_error(task);
}

/*
 * B-12: Receives for all the answers that the peer would give, when as many Calls
 * as there are Receives for are outstanding.
 */
static void make_receives(struct svc2_xprt *sp, const struct rpc_xprt *xprt)
{
	u32 answers = READ_ONCE(sp->sp_answers);

	if (unlikely(answers < READ_ONCE(sp->sp_backward_grant) &&
		     READ_ONCE(xprt->cong) >= answers << RPC_CWNDSHIFT))
		svc2_grant_fill(sp, SVC2_BACKWARD_CREDITS);
}

/*
 * Under the lock as a whole: two answers to one Call can be with two threads.
 * What is copied is short.
 *
 * Return: false when it answers no Call of the server.
 */
static bool answer_rpc(struct svc2_xprt *sp, struct rpc_xprt *xprt,
		       const struct rpcrdma2_msg *msg)
{
	enum svc2_answer answer = SVC2_ANSWER_DROP;
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;
	struct rpc_rqst *rqst;

	spin_lock(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, cpu_to_be32(h->h_xid));
	if (rqst && !from_rqst(rqst)->cb_failed)
		answer = svc2_judge_answer(msg,
					   READ_ONCE(from_rqst(rqst)->cb_vers),
					   rqst->rq_rcv_buf.head[0].iov_len);
	if (answer != SVC2_ANSWER_DROP && !msg->mg_verdict)
		take_grant(sp, xprt, h);
	if (answer == SVC2_ANSWER_REPLY)
		complete_with_reply(rqst, msg);
	else if (answer == SVC2_ANSWER_FAIL)
		fail_call(rqst);
	spin_unlock(&xprt->queue_lock);

	return answer != SVC2_ANSWER_DROP;
}

/**
 * svc2_take_answer - a Reply or an RDMA2_ERROR has come
 * @rqstp: thread
 * @call: the message; gone afterwards
 *
 * It ends the Call of the server that has its xid; these have an xid space of
 * their own (B-02, C-066, C-070). An answer to no Call is discarded (S31, C-078).
 *
 * Context: svc thread.
 * Return: 0, for ->xpo_recvfrom to return.
 */
int svc2_take_answer(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	struct rpc_xprt *xprt;

	/* pairs with svc2_bc_setup(): all of it is there, or none */
	xprt = smp_load_acquire(&sp->sp_xprt.xpt_bc_xprt);
	if (xprt)
		make_receives(sp, xprt);
	if (!xprt || !answer_rpc(sp, xprt, &call->sm_msg))
		return svc2_discard_reply(sp, call);
	svc2_msg_put(sp, call);
	return 0;
}

static const struct rpc_xprt_ops svc2_bc_ops = {
	.reserve_xprt		= xprt_reserve_xprt_cong,
	.release_xprt		= xprt_release_xprt_cong,
	.alloc_slot		= xprt_alloc_slot,
	.free_slot		= xprt_free_slot,
	.buf_alloc		= svc2_bc_alloc,
	.buf_free		= svc2_bc_free,
	.send_request		= svc2_bc_send_request,
	.wait_for_reply_request	= svc2_bc_wait_for_reply,
	.release_request	= xprt_release_rqst_cong,
	.close			= xprt_disconnect_done,
	.destroy		= svc2_bc_destroy,
	.inject_disconnect	= svc2_bc_inject_disconnect,
};

/* for a service that sets none of its own */
static const struct rpc_timeout svc2_bc_timeout = {
	.to_initval	= 60 * HZ,
	.to_maxval	= 60 * HZ,
};

static void describe_peer(struct backchannel *bc)
{
	struct rpc_xprt *xprt = &bc->bc_xprt;
	bool ipv6 = xprt->addr.ss_family == AF_INET6;

	rpc_ntop((struct sockaddr *)&xprt->addr, bc->bc_addr,
		 sizeof(bc->bc_addr));
	xprt->address_strings[RPC_DISPLAY_ADDR] = bc->bc_addr;
	xprt->address_strings[RPC_DISPLAY_PORT] = "0";
	xprt->address_strings[RPC_DISPLAY_PROTO] = "rdma";
	xprt->address_strings[RPC_DISPLAY_NETID] = ipv6 ? "rdma26" : "rdma2";
}

static struct rpc_xprt *create(const struct xprt_create *args,
			       const struct svc2_xprt *sp)
{
	struct backchannel *bc;
	struct rpc_xprt *xprt;

	xprt = xprt_alloc(args->net, sizeof(*bc), 1, SVC2_BACKWARD_CREDITS);
	if (!xprt)
		return NULL;
	bc = from_xprt(xprt);

	xprt->prot = svc2_bc_class.ident;
	xprt->xprt_class = &svc2_bc_class;
	xprt->ops = &svc2_bc_ops;
	xprt->timeout = &svc2_bc_timeout;
	xprt->max_payload = sp->sp_send_max[sp->sp_last_vers];
	memcpy(&xprt->addr, args->dstaddr, args->addrlen);
	xprt->addrlen = args->addrlen;
	describe_peer(bc);
	xprt_set_bound(xprt);
	xprt_set_connected(xprt);
	return xprt;
}

/*
 * One for each connection; the RPC layer uses it again for as long as the
 * connection lasts, and drops its reference with the svc_xprt. Two sessions
 * that begin on one connection at once may both come here: the second is told
 * to come again. (Or it finds the first one's in rpc_create(), perhaps before
 * that is all set up: for every transport alike.)
 */
static struct rpc_xprt *svc2_bc_setup(struct xprt_create *args)
{
	struct svc2_xprt *sp = svc2_from_xprt(args->bc_xprt);
	struct rpc_xprt *xprt;
	int ret;

	if (args->addrlen > sizeof(xprt->addr))
		return ERR_PTR(-EBADF);
	if (!svc2_may_call(READ_ONCE(sp->sp_last_vers),
			   READ_ONCE(sp->sp_ex.ex_peer.pp_now.pr_brs)))
		return ERR_PTR(-EOPNOTSUPP);
	if (test_and_set_bit(SVC2_F_BACKWARD, &sp->sp_flags))
		return ERR_PTR(-EAGAIN);

	ret = -ENOMEM;
	xprt = create(args, sp);
	if (!xprt)
		goto out_clear;
	ret = svc2_grant_fill(sp, SVC2_BACKWARD_FIRST);	/* B-12 */
	if (ret)
		goto out_free;

	__module_get(THIS_MODULE);	/* the class has one now */
	xprt->bc_xprt = args->bc_xprt;
	/* pairs with svc2_take_answer() */
	smp_store_release(&args->bc_xprt->xpt_bc_xprt, xprt_get(xprt));
	return xprt;

out_free:
	xprt_free(xprt);
out_clear:
	/* A connection that is lost keeps its Receives, and gets no more. */
	if (ret != -EIO)
		clear_bit_unlock(SVC2_F_BACKWARD, &sp->sp_flags);
	return ERR_PTR(ret);
}

/*
 * Found by its ident alone. It has no netid, but a list of them, even an empty
 * one, is what look-ups by netid expect of every class.
 */
struct xprt_class svc2_bc_class = {
	.list	= LIST_HEAD_INIT(svc2_bc_class.list),
	.name	= "rdma2 backchannel",
	.owner	= THIS_MODULE,
	.ident	= SVC2_IDENT | XPRT_TRANSPORT_BC,
	.setup	= svc2_bc_setup,
	.netid	= { "" },
};
