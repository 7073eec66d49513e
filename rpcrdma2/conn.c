// SPDX-License-Identifier: GPL-2.0
/* Verbs objects of a connection, alike for client and server */
#include <linux/export.h>

#include <rdma/rw.h>

#include <rpcrdma2/compat.h>
#include <rpcrdma2/conn.h>
#include <rpcrdma2/props.h>

#include "core.h"

void rpcrdma2_conn_init(struct rpcrdma2_conn *co,
			const struct rpcrdma2_conn_ops *ops)
{
	memset(co, 0, sizeof(*co));
	co->co_ops = ops;
	co->co_vector = -1;
	INIT_WORK(&co->co_recv_work, rpcrdma2_recv_work);
	rpcrdma2_sq_init(co);
}
EXPORT_SYMBOL_GPL(rpcrdma2_conn_init);

/*
 * The RDMA core polls the Receive CQ in its workqueue, or the owner does. The
 * handler of the second kind warns of each event, so it is replaced before the
 * CQ is armed.
 */
static struct ib_cq *rpcrdma2_conn_create_recv_cq(struct rpcrdma2_conn *co,
						  unsigned int entries,
						  unsigned int vector)
{
	bool polled = co->co_ops->arrived;
	struct ib_cq *cq;

	cq = ib_alloc_cq(rpcrdma2_conn_device(co), co, entries, vector,
			 polled ? IB_POLL_DIRECT : IB_POLL_WORKQUEUE);
	if (!polled || IS_ERR(cq))
		return cq;
	co->co_recv_polled = true;
	cq->comp_handler = rpcrdma2_recv_event;
	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	return cq;
}

/*
 * The RDMA core gives each CQ without a vector the next one of the device. Two
 * for each connection would leave every second vector without Receives, and so
 * would another one for each attempt: "Completion vectors" in
 * Documentation/architecture.rst.
 */
static int rpcrdma2_conn_create_cqs(struct rpcrdma2_conn *co,
				    const struct rpcrdma2_conn_size *size)
{
	struct ib_device *dev = rpcrdma2_conn_device(co);
	struct ib_cq *cq;

	/* A flush completes every entry, signaled or not. */
	cq = co->co_vector < 0 ?
		     ib_alloc_cq_any(dev, co, size->sends, IB_POLL_WORKQUEUE) :
		     ib_alloc_cq(dev, co, size->sends, co->co_vector,
				 IB_POLL_WORKQUEUE);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	co->co_send_cq = cq;
	co->co_vector = cq->comp_vector;
	cq = rpcrdma2_conn_create_recv_cq(co, size->recvs, co->co_vector);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	co->co_recv_cq = cq;
	return 0;
}

static void rpcrdma2_conn_size_writes(struct rpcrdma2_conn *co)
{
	struct ib_qp *qp = rpcrdma2_conn_qp(co);

	qp->max_write_sge = min_t(u32, qp->max_write_sge, RPCRDMA2_WRITE_PAGES);
	/*
	 * iWARP's RDMA Reads need regions; otherwise force_mr is set. On iWARP
	 * it changes no figure that this end sees.
	 */
	if (co->co_rw_mrs &&
	    !rdma_protocol_iwarp(rpcrdma2_conn_device(co),
				 co->co_id->port_num))
		co->co_write_pages = co->co_rw_pages;
}

static int rpcrdma2_conn_create_qp(struct rpcrdma2_conn *co,
				   struct rpcrdma2_conn_size *size,
				   void (*event)(struct ib_event *event,
						 void *context))
{
	struct ib_qp_init_attr attr = {
		.event_handler	= event,
		.qp_context	= co,
		.send_cq	= co->co_send_cq,
		.recv_cq	= co->co_recv_cq,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
		.port_num	= co->co_id->port_num,
		.cap = {
			.max_send_wr	= size->sends,
			.max_recv_wr	= size->recvs,
			.max_send_sge	= size->send_sges,
			.max_recv_sge	= co->co_recv_pages,
			.max_rdma_ctxs	= size->rw_mrs,
		},
	};
	unsigned int added = 0;
	int ret;

	/* the RDMA core adds the Send Queue entries of rdma_rw itself */
	if (size->rw_mrs)
		added = rdma_rw_max_send_wr(rpcrdma2_conn_device(co),
					    attr.port_num, size->rw_mrs, 0);
	attr.cap.max_send_wr -= min(size->sends - 1, added);

	ret = rdma_create_qp(co->co_id, co->co_pd, &attr);
	if (ret)
		return ret;
	size->send_sges = attr.cap.max_send_sge;
	rpcrdma2_conn_size_writes(co);
	return 0;
}

/* Nothing uses the CQs: there is no queue pair. */
static void rpcrdma2_conn_free_cqs(struct rpcrdma2_conn *co)
{
	if (co->co_recv_cq)
		ib_free_cq(co->co_recv_cq);
	if (co->co_send_cq)
		ib_free_cq(co->co_send_cq);
	co->co_recv_cq = NULL;
	co->co_send_cq = NULL;
}

int rpcrdma2_conn_create(struct rpcrdma2_conn *co,
			 struct rpcrdma2_conn_size *size,
			 void (*event)(struct ib_event *event, void *context))
{
	struct ib_pd *pd;
	int ret;

	/* Queues that are sized again share the first protection domain. */
	if (!co->co_pd) {
		pd = ib_alloc_pd(rpcrdma2_conn_device(co), 0);
		if (IS_ERR(pd))
			return PTR_ERR(pd);
		co->co_pd = pd;
	}
	co->co_rw_mrs = size->rw_mrs;
	co->co_rw_pages = size->rw_pages;
	ret = rpcrdma2_conn_create_cqs(co, size);
	if (!ret)
		ret = rpcrdma2_conn_create_qp(co, size, event);
	if (ret)
		rpcrdma2_conn_free_cqs(co);
	return ret;
}
EXPORT_SYMBOL_GPL(rpcrdma2_conn_create);

void rpcrdma2_conn_destroy(struct rpcrdma2_conn *co)
{
	WARN_ON_ONCE(!rpcrdma2_sq_is_whole(co));	/* Q2 */
	if (co->co_id && co->co_id->qp)
		rdma_destroy_qp(co->co_id);
	/* a late event queues it no longer */
	disable_work_sync(&co->co_recv_work);
	rpcrdma2_conn_free_cqs(co);
	if (co->co_pd)
		ib_dealloc_pd(co->co_pd);
	if (co->co_id)
		rdma_destroy_id(co->co_id);
}
EXPORT_SYMBOL_GPL(rpcrdma2_conn_destroy);
