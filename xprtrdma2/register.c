// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions: what the server may read or write, and for how long.
 *
 * A region holds as many pages as the device's page list allows, so a payload
 * of 1 MiB is one region on any current device. The REG_MR requests that make
 * regions live are chained in front of the Send. A region dies in one of four
 * ways:
 *
 *   - the Reply invalidated it: xprt2_remote_invalidated(), at no cost;
 *   - else the receive CQ posts a LOCAL_INV for it, and the Reply completes
 *     when that does: xprt2_fence_start();
 *   - the RPC ended without a Reply: xprt2_fence_wait(), which gives the
 *     server time to have done with them;
 *   - the connection ended: xprt2_mrs_destroy(), on a drained queue.
 *
 * In each the pages are unmapped before the RPC layer sees them (X2).
 */
#include "xprtrdma2.h"

#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "fault.h"
#include "trace.h"

static struct xprt2_mr *create_mr(struct xprt2_ep *ep)
{
	struct xprt2_mr *mr;

	if (xprt2_fault(mr))
		return NULL;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return NULL;
	mr->mr_sg = kvmalloc_array(ep->ep_mr_depth, sizeof(*mr->mr_sg),
				   GFP_KERNEL);
	if (!mr->mr_sg)
		goto out_free;
	sg_init_table(mr->mr_sg, ep->ep_mr_depth);
	mr->mr_ibmr = ib_alloc_mr(ep->ep_conn.co_pd, ep->ep_mr_type, ep->ep_mr_depth);
	if (IS_ERR(mr->mr_ibmr))
		goto out_free_sg;

	mr->mr_ep = ep;
	mr->mr_reg.mr = mr->mr_ibmr;
	mr->mr_reg.wr.opcode = IB_WR_REG_MR;
	mr->mr_inv.opcode = IB_WR_LOCAL_INV;
	return mr;

out_free_sg:
	kvfree(mr->mr_sg);
out_free:
	kfree(mr);
	return NULL;
}

static void destroy_mr(struct xprt2_mr *mr)
{
	ib_dereg_mr(mr->mr_ibmr);
	kvfree(mr->mr_sg);
	kfree(mr);
}

/**
 * xprt2_mrs_create - add a batch of regions to an endpoint's pool
 * @ep: endpoint
 *
 * Return: 0, or -ENOMEM when not a single region can be had.
 */
int xprt2_mrs_create(struct xprt2_ep *ep)
{
	struct xprt2_mr *mr;
	unsigned int i;

	for (i = 0; i < XPRT2_MR_BATCH; i++) {
		if (READ_ONCE(ep->ep_num_mrs) >= ep->ep_max_mrs)
			break;
		mr = create_mr(ep);
		if (!mr) {
			xprt2_count(mrs_unavailable);
			break;
		}
		spin_lock(&ep->ep_mr_lock);
		list_add(&mr->mr_all, &ep->ep_all_mrs);
		list_add(&mr->mr_list, &ep->ep_free_mrs);
		ep->ep_num_free_mrs++;
		ep->ep_num_mrs++;
		spin_unlock(&ep->ep_mr_lock);
		ep->ep_xp->xp_stats.st_mrs_allocated++;
		xprt2_count(mrs_allocated);
	}
	return ep->ep_num_mrs ? 0 : -ENOMEM;
}

/* Fewer than it waits for are of no use to the send path. */
static void wake_mr_waiter(struct xprt2_ep *ep, bool anyway)
{
	bool wake;

	spin_lock(&ep->ep_mr_lock);
	wake = ep->ep_mrs_wanted &&
	       (anyway || ep->ep_num_free_mrs >= ep->ep_mrs_wanted);
	if (wake)
		ep->ep_mrs_wanted = 0;
	spin_unlock(&ep->ep_mr_lock);
	if (wake)
		xprt_write_space(&ep->ep_xp->xp_xprt);
}

/**
 * xprt2_mr_refill - grow the pool of regions in the background
 * @work: ep_refill
 *
 * As long as the send path waits and the pool may grow: at once after some were
 * allocated, after a while when none could be. A pool that may not grow has
 * enough for any one Call, and those in use come back.
 */
