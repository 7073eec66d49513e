/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory regions of a device that is none: each has a handle of its own and covers the
 * pages that it is given.
 */
#ifndef _RPCRDMA2_KUNIT_FAKE_MR_H
#define _RPCRDMA2_KUNIT_FAKE_MR_H

#include <linux/slab.h>

#include <rdma/ib_verbs.h>
#include <rdma/restrack.h>

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

static int fake_map_mr(struct ib_mr *mr, struct scatterlist *sg, int nents,
		       unsigned int *off)
{
	mr->iova = 0;
	mr->length = nents << PAGE_SHIFT;
	return nents;
}

/* Regions of one page */
static inline void fake_mr_ops(struct ib_device *device)
{
	device->ops.alloc_mr = fake_alloc_mr;
	device->ops.dereg_mr = fake_dereg_mr;
	device->ops.map_mr_sg = fake_map_mr;
	device->attrs.max_fast_reg_page_list_len = 1;
}

#endif /* _RPCRDMA2_KUNIT_FAKE_MR_H */
