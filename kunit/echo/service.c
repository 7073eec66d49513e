// SPDX-License-Identifier: GPL-2.0
/*
 * The service of ECHO, for a listener or for backward Calls. The two differ in where
 * the RPC layer keeps the pages of a thread.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sunrpc/bc_xprt.h>
#include <linux/wait.h>

#include "compat.h"
#include "echo.h"

atomic_t echo_met, echo_alone, echo_holding;

/* A Call that waits for a Call of the other direction with the same XID */
struct meeting {
	struct list_head	me_list;
	__be32			me_xid;
	bool			me_backward;
	bool			me_met;
};

static LIST_HEAD(meetings);
static DEFINE_SPINLOCK(meetings_lock);
static DECLARE_WAIT_QUEUE_HEAD(meetings_wait);

/* Return: true if the Call of the other direction was already waiting. */
static bool find_other(struct meeting *me)
{
	struct meeting *other;

	list_for_each_entry(other, &meetings, me_list) {
		if (other->me_xid != me->me_xid || other->me_met ||
		    other->me_backward == me->me_backward)
			continue;
		other->me_met = true;
		return true;
	}
	list_add(&me->me_list, &meetings);
	return false;
}

static void meet(const struct svc_rqst *rqstp)
{
	struct meeting me = {
		.me_list	= LIST_HEAD_INIT(me.me_list),
		.me_xid		= rqstp->rq_xid,
		.me_backward	= svc_is_backchannel(rqstp),
	};
	bool found;

	spin_lock(&meetings_lock);
	found = find_other(&me);
	spin_unlock(&meetings_lock);
	if (found) {
		atomic_inc(&echo_met);
		wake_up_all(&meetings_wait);
		return;
	}
	wait_event_timeout(meetings_wait, READ_ONCE(me.me_met), 2 * HZ);
	spin_lock(&meetings_lock);
	list_del(&me.me_list);
	if (!me.me_met)
		atomic_inc(&echo_alone);
	spin_unlock(&meetings_lock);
}

static DECLARE_WAIT_QUEUE_HEAD(held);
static atomic_t released;

/**
 * echo_release - reply to the Calls that the services hold
 */
void echo_release(void)
{
	atomic_inc(&released);
	wake_up_all(&held);
}

static void hold(u32 ms)
{
	int now = atomic_read(&released);

	/* Ordered after the read above: a reader of the count may release the Call. */
	atomic_inc_return(&echo_holding);
	wait_event_timeout(held, atomic_read(&released) != now,
			   msecs_to_jiffies(min_t(u32, ms, ECHO_MAX_HOLD)));
	atomic_dec(&echo_holding);
}

static bool decode_void(struct svc_rqst *rqstp, struct xdr_stream *xdr)
{
	return true;
}

static bool decode_args(struct svc_rqst *rqstp, struct xdr_stream *xdr)
{
	struct echo_args *args = rqstp->rq_argp;
	__be32 *p = xdr_inline_decode(xdr, sizeof(*args));

	if (!p)
		return false;
	args->ea_seed = be32_to_cpup(p++);
	args->ea_want = be32_to_cpup(p++);
	args->ea_flags = be32_to_cpup(p++);
	args->ea_hold = be32_to_cpup(p++);
	args->ea_len = be32_to_cpup(p);
	return args->ea_len <= ECHO_MAX_DATA && args->ea_want <= ECHO_MAX_DATA;
}

/* Missing data count as wrong. */
static u32 check_arg(struct svc_rqst *rqstp)
{
	const struct echo_args *args = rqstp->rq_argp;
	u32 start = xdr_stream_pos(&rqstp->rq_arg_stream), done, n, bad = 0;
	u8 piece[256];

	for (done = 0; !bad && done < args->ea_len; done += n) {
		n = min_t(u32, args->ea_len - done, sizeof(piece));
		if (read_bytes_from_xdr_buf(&rqstp->rq_arg, start + done, piece, n))
			return done + 1;
		bad = echo_check(piece, args->ea_seed, done, n);
	}
	return bad;
}

static __be32 proc_null(struct svc_rqst *rqstp)
{
	return rpc_success;
}

static __be32 proc_echo(struct svc_rqst *rqstp)
{
	const struct echo_args *args = rqstp->rq_argp;
	struct echo_res *res = rqstp->rq_resp;

	res->er_seed = args->ea_seed;
	res->er_bad = check_arg(rqstp);
	res->er_len = args->ea_want;
	if (args->ea_flags & ECHO_MEET)
		meet(rqstp);
	if (args->ea_hold)
		hold(args->ea_hold);
	return rpc_success;
}

static __be32 proc_bind(struct svc_rqst *rqstp)
{
	if (svc_is_backchannel(rqstp) || echo_peer_add(rqstp->rq_xprt))
		return rpc_system_err;
	return rpc_success;
}

static bool encode_void(struct svc_rqst *rqstp, struct xdr_stream *xdr)
{
	return true;
}

/*
 * A backward Call does not use the pages of the thread. The pages after the first
 * belong to the Reply until its task ends, which is before the thread takes the next
 * Call.
 */
static struct page **reply_pages(struct svc_rqst *rqstp, u32 len)
{
	unsigned int count = DIV_ROUND_UP(len, PAGE_SIZE);
	struct page **pages = rqstp->rq_next_page;

	if (svc_is_backchannel(rqstp))
		pages = echo_backward_pages(rqstp);
	if (pages + count > rqstp->rq_page_end)
		return NULL;
	if (!svc_is_backchannel(rqstp))
		rqstp->rq_next_page = pages + count;
	return pages;
}

