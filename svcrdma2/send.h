/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Send contexts: see sendto.c.
 */
#ifndef _SVCRDMA2_SEND_H
#define _SVCRDMA2_SEND_H

#include <linux/llist.h>
#include <linux/mm.h>

#include <rpcrdma2/header.h>
#include <rpcrdma2/plan.h>
#include <rpcrdma2/rw.h>
#include <rpcrdma2/sq.h>
#include <rpcrdma2/walk.h>

#include "pure.h"

struct rpcrdma2_propmsg;
struct svc2_call;
struct svc2_xprt;
struct svc_rqst;

enum {
	/* contexts beyond one for each credit; allocated at accept */
	SVC2_TX_RESERVE		= 4,
	/* first page of a send context's buffer, always allocated */
	SVC2_TX_BUFSIZE		= PAGE_SIZE,
	/*
	 * Up to this size copying costs less than mapping pages for the device:
	 * a payload of 16 KiB and the rest of its Reply.
	 */
	SVC2_PULLUP_MAX		= 16384 + 1024,
	/* maximum pages of a buffer: a header, and SVC2_PULLUP_MAX */
	SVC2_TX_BUF_PAGES	= 1 + DIV_ROUND_UP(SVC2_PULLUP_MAX, PAGE_SIZE),
	/* pages of all buffers of a connection beyond the first of each */
	SVC2_TX_EXTRA_PAGES	= 64,

	/*
	 * Gather entries of a Reply in addition to its pages: header, head,
	 * tail, and one more page when the payload does not begin at the start
	 * of a page.
	 */
	SVC2_TX_EXTRA_SGES	= 4,
};

/**
 * struct svc2_tx_page - a page of a Send buffer
 * @tp_page: the page
 * @tp_addr: its DMA address
 */
struct svc2_tx_page {
	struct page		*tp_page;
	u64			tp_addr;
};

/**
 * struct svc2_tx - a Send, and the RDMA Writes in front of it
 * @tx_list: on sp_txs
 * @tx_post: chain on the Send Queue
 * @tx_used: time when it was last put back, in jiffies
 * @tx_backward: it is for a callback, from svc2_tx_try_get()
 * @tx_call: the callback that it carries, until it is posted; or NULL
 * @tx_notice: number of a property message that is no answer, see sp_notices,
 *	or 0
 * @tx_wr: the Send
 * @tx_rw: RDMA Writes
 * @tx_bufs: buffer for the transport header and the data copied behind it. The
 *	first page stays mapped; further pages are added when a Reply that needs
 *	them is copied
 * @tx_nbufs: entries of @tx_bufs
 * @tx_buf: address of the first
 * @tx_len: bytes in the buffer
 * @tx_vers: version of the message
 * @tx_head: page of the reply's head; counted among @tx_pages only when
 *	@tx_reads_head
 * @tx_reads_head: the device reads that page
 * @tx_reads_pages: the device reads another page of the reply
 * @tx_npages: entries of @tx_pages (R4)
 * @tx_pages: pages held until the chain is done
 * @tx_charged: number of them that are counted, see svc2_transfer_take()
 * @tx_few: short arrays of pages
 * @tx_nmapped: entries of @tx_sge, behind the first, that are mapped for this
 *	Send
 * @tx_sge: gather list of @tx_wr
 */
struct svc2_tx {
	struct llist_node	tx_list;
	struct rpcrdma2_post	tx_post;
	unsigned long		tx_used;
	bool			tx_backward;
	struct svc2_call	*tx_call;
	u32			tx_notice;
	struct ib_send_wr	tx_wr;
	struct rpcrdma2_rw	tx_rw;

	struct svc2_tx_page	tx_bufs[SVC2_TX_BUF_PAGES];
	unsigned int		tx_nbufs;
	void			*tx_buf;
	unsigned int		tx_len;
	u32			tx_vers;
	struct page		*tx_head;
	bool			tx_reads_head;
	bool			tx_reads_pages;
	unsigned int		tx_npages;
	unsigned int		tx_charged;
	struct page		**tx_pages;
	struct page		*tx_few[SVC2_REPLY_FEW];
	unsigned int		tx_nmapped;
	struct ib_sge		tx_sge[];
};

int svc2_txs_create(struct svc2_xprt *sp);
void svc2_txs_destroy(struct svc2_xprt *sp);
void svc2_txs_exit(void);
void svc2_trim_later(void);
struct svc2_tx *svc2_tx_get(struct svc2_xprt *sp);
struct svc2_tx *svc2_tx_try_get(struct svc2_xprt *sp);
void svc2_tx_put(struct svc2_xprt *sp, struct svc2_tx *tx);
int svc2_tx_header(struct svc2_tx *tx, struct rpcrdma2_hdr *h,
		   const struct rpcrdma2_propmsg *pm);
int svc2_tx_post(struct svc2_xprt *sp, struct svc2_tx *tx, u32 inv_handle,
		 unsigned int *held);

#endif /* _SVCRDMA2_SEND_H */