void xprt2_mr_refill(struct work_struct *work)
{
	struct xprt2_ep *ep = container_of(work, struct xprt2_ep,
					   ep_refill.work);
	unsigned int flags = memalloc_nofs_save();
	unsigned int before = ep->ep_num_mrs;
	bool anyway;

	xprt2_mrs_create(ep);
	if (ep->ep_num_mrs > before || before == ep->ep_max_mrs)
		ep->ep_refill_failures = 0;
	else
		ep->ep_refill_failures++;
	anyway = ep->ep_refill_failures > XPRT2_REFILL_TRIES;
	if (anyway)
		ep->ep_refill_failures = 0;
	wake_mr_waiter(ep, anyway);
	memalloc_nofs_restore(flags);
	if (READ_ONCE(ep->ep_mrs_wanted) && ep->ep_num_mrs < ep->ep_max_mrs)
		queue_delayed_work(xprt2_wq, &ep->ep_refill,
				   ep->ep_num_mrs == before ?
				   XPRT2_REFILL_DELAY : 0);
}

/*
 * When there is none the request gives back the @held it has, and waits for one
 * more than these. While it waits no other one takes any, since it keeps the
 * transport.
 */
static struct xprt2_mr *mr_get(struct xprt2_ep *ep, struct xprt2_req *req,
			       unsigned int held)
{
	struct xprt2_mr *mr;

	spin_lock(&ep->ep_mr_lock);
	mr = list_first_entry_or_null(&ep->ep_free_mrs, struct xprt2_mr,
				      mr_list);
	if (mr) {
		list_move_tail(&mr->mr_list, &req->rq2_mrs);
		ep->ep_num_free_mrs--;
	} else {
		/* Pairs with wake_mr_waiter() */
		ep->ep_mrs_wanted = held + 1;
		xprt_wait_for_buffer_space(&ep->ep_xp->xp_xprt);
	}
	spin_unlock(&ep->ep_mr_lock);

	if (!mr) {
		xprt2_count(wait_mrs);
		queue_delayed_work(xprt2_wq, &ep->ep_refill, 0);
	}
	return mr;
}

static void unmap_mr(struct xprt2_mr *mr)
{
	if (mr->mr_nents)
		ib_dma_unmap_sg(mr->mr_ep->ep_conn.co_id->device, mr->mr_sg,
				mr->mr_nents, mr->mr_dir);
	mr->mr_nents = 0;
}

/* Unmapped first, off the request's list then: see xprt2_holds_memory(). */
static void mr_put(struct xprt2_mr *mr)
{
	struct xprt2_ep *ep = mr->mr_ep;

	unmap_mr(mr);
	/* Pairs with list_empty_careful() in xprt2_holds_memory() */
	smp_wmb();
	spin_lock(&ep->ep_mr_lock);
	list_move(&mr->mr_list, &ep->ep_free_mrs);
	ep->ep_num_free_mrs++;
	spin_unlock(&ep->ep_mr_lock);
}

static void put_all(struct xprt2_req *req)
{
	struct xprt2_mr *mr, *next;

	list_for_each_entry_safe(mr, next, &req->rq2_mrs, mr_list)
		mr_put(mr);
}

static void wake_if_waiting(struct xprt2_ep *ep)
{
	if (unlikely(READ_ONCE(ep->ep_mrs_wanted)))
		wake_mr_waiter(ep, false);
}

/* The octets that a part is made of: how many ranges */
static unsigned int find_part(const struct xdr_buf *buf, enum xprt2_part part,
			      struct rpcrdma2_range *range)
{
	u32 head = buf->head[0].iov_len, tail = buf->tail[0].iov_len;
	u32 pad = xprt2_pad_len(buf);

	switch (part) {
	case XPRT2_PART_ALL:
		range[0] = (struct rpcrdma2_range){
			0, head + buf->page_len + tail };
		return 1;
	case XPRT2_PART_PAGES:
		range[0] = (struct rpcrdma2_range){ head, buf->page_len };
		return 1;
	case XPRT2_PART_REST:
		range[0] = (struct rpcrdma2_range){ 0, head };
		range[1] = (struct rpcrdma2_range){
			head + buf->page_len + pad, tail - pad };
		return 2;
	}
	return 0;
}

