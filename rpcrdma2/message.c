// SPDX-License-Identifier: GPL-2.0
/*
 * A message received is looked at once: header, property message, payload.
 */
#include <linux/export.h>
#include <linux/minmax.h>

#include <rpcrdma2/message.h>

#include "wire.h"

static void read_property(struct rpcrdma2_msg *msg, const void *base,
			  const struct rpcrdma2_exchange *ex)
{
	rpcrdma2_exchange_expect(ex, msg->mg_hdr.h_xid, &msg->mg_prop);
	msg->mg_verdict = rpcrdma2_decode_propmsg(&msg->mg_prop, &msg->mg_hdr,
						  base);
	msg->mg_bad_body = msg->mg_verdict;
}

void rpcrdma2_msg_read(struct rpcrdma2_msg *msg, void *base, u32 room,
		       u32 len, u32 handle, const struct rpcrdma2_exchange *ex)
{
	struct rpcrdma2_hdr *h = &msg->mg_hdr;

	msg->mg_bad_body = false;
	msg->mg_paylen = 0;
	msg->mg_handle = handle;

	msg->mg_verdict = rpcrdma2_decode_hdr(h, base, min(room, len));
	if (msg->mg_verdict == RDMA2_OK && rpcrdma2_msg_is_control(msg))
		read_property(msg, base, ex);
	if (likely(msg->mg_verdict == RDMA2_OK))
		msg->mg_paylen = len - h->h_len;
}
EXPORT_SYMBOL_GPL(rpcrdma2_msg_read);
