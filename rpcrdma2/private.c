// SPDX-License-Identifier: GPL-2.0
/*
 * Private data of the connection manager, RFC 8797. Always sent, and made use
 * of only on a version 1 connection (S28).
 */
#include <linux/export.h>
#include <linux/string.h>

#include <asm/byteorder.h>

#include <rpcrdma2/cm.h>

void rpcrdma2_cm_encode(struct rpcrdma2_cm_private *pm,
			const struct rpcrdma2_cm_limits *cl)
{
	BUILD_BUG_ON(sizeof(*pm) != 8);

	pm->cm_magic = cpu_to_be32(RPCRDMA2_CM_MAGIC);
	pm->cm_version = RPCRDMA2_CM_VERSION;
	pm->cm_flags = cl->cl_inv ? RPCRDMA2_CM_F_INV : 0;
	pm->cm_send_size = rpcrdma2_cm_encode_size(cl->cl_send);
	pm->cm_recv_size = rpcrdma2_cm_encode_size(cl->cl_recv);
}
EXPORT_SYMBOL_GPL(rpcrdma2_cm_encode);

bool rpcrdma2_cm_decode(struct rpcrdma2_cm_limits *cl, const void *data,
			size_t len)
{
	struct rpcrdma2_cm_private pm;

	cl->cl_send = RPCRDMA1_INLINE_DEFAULT;
	cl->cl_recv = RPCRDMA1_INLINE_DEFAULT;
	cl->cl_inv = false;

	if (!data || len < sizeof(pm))
		return false;
	memcpy(&pm, data, sizeof(pm));
	if (pm.cm_magic != cpu_to_be32(RPCRDMA2_CM_MAGIC) ||
	    pm.cm_version != RPCRDMA2_CM_VERSION)
		return false;

	cl->cl_send = rpcrdma2_cm_decode_size(pm.cm_send_size);
	cl->cl_recv = rpcrdma2_cm_decode_size(pm.cm_recv_size);
	cl->cl_inv = pm.cm_flags & RPCRDMA2_CM_F_INV;
	return true;
}
EXPORT_SYMBOL_GPL(rpcrdma2_cm_decode);
