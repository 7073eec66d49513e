// SPDX-License-Identifier: GPL-2.0
/*
 * A Call is handed on: rq_arg is made of its Receive and its pages, in the form that
 * the kernel's nfsd takes data of a WRITE in (probe-svc-write-bvec.c in compat/).
 *
 * In either form the Call is laid out from the beginning of a page (layout.h), but
 * for one data item in a chunk, with what is in front of it in the Receive. And
 * rq_arg never has a tail: the code above walks from the head into the pages for as
 * long as an item is, without asking whether the pages end. So what lies behind a
 * chunk, usually a few words, is copied behind it.
 */
#include "arg.h"
#include "layout.h"

#ifndef RPCRDMA2_STRETCHES
/*
 * In pages: the head is what the first page has, and the rest is in pages. Data may
 * begin anywhere, and each page may be handed to a disk, whose driver needs its
 * physical address: nothing is mapped. RPCSEC_GSS needs no other form.
 */

/* As far as the first page goes */
static void *svc2_arg_message(const struct svc2_msg *call)
{
	return rpcrdma2_recv_at(call->sm_recv, 0) + call->sm_msg.mg_hdr.h_len;
}

/**
 * svc2_arg_splits - may the data of a Call stay apart from the rest?
 * @call: Call with Read chunks
 */
bool svc2_arg_splits(const struct svc2_msg *call)
{
	return svc2_layout_splits_paged(&call->sm_msg.mg_hdr,
					svc2_arg_message(call),
					call->sm_inline);
}

static enum rpcrdma2_errcode
svc2_arg_build_inline(struct svc2_xprt *sp, struct svc2_msg *call,
		      struct xdr_buf *arg)
{
	u32 at = call->sm_msg.mg_hdr.h_len;

	if (unlikely(!svc2_layout_has_head(at, call->sm_recv->rv_len))) {
		rpcrdma2_recv_cut(call->sm_recv, at);
		at = 0;
	}
	rpcrdma2_recv_buf_paged(call->sm_recv, at, arg);
	return RDMA2_OK;
}

static enum rpcrdma2_errcode
svc2_arg_join(struct svc2_xprt *sp, struct svc2_msg *call, struct xdr_buf *arg)
{
	return RDMA2_OK;
}

static void svc2_arg_check(const struct xdr_buf *arg)
{
	const struct kvec *head = &arg->head[0];

	WARN_ON_ONCE(is_vmalloc_addr(head->iov_base) ||
		     offset_in_page(head->iov_base) + head->iov_len > PAGE_SIZE);
}
#else
/*
 * In one piece: nfsd writes data that begins in a page of rq_arg from the beginning
 * of that page, wherever it begins. So all of a Call is its head, at addresses that
 * follow each other, or the data begins where a page does.
 *
 * RPCSEC_GSS takes the physical address of the head. There an inline Call is copied,
 * the head of a flat one is the first page, and what could have data begin in another
 * page is refused.
 */

static void *svc2_arg_message(const struct svc2_msg *call)
{
	return call->sm_recv->rv_buf + call->sm_msg.mg_hdr.h_len;
}

bool svc2_arg_splits(const struct svc2_msg *call)
{
	return svc2_layout_splits(&call->sm_msg.mg_hdr, svc2_arg_message(call),
				  call->sm_inline);
}

/* There may be no memory for a moment. Return: 0, or -ENOTCONN. */
static int svc2_arg_copy_call(struct svc2_xprt *sp, struct svc2_msg *call,
			      struct xdr_buf *arg)
{
	unsigned int tries = 0;
	int ret;

	do {
		call->sm_copy = kmemdup(arg->head[0].iov_base,
					arg->head[0].iov_len,
					GFP_KERNEL | __GFP_NOWARN);
		ret = call->sm_copy ? 0 : -ENOMEM;
	} while (svc2_try_again(sp, &tries, &ret));
	arg->head[0].iov_base = call->sm_copy;
	return ret;
}

static enum rpcrdma2_errcode
svc2_arg_build_inline(struct svc2_xprt *sp, struct svc2_msg *call,
		      struct xdr_buf *arg)
{
	rpcrdma2_recv_buf(call->sm_recv, call->sm_msg.mg_hdr.h_len, arg);
	if (unlikely(call->sm_recv->rv_len > PAGE_SIZE) &&
	    svc2_layout_is_gss(svc2_arg_message(call), call->sm_inline) &&
	    svc2_arg_copy_call(sp, call, arg))
		return RDMA2_DROP;
	return RDMA2_OK;
}

static enum rpcrdma2_errcode svc2_arg_judge_gss(const struct svc2_msg *call,
						u32 head)
{
	const struct rpcrdma2_pull pl = svc2_arg_pull(call);
	const struct rpcrdma2_hdr *h = &call->sm_msg.mg_hdr;
	const struct rpcrdma2_chunk *ck = h->h_reads;
	__be32 before = 0;

	if (h->h_proc == RDMA2_NOMSG)
		ck++;
	if (ck < h->h_reads + h->h_nreads)
		before = *(__be32 *)rpcrdma2_pull_at(&pl, ck->ck_position -
						     XDR_UNIT);
	return svc2_layout_judge_gss(h, call->sm_inline, head, before);
}

