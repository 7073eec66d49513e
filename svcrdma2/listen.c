// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners. A request to connect becomes a connection in the CM handler, waits
 * on ls_pending (conns.c), and is accepted by an svc thread (svc2_accept()).
 *
 * A listener on one address belongs to one device. When that device is removed,
 * or the address moves to another device, the CM's listener is useless, and the
 * CM handler can neither destroy nor replace it. So ls_work destroys it, and
 * listens again until it succeeds: the address may come back with another
 * device. The rdma_cm itself follows the devices for listeners on any address.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sunrpc/addr.h>

#include "svcrdma2.h"
#include "trace.h"

static int svc2_listen_event(struct rdma_cm_id *id,
			     struct rdma_cm_event *event);

static struct svc2_listener *svc2_listen_from_xprt(struct svc_xprt *xprt)
{
	return container_of(xprt, struct svc2_listener, ls_xprt);
}

static void svc2_listen_stop(struct svc2_listener *ls)
{
	lockdep_assert_held(&ls->ls_mutex);
	if (ls->ls_id)
		rdma_destroy_id(ls->ls_id);
	ls->ls_id = NULL;
}

static int svc2_listen_start(struct svc2_listener *ls)
{
	struct sockaddr *sa = (struct sockaddr *)&ls->ls_addr;
	struct rdma_cm_id *id;
	int ret;

	lockdep_assert_held(&ls->ls_mutex);
	id = rdma_create_id(ls->ls_xprt.xpt_net, svc2_listen_event, ls,
			    RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	ls->ls_id = id;
	/* IPv4 and IPv6 listeners share a port */
	ret = rdma_set_afonly(id, 1);
	if (!ret)
		ret = rdma_bind_addr(id, sa);
	if (!ret)
		ret = rdma_listen(id, SVC2_BACKLOG);
	trace_svc2_event(sa, "listen", ret);
	if (ret)
		svc2_listen_stop(ls);
	return ret;
}

/* Work: replaces the cm_id of a listener, or tries again later */
static void svc2_listen_retry(struct work_struct *work)
{
	struct svc2_listener *ls = container_of(to_delayed_work(work),
						struct svc2_listener, ls_work);

	guard(mutex)(&ls->ls_mutex);
	if (ls->ls_detached)
		return;
	svc2_listen_stop(ls);
	if (!svc2_listen_start(ls)) {
		ls->ls_delay = SVC2_RELISTEN_MIN;
		return;
	}
	queue_delayed_work(svc2_wq, &ls->ls_work, ls->ls_delay);
	ls->ls_delay = min(2 * ls->ls_delay, (unsigned long)SVC2_RELISTEN_MAX);
}

/*
 * The new cm_id calls the connection's handler from now on; on error it is
 * destroyed, which rejects the request.
 */
static int svc2_listen_connect_request(struct svc2_listener *ls,
				       struct rdma_cm_id *id,
				       const struct rdma_conn_param *param)
{
	struct svc2_xprt *sp;

	/* Limit: requests cost a client little. */
	if (READ_ONCE(ls->ls_npending) >= SVC2_BACKLOG)
		goto out_busy;
	sp = svc2_conn_create(&ls->ls_xprt, id, param);
	if (!sp)
		goto out_busy;

	svc2_add_pending(ls, sp);
	return 0;

out_busy:
	svc2_count(accept_failures);
	return -ENOMEM;
}

/* CM handler of a listener */
static int svc2_listen_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct svc2_listener *ls = id->context;

	trace_svc2_event(&id->route.addr.dst_addr,
			 rdma_event_msg(event->event), event->status);
	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return svc2_listen_connect_request(ls, id, &event->param.conn);
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* removal waits until the work has destroyed the cm_id */
		mod_delayed_work(svc2_wq, &ls->ls_work, 0);
		return 0;
	default:
		return 0;
	}
}

/* Logs a remedy, unless the client has gone. */
static void svc2_listen_log_refused(const struct svc2_xprt *sp, int error)
{
	const char *advice = "the device has too small queues, or the client allows no RDMA Reads";

	if (rpcrdma2_conn_is_lost(&sp->sp_conn))
		return;
	if (error == -EUSERS)
		advice = "it has as many as connections allows one address, raise it";
	if (error == -ENFILE)
		advice = "there are as many as connections allows, raise it";
	if (error == -ENOMEM)
		advice = svc2_grant_is_used_up() ?
			 "the Receives of all connections have all of receive_memory, raise it" :
			 "no memory, see 'free'; or too few bounce buffers, if the log has swiotlb";
	pr_warn_ratelimited("the connection of client %s is refused (error %d): %s\n",
			    sp->sp_xprt.xpt_remotebuf, error, advice);
}

/* Implements ->xpo_accept. Return: a connection, or NULL. */
static struct svc_xprt *svc2_accept(struct svc_xprt *xprt)
{
	struct svc2_xprt *sp = svc2_next_pending(svc2_listen_from_xprt(xprt));
	int ret;

