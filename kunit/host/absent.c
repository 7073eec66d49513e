// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that the code refers to and that no case calls: a call ends the run. The
 * definitions ignore the arguments, so the file includes no declarations of the functions.
 */
#include "shim.h"

#define ABSENT(name) \
	void name(void) { host_bug(__FILE__, __LINE__, #name " is not in the shim"); }

/* rdma_rw */
ABSENT(rdma_rw_ctx_destroy)
ABSENT(rdma_rw_ctx_init)
ABSENT(rdma_rw_ctx_wrs)

/* Verbs objects */
ABSENT(ib_alloc_cq)
ABSENT(ib_alloc_cq_any)
ABSENT(ib_alloc_pd)
ABSENT(ib_dealloc_pd)
ABSENT(ib_free_cq)

/* The connection manager */
ABSENT(rdma_accept)
ABSENT(rdma_bind_addr)
ABSENT(rdma_create_id)
ABSENT(rdma_create_qp)
ABSENT(rdma_destroy_id)
ABSENT(rdma_destroy_qp)
ABSENT(rdma_listen)
ABSENT(rdma_lock_handler)
ABSENT(rdma_set_afonly)
ABSENT(rdma_set_min_rnr_timer)
ABSENT(rdma_unlock_handler)

/* Modules, memory, and random numbers */
ABSENT(__module_get)
ABSENT(get_random_u32)
ABSENT(kmemdup)
ABSENT(module_put)

/* The RPC layer */
ABSENT(rpc_wake_up_queued_task)
ABSENT(rpcrdma2_rqst_begin)
ABSENT(svc_xprt_init)
ABSENT(svc_xprt_received)
ABSENT(svc_xprt_set_local)
ABSENT(svc_xprt_set_remote)

/* backchannel.c of the server */
ABSENT(svc2_check_handle)
ABSENT(svc2_take_answer)