/* A page list has no holes, except on devices made for that. */
static bool may_follow(const struct xprt2_ep *ep,
		       const struct rpcrdma2_piece *prev,
		       const struct rpcrdma2_piece *pc)
{
	if (ep->ep_mr_type == IB_MR_TYPE_SG_GAPS)
		return true;
	return prev->pc_off + prev->pc_len == PAGE_SIZE && !pc->pc_off;
}

/**
 * xprt2_count_segs - segments that a chunk would take, before registering it
 * @ep: endpoint
 * @buf: message
 * @part: what of it
 *
 * Return: an upper bound; exact for XPRT2_PART_PAGES.
 */
unsigned int xprt2_count_segs(const struct xprt2_ep *ep,
			      const struct xdr_buf *buf, enum xprt2_part part)
{
	struct rpcrdma2_range range[2];
	struct rpcrdma2_walk wk;

	rpcrdma2_walk_begin(&wk, buf, range, find_part(buf, part, range));
	return rpcrdma2_walk_count(wk, ep->ep_mr_depth);
}

/*
 * Map what the scatterlist holds and fill in the REG_MR request. The address
 * on the wire is made of the xid and an offset: it tells nothing about the
 * kernel's memory and helps to read a capture.
 */
static int map_mr(struct xprt2_ep *ep, struct xprt2_mr *mr, int nents,
		  enum dma_data_direction dir, u32 xid)
{
	struct ib_mr *ibmr = mr->mr_ibmr;
	int mapped = 0;

	if (!xprt2_fault(map))
		mapped = ib_dma_map_sg(ep->ep_conn.co_id->device, mr->mr_sg, nents,
				       dir);
	if (!mapped) {
		xprt2_count(wait_map);
		return -ENOBUFS;
	}
	mr->mr_nents = nents;
	mr->mr_dir = dir;
	if (ib_map_mr_sg(ibmr, mr->mr_sg, mapped, NULL, PAGE_SIZE) != mapped)
		return -EIO;

	ibmr->iova = (u64)xid << 32 | offset_in_page(ibmr->iova);
	ib_update_fast_reg_key(ibmr, ibmr->rkey + 1);
	if (unlikely(!ibmr->rkey))	/* S47: 0 can not be nominated */
		ib_update_fast_reg_key(ibmr, 1);
	mr->mr_reg.key = ibmr->rkey;
	mr->mr_reg.access = dir == DMA_FROM_DEVICE ?
			    IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE :
			    IB_ACCESS_REMOTE_READ;
	return 0;
}

static int add_segment(struct rpcrdma2_hdr *h, struct rpcrdma2_chunk *ck,
		       const struct ib_mr *ibmr)
{
	struct rpcrdma2_segment *seg = &h->h_segs[h->h_nsegs];

	if (h->h_nsegs == RPCRDMA2_MAX_SEGMENTS)
		return -EIO;
	seg->rs_handle = ibmr->rkey;
	seg->rs_length = ibmr->length;
	seg->rs_offset = ibmr->iova;
	h->h_nsegs++;
	ck->ck_nsegs++;
	ck->ck_length += ibmr->length;
	return 0;
}

/**
 * xprt2_register - make a part of a message a chunk
 * @ep: endpoint
 * @req: request that will own the regions
 * @buf: message
 * @part: what of it
 * @dir: DMA_TO_DEVICE for what the server reads, DMA_FROM_DEVICE for what it
 *	writes
 * @h: header that gets the segments
 * @ck: chunk of that header, with its position set
 *
 * On error the caller undoes all chunks with xprt2_unregister().
 *
 * Context: send path.
 * Return: 0; -EAGAIN when no region is free, after arranging for
 * xprt_write_space() when enough are; -ENOBUFS when the memory can not be mapped
 * now; or -EIO when no region can hold it.
 */
