/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An RPC program that sends Calls in both directions of one connection, and verifies
 * the data of Calls and Replies. See control.c.
 */
#ifndef _RPCRDMA2_ECHO_H
#define _RPCRDMA2_ECHO_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/workqueue.h>

/* The transport's ident in rpc_create_args, see xprtrdma2.h */
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
	/* maximum of the data of a Reply in the head of its buffer */
	ECHO_MAX_HEAD		= 8192,
	/* longest time in milliseconds that the service holds a Call */
	ECHO_MAX_HOLD		= 60000,

	/* maximum of outstanding Calls in one direction; threads of a service */
	ECHO_WINDOW		= 256,
	ECHO_THREADS		= 24,
};

/*
 * ea_flags, for the service:
 * @ECHO_HEAD: encode the data of the Reply in the head of its buffer, not in pages
 * @ECHO_MEET: delay the Reply until a Call of the other direction with the same XID
 *	arrives, for two seconds at most
 */
enum {
	ECHO_HEAD	= 1,
	ECHO_MEET	= 2,
};

/**
 * struct echo_args - arguments of a Call; the data follow
 * @ea_seed: of the data; the Reply's data have the complement as seed
 * @ea_want: requested bytes of data in the Reply
 * @ea_flags: ECHO_...
 * @ea_hold: delay of the Reply in milliseconds
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
 * struct echo_res - results in a Reply; the data follow
 * @er_seed: seed of the Call
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
 * struct echo_peer - a connection on which the service may send Calls
 * @ep_list: entry in the list of all peers
 * @ep_ref: references of the list and of runs
 * @ep_svc: the connection
 * @ep_clnt: RPC client for backward Calls
 * @ep_user: callback for the close of the connection
 * @ep_gone: removes the peer from the list after the close
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
 * @ec_args: arguments
 * @ec_res: results
 * @ec_base: offset of the data in their first page
 * @ec_ddp: the data of the Call are DDP-eligible
 * @ec_reply_ddp: the data of the Reply are DDP-eligible
 * @ec_pages: data of the Call
 * @ec_reply: buffer for the data of a Reply in pages
 * @ec_head: buffer for the data of a Reply in the head
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
