/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chunks: offered by a requester, and read and written by a responder.
 * Functions without a stated context run in process context, and do not sleep.
 */
#ifndef _RPCRDMA2_CHUNKS_H
#define _RPCRDMA2_CHUNKS_H

#include <linux/dma-direction.h>
#include <linux/list.h>
#include <linux/minmax.h>

#include <linux/sunrpc/xdr.h>
#include <linux/sunrpc/xprt.h>

#include <rpcrdma2/conn.h>
#include <rpcrdma2/plan.h>
#include <rpcrdma2/wire.h>

struct rpc_task;

/* A requester offers the chunks of its rpcrdma2_plan_call() with a Call. */

/* Bytes of the tail that are the XDR pad of the pages */
static inline u32 rpcrdma2_pad_len(const struct xdr_buf *buf)
{
	return min_t(u32, xdr_pad_size(buf->page_len), buf->tail[0].iov_len);
}

enum rpcrdma2_part {
	RPCRDMA2_PART_ALL,	/* head, pages, tail */
	RPCRDMA2_PART_PAGES,
	RPCRDMA2_PART_REST,	/* head, and tail without the pages' pad */
};

/**
 * rpcrdma2_offer_segs - count the segments that a chunk would need
 * @co: connection, whose regions are measured
 * @buf: message
 * @part: part of the message that the chunk holds
 *
 * Return: an upper bound; exact for RPCRDMA2_PART_PAGES, and on devices whose
 * page lists may have holes.
 */
unsigned int rpcrdma2_offer_segs(const struct rpcrdma2_conn *co,
				 const struct xdr_buf *buf,
				 enum rpcrdma2_part part);

/**
 * rpcrdma2_offer_sizes - set the sizes of a plan from Call and Reply
 * @sz: gets the lengths of both, and which parts may be placed directly
 * @call: encoded Call
 * @reply: buffer for the Reply
 * @ddp: no layer transforms the bytes of the RPC (E-26)
 */
void rpcrdma2_offer_sizes(struct rpcrdma2_call_sizes *sz,
			  const struct xdr_buf *call,
			  const struct xdr_buf *reply, bool ddp);

/**
 * rpcrdma2_offer_measure - count the segments of all possible chunks
 * @co: connection, whose regions are measured
 * @sz: gets all sz_*_segs
 * @call: encoded Call
 * @reply: buffer for the Reply
 */
void rpcrdma2_offer_measure(const struct rpcrdma2_conn *co,
			    struct rpcrdma2_call_sizes *sz,
			    const struct xdr_buf *call,
			    const struct xdr_buf *reply);

/**
 * rpcrdma2_offer - make the chunks of a plan
 * @co: connection
 * @ex: gets the regions
 * @plan: chunks to make
 * @call: encoded Call
 * @whole: source of a Position-Zero chunk of the whole Call: @call, or a copy
 * @reply: buffer for the Reply
 * @h: header without lists; gets them and a nominated handle
 *
 * On error the caller releases the regions with rpcrdma2_unexpose().
 *
 * Context: as rpcrdma2_expose().
 * Return: as rpcrdma2_expose().
 */
int rpcrdma2_offer(struct rpcrdma2_conn *co, struct rpcrdma2_exposed *ex,
		   const struct rpcrdma2_call_plan *plan,
		   const struct xdr_buf *call, const struct xdr_buf *whole,
		   const struct xdr_buf *reply, struct rpcrdma2_hdr *h);

/**
 * rpcrdma2_trim_reply - trim the head of a Reply to the bytes that came
 * @rqst: request; rq_rcv_buf and rq_private_buf hold the Reply
 * @came: bytes received, except for those in a Write chunk
 *
 * The head of rq_rcv_buf has room for the most bytes that can precede the
 * payload. Without the trim the RPC layer would count the payload from the end
 * of that room.
 */
void rpcrdma2_trim_reply(struct rpc_rqst *rqst, size_t came);

/**
 * rpcrdma2_wake_with - end the wait of a task for its Reply with an error
 * @task: task. One that was woken meanwhile keeps the status it was woken with
 * @status: error
 *
 * Context: under the transport's queue_lock.
 */
void rpcrdma2_wake_with(struct rpc_task *task, int status);