int xprt2_register(struct xprt2_ep *ep, struct xprt2_req *req,
		   const struct xdr_buf *buf, enum xprt2_part part,
		   enum dma_data_direction dir, struct rpcrdma2_hdr *h,
		   struct rpcrdma2_chunk *ck)
{
	struct rpcrdma2_piece pc, prev;
	struct rpcrdma2_range range[2];
	struct rpcrdma2_walk wk;
	struct xprt2_mr *mr;
	unsigned int n;
	bool more;
	int rc;

	ck->ck_first = h->h_nsegs;
	ck->ck_nsegs = 0;
	ck->ck_length = 0;

	rpcrdma2_walk_begin(&wk, buf, range, find_part(buf, part, range));
	more = rpcrdma2_walk_next(&wk, &pc);
	while (more) {
		/* each segment of the header is a region that it holds */
		mr = mr_get(ep, req, h->h_nsegs);
		if (!mr)
			return -EAGAIN;

		n = 0;
		do {
			sg_set_page(&mr->mr_sg[n++], pc.pc_page, pc.pc_len,
				    pc.pc_off);
			prev = pc;
			more = rpcrdma2_walk_next(&wk, &pc);
		} while (more && n < ep->ep_mr_depth &&
			 may_follow(ep, &prev, &pc));

		rc = map_mr(ep, mr, n, dir, h->h_xid);
		if (!rc)
			rc = add_segment(h, ck, mr->mr_ibmr);
		if (rc)
			return rc;
		trace_xprt2_mr_map(req, mr);
	}
	return 0;
}

/**
 * xprt2_unregister - take back regions that were never posted
 * @ep: endpoint
 * @req: request
 *
 * With what came back to the pool meanwhile they may be enough, and no other
 * event may follow.
 *
 * Context: send path.
 */
void xprt2_unregister(struct xprt2_ep *ep, struct xprt2_req *req)
{
	put_all(req);
	wake_if_waiting(ep);
}

/**
 * xprt2_remote_invalidated - the Reply came with an invalidated handle
 * @req: request the Reply is for
 * @rkey: the handle
 *
 * Context: receive CQ, request pinned; or release path, under xp_fence_mutex.
 * Return: true when it was a region of @req, which is free now; false when
 * it is not, and our books disagree with the device's (S50).
 */
bool xprt2_remote_invalidated(struct xprt2_req *req, u32 rkey)
{
	struct xprt2_mr *mr;

	list_for_each_entry(mr, &req->rq2_mrs, mr_list) {
		if (mr->mr_ibmr->rkey != rkey)
			continue;
		/* the one for its LOCAL_INV */
		rpcrdma2_sq_give(&mr->mr_ep->ep_conn, 1);
		mr_put(mr);
		wake_if_waiting(mr->mr_ep);
		xprt2_count(remote_invalidations);
		return true;
	}
	return false;
}

/**
 * xprt2_handle_in_use - is there a region with that handle on some request?
 * @ep: endpoint
 * @rkey: handle
 * @xid: where to leave the xid of the RPC it was registered for: map_mr()
 *	made it a part of the address
 *
 * Context: receive CQ.
 */
bool xprt2_handle_in_use(struct xprt2_ep *ep, u32 rkey, u32 *xid)
{
	struct xprt2_mr *mr;
	bool found = false;

	spin_lock(&ep->ep_mr_lock);
	list_for_each_entry(mr, &ep->ep_all_mrs, mr_all) {
		if (!mr->mr_nents || mr->mr_ibmr->rkey != rkey)
			continue;
		*xid = upper_32_bits(mr->mr_ibmr->iova);
		found = true;
		break;
	}
	spin_unlock(&ep->ep_mr_lock);
	return found;
}

/* Its LOCAL_INVs are done, or the connection is lost. */
static struct xprt2_req *end_fence(struct rpcrdma2_conn *co,
				   struct rpcrdma2_post *post, bool ok)
{
	struct xprt2_req *req = container_of(post, struct xprt2_req, rq2_fence);

	if (likely(ok)) {
		xprt2_count(inv_completions);
		put_all(req);
		wake_if_waiting(xprt2_conn_to_ep(co));
	}
	return req;
}

