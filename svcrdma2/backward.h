/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What Calls of the server look like, and what their answers are worth. Pure.
 */
#ifndef _SVCRDMA2_BACKWARD_H
#define _SVCRDMA2_BACKWARD_H

#include <linux/minmax.h>
#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/error.h>
#include <rpcrdma2/message.h>

/**
 * svc2_call_header - make the header of a Call of the server
 * @h: to be filled
 * @vers: version to call in
 * @xid: the RPC message's
 * @credits: Calls that the server is to have outstanding
 *
 * B-07, B-15, B-18, C-036, S25.
 */
static inline void svc2_call_header(struct rpcrdma2_hdr *h, u32 vers, u32 xid,
				    u32 credits)
{
	rpcrdma2_hdr_begin(h, xid, vers, credits, RDMA2_MSG, RDMA2_CALL);
}

/**
 * svc2_backward_window - Calls of the server that may be outstanding
 * @grant: what the peer has granted, or 0 before it has
 * @answers: Calls that there are Receives for the answers to (B-12)
 * @gone: Calls that were given up, and that the peer has not answered
 *
 * The peer has those in its own count as long as it is at work on them (B-05).
 */
static inline u32 svc2_backward_window(u32 grant, u32 answers, u32 gone)
{
	u32 most = min(grant ?: 1, answers);

	return most > gone ? most - gone : 0;
}

enum {
	/* errors in a row that nothing is made of */
	SVC2_BACKWARD_ERRORS	= 16,
	/* quarters of a second: the longest pause */
	SVC2_BACKWARD_PAUSE	= 40,
};

/**
 * svc2_backward_pause - until the next Call, in quarters of a second
 * @errors: Calls in a row that an error or a bad Reply has answered
 *
 * nfsd repeats what fails, at once. After a few the pause grows by a quarter with
 * each.
 */
static inline u32 svc2_backward_pause(u32 errors)
{
	return errors <= SVC2_BACKWARD_ERRORS ? 0 :
	       min_t(u32, errors - SVC2_BACKWARD_ERRORS, SVC2_BACKWARD_PAUSE);
}

/**
 * enum svc2_answer - what to do with an answer to a Call of the server
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
 * svc2_judge_answer - look at an answer that has the xid of a Call of the server
 * @msg: the answer; of its header only as much is looked at as is valid
 * @vers: version of the Call; 0 before it is posted
 * @room: octets the upper layer is ready to take
 * @write_max: octets that the Call's Write chunk offers
 * @reply_max: octets that its Reply chunk offers
 *
 * Nothing answers a Call that has not been posted, whatever a peer guesses of its xid.
 * Only an ERR_VERS may come in another version than the Call (S35, S36). No
 * error is worth a second try: the upper layer makes its Calls again (2.4). A Reply
 * says no more of chunks than they hold (E-20). One that comes inline may give the
 * Reply chunk back unused (S10). What is wrong with a Reply ends the RPC, never the
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