/**
 * rpcrdma2_offer_holds_reply - check whether a chunk holds the announced Reply
 * @reply: buffer for the Reply, with a Reply chunk over it that was used and is
 *	fenced. The decoder cannot check the contents of a Reply chunk (S08,
 *	S06), and the RPC layer looks up the RPC by the xid of the header
 * @xid: xid of the RPC
 *
 * Return: false if it is another message than the header announced.
 */
static inline bool rpcrdma2_offer_holds_reply(const struct xdr_buf *reply,
					      __be32 xid)
{
	const __be32 *p = reply->head[0].iov_base;

	return p[0] == xid && p[1] == cpu_to_be32(RDMA2_REPLY);
}

/*
 * RDMA Reads and Writes: fill and empty the chunks of a peer, by way of the
 * RDMA core's rdma_rw.
 *
 * The transfers of one RPC message are built step by step in one struct
 * rpcrdma2_rw, with an entry for each part of a remote segment. Only the
 * complete one takes its memory regions, all at once; two messages that took
 * theirs one after the other could wait for each other. Then it is mapped, and
 * posted as one chain, alone or in front of a Send.
 */

/* RDMA Reads (DMA_FROM_DEVICE), or RDMA Writes, of one RPC message */
struct rpcrdma2_rw {
	struct list_head	rw_parts;	/* in the order of execution */
	enum dma_data_direction	rw_dir;
};

static inline void rpcrdma2_rw_init(struct rpcrdma2_rw *rw,
				    enum dma_data_direction dir)
{
	INIT_LIST_HEAD(&rw->rw_parts);
	rw->rw_dir = dir;
}

static inline bool rpcrdma2_rw_is_empty(const struct rpcrdma2_rw *rw)
{
	return list_empty(&rw->rw_parts);
}

/**
 * rpcrdma2_rw_size - compute the Send Queue entries for RDMA Reads and Writes
 * @co: connection with a device
 * @pages: most pages of a message
 * @parts: most parts that it can be read in
 * @size: send_sges is the width of a work request; sets rw_mrs and rw_pages
 * @longest: set to the entries of the longest chain
 *
 * Return: entries for a message of @pages in one part; 0 if the device does not
 * support it.
 */
unsigned int rpcrdma2_rw_size(const struct rpcrdma2_conn *co,
			      unsigned int pages, unsigned int parts,
			      struct rpcrdma2_conn_size *size,
			      unsigned int *longest);

/**
 * rpcrdma2_rw_read - add RDMA Reads that fetch bytes of a chunk
 * @co: connection
 * @rw: gets the RDMA Reads
 * @seg: the chunk's segments
 * @skip: bytes at the beginning of the chunk to skip
 * @len: bytes to read; the chunk has them
 * @pages: destination
 * @sink: offset of the first byte in @pages
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM; rpcrdma2_rw_free() in either case.
 */
int rpcrdma2_rw_read(const struct rpcrdma2_conn *co, struct rpcrdma2_rw *rw,
		     const struct rpcrdma2_segment *seg, u32 skip, u32 len,
		     struct page *const *pages, u32 sink);

/**
 * rpcrdma2_rw_mrs - count the memory regions that RDMA Reads need
 * @co: connection
 * @rw: RDMA Reads, complete
 *
 * Return: number of regions; 0 on a connection whose co_rw_mrs is 0.
 */
unsigned int rpcrdma2_rw_mrs(const struct rpcrdma2_conn *co,
			     const struct rpcrdma2_rw *rw);

/**
 * rpcrdma2_rw_map - map the memory and build the work requests
 * @co: connection
 * @rw: RDMA Reads or Writes, complete
 *
 * Context: may sleep.
 * Return: 0, or a negative errno; -EIO and -EAGAIN are transient, and the
 * function may be called again. rpcrdma2_rw_free() in either case.
 */
int rpcrdma2_rw_map(struct rpcrdma2_conn *co, struct rpcrdma2_rw *rw);

/**
 * rpcrdma2_rw_chain - link the work requests
 * @co: connection
 * @rw: RDMA Reads or Writes, mapped, at least one
 * @cqe: completion of the last work request, if @last is NULL
 * @last: work request to follow them
 *
 * Return: the first work request.
 */
