/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The chunks of a Call at the responder: assembly of the Call from its inline
 * part and the data it has read, and transfer of the Reply to the chunks that
 * are offered for it.
 */
#ifndef _RPCRDMA2_RESPOND_H
#define _RPCRDMA2_RESPOND_H

#include <rpcrdma2/plan.h>
#include <rpcrdma2/recv.h>
#include <rpcrdma2/rw.h>

/**
 * struct rpcrdma2_pull - a Call with Read chunks
 * @pl_hdr: its header
 * @pl_recv: Receive that holds its message
 * @pl_inline: bytes of the RPC message in that Receive
 * @pl_apart: bytes at the beginning that stay there; 0 if all of the Call is
 *	laid out
 * @pl_pages: pages for the rest, which starts at the beginning of the first
 *	page
 */
struct rpcrdma2_pull {
	const struct rpcrdma2_hdr	*pl_hdr;
	const struct rpcrdma2_recv	*pl_recv;
	u32				pl_inline;
	u32				pl_apart;
	struct page			**pl_pages;
};

/**
 * rpcrdma2_pull_at - address of a byte that is laid out
 * @pl: Call
 * @sink: offset of the byte in the Call
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
 * @rw: gets the RDMA Reads
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int rpcrdma2_pull_reads(const struct rpcrdma2_conn *co,
			const struct rpcrdma2_pull *pl, struct rpcrdma2_rw *rw);

/**
 * rpcrdma2_pull_finish - place the bytes that RDMA Reads have not placed
 * @pl: Call whose RDMA Reads are done
 */
void rpcrdma2_pull_finish(const struct rpcrdma2_pull *pl);

/**
 * rpcrdma2_pull_is_call - check whether it is the announced Call
 * @pl: RDMA2_NOMSG, laid out as a whole
 * @length: length of the Call
 *
 * The decoder cannot check the contents of a Position-Zero chunk (S08, S06,
 * S09).
 */
bool rpcrdma2_pull_is_call(const struct rpcrdma2_pull *pl, u32 length);

/**
 * rpcrdma2_find_results - locate the results in a Reply
 * @res: the Reply
 * @results: in ascending order; a result that is not found at its position gets
 *	length 0, and stays with the rest
 * @nresults: number of results
 */
void rpcrdma2_find_results(const struct xdr_buf *res,
			   struct rpcrdma2_range *results,
			   unsigned int nresults);

/**
 * rpcrdma2_respond_plan - choose the transfer of a Reply by the Call's header
 * @plan: result, as of rpcrdma2_plan_reply()
 * @h: header of the Call; loses its Read list
 * @results: results eligible for Write chunks, in ascending order
 * @nresults: number of results
 * @length: length of the Reply
 * @send_max: largest Send that the requester accepts
 *
 * Return: length of the Reply's header, without a Reply chunk.
 */
u32 rpcrdma2_respond_plan(struct rpcrdma2_reply_plan *plan,
			  struct rpcrdma2_hdr *h,
			  const struct rpcrdma2_range *results,
			  unsigned int nresults, u32 length, u32 send_max);

/**
 * rpcrdma2_respond_hdr - turn the header of a Call into that of its Reply
 * @h: header
 * @plan: transfer plan of the Reply
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
 * @rw: gets the RDMA Writes
 * @res: the Reply
 * @h: its header; the lengths of its chunks become the lengths written
 * @plan: transfer plan of the Reply
 *
 * Context: may sleep.
 * Return: as rpcrdma2_rw_write().
 */
int rpcrdma2_respond_writes(struct rpcrdma2_rw *rw, const struct xdr_buf *res,
			    struct rpcrdma2_hdr *h,
			    const struct rpcrdma2_reply_plan *plan);

#endif /* _RPCRDMA2_RESPOND_H */