static bool encode_pages(struct svc_rqst *rqstp, struct xdr_stream *xdr,
			 u32 seed, u32 len)
{
	struct page **pages = reply_pages(rqstp, len);
	u32 offset = xdr_stream_pos(xdr);

	if (!pages)
		return false;
	echo_fill_pages(pages, 0, seed, len);
	svcxdr_encode_opaque_pages(rqstp, xdr, pages, 0, len);
	return svc_is_backchannel(rqstp) ||
	       svc_encode_result_payload(rqstp, offset, len) >= 0;
}

static bool encode_res(struct svc_rqst *rqstp, struct xdr_stream *xdr)
{
	const struct echo_args *args = rqstp->rq_argp;
	const struct echo_res *res = rqstp->rq_resp;
	__be32 *p = xdr_reserve_space(xdr, sizeof(*res));

	if (!p)
		return false;
	*p++ = cpu_to_be32(res->er_seed);
	*p++ = cpu_to_be32(res->er_bad);
	*p = cpu_to_be32(res->er_len);
	if (!(args->ea_flags & ECHO_HEAD) && res->er_len)
		return encode_pages(rqstp, xdr, ~args->ea_seed, res->er_len);

	if (xdr->end - xdr->p < XDR_QUADLEN(res->er_len))
		return false;
	p = xdr_reserve_space(xdr, xdr_align_size(res->er_len));
	if (!p)
		return false;
	echo_fill(p, ~args->ea_seed, 0, xdr_align_size(res->er_len));
	return true;
}

static const struct svc_procedure procedures[ECHO_NPROCS] = {
	[ECHO_PROC_NULL] = {
		.pc_func	= proc_null,
		.pc_decode	= decode_void,
		.pc_encode	= encode_void,
		.pc_name	= "NULL",
	},
	[ECHO_PROC_ECHO] = {
		.pc_func	= proc_echo,
		.pc_decode	= decode_args,
		.pc_encode	= encode_res,
		.pc_argsize	= sizeof(struct echo_args),
		.pc_argzero	= sizeof(struct echo_args),
		.pc_ressize	= sizeof(struct echo_res),
		.pc_xdrressize	= XDR_QUADLEN(ECHO_MAX_DATA) + 32,
		.pc_name	= "ECHO",
	},
	[ECHO_PROC_BIND] = {
		.pc_func	= proc_bind,
		.pc_decode	= decode_void,
		.pc_encode	= encode_void,
		.pc_name	= "BIND",
	},
};

static int dispatch(struct svc_rqst *rqstp)
{
	const struct svc_procedure *proc = rqstp->rq_procinfo;
	__be32 *statp = rqstp->rq_accept_statp;

	if (!proc->pc_decode(rqstp, &rqstp->rq_arg_stream)) {
		*statp = rpc_garbage_args;
		return 1;
	}
	*statp = proc->pc_func(rqstp);
	if (*statp == rpc_success &&
	    !proc->pc_encode(rqstp, &rqstp->rq_res_stream))
		*statp = rpc_system_err;
	return 1;
}

static DEFINE_PER_CPU_ALIGNED(unsigned long, calls[ECHO_NPROCS]) __maybe_unused;

static_assert(sizeof(struct echo_args) >= sizeof(struct echo_res));

static const struct svc_version version = {
	.vs_vers	= ECHO_VERSION,
	.vs_nproc	= ECHO_NPROCS,
	.vs_proc	= procedures,
	ECHO_VERSION_COUNT(calls)
	.vs_xdrsize	= sizeof(struct echo_args),
	.vs_hidden	= true,
	.vs_dispatch	= dispatch,
};

static const struct svc_version *versions[] = {
	[ECHO_VERSION]	= &version,
};

static enum svc_auth_status authenticate(struct svc_rqst *rqstp)
{
	rqstp->rq_auth_stat = rpc_auth_ok;
	return SVC_OK;
}

static struct svc_program program = {
	.pg_prog		= ECHO_PROGRAM,
	.pg_nvers		= ARRAY_SIZE(versions),
	.pg_vers		= versions,
	.pg_name		= "echo",
	.pg_class		= "echo",
	.pg_authenticate	= authenticate,
	.pg_init_request	= svc_generic_init_request,
	.pg_rpcbind_set		= svc_generic_rpcbind_set,
};

/* Each thread completes this after its last instruction in this module. */
static DECLARE_COMPLETION(thread_gone);

static int thread(void *data)
{
	struct svc_rqst *rqstp = data;

	svc_thread_init_status(rqstp, 0);
	while (!svc_thread_should_stop(rqstp))
		echo_recv(rqstp);
	svc_exit_thread(rqstp);
	kthread_complete_and_exit(&thread_gone, 0);
}

/**
 * echo_service - start a service
 * @backward: the service takes backward Calls
 *
 * Return: the service, or an error pointer.
 */
struct svc_serv *echo_service(bool backward)
{
	struct svc_serv *serv;
	int ret;

	serv = svc_create(&program, ECHO_MAX_DATA, thread);
	if (!serv)
		return ERR_PTR(-ENOMEM);
	if (backward)
		set_bc_enabled(serv);
	ret = echo_set_threads(serv, ECHO_THREADS);
	if (ret) {
		echo_service_end(serv, NULL);
		return ERR_PTR(ret);
	}
	return serv;
}

/**
 * echo_service_end - end a service
 * @serv: service
 * @net: network namespace of its listener, or NULL
 */
void echo_service_end(struct svc_serv *serv, struct net *net)
{
	unsigned int threads = serv->sv_nrthreads;

	echo_set_threads(serv, 0);
	while (threads--)
		wait_for_completion(&thread_gone);
	if (net) {
		echo_destroy_xprts(serv, net);
		echo_peers_wait();
	}
	svc_destroy(&serv);
}
