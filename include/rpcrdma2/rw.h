/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMA Reads and Writes: fill and empty the chunks of a peer, by way of the
 * RDMA core's rdma_rw.
 *
 * The transfers of one RPC message are built step by step in one struct
 * rpcrdma2_rw, with a separate entry for each part of a remote segment. When it
 * is complete, the number of memory regions is known, and they can be taken all
 * at once; two messages that took theirs one after the other could wait for
 * each other. Then it is mapped, and posted as one chain, alone or in front of
 * a Send.
 */
#ifndef _RPCRDMA2_RW_H
#define _RPCRDMA2_RW_H

#include <linux/dma-direction.h>
#include <linux/list.h>

#include <rpcrdma2/conn.h>
#include <rpcrdma2/plan.h>
#include <rpcrdma2/wire.h>

/**
 * struct rpcrdma2_rw - RDMA Reads, or RDMA Writes, of one RPC message
 * @rw_parts: entries for parts of remote segments, in the order of execution
 * @rw_dir: DMA_FROM_DEVICE to Read, DMA_TO_DEVICE to Write
 */
struct rpcrdma2_rw {
	struct list_head	rw_parts;
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
 * rpcrdma2_rw_size - Send Queue entries for RDMA Reads and Writes
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
 * Return: 0 or -ENOMEM.
 */
int rpcrdma2_rw_read(const struct rpcrdma2_conn *co, struct rpcrdma2_rw *rw,
		     const struct rpcrdma2_segment *seg, u32 skip, u32 len,
		     struct page *const *pages, u32 sink);

/**
 * rpcrdma2_rw_write - add RDMA Writes that fill a chunk
 * @rw: gets the RDMA Writes
 * @buf: the message
 * @src: ranges of the message to write; they fit
 * @nsrc: number of ranges, 0 for a chunk that stays unused
 * @h: header with the chunk
 * @ck: the chunk; its lengths become the lengths written (E-10)
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; or -EINVAL if the ranges are not in the buffer.
 */
int rpcrdma2_rw_write(struct rpcrdma2_rw *rw, const struct xdr_buf *buf,
		      const struct rpcrdma2_range *src, unsigned int nsrc,
		      struct rpcrdma2_hdr *h, struct rpcrdma2_chunk *ck);

/**
 * rpcrdma2_rw_mrs - memory regions that the device needs for RDMA Reads
 * @co: connection
 * @rw: RDMA Reads
 *
 * Return: number of regions; 0 on a connection whose rw_mrs is 0.
 */
unsigned int rpcrdma2_rw_mrs(const struct rpcrdma2_conn *co,
			     const struct rpcrdma2_rw *rw);

/**
 * rpcrdma2_rw_map - map the memory and build the work requests
 * @co: connection
 * @rw: RDMA Reads or Writes
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
 *
 * Context: any that may not sleep.
 */
void rpcrdma2_rw_free(struct rpcrdma2_conn *co, struct rpcrdma2_rw *rw);

#endif /* _RPCRDMA2_RW_H */
