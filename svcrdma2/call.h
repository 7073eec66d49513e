/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A Call of the server, between the RPC client and the connection.
 */
#ifndef _SVCRDMA2_CALL_H
#define _SVCRDMA2_CALL_H

#include <linux/completion.h>

#include <rpcrdma2/regions.h>

#include "backward.h"
#include "svcrdma2.h"

/*
 * A Call that was given up waits so long for its fence, which may have waited for entries
 * of the Send Queue before (SVC2_STALL_TIMEOUT).
 */
#define SVC2_REVOKE_TIMEOUT	(5 * HZ)

/**
 * struct svc2_call - a Call of the server, and memory of it and of its Reply
 * @sc_sp: connection
 * @sc_rqst: what the RPC client sees
 * @sc_vers: version it was sent in; 0 when nothing can answer it yet. Set as it is
 *	posted, under sq_lock
 * @sc_failed: it has been answered with nothing of use, or is too long; written
 *	under queue_lock
 * @sc_write_max: octets that its Write chunk offers, 0 without one
 * @sc_reply_max: octets that its Reply chunk offers, likewise
 * @sc_exposed: its memory regions (R8)
 * @sc_revoked: what the end of a Call that was given up waits for: its answer, or the
 *	end of the connection; then, initialised again, its fence
 * @sc_late: it was answered then; under transport_lock
 * @sc_late_handle: handle that the answer has invalidated, or 0; likewise
 * @sc_answer: the answer, while that is with it; the RPC is pinned for as long. Set
 *	under queue_lock
 * @sc_verdict: what that is worth
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

int svc2_call_build(struct svc2_xprt *sp, struct svc2_tx *tx,
		    struct rpcrdma2_hdr *h, struct rpc_rqst *rqst);
void svc2_call_too_long(struct svc2_call *sc);
void svc2_call_answered(struct svc2_call *sc);
void svc2_call_end(struct svc2_call *sc);
void svc2_call_revoke(struct svc2_call *sc);

#endif /* _SVCRDMA2_CALL_H */
