/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An RPC program that sends what it is told to in both directions of one
 * connection, and verifies what it gets. See control.c.
 */
#ifndef _RPCRDMA2_ECHO_H
#define _RPCRDMA2_ECHO_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/workqueue.h>

/* The ident by which a client asks for the transport, see xprtrdma2.h */
#ifdef XPRT_TRANSPORT_RDMA2
#define ECHO_IDENT		XPRT_TRANSPORT_RDMA2
#else
#define ECHO_IDENT		XPRT_TRANSPORT_RDMA
#endif

enum {
	ECHO_PROGRAM		= 0x20070100,	/* for private use */
	ECHO_VERSION		= 1,

	ECHO_PROC_NULL		= 0,
	ECHO_PROC_ECHO		= 1,
	/* the client takes Calls on this connection */
	ECHO_PROC_BIND		= 2,
	ECHO_NPROCS,

	ECHO_MAX_DATA		= 1 << 20,
	/* data of a Reply that is decoded from the head of the buffer */
	ECHO_MAX_HEAD		= 8192,
	/* milliseconds until a Reply, unless it is released before */
	ECHO_MAX_HOLD		= 60000,

	/* most Calls of one direction at once, and threads that take them */
	ECHO_WINDOW		= 64,
	ECHO_THREADS		= 24,
};

/*
 * ea_flags, for the service:
 * @ECHO_HEAD: the data of the Reply in the head of its buffer, not in pages
 * @ECHO_MEET: no Reply before a Call of the other direction with the same xid
 *	has come, or for two seconds
 */
enum {
	ECHO_HEAD	= 1,
	ECHO_MEET	= 2,
};

/**
 * struct echo_args - of a Call; its data follow
 * @ea_seed: of its data; those of the Reply have the complement
 * @ea_want: bytes of data wanted in the Reply
 * @ea_flags: ECHO_...
 * @ea_hold: milliseconds that the service waits before it replies
 * @ea_len: bytes of data
 */
struct echo_args {
	u32	ea_seed;
	u32	ea_want;
	u32	ea_flags;
	u32	ea_hold;
	u32	ea_len;
};

/**
 * struct echo_res - of a Reply; its data follow
 * @er_seed: that of the Call
 * @er_bad: 0, or 1 + the offset of the first byte of the Call's data that is wrong
 * @er_len: bytes of data
 */
struct echo_res {
	u32	er_seed;
	u32	er_bad;
	u32	er_len;
};

enum {
	ECHO_ARGS_WORDS	= sizeof(struct echo_args) / 4,
	ECHO_RES_WORDS	= sizeof(struct echo_res) / 4,
};

/* control.c */
extern struct workqueue_struct *echo_wq;

/* data.c */
struct page **echo_pages_alloc(unsigned int count);
void echo_pages_free(struct page **pages);
void echo_fill(void *to, u32 seed, u32 offset, u32 len);
u32 echo_check(const void *from, u32 seed, u32 offset, u32 len);
void echo_fill_pages(struct page **pages, u32 base, u32 seed, u32 len);
u32 echo_check_pages(struct page **pages, u32 base, u32 seed, u32 len);

/* service.c */
extern atomic_t echo_met, echo_alone, echo_holding;

void echo_release(void);
struct svc_serv *echo_service(bool backward);
void echo_service_end(struct svc_serv *serv, struct net *net);

/* peers.c */
int echo_peer_add(struct svc_xprt *sx);
void echo_peers_kill(void);
void echo_peers_wait(void);

/**
 * struct echo_peer - a connection that the service may call back on
 * @ep_list: in the list of all
 * @ep_ref: the list's and those of runs
 * @ep_svc: the connection
 * @ep_clnt: calls on it
 * @ep_user: is told when it is closed
 * @ep_gone: takes it out of the list then
 */
struct echo_peer {
	struct list_head	ep_list;
	struct kref		ep_ref;
	struct svc_xprt		*ep_svc;
	struct rpc_clnt		*ep_clnt;
	struct svc_xpt_user	ep_user;
	struct work_struct	ep_gone;
};

struct echo_peer *echo_peer_get(unsigned int index);
void echo_peer_put(struct echo_peer *peer);
extern unsigned int echo_backward_timeout;

/* client.c */

/**
 * struct echo_call - one RPC
 * @ec_args: what the service is told
 * @ec_res: what it answered
 * @ec_base: where in the first page the data begin
 * @ec_ddp: whether the transport may move data of the Call apart from it
 * @ec_reply_ddp: and those of the Reply
 * @ec_pages: data of the Call
 * @ec_reply: room for the data of the Reply, in pages
 * @ec_head: and in the head
 */
struct echo_call {
	struct echo_args	ec_args;
	struct echo_res		ec_res;
	u32			ec_base;
	bool			ec_ddp;
	bool			ec_reply_ddp;
	struct page		**ec_pages;
	struct page		**ec_reply;
	void			*ec_head;
};

struct echo_call *echo_call_alloc(u32 base, u32 call_max, u32 reply_max);
void echo_call_free(struct echo_call *call);
int echo_call(struct rpc_clnt *clnt, int flags, struct echo_call *call);
struct rpc_clnt *echo_clnt(struct net *net, struct sockaddr *sap, size_t salen,
			   struct svc_xprt *bc_xprt, unsigned int nconnect,
			   unsigned int timeout);
int echo_bind(struct rpc_clnt *clnt);

/* run.c */
int echo_run(struct rpc_clnt *clnt, char *words);
void echo_run_halt(void);
void echo_run_unhalt(void);
int echo_run_print(char *to, size_t size);

#endif /* _RPCRDMA2_ECHO_H */
