// SPDX-License-Identifier: GPL-2.0
/*
 * nfsd converts the payload of a WRITE to bio_vecs. Such a kernel has no
 * svc_fill_write_vector(), so the probe can declare it with any type.
 */
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/xdr.h>

#ifndef RPCRDMA2_PROBE_WITHOUT
struct probe;
struct probe *svc_fill_write_vector(struct probe *probe);

static inline int probe(struct bio_vec *bvec, const struct xdr_buf *payload)
{
	return xdr_buf_to_bvec(bvec, 1, payload);
}
#else
static inline unsigned int probe(struct svc_rqst *rqstp, struct xdr_buf *payload)
{
	return svc_fill_write_vector(rqstp, payload);
}
#endif
