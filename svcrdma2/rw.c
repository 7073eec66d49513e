// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA Reads and Writes, by way of the RDMA core's rdma_rw.
 *
 * One context moves one stretch of remote memory: a segment, or the part of
 * it that is wanted. It is made in two steps. svc2_rw_new() gives it a
 * scatterlist for the caller to fill; when all of a chain are filled, the
 * memory regions they need are known and can be had from the gate at once
 * (one after the other, two threads could wait for each other), and
 * svc2_rw_map() has the work requests built, as wide as the queue pair allows.
 *
 * Contexts come from a slab cache and go back when their chain is done. They
 * are bounded by the Send Queue, and by what svc threads are just building.
 */
#include <linux/slab.h>

#include "svcrdma2.h"
#include "trace.h"

/**
 * svc2_rw_new - add a context to a chain
 * @rws: the chain; contexts are carried out in the order they were added
 * @nents: entries of the scatterlist, for the caller to set
 * @handle: steering tag of the remote memory
 * @offset: its address
 *
 * Context: svc thread; may sleep.
 * Return: the context, owned by @rws; NULL when there is no memory.
 */
struct svc2_rw *svc2_rw_new(struct list_head *rws, unsigned int nents,
			    u32 handle, u64 offset)
{
	struct svc2_rw *rw = kmem_cache_alloc(svc2_rw_cache, GFP_KERNEL);

	if (!rw)
		return NULL;
	if (nents <= SVC2_RW_SGES) {
		sg_init_table(rw->rw_sges, nents);
		rw->rw_table.sgl = rw->rw_sges;
	} else if (sg_alloc_table(&rw->rw_table, nents, GFP_KERNEL)) {
		kmem_cache_free(svc2_rw_cache, rw);
		return NULL;
	}
	rw->rw_nents = nents;
	rw->rw_handle = handle;
	rw->rw_offset = offset;
	rw->rw_mapped = false;
	list_add_tail(&rw->rw_list, rws);
	return rw;
}

/**
 * svc2_rw_count_mrs - memory regions that a chain of RDMA Reads takes
 * @sp: connection
 * @rws: its filled contexts
 *
 * Return: how many, 0 on devices that Read without.
 */
unsigned int svc2_rw_count_mrs(struct svc2_xprt *sp,
			       const struct list_head *rws)
{
	struct ib_device *dev = sp->sp_conn.co_id->device;
	const struct svc2_rw *rw;
	unsigned int mrs = 0;

	if (!sp->sp_nmrs)
		return 0;
	list_for_each_entry(rw, rws, rw_list)
		mrs += rdma_rw_mr_factor(dev, sp->sp_conn.co_id->port_num,
					 rw->rw_nents);
	return mrs;
}

/**
 * svc2_rw_map - build the work requests of a chain
 * @sp: connection
 * @rws: its filled contexts
 * @dir: DMA_FROM_DEVICE to Read, DMA_TO_DEVICE to Write
 *
 * Context: svc thread; may sleep.
 * Return: 0, or a negative errno; svc2_rw_free() in either case.
 */
int svc2_rw_map(struct svc2_xprt *sp, struct list_head *rws,
		enum dma_data_direction dir)
{
	struct svc2_rw *rw;
	int ret;

	list_for_each_entry(rw, rws, rw_list) {
		ret = rdma_rw_ctx_init(&rw->rw_ctx, sp->sp_conn.co_id->qp,
				       sp->sp_conn.co_id->port_num, rw->rw_table.sgl,
				       rw->rw_nents, 0, rw->rw_offset,
				       rw->rw_handle, dir);
		if (ret < 0) {
			trace_svc2_rw_failed(sp, rw, ret);
			return ret;
		}
		rw->rw_mapped = true;
	}
	return 0;
}

/**
 * svc2_rw_chain - link the work requests of a chain
 * @sp: connection
 * @rws: its contexts, mapped, at least one
 * @cqe: completion of the last work request, when @last is NULL
 * @last: work request to follow them
 *
 * Return: the first work request.
 */
struct ib_send_wr *svc2_rw_chain(struct svc2_xprt *sp, struct list_head *rws,
				 struct ib_cqe *cqe, struct ib_send_wr *last)
{
	struct svc2_rw *rw;

	list_for_each_entry_reverse(rw, rws, rw_list)
		last = rdma_rw_ctx_wrs(&rw->rw_ctx, sp->sp_conn.co_id->qp,
				       sp->sp_conn.co_id->port_num, cqe, last);
	return last;
}

/**
 * svc2_rw_free - unmap and free a chain
 * @sp: connection
 * @rws: its contexts; empty afterwards
 * @dir: as svc2_rw_map() was told
 * @mrs: memory regions taken for them, given back here (R5)
 *
 * Context: svc thread, send CQ, ->xpo_free.
 */
void svc2_rw_free(struct svc2_xprt *sp, struct list_head *rws,
		  enum dma_data_direction dir, unsigned int mrs)
{
	struct svc2_rw *rw, *next;

	list_for_each_entry_safe(rw, next, rws, rw_list) {
		if (rw->rw_mapped)
			rdma_rw_ctx_destroy(&rw->rw_ctx, sp->sp_conn.co_id->qp,
					    sp->sp_conn.co_id->port_num,
					    rw->rw_table.sgl, rw->rw_nents,
					    dir);
		if (rw->rw_table.sgl != rw->rw_sges)
			sg_free_table(&rw->rw_table);
		kmem_cache_free(svc2_rw_cache, rw);
	}
	INIT_LIST_HEAD(rws);
	svc2_gate_give(sp, &sp->sp_mrs, mrs);
}
