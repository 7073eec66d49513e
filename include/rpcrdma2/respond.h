/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a responder does with the chunks of a Call: it puts the Call together from
 * what came behind the header and what it has read, and fills the chunks that are
 * for the Reply.
 */
#ifndef _RPCRDMA2_RESPOND_H
#define _RPCRDMA2_RESPOND_H

#include <rpcrdma2/layout.h>
#include <rpcrdma2/plan.h>
#include <rpcrdma2/recv.h>
#include <rpcrdma2/rw.h>

/**
 * struct rpcrdma2_pull - a Call with Read chunks
 * @pl_hdr: its header
 * @pl_recv: Receive it came in
 * @pl_inline: octets of the RPC message in that
 * @pl_apart: octets in front that stay there; 0 when all of the Call is laid out
 * @pl_pages: where the rest is laid out, from the beginning of a page
 */
struct rpcrdma2_pull {
	const struct rpcrdma2_hdr	*pl_hdr;
	const struct rpcrdma2_recv	*pl_recv;
	u32				pl_inline;
	u32				pl_apart;
	struct page			**pl_pages;
};

/**
 * rpcrdma2_pull_at - an octet of what is laid out
 * @pl: Call
 * @sink: which, counted from the beginning of the Call
 */
static inline void *rpcrdma2_pull_at(const struct rpcrdma2_pull *pl, u32 sink)
{
	sink -= pl->pl_apart;
	return page_address(pl->pl_pages[sink >> PAGE_SHIFT]) +
	       offset_in_page(sink);
}

/**
 * rpcrdma2_pull_reads - add the RDMA Reads of a Call
 * @co: its connection
 * @pl: Call
 * @rw: gets them
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int rpcrdma2_pull_reads(const struct rpcrdma2_conn *co,
			const struct rpcrdma2_pull *pl, struct rpcrdma2_rw *rw);

/**
 * rpcrdma2_pull_finish - place what the RDMA Reads have not placed
 * @pl: Call whose RDMA Reads are done
 */
void rpcrdma2_pull_finish(const struct rpcrdma2_pull *pl);

/**
 * rpcrdma2_pull_is_call - is what a Position-Zero chunk brought the Call announced?
 * @pl: RDMA2_NOMSG, laid out as a whole
 * @length: octets of it
 *
 * S08, S06, S09: the codec could not see that.
 */
bool rpcrdma2_pull_is_call(const struct rpcrdma2_pull *pl, u32 length);

/**
 * rpcrdma2_find_results - look where a Reply has the results that were named
 * @res: the Reply
 * @results: in ascending order; those that are not where they should be get no
 *	octets, and stay with the rest
 * @nresults: how many
 */
void rpcrdma2_find_results(const struct xdr_buf *res,
			   struct rpcrdma2_range *results,
			   unsigned int nresults);

/**
 * rpcrdma2_respond_plan - decide how a Reply travels, by the Call's header
 * @plan: the decision; as rpcrdma2_plan_reply()
 * @h: header of the Call; loses its Read list
 * @results: results eligible for Write chunks, in ascending order
 * @nresults: how many
 * @length: octets of the Reply
 * @send_max: largest Send the requester takes
 *
 * Return: octets of the Reply's header, without a Reply chunk.
 */
u32 rpcrdma2_respond_plan(struct rpcrdma2_reply_plan *plan,
			  struct rpcrdma2_hdr *h,
			  const struct rpcrdma2_range *results,
			  unsigned int nresults, u32 length, u32 send_max);

/**
 * rpcrdma2_respond_hdr - turn the header of a Call into that of its Reply
 * @h: header
 * @plan: how the Reply travels
 * @credit: grant
 */
static inline void rpcrdma2_respond_hdr(struct rpcrdma2_hdr *h,
					const struct rpcrdma2_reply_plan *plan,
					u32 credit)
{
	h->h_proc = plan->pn_long ? RDMA2_NOMSG : RDMA2_MSG;
	h->h_direction = RDMA2_REPLY;
	h->h_inv_handle = 0;			/* S47 */
	h->h_credit = credit;
	h->h_has_reply = plan->pn_long;		/* E-06, S10 */
}

/**
 * rpcrdma2_respond_writes - add the RDMA Writes of a Reply
 * @rw: gets them
 * @res: the Reply
 * @h: its header; the lengths of its chunks become what is written
 * @plan: what goes where
 *
 * Context: may sleep.
 * Return: as rpcrdma2_rw_write().
 */
int rpcrdma2_respond_writes(struct rpcrdma2_rw *rw, const struct xdr_buf *res,
			    struct rpcrdma2_hdr *h,
			    const struct rpcrdma2_reply_plan *plan);

#endif /* _RPCRDMA2_RESPOND_H */