	if (!sp)
		return NULL;
	ret = svc2_conn_setup(sp);
	trace_svc2_accept(sp, ret);
	if (ret) {
		svc2_count(accept_failures);
		svc2_conn_refused(sp, ret);
		svc2_listen_log_refused(sp, ret);
		svc_xprt_put(&sp->sp_xprt);
		sp = NULL;
	} else {
		svc2_count(accepts);
		/* the caller holds a reference on the module for it */
		module_put(THIS_MODULE);
	}
	svc_xprt_put(xprt);	/* sp_listener's */
	return sp ? &sp->sp_xprt : NULL;
}

/* No connection is accepted after this. */
static void svc2_listen_give_up(struct svc2_listener *ls)
{
	mutex_lock(&ls->ls_mutex);
	ls->ls_detached = true;
	svc2_listen_stop(ls);
	mutex_unlock(&ls->ls_mutex);
	/* no handler schedules it any longer */
	cancel_delayed_work_sync(&ls->ls_work);
}

static void svc2_listener_detach(struct svc_xprt *xprt)
{
	struct svc2_listener *ls = svc2_listen_from_xprt(xprt);
	struct svc2_xprt *sp;

	svc2_listen_give_up(ls);
	while ((sp = svc2_next_pending(ls)))
		queue_work(svc2_wq, &sp->sp_reap);
}

static void svc2_listener_free(struct svc_xprt *xprt)
{
	kfree(svc2_listen_from_xprt(xprt));
}

/* The RPC layer calls it after an accept, too. */
static void svc2_listener_release_ctxt(struct svc_xprt *xprt, void *ctxt)
{
}

/* Return: a listener, or an ERR_PTR(). */
static struct svc_xprt *svc2_listen_create(struct svc_xprt_class *class,
					   struct svc_serv *serv,
					   struct net *net, struct sockaddr *sa,
					   int salen)
{
	struct svc2_listener *ls;
	int ret;

	if (sa->sa_family != AF_INET && sa->sa_family != AF_INET6)
		return ERR_PTR(-EAFNOSUPPORT);
	ls = kzalloc(sizeof(*ls), GFP_KERNEL);
	if (!ls)
		return ERR_PTR(-ENOMEM);

	svc_xprt_init(net, class, &ls->ls_xprt, serv);
	set_bit(XPT_LISTENER, &ls->ls_xprt.xpt_flags);
	strscpy(ls->ls_xprt.xpt_remotebuf, "listener",
		sizeof(ls->ls_xprt.xpt_remotebuf));
	memcpy(&ls->ls_addr, sa, salen);
	mutex_init(&ls->ls_mutex);
	INIT_DELAYED_WORK(&ls->ls_work, svc2_listen_retry);
	ls->ls_delay = SVC2_RELISTEN_MIN;
	INIT_LIST_HEAD(&ls->ls_pending);

	mutex_lock(&ls->ls_mutex);
	ret = svc2_listen_start(ls);
	if (!ret)
		/* the port may have been chosen just now */
		memcpy(&ls->ls_addr, &ls->ls_id->route.addr.src_addr, salen);
	mutex_unlock(&ls->ls_mutex);
	if (ret) {
		svc2_listen_give_up(ls);
		/* drops a reference on the module that was not taken yet */
		__module_get(THIS_MODULE);
		svc_xprt_put(&ls->ls_xprt);
		return ERR_PTR(ret);
	}
	svc_xprt_set_local(&ls->ls_xprt, (struct sockaddr *)&ls->ls_addr,
			   salen);
	return &ls->ls_xprt;
}

/* ->xpo_create does not get the class that it was found by. */
static struct svc_xprt *svc2_listen_create_rdma2(struct svc_serv *serv,
						 struct net *net,
						 struct sockaddr *sa, int salen,
						 int flags)
{
	return svc2_listen_create(&svc2_class, serv, net, sa, salen);
}

static struct svc_xprt *svc2_listen_create_rdma(struct svc_serv *serv,
						struct net *net,
						struct sockaddr *sa, int salen,
						int flags)
{
	return svc2_listen_create(&svc2_rdma_class, serv, net, sa, salen);
}

#define LISTENER_OPS(_create)					\
{								\
	.xpo_create		= _create,			\
	.xpo_accept		= svc2_accept,			\
	.xpo_release_ctxt	= svc2_listener_release_ctxt,	\
	.xpo_detach		= svc2_listener_detach,		\
	.xpo_free		= svc2_listener_free,		\
}

static const struct svc_xprt_ops rdma2_ops =
	LISTENER_OPS(svc2_listen_create_rdma2);
static const struct svc_xprt_ops rdma_ops =
	LISTENER_OPS(svc2_listen_create_rdma);

struct svc_xprt_class svc2_class = {
	.xcl_name	 = "rdma2",
	.xcl_owner	 = THIS_MODULE,
	.xcl_ops	 = &rdma2_ops,
	.xcl_max_payload = RPCSVC_MAXPAYLOAD,
	.xcl_ident	 = SVC2_IDENT,
};

/* The ident is for the backchannel, which both classes share. */
struct svc_xprt_class svc2_rdma_class = {
	.xcl_name	 = "rdma",
	.xcl_owner	 = THIS_MODULE,
	.xcl_ops	 = &rdma_ops,
	.xcl_max_payload = RPCSVC_MAXPAYLOAD,
	.xcl_ident	 = SVC2_IDENT,
};