struct ib_send_wr *rpcrdma2_rw_chain(struct rpcrdma2_conn *co,
				     struct rpcrdma2_rw *rw,
				     struct ib_cqe *cqe,
				     struct ib_send_wr *last);

/**
 * rpcrdma2_rw_free - unmap and free all parts
 * @co: connection
 * @rw: RDMA Reads or Writes that are not posted, or done; empty afterwards
 */
void rpcrdma2_rw_free(struct rpcrdma2_conn *co, struct rpcrdma2_rw *rw);

/*
 * The chunks of a Call at the responder: assembly of the Call from its inline
 * part and the data it has read, and transfer of the Reply to the chunks
 * offered for it.
 */

/**
 * struct rpcrdma2_arg - a Call with Read chunks
 * @ar_hdr: its header
 * @ar_recv: Receive that holds its message
 * @ar_inline: bytes of the RPC message in that Receive
 * @ar_apart: bytes at the beginning that stay there; 0 if all of the Call is
 *	laid out
 * @ar_pages: pages for the rest, from the beginning of the first page
 */
struct rpcrdma2_arg {
	const struct rpcrdma2_hdr	*ar_hdr;
	const struct rpcrdma2_recv	*ar_recv;
	u32				ar_inline;
	u32				ar_apart;
	struct page			**ar_pages;
};

/* Address of the byte at offset @sink of a Call, which lies in ar_pages */
static inline void *rpcrdma2_arg_at(const struct rpcrdma2_arg *ar, u32 sink)
{
	sink -= ar->ar_apart;
	return page_address(ar->ar_pages[sink >> PAGE_SHIFT]) +
	       offset_in_page(sink);
}

/**
 * rpcrdma2_arg_reads - add the RDMA Reads of a Call
 * @co: its connection
 * @ar: Call
 * @rw: gets the RDMA Reads
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM; rpcrdma2_rw_free() in either case.
 */
int rpcrdma2_arg_reads(const struct rpcrdma2_conn *co,
		       const struct rpcrdma2_arg *ar, struct rpcrdma2_rw *rw);

/**
 * rpcrdma2_arg_finish - place the bytes that RDMA Reads have not placed
 * @ar: Call whose RDMA Reads are done; gets its inline bytes, and the padding
 *	behind each chunk (E-07)
 */
void rpcrdma2_arg_finish(const struct rpcrdma2_arg *ar);

/**
 * rpcrdma2_arg_is_call - check whether a chunk holds the announced Call
 * @ar: RDMA2_NOMSG, laid out as a whole, whose RDMA Reads are done. The decoder
 *	cannot check the contents of a Position-Zero chunk (S08, S06, S09)
 * @length: length of the Call
 *
 * Return: false if it is another message than the header announced.
 */
bool rpcrdma2_arg_is_call(const struct rpcrdma2_arg *ar, u32 length);

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

/* Turn the header of a Call into that of its Reply, with a grant */
static inline void rpcrdma2_respond_hdr(struct rpcrdma2_hdr *h,
					const struct rpcrdma2_reply_plan *plan,
					u32 credit)
{
	h->h_proc = plan->pn_reply_chunk ? RDMA2_NOMSG : RDMA2_MSG;
	h->h_direction = RDMA2_REPLY;
	h->h_inv_handle = 0;			/* for Calls only (S47) */
	h->h_credit = credit;
	h->h_has_reply = plan->pn_reply_chunk;		/* if it is used (E-06, S10) */
}

/**
 * rpcrdma2_respond_writes - add the RDMA Writes of a Reply
 * @co: connection
 * @rw: gets the RDMA Writes
 * @res: the Reply
 * @h: its header; the lengths of its chunks become the lengths written
 * @plan: transfer plan of the Reply
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; or -EINVAL if the results are not in the buffer.
 */
int rpcrdma2_respond_writes(const struct rpcrdma2_conn *co,
			    struct rpcrdma2_rw *rw, const struct xdr_buf *res,
			    struct rpcrdma2_hdr *h,
			    const struct rpcrdma2_reply_plan *plan);

#endif /* _RPCRDMA2_CHUNKS_H */
