/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of the RPC layer that the server's connections use, and tasks that wait for
 * memory regions. A connection has XPT_BUSY set all the time, so that no thread takes it up.
 */
#ifndef _RPCRDMA2_HOST_SUNRPC_H
#define _RPCRDMA2_HOST_SUNRPC_H

#include "inet.h"
#include "system.h"

#define RPCSVC_MAXPAYLOAD	(1U << 20)

/* Bits of xpt_flags and rq_flags */
enum {
	XPT_BUSY,
	XPT_CLOSE,
	XPT_CONG_CTRL,
	XPT_CONN,
	XPT_DATA,
	XPT_DEAD,
	XPT_DEFERRED,
	XPT_LISTENER,
	RQ_SECURE		= 0,
};

struct rpc_wait_queue {
	spinlock_t	lock;
};

struct rpc_xprt {
	unsigned long		state;
	u32			xid;
	spinlock_t		transport_lock;
	spinlock_t		reserve_lock;
	struct rpc_wait_queue	pending;
};

/* Bits of state */
enum {
	XPRT_LOCKED,
	XPRT_CWND_WAIT,
	XPRT_WRITE_SPACE,
};

static inline void xprt_wait_for_buffer_space(struct rpc_xprt *xprt)
{
	set_bit(XPRT_WRITE_SPACE, &xprt->state);
}

/* Wake the task that waits. Return: false if there is none. */
static inline bool xprt_write_space(struct rpc_xprt *xprt)
{
	if (!test_bit(XPRT_WRITE_SPACE, &xprt->state))
		return false;
	guard(spinlock)(&xprt->transport_lock);
	return test_and_clear_bit(XPRT_WRITE_SPACE, &xprt->state);
}

struct xprt_class;

struct rpc_rqst {
	void		*rq_buffer;
	struct xdr_buf	rq_rcv_buf;
	struct xdr_buf	rq_private_buf;
	struct rpc_xprt	*rq_xprt;
};

struct rpc_task {
	int			tk_status;
	struct rpc_rqst		*tk_rqstp;
	struct rpc_wait_queue	*tk_waitqueue;
};

#define RPC_IS_QUEUED(task)	((task)->tk_waitqueue != NULL)
void rpc_wake_up_queued_task(struct rpc_wait_queue *queue, struct rpc_task *task);

struct svc_serv {
	unsigned int	sv_max_mesg;
};

struct svc_rqst;
struct svc_xprt;

struct svc_xprt_ops {
	struct svc_xprt	*(*xpo_create)(struct svc_serv *serv, struct net *net,
				       struct sockaddr *sa, int len, int flags);
	struct svc_xprt	*(*xpo_accept)(struct svc_xprt *xprt);
	int		(*xpo_has_wspace)(struct svc_xprt *xprt);
	int		(*xpo_recvfrom)(struct svc_rqst *rqstp);
	int		(*xpo_sendto)(struct svc_rqst *rqstp);
	int		(*xpo_result_payload)(struct svc_rqst *rqstp,
					      unsigned int offset, unsigned int len);
	void		(*xpo_release_ctxt)(struct svc_xprt *xprt, void *ctxt);
	void		(*xpo_detach)(struct svc_xprt *xprt);
	void		(*xpo_free)(struct svc_xprt *xprt);
	void		(*xpo_kill_temp_xprt)(struct svc_xprt *xprt);
};

struct svc_xprt_class {
	const char			*xcl_name;
	struct module			*xcl_owner;
	const struct svc_xprt_ops	*xcl_ops;
	u32				xcl_max_payload;
	int				xcl_ident;
};

struct svc_xprt {
	struct svc_xprt_class		*xpt_class;
	const struct svc_xprt_ops	*xpt_ops;
	unsigned long			xpt_flags;
	struct svc_serv			*xpt_server;
	struct net			*xpt_net;
	struct rpc_xprt			*xpt_bc_xprt;
	struct sockaddr_storage		xpt_remote;
	char				xpt_remotebuf[56];
	atomic_t			xpt_nr_rqsts;
};

struct svc_rqst {
	struct svc_xprt	*rq_xprt;
	void		*rq_xprt_ctxt;
	unsigned long	rq_flags;
	struct svc_serv	*rq_server;
	struct page	**rq_pages;
	struct page	**rq_respages;
	struct page	**rq_next_page;
	struct page	**rq_page_end;
	void		*rq_deferred;
	int		rq_prot;
	struct xdr_buf	rq_arg;
	struct xdr_buf	rq_res;
};

#define svc_serv_maxpages(serv) \
	((unsigned long)DIV_ROUND_UP((serv)->sv_max_mesg, PAGE_SIZE) + 3)
void rpcrdma2_rqst_begin(struct svc_rqst *rqstp);
#define rpcrdma2_rqst_call_taken(rqstp, end)	((void)0)
#define rpcrdma2_rqst_reply_taken(rqstp, first)	((void)(first))
#define svc_xprt_copy_addrs(rqstp, xprt)	((void)0)
#define svc_xprt_enqueue(xprt) \
	must_not(!test_bit(XPT_BUSY, &(xprt)->xpt_flags))

#define RPCRDMA2_SECURE_PORT

void svc_xprt_init(struct net *net, struct svc_xprt_class *class, struct svc_xprt *xprt,
		   struct svc_serv *serv);
void svc_xprt_put(struct svc_xprt *xprt);
void svc_xprt_received(struct svc_xprt *xprt);
void svc_xprt_set_local(struct svc_xprt *xprt, const struct sockaddr *sa, size_t len);
void svc_xprt_set_remote(struct svc_xprt *xprt, const struct sockaddr *sa, size_t len);
void svc_xprt_set_valid(struct svc_xprt *xprt);

static inline void svc_xprt_deferred_close(struct svc_xprt *xprt)
{
	if (test_bit(XPT_CLOSE, &xprt->xpt_flags))
		return;
	set_bit(XPT_CLOSE, &xprt->xpt_flags);
	svc_xprt_enqueue(xprt);
}

static inline bool svc_xprt_is_dead(const struct svc_xprt *xprt)
{
	return test_bit(XPT_DEAD, &xprt->xpt_flags) ||
	       test_bit(XPT_CLOSE, &xprt->xpt_flags);
}

#endif /* _RPCRDMA2_HOST_SUNRPC_H */
