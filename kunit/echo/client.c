// SPDX-License-Identifier: GPL-2.0
/*
 * The client side of one RPC, in either direction: encodes the Call, and verifies
 * the Reply.
 */
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>

#include "echo.h"

static void encode_void(struct rpc_rqst *rqst, struct xdr_stream *xdr,
			const void *obj)
{
}

static int decode_void(struct rpc_rqst *rqst, struct xdr_stream *xdr, void *obj)
{
	return 0;
}

static void encode_call(struct rpc_rqst *rqst, struct xdr_stream *xdr,
			const void *obj)
{
	const struct echo_call *call = obj;
	const struct echo_args *args = &call->ec_args;
	__be32 *p = xdr_reserve_space(xdr, sizeof(*args));

	*p++ = cpu_to_be32(args->ea_seed);
	*p++ = cpu_to_be32(args->ea_want);
	*p++ = cpu_to_be32(args->ea_flags);
	*p++ = cpu_to_be32(args->ea_hold);
	*p = cpu_to_be32(args->ea_len);
	if (args->ea_len) {
		xdr_write_pages(xdr, call->ec_pages, call->ec_base, args->ea_len);
		if (call->ec_ddp)
			xdr->buf->flags |= XDRBUF_WRITE;
	}
	if (args->ea_flags & ECHO_HEAD || !args->ea_want)
		return;
	rpc_prepare_reply_pages(rqst, call->ec_reply, call->ec_base,
				args->ea_want, ECHO_RES_WORDS);
	if (call->ec_reply_ddp)
		rqst->rq_rcv_buf.flags |= XDRBUF_READ;
}

static int decode_reply(struct rpc_rqst *rqst, struct xdr_stream *xdr, void *obj)
{
	struct echo_call *call = obj;
	struct echo_res *res = &call->ec_res;
	__be32 *p = xdr_inline_decode(xdr, sizeof(*res));

	if (!p)
		return -EBADMSG;
	res->er_seed = be32_to_cpup(p++);
	res->er_bad = be32_to_cpup(p++);
	res->er_len = be32_to_cpup(p);
	if (res->er_len != call->ec_args.ea_want)
		return -EBADMSG;
	if (!res->er_len)
		return 0;
	if (!(call->ec_args.ea_flags & ECHO_HEAD))
		return xdr_read_pages(xdr, res->er_len) < res->er_len ? -EBADMSG : 0;
	p = xdr_inline_decode(xdr, res->er_len);
	if (!p)
		return -EBADMSG;
	memcpy(call->ec_head, p, res->er_len);
	return 0;
}

/* ECHO has two entries: the Reply's data in pages, or in the head of its buffer */
enum {
	ECHO_WITH_PAGES	= ECHO_PROC_ECHO,
	ECHO_WITH_HEAD	= ECHO_NPROCS,
	ECHO_NINFOS,
};

static const struct rpc_procinfo procedures[ECHO_NINFOS] = {
	[ECHO_PROC_NULL] = {
		.p_proc		= ECHO_PROC_NULL,
		.p_encode	= encode_void,
		.p_decode	= decode_void,
		.p_name		= "NULL",
	},
	[ECHO_WITH_PAGES] = {
		.p_proc		= ECHO_PROC_ECHO,
		.p_encode	= encode_call,
		.p_decode	= decode_reply,
		.p_arglen	= ECHO_ARGS_WORDS + 1,
		.p_replen	= ECHO_RES_WORDS + 1,
		.p_statidx	= ECHO_WITH_PAGES,
		.p_name		= "ECHO",
	},
	[ECHO_PROC_BIND] = {
		.p_proc		= ECHO_PROC_BIND,
		.p_encode	= encode_void,
		.p_decode	= decode_void,
		.p_statidx	= ECHO_PROC_BIND,
		.p_name		= "BIND",
	},
	[ECHO_WITH_HEAD] = {
		.p_proc		= ECHO_PROC_ECHO,
		.p_encode	= encode_call,
		.p_decode	= decode_reply,
		.p_arglen	= ECHO_ARGS_WORDS + 1,
		.p_replen	= ECHO_RES_WORDS + XDR_QUADLEN(ECHO_MAX_HEAD),
		.p_statidx	= ECHO_WITH_HEAD,
		.p_name		= "ECHO",
	},
};

static unsigned int calls[ECHO_NINFOS];

static const struct rpc_version version = {
	.number		= ECHO_VERSION,
	.nrprocs	= ARRAY_SIZE(procedures),
	.procs		= procedures,
	.counts		= calls,
};

static const struct rpc_version *versions[] = {
	[ECHO_VERSION]	= &version,
};

static struct rpc_stat stats;

static const struct rpc_program program = {
	.name		= "echo",
	.number		= ECHO_PROGRAM,
	.nrvers		= ARRAY_SIZE(versions),
	.version	= versions,
	.stats		= &stats,
};

/**
 * echo_call_free - free an RPC's memory
 * @call: from echo_call_alloc(), or NULL
 */
