/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection over a fake device with memory regions of one page. Every region has its own
 * handle, and covers all pages passed to its mapping.
 */
#ifndef _RPCRDMA2_KUNIT_FAKE_MR_H
#define _RPCRDMA2_KUNIT_FAKE_MR_H

#include <linux/gfp.h>
#include <linux/slab.h>

#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <rdma/restrack.h>

#include <rpcrdma2/conn.h>
#include <rpcrdma2/plan.h>
#include <rpcrdma2/wire.h>

static struct ib_mr *fake_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
				   u32 depth)
{
	struct ib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	static u32 index;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	rdma_restrack_no_track(&mr->res);
	mr->rkey = ++index << 8;
	return mr;
}

static int fake_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	kfree(mr);
	return 0;
}

/**
 * struct fake_conn - the verbs objects of a connection
 * @id: its identifier
 * @qp: its queue pair
 * @cq: its send CQ
 * @pd: its protection domain
 * @device: its device
 * @why: reason of the loss of the connection
 * @trimmed: number of regions that were freed because they were idle
 * @drained: callback from the drain of the Send Queue, or NULL
 * @maps_none: the device maps no page
 * @old_in_use: a region's previous handle was in use when the region's pages were mapped
 * @page: page that RPCs expose
 * @hdr: header that receives the segments
 * @ck: chunk of these segments
 */
struct fake_conn {
	struct rdma_cm_id	id;
	struct ib_qp		qp;
	struct ib_cq		cq;
	struct ib_pd		pd;
	struct ib_device	device;
	enum rpcrdma2_loss	why;
	unsigned int		trimmed;
	void			(*drained)(struct fake_conn *fc);
	bool			maps_none;
	bool			old_in_use;
	struct page		*page;
	struct rpcrdma2_hdr	hdr;
	struct rpcrdma2_chunk	ck;
};

static int fake_map_mr(struct ib_mr *mr, struct scatterlist *sg, int nents,
		       unsigned int *off)
{
	struct fake_conn *fc = container_of(mr->pd, struct fake_conn, pd);
	u32 xid;

	fc->old_in_use |= rpcrdma2_handle_in_use(fc->cq.cq_context, mr->rkey, &xid);
	mr->iova = 0;
	mr->length = nents << PAGE_SHIFT;
	return fc->maps_none ? 0 : nents;
}

static void fake_drain(struct ib_qp *qp)
{
	struct fake_conn *fc = container_of(qp, struct fake_conn, qp);

	if (fc->drained)
		fc->drained(fc);
}

static void fake_lost(struct rpcrdma2_conn *co, enum rpcrdma2_loss why)
{
	container_of(co->co_id, struct fake_conn, id)->why = why;
}

static void fake_room(struct rpcrdma2_conn *co)
{
}

static void fake_grown(struct rpcrdma2_conn *co, unsigned int made, bool failed)
{
}

static void fake_trimmed(struct rpcrdma2_conn *co, unsigned int freed)
{
	container_of(co->co_id, struct fake_conn, id)->trimmed += freed;
}

static const struct rpcrdma2_conn_ops fake_conn_ops = {
	.lost	= fake_lost,
	.room	= fake_room,
	.grown	= fake_grown,
	.trimmed = fake_trimmed,
};

/**
 * fake_conn_init - initialize a connection over a fake device
 * @co: connection
 * @fc: its verbs objects, all zero
 * @post: post_send of the device
 * @entries: entries of the Send Queue
 * @regions: limit on memory regions, at most 16; all are allocated, and stay
 *
 * Return: result of rpcrdma2_regions_grow(), or -ENOMEM. The caller runs fake_conn_exit()
 * in both cases.
 */
static int fake_conn_init(struct rpcrdma2_conn *co, struct fake_conn *fc,
			  int (*post)(struct ib_qp *qp,
				      const struct ib_send_wr *wr,
				      const struct ib_send_wr **bad),
			  unsigned int entries, unsigned int regions)
{
	rpcrdma2_conn_init(co, &fake_conn_ops);
	rpcrdma2_regions_init(co);
	fc->device.ops.post_send = post;
	fc->device.ops.drain_sq = fake_drain;
	fc->device.ops.alloc_mr = fake_alloc_mr;
	fc->device.ops.dereg_mr = fake_dereg_mr;
	fc->device.ops.map_mr_sg = fake_map_mr;
	fc->device.attrs.max_fast_reg_page_list_len = 1;
	fc->pd.device = &fc->device;
	fc->pd.res.kern_name = KBUILD_MODNAME;
	fc->qp.device = &fc->device;
	fc->qp.send_cq = &fc->cq;
	fc->id.qp = &fc->qp;
	fc->id.device = &fc->device;
	fc->cq.cq_context = co;
	co->co_id = &fc->id;
	co->co_pd = &fc->pd;
	co->co_send_cq = &fc->cq;
	rpcrdma2_sq_open(co, entries, 0, entries, 0);
	rpcrdma2_regions_measure(co, 1);
	co->co_regions.rg_max = regions;
	co->co_regions.rg_keep = regions;
	fc->page = alloc_page(GFP_KERNEL);
	return fc->page ? rpcrdma2_regions_grow(co) : -ENOMEM;
}

static void fake_conn_exit(struct fake_conn *fc)
{
	if (fc->page)
		__free_page(fc->page);
}

/* Exposes the page once more. Return: result of rpcrdma2_expose(). */
static int fake_expose(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex)
{
	struct fake_conn *fc = container_of(co->co_id, struct fake_conn, id);
	struct xdr_buf buf = {
		.pages = &fc->page, .page_len = PAGE_SIZE,
		.buflen = PAGE_SIZE, .len = PAGE_SIZE,
	};
	const struct rpcrdma2_range range = { 0, PAGE_SIZE };

	return rpcrdma2_expose(co, ex, &buf, &range, 1, DMA_FROM_DEVICE,
			       &fc->hdr, &fc->ck);
}

#endif /* _RPCRDMA2_KUNIT_FAKE_MR_H */