/* A Reply waits for it, and the request is pinned. */
static void fenced(struct rpcrdma2_conn *co, struct rpcrdma2_post *post,
		   bool ok)
{
	struct xprt2_req *req = end_fence(co, post, ok);

	if (ok)
		xprt2_release_reply(req);
	else
		xprt2_abandon_reply(req->rq2_reply);
}

/*
 * The release path waits for it, but not for ever, and goes on as soon as it
 * finds the regions gone: only the reference keeps the request here.
 */
static void dead_fenced(struct rpcrdma2_conn *co, struct rpcrdma2_post *post,
			bool ok)
{
	struct xprt2_req *req = end_fence(co, post, ok);

	complete(&req->rq2_event);
	xprt2_req_put(req);
}

/* One chain, one doorbell, one completion; its entries were taken for the Call. */
static int post_fence(struct xprt2_ep *ep, struct xprt2_req *req,
		      void (*done)(struct rpcrdma2_conn *co,
				   struct rpcrdma2_post *post, bool ok))
{
	struct ib_send_wr *first = NULL, **prev = &first;
	unsigned int count = 0;
	struct xprt2_mr *mr;

	list_for_each_entry(mr, &req->rq2_mrs, mr_list) {
		mr->mr_inv.ex.invalidate_rkey = mr->mr_ibmr->rkey;
		mr->mr_inv.next = NULL;
		*prev = &mr->mr_inv;
		prev = &mr->mr_inv.next;
		count++;
	}
	req->rq2_fence.po_done = done;
	req->rq2_fence.po_signal = true;
	ep->ep_xp->xp_stats.st_local_inv += count;
	trace_xprt2_fence(&req->rq2_slot, count);
	xprt2_count_add(local_invalidations, count);
	xprt2_count(doorbells);
	return rpcrdma2_sq_post(&ep->ep_conn, &req->rq2_fence, first);
}

/**
 * xprt2_fence_start - invalidate what is left of an answered RPC's regions
 * @ep: endpoint
 * @req: request with live regions, pinned
 *
 * It ends in xprt2_release_reply() or, when the connection is lost, in
 * xprt2_abandon_reply().
 *
 * Context: receive CQ.
 * Return: 0, or -ENOTCONN: neither will happen.
 */
int xprt2_fence_start(struct xprt2_ep *ep, struct xprt2_req *req)
{
	return post_fence(ep, req, fenced);
}

/**
 * xprt2_fence_dead - invalidate what is left of a dead RPC's regions
 * @ep: endpoint
 * @req: request with live regions, no handler of a Reply at work on it
 *
 * The completion is announced by rq2_event.
 *
 * Context: release path, under xp_fence_mutex.
 * Return: 0, or -ENOTCONN: it will not be.
 */
int xprt2_fence_dead(struct xprt2_ep *ep, struct xprt2_req *req)
{
	int rc;

	kref_get(&req->rq2_kref);
	rc = post_fence(ep, req, dead_fenced);
	if (rc)
		xprt2_req_put(req);
	return rc;
}

/**
 * xprt2_mrs_strip - take all regions away from a request
 * @req: request; the device uses them no more, and they are not used again
 *
 * Context: release path, under xp_fence_mutex.
 */
void xprt2_mrs_strip(struct xprt2_req *req)
{
	struct xprt2_mr *mr, *next;

	list_for_each_entry_safe(mr, next, &req->rq2_mrs, mr_list) {
		unmap_mr(mr);
		list_del_init(&mr->mr_list);
	}
}

/**
 * xprt2_mrs_destroy - take all regions away, from requests too
 * @ep: drained endpoint
 *
 * Context: connect, under xp_fence_mutex.
 */
void xprt2_mrs_destroy(struct xprt2_ep *ep)
{
	struct xprt2_mr *mr, *next;

	cancel_delayed_work_sync(&ep->ep_refill);
	list_for_each_entry_safe(mr, next, &ep->ep_all_mrs, mr_all) {
		unmap_mr(mr);
		list_del_init(&mr->mr_list);
		destroy_mr(mr);
	}
}