void echo_call_free(struct echo_call *call)
{
	if (!call)
		return;
	echo_pages_free(call->ec_pages);
	echo_pages_free(call->ec_reply);
	kfree(call->ec_head);
	kfree(call);
}

/**
 * echo_call_alloc - allocate memory that successive RPCs use
 * @base: offset of the data in their first page
 * @call_max: maximum number of bytes of data in a Call
 * @reply_max: the same for a Reply
 *
 * Return: the memory, or NULL.
 */
struct echo_call *echo_call_alloc(u32 base, u32 call_max, u32 reply_max)
{
	struct echo_call *call = kzalloc(sizeof(*call), GFP_KERNEL);

	if (!call)
		return NULL;
	call->ec_base = base;
	call->ec_pages = echo_pages_alloc(PFN_UP(base + call_max));
	call->ec_reply = echo_pages_alloc(PFN_UP(base + reply_max));
	call->ec_head = kmalloc(ECHO_MAX_HEAD, GFP_KERNEL);
	if (call->ec_pages && call->ec_reply && call->ec_head)
		return call;
	echo_call_free(call);
	return NULL;
}

/**
 * echo_call - make an RPC
 * @clnt: RPC client
 * @flags: RPC_TASK_...
 * @call: arguments in ec_args; this function generates the data
 *
 * Return: 0; 1 if either end received a wrong byte; or a negative error.
 */
int echo_call(struct rpc_clnt *clnt, int flags, struct echo_call *call)
{
	const struct echo_args *args = &call->ec_args;
	const struct echo_res *res = &call->ec_res;
	const struct rpc_message msg = {
		.rpc_proc = &procedures[args->ea_flags & ECHO_HEAD ?
					ECHO_WITH_HEAD : ECHO_WITH_PAGES],
		.rpc_argp = call,
		.rpc_resp = call,
	};
	u32 bad;
	int ret;

	memset(&call->ec_res, 0, sizeof(call->ec_res));
	echo_fill_pages(call->ec_pages, call->ec_base, args->ea_seed, args->ea_len);
	ret = rpc_call_sync(clnt, &msg, RPC_TASK_SOFT | flags);
	if (ret)
		return ret < 0 ? ret : -EIO;
	if (args->ea_flags & ECHO_HEAD)
		bad = echo_check(call->ec_head, ~args->ea_seed, 0, res->er_len);
	else
		bad = echo_check_pages(call->ec_reply, call->ec_base,
				       ~args->ea_seed, res->er_len);
	return res->er_seed != args->ea_seed || res->er_bad || bad;
}

/**
 * echo_clnt - create an RPC client
 * @net: network namespace
 * @sap: address of the other end
 * @salen: bytes of @sap
 * @bc_xprt: the connection if the client sends backward Calls; or NULL
 * @nconnect: number of connections
 * @timeout: time limit of an RPC in seconds
 *
 * Return: the client, or an error pointer.
 */
struct rpc_clnt *echo_clnt(struct net *net, struct sockaddr *sap, size_t salen,
			   struct svc_xprt *bc_xprt, unsigned int nconnect,
			   unsigned int timeout)
{
	const struct rpc_timeout to = {
		.to_initval	= timeout * HZ,
		.to_maxval	= timeout * HZ,
	};
	struct rpc_create_args args = {
		.net		= net,
		.protocol	= ECHO_IDENT | (bc_xprt ? XPRT_TRANSPORT_BC : 0),
		.address	= sap,
		.addrsize	= salen,
		.timeout	= &to,
		.servername	= "echo",
		.program	= &program,
		.version	= ECHO_VERSION,
		.authflavor	= RPC_AUTH_NULL,
		.flags		= RPC_CLNT_CREATE_NOPING | RPC_CLNT_CREATE_QUIET,
		.nconnect	= nconnect,
		.bc_xprt	= bc_xprt,
		.cred		= current_cred(),
	};

	if (bc_xprt)
		args.protocol = bc_xprt->xpt_class->xcl_ident | XPRT_TRANSPORT_BC;
	return rpc_create(&args);
}

static const struct rpc_call_ops no_ops;

static int bind_one(struct rpc_clnt *clnt, struct rpc_xprt *xprt, void *data)
{
	const struct rpc_message msg = {
		.rpc_proc = &procedures[ECHO_PROC_BIND],
	};
	struct rpc_task_setup setup = {
		.rpc_client	= clnt,
		.rpc_xprt	= xprt,
		.rpc_message	= &msg,
		.callback_ops	= &no_ops,
		.flags		= RPC_TASK_SOFT,
	};
	struct rpc_task *task = rpc_run_task(&setup);
	int ret;

	if (IS_ERR(task))
		return PTR_ERR(task);
	ret = task->tk_status;
	rpc_put_task(task);
	return ret;
}

/**
 * echo_bind - register each connection for Calls of the service
 * @clnt: RPC client
 *
 * Return: 0 or a negative error.
 */
int echo_bind(struct rpc_clnt *clnt)
{
	return rpc_clnt_iterate_for_each_xprt(clnt, bind_one, NULL);
}
