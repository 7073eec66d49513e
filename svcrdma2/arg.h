/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers for rq_arg, in which a Call is passed to the RPC layer. */
#ifndef _SVCRDMA2_ARG_H
#define _SVCRDMA2_ARG_H

#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <rpcrdma2/respond.h>

#include "svcrdma2.h"

/* Input for the core, which assembles a Call with Read chunks */
static inline struct rpcrdma2_pull svc2_arg_pull(const struct svc2_msg *call)
{
	return (struct rpcrdma2_pull){
		.pl_hdr		= &call->sm_msg.mg_hdr,
		.pl_recv	= call->sm_recv,
		.pl_inline	= call->sm_inline,
		.pl_apart	= call->sm_apart,
		.pl_pages	= call->sm_pages,
	};
}

/**
 * svc2_arg_extra - pages that a Call takes besides those its RDMA Reads fill
 * @call: Call with Read chunks
 */
static inline unsigned int svc2_arg_extra(const struct svc2_msg *call)
{
#ifdef RPCRDMA2_STRETCHES
	return !call->sm_apart;
#else
	return 0;
#endif
}

/**
 * svc2_arg_init - mark a Call as not passed to the RPC layer
 * @call: Call
 */
static inline void svc2_arg_init(struct svc2_msg *call)
{
#ifdef RPCRDMA2_STRETCHES
	call->sm_map = NULL;
	call->sm_copy = NULL;
#endif
}

/**
 * svc2_arg_free - release the mapping and the copy behind rq_arg
 * @call: Call; its pages still exist
 *
 * Context: may sleep; any context when @call was never passed to the RPC layer.
 */
static inline void svc2_arg_free(struct svc2_msg *call)
{
#ifdef RPCRDMA2_STRETCHES
	if (call->sm_map)
		vm_unmap_ram(call->sm_map, svc2_msg_pages(call));
	kfree(call->sm_copy);
#endif
}

#endif /* _SVCRDMA2_ARG_H */
