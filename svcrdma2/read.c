// SPDX-License-Identifier: GPL-2.0
/*
 * Calls with Read chunks: pull the chunks, put the Call together again.
 *
 * Usually there is one chunk, a WRITE's data, and the rest is in the Receive:
 * then the data goes to the beginning of a page, and the Receive serves as
 * head of rq_arg. Everything else is laid out flat (layout.h), octet after
 * octet from the beginning of a page; the device places what it reads where
 * it belongs, and what is in the Receive is copied between. What rq_arg is then made
 * of, see arg.c.
 *
 * The pages come from the thread, or from a Call that is done (sinks.c). The
 * thread waits neither for the RDMA Reads nor for what they need: it leaves the Call
 * with transfer.c, with a gate or with the Send Queue (R2), and another thread, or the
 * same, goes on with svc2_read_resume().
 *
 * Threads build RDMA Reads of one connection side by side. Where memory or mappings are
 * too short one of them waits for that to pass, and the Calls of the others wait for
 * this one (enqueue.c): so a shortage keeps one thread of a connection, and not one for
 * each Call.
 */
#include "arg.h"
#include "svcrdma2.h"
#include "trace.h"

static void svc2_read_done(struct rpcrdma2_conn *co, struct rpcrdma2_post *post,
			   bool ok)
{
	struct svc2_msg *call = container_of(post, struct svc2_msg, sm_post);
	struct svc2_xprt *sp = svc2_from_conn(co);

	svc2_count(send_completions);
	svc2_reads_free(sp, call);
	if (!ok) {
		if (post->po_refused)
			svc2_lost_note(sp, call->sm_msg.mg_hdr.h_xid);
		svc2_msg_put(sp, call);
		return;
	}
	svc2_msg_ready(sp, call);
}

/* Return: as svc2_gate_enter(); -EMSGSIZE when it wants more than there are. */
static int svc2_read_take_mrs(struct svc2_xprt *sp, struct svc2_msg *call)
{
	unsigned int mrs = rpcrdma2_rw_mrs(&sp->sp_conn, &call->sm_rw);

	if (!mrs || call->sm_mrs)
		return 0;
	if (mrs > sp->sp_conn.co_rw_mrs)
		return -EMSGSIZE;
	return svc2_gate_enter(sp, &sp->sp_mrs, call, mrs, 0, &call->sm_mrs);
}

/* Pages, and what is to be read into them; all of it, or at most the pages */
static int svc2_read_begin(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	struct rpcrdma2_pull pl;
	int ret = 0;

	if (!call->sm_pages)
		ret = svc2_sinks_take(rqstp, call);
	pl = svc2_arg_pull(call);
	if (!ret)
		ret = rpcrdma2_pull_reads(&sp->sp_conn, &pl, &call->sm_rw);
	if (ret)
		rpcrdma2_rw_free(&sp->sp_conn, &call->sm_rw);
	return ret;
}

/* What they need of memory and of the device. A step that is done is not taken again. */
static int svc2_read_prepare(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	int ret = 0;

	if (rpcrdma2_rw_is_empty(&call->sm_rw))
		ret = svc2_read_begin(rqstp, call);
	return ret ?: svc2_read_take_mrs(sp, call) ?:
		      rpcrdma2_rw_map(&sp->sp_conn, &call->sm_rw);
}

/* It begins again with the pages of the thread that goes on. */
static int svc2_read_wait(struct svc2_xprt *sp, struct svc2_msg *call)
{
	svc2_reads_free(sp, call);
	svc2_sinks_put(call);
	call->sm_pages = NULL;
	call->sm_npages = 0;
	svc2_shortage_wait(sp, call);
	return -EINPROGRESS;
}

static void svc2_read_build_chain(struct svc2_xprt *sp, struct svc2_msg *call)
{
	const struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;
	struct rpcrdma2_post *post = &call->sm_post;

	svc2_count_add(read_chunks, h->h_nreads);
	atomic_long_add(h->h_nreads, &sp->sp_read_chunks);
	svc2_count_add(read_chunk_bytes,
		       call->sm_apart + call->sm_length - call->sm_inline);
	if (h->h_proc == RDMA2_NOMSG)
		svc2_count(long_calls);

	post->po_signal = true;
	post->po_octets = 0;
	post->po_extra = 0;
	post->po_begin = NULL;
	post->po_done = svc2_read_done;
	call->sm_chain = rpcrdma2_rw_chain(&sp->sp_conn, &call->sm_rw,
					   &post->po_cqe, NULL);
}

