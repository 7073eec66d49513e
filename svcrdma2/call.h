/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Callbacks (Calls of the server), between the RPC client and the connection.
 */
#ifndef _SVCRDMA2_CALL_H
#define _SVCRDMA2_CALL_H

#include <linux/completion.h>

#include <rpcrdma2/regions.h>

#include "pure.h"
#include "svcrdma2.h"

/*
 * Limit on the wait for the fence of an aborted callback. The fence may have
 * waited for Send Queue entries before (SVC2_STALL_TIMEOUT).
 */
#define SVC2_REVOKE_TIMEOUT	(5 * HZ)

/**
 * struct svc2_call - a callback, with the buffers of Call and Reply
 * @sc_sp: connection
 * @sc_rqst: request of the RPC client
 * @sc_vers: version it was sent in; 0 while no answer can match. Set when it is
 *	posted, under sq_lock
 * @sc_failed: its answer was unusable, or it is too long; written under
 *	queue_lock
 * @sc_write_max: bytes that its Write chunk offers, 0 without one
 * @sc_reply_max: bytes that its Reply chunk offers, 0 without one
 * @sc_exposed: its memory regions (R8)
 * @sc_revoked: completion for the end of an aborted callback: of its answer, or
 *	of the connection; then, initialized again, of its fence
 * @sc_late: the answer came while the end waited for it; under transport_lock
 * @sc_late_handle: handle that this answer invalidated, or 0; under
 *	transport_lock
 * @sc_answer: the answer while it is being processed; the RPC is pinned for
 *	that time. Set under queue_lock
 * @sc_verdict: verdict on @sc_answer
 * @sc_data: rq_buffer, and rq_rbuffer behind it
 */
struct svc2_call {
	struct svc2_xprt	*sc_sp;
	struct rpc_rqst		*sc_rqst;
	u32			sc_vers;
	bool			sc_failed;
	u32			sc_write_max;
	u32			sc_reply_max;
	struct rpcrdma2_exposed	sc_exposed;
	struct completion	sc_revoked;
	bool			sc_late;
	u32			sc_late_handle;
	struct svc2_msg		*sc_answer;
	enum svc2_answer	sc_verdict;
	u8			sc_data[] __aligned(8);
};

static inline struct svc2_call *svc2_call_of(const struct rpc_rqst *rqst)
{
	return container_of(rqst->rq_buffer, struct svc2_call, sc_data);
}

#endif /* _SVCRDMA2_CALL_H */