/*
 * The RPC layer copies a Call that waits for an upcall when all of it is in the
 * head, and goes on to the next one: with Calls of 1 MiB that would be much
 * memory. So the last word of a mapped Call goes to a page of its own, from the
 * beginning of it.
 *
 * Return: 0, or -ENOTCONN when the connection is lost.
 */
static int svc2_arg_map_call(struct svc2_xprt *sp, struct svc2_msg *call,
			     struct xdr_buf *arg)
{
	u32 head = round_down(call->sm_length - 1, XDR_UNIT);
	struct page **last = call->sm_pages + svc2_msg_pages(call);
	unsigned int tries = 0;
	int ret;

	do {
		call->sm_map = vm_map_ram(call->sm_pages, svc2_msg_pages(call),
					  NUMA_NO_NODE);
		ret = call->sm_map ? 0 : -ENOMEM;
	} while (svc2_try_again(sp, &tries, &ret));
	if (ret)
		return ret;

	arg->head[0].iov_base = call->sm_map;
	arg->head[0].iov_len = head;
	arg->pages = last;
	arg->page_len = call->sm_length - head;
	memcpy(page_address(*last), call->sm_map + head, arg->page_len);
	return 0;
}

/* What is longer than a page; @arg has the first page as its head. */
static enum rpcrdma2_errcode
svc2_arg_join(struct svc2_xprt *sp, struct svc2_msg *call, struct xdr_buf *arg)
{
	struct kvec *head = &arg->head[0];

	if (svc2_layout_is_gss(head->iov_base, head->iov_len))
		return svc2_arg_judge_gss(call, head->iov_len);
	return svc2_arg_map_call(sp, call, arg) ? RDMA2_DROP : RDMA2_OK;
}

static void svc2_arg_check(const struct xdr_buf *arg)
{
}
#endif

static enum rpcrdma2_errcode
svc2_arg_build_chunked(struct svc2_xprt *sp, struct svc2_msg *call,
		       struct xdr_buf *arg)
{
	const struct rpcrdma2_pull pl = svc2_arg_pull(call);
	struct kvec *head = &arg->head[0];

	*arg = (struct xdr_buf){
		.pages		= call->sm_pages,
		.page_len	= call->sm_length,
	};
	if (call->sm_apart) {
		head->iov_base = svc2_arg_message(call);
		head->iov_len = call->sm_apart;
		return RDMA2_OK;
	}
	head->iov_base = rpcrdma2_pull_at(&pl, 0);
	head->iov_len = min_t(u32, call->sm_length, PAGE_SIZE);
	arg->pages++;
	arg->page_len -= head->iov_len;
	return arg->page_len ? svc2_arg_join(sp, call, arg) : RDMA2_OK;
}

/*
 * A Call for which there is no memory in the end has not been looked at: the
 * requester sends it again when the connection is lost.
 */
static int svc2_arg_hand_on(struct svc_rqst *rqstp, struct svc2_msg *call,
			    enum rpcrdma2_errcode verdict)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);
	struct xdr_buf *arg = &rqstp->rq_arg;

	if (unlikely(verdict == RDMA2_DROP)) {
		svc2_msg_put(sp, call);
		return 0;
	}
	/* C-083: one Read chunk would do; other errors carry no number */
	if (unlikely(verdict))
		return svc2_refuse_with(sp, call, verdict, 1, 0);

	svc2_arg_check(arg);
	arg->len = arg->head[0].iov_len + arg->page_len;
	arg->buflen = arg->len;
	return svc2_deliver(rqstp, call);
}

/**
 * svc2_arg_inline - hand on a Call without Read chunks
 * @rqstp: thread
 * @call: Call
 *
 * Context: svc thread; may sleep.
 * Return: octets of the Call in rq_arg, or 0, for ->xpo_recvfrom to return.
 */
int svc2_arg_inline(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);

	if (svc2_sq_reserve(sp, call))
		return 0;
	return svc2_arg_hand_on(rqstp, call,
				svc2_arg_build_inline(sp, call,
						      &rqstp->rq_arg));
}

/**
 * svc2_arg_chunked - hand on a Call with Read chunks
 * @rqstp: thread
 * @call: Call, all of it in place
 *
 * Context: svc thread; may sleep.
 * Return: octets of the Call in rq_arg, or 0, for ->xpo_recvfrom to return.
 */
int svc2_arg_chunked(struct svc_rqst *rqstp, struct svc2_msg *call)
{
	struct svc2_xprt *sp = svc2_from_xprt(rqstp->rq_xprt);

	return svc2_arg_hand_on(rqstp, call,
				svc2_arg_build_chunked(sp, call,
						       &rqstp->rq_arg));
}