/*
 * A Call that has to wait for what a step needs comes back by svc2_read_resume(), and
 * goes on from there.
 *
 * Return: 0 when the Call belongs to the Send Queue, -EINPROGRESS when it waits; else
 * why it can not be read, and it still is the caller's.
 */
static int svc2_read_start(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	unsigned int tries = 0;
	bool waits = false;
	int ret;

	if (call->sm_chain)
		return svc2_sq_post_reads(sp, call);
	do {
		ret = svc2_read_prepare(rqstp, call);
		if (unlikely(svc2_is_shortage(ret)) && !waits) {
			waits = svc2_shortage_begin(sp);
			if (!waits)
				return svc2_read_wait(sp, call);
		}
	} while (svc2_try_again(sp, &tries, &ret));
	if (unlikely(waits))
		svc2_shortage_end(sp);
	if (ret)
		return ret;
	svc2_read_build_chain(sp, call);
	return svc2_sq_post_reads(sp, call);
}

/* @ret: how it went. Return: 0, for ->xpo_recvfrom to return. */
static int svc2_read_release(struct svc2_xprt *sp, struct svc2_msg *call,
			     int ret)
{
	if (!ret || ret == -EINPROGRESS)
		return 0;
	if (ret == -ENOTCONN) {
		svc2_msg_put(sp, call);
		return 0;
	}
	/* C-093: more than the Send Queue can ever take */
	return svc2_refuse(sp, call, RDMA2_ERR_SYSTEM);
}

/**
 * svc2_read_chunks - start to pull a Call's Read chunks
 * @rqstp: thread; gives its pages
 * @call: Call with at least one Read chunk; the thread's no longer (R2)
 *
 * Context: svc thread; may sleep.
 * Return: 0, for ->xpo_recvfrom to return.
 */
int svc2_read_chunks(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	const struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;
	u64 whole = rpcrdma2_layout_length(h, call->sm_inline);
	int ret;

	/* C-106: more than any Call may be; no code says so but this one */
	if (whole > rqstp->rq_server->sv_max_mesg)
		return svc2_refuse(sp, call, RDMA2_ERR_SYSTEM);

	call->sm_apart = svc2_arg_splits(call) ? h->h_reads->ck_position : 0;
	call->sm_length = whole - call->sm_apart;

	ret = svc2_transfer_enter(sp, call, svc2_msg_pages(call) + 1 +
					    call->sm_reply_pages);
	return svc2_read_release(sp, call, ret ?: svc2_read_start(rqstp, call));
}

/* All of a Call is there, but for what came in its Receive. */
static int svc2_read_finish(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	const struct rpcrdma2_pull pl = svc2_arg_pull(call);

	rpcrdma2_pull_finish(&pl);
	if (call->sm_msg.mg_hdr.h_proc == RDMA2_NOMSG &&
	    !rpcrdma2_pull_is_call(&pl, call->sm_length))
		return svc2_refuse(svc2_from_xprt(rqstp->rq_xprt), call,
				   RDMA2_ERR_BAD_XDR);
	return svc2_arg_chunked(rqstp, call);
}

/**
 * svc2_read_resume - go on with a Call whose RDMA Reads are done, or can begin
 * @rqstp: thread
 * @call: Call
 *
 * Context: svc thread; may sleep.
 * Return: octets of the Call in rq_arg, or 0.
 */
int svc2_read_resume(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);

	if (!svc2_msg_is_read(call))
		return svc2_read_release(sp, call,
					 svc2_read_start(rqstp, call));
	if (svc2_sq_reserve(sp, call))
		return 0;
	trace_svc2_read_resume(call, sp->sp_conn.co_send_cq);
	return svc2_read_finish(rqstp, call);
}
