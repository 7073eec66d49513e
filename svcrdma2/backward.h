/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Headers of callbacks (Calls of the server), and the judgement of their
 * answers. Pure functions.
 */
#ifndef _SVCRDMA2_BACKWARD_H
#define _SVCRDMA2_BACKWARD_H

#include <linux/minmax.h>
#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/error.h>
#include <rpcrdma2/message.h>

/**
 * svc2_call_header - make the header of a callback
 * @h: header to fill
 * @vers: version of the Call
 * @xid: xid of the RPC message
 * @credits: callbacks that the server requests to have outstanding
 *
 * B-07, B-15, B-18, C-036, S25.
 */
static inline void svc2_call_header(struct rpcrdma2_hdr *h, u32 vers, u32 xid,
				    u32 credits)
{
	rpcrdma2_hdr_begin(h, xid, vers, credits, RDMA2_MSG, RDMA2_CALL);
}

/**
 * svc2_backward_window - callbacks that may be outstanding
 * @grant: grant of the peer, or 0 before its first grant
 * @answers: callbacks whose answers have Receives (B-12)
 * @gone: aborted callbacks that the peer has not answered
 *
 * The peer counts an aborted callback as outstanding while it works on it
 * (B-05).
 */
static inline u32 svc2_backward_window(u32 grant, u32 answers, u32 gone)
{
	u32 most = min(grant ?: 1, answers);

	return most > gone ? most - gone : 0;
}

enum {
	/* consecutive errors without a pause */
	SVC2_BACKWARD_ERRORS	= 16,
	/* longest pause, in quarters of a second */
	SVC2_BACKWARD_PAUSE	= 40,
};

/**
 * svc2_backward_pause - pause before the next callback, in quarters of a second
 * @errors: consecutive callbacks that an error or a malformed Reply has
 *	answered
 *
 * nfsd retries a failed callback at once. After a few failures the pause grows
 * by a quarter of a second with each failure.
 */
static inline u32 svc2_backward_pause(u32 errors)
{
	return errors <= SVC2_BACKWARD_ERRORS ? 0 :
	       min_t(u32, errors - SVC2_BACKWARD_ERRORS, SVC2_BACKWARD_PAUSE);
}

/**
 * enum svc2_answer - action for an answer to a callback
 * @SVC2_ANSWER_DROP: no RPC waits for it
 * @SVC2_ANSWER_FAIL: end the RPC with -EIO
 * @SVC2_ANSWER_REPLY: end the RPC with the Reply
 */
enum svc2_answer {
	SVC2_ANSWER_DROP,
	SVC2_ANSWER_FAIL,
	SVC2_ANSWER_REPLY,
};

/**
 * svc2_judge_answer - judge an answer that has the xid of a callback
 * @msg: the answer; only the valid part of its header is used
 * @vers: version of the Call; 0 before it is posted
 * @room: bytes that the upper layer can receive
 * @write_max: bytes that the Call's Write chunk offers
 * @reply_max: bytes that its Reply chunk offers
 *
 * A Call that is not posted has no answer, even if a peer guesses its xid. Only
 * an ERR_VERS may come in another version than the Call (S35, S36). No error
 * leads to a retry: the upper layer repeats its Calls (2.4). A Reply must not
 * report more bytes in chunks than they hold (E-20). An inline Reply may return
 * the Reply chunk unused (S10). A malformed Reply ends the RPC, never the
 * connection (S06, S07, S08).
 */
static inline enum svc2_answer
svc2_judge_answer(const struct rpcrdma2_msg *msg, u32 vers, u32 room,
		  u32 write_max, u32 reply_max)
{
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;
	bool nomsg = h->h_proc == RDMA2_NOMSG;
	u32 written, came = msg->mg_paylen;

	if (!vers)
		return SVC2_ANSWER_DROP;
	if (h->h_vers != vers &&
	    !(rpcrdma2_msg_is_error(msg) &&
	      h->h_error.er_code == RDMA2_ERR_VERS))
		return SVC2_ANSWER_DROP;
	if (msg->mg_verdict || h->h_proc > RDMA2_NOMSG ||
	    h->h_nwrites > !!write_max || (nomsg && !h->h_has_reply))
		return SVC2_ANSWER_FAIL;
	written = h->h_nwrites ? h->h_writes[0].ck_length : 0;
	if (nomsg)
		came = h->h_reply.ck_length;
	if (written > write_max || (nomsg && came > reply_max) ||
	    came > room || xdr_align_size(written) > room - came)
		return SVC2_ANSWER_FAIL;
	return SVC2_ANSWER_REPLY;
}

#endif /* _SVCRDMA2_BACKWARD_H */
