/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What Calls of the server look like, and what their answers are worth. Pure.
 *
 * The server is at RDMA2_BKREQSUP_INLINE: its Calls offer no chunks, so no
 * answer has any.
 */
#ifndef _SVCRDMA2_BACKCHANNEL_H
#define _SVCRDMA2_BACKCHANNEL_H

#include <rpcrdma2/error.h>
#include <rpcrdma2/message.h>

/**
 * svc2_may_call - does the peer take Calls of the server?
 * @vers: version it calls in
 * @brs: its enum rpcrdma2_bkreqsup
 *
 * In version 1 only the upper layer knows (B-13); in version 2 it and the
 * peer's transport must both allow it (C-035, S20, S21).
 */
static inline bool svc2_may_call(u32 vers, u32 brs)
{
	return vers == RPCRDMA2_VERS_ONE || brs != RDMA2_BKREQSUP_NONE;
}

/**
 * svc2_call_header - make the header of a Call of the server
 * @h: to be filled
 * @vers: version to call in
 * @xid: the RPC message's
 * @credits: Calls that the server would like to have outstanding
 *
 * B-07, B-15, B-18, C-036, S25.
 */
static inline void svc2_call_header(struct rpcrdma2_hdr *h, u32 vers, u32 xid,
				    u32 credits)
{
	rpcrdma2_hdr_begin(h, xid, vers, credits, RDMA2_MSG, RDMA2_CALL);
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
 * @vers: version of the Call
 * @room: octets the upper layer is ready to take
 *
 * Only an ERR_VERS may come in another version than the Call (S35, S36). No
 * error is worth a second try: a Call of the server is as small and plain as it
 * can be (2.4). What is wrong with a Reply ends the RPC, never the connection
 * (S06, S07, S08).
 */
static inline enum svc2_answer
svc2_judge_answer(const struct rpcrdma2_msg *msg, u32 vers, u32 room)
{
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;

	if (h->h_vers != vers &&
	    !(rpcrdma2_msg_is_error(msg) &&
	      h->h_error.er_code == RDMA2_ERR_VERS))
		return SVC2_ANSWER_DROP;
	if (msg->mg_verdict || h->h_proc != RDMA2_MSG || h->h_nwrites ||
	    msg->mg_paylen > room)
		return SVC2_ANSWER_FAIL;
	return SVC2_ANSWER_REPLY;
}

#endif /* _SVCRDMA2_BACKCHANNEL_H */
