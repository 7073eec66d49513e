/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the backward direction offer. Part of xprtrdma2.h, which is at its
 * largest.
 */
#ifndef _XPRTRDMA2_CALLBACK_H
#define _XPRTRDMA2_CALLBACK_H

/* callback.c */
struct xprt2_req *xprt2_backward_req(struct xprt2_xprt *xp, bool last, gfp_t gfp);
int xprt2_backward_reserve(struct xprt2_xprt *xp, unsigned int want);
u32 xprt2_longest_call(struct rpc_xprt *xprt);
bool xprt2_give_call(struct xprt2_req *req);
int xprt2_post_backward(struct xprt2_ep *ep, struct xprt2_req *req,
			size_t hdrlen, u32 proc);
int xprt2_post_reply(struct xprt2_ep *ep, struct xprt2_req *req,
		     struct rpcrdma2_hdr *h, bool apart);
bool xprt2_send_error(struct xprt2_ep *ep, struct rpcrdma2_hdr *h);

/* backchannel.c */
int xprt2_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs);
void xprt2_bc_destroy(struct rpc_xprt *xprt, unsigned int max_reqs);
size_t xprt2_bc_maxpayload(struct rpc_xprt *xprt);
unsigned int xprt2_bc_num_slots(struct rpc_xprt *xprt);
void xprt2_bc_free_rqst(struct rpc_rqst *rqst);
void xprt2_backward_measure(struct xprt2_ep *ep);
void xprt2_handle_call(struct xprt2_ep *ep, struct xprt2_rep *rep,
		       struct rpcrdma2_msg *msg);
int xprt2_reserve(struct rpc_xprt *xprt, struct rpc_task *task);
void xprt2_replies_first(struct rpc_xprt *xprt);
void xprt2_release(struct rpc_xprt *xprt, struct rpc_task *task);
int xprt2_send_backward(struct rpc_rqst *rqst);

/* chunked.c */
void xprt2_chunked_init(struct xprt2_ep *ep);
void xprt2_chunked_stop(struct xprt2_ep *ep);
void xprt2_chunked_flush(struct xprt2_ep *ep);
void xprt2_chunked_room(struct xprt2_ep *ep);
bool xprt2_chunked_new(struct xprt2_ep *ep, struct xprt2_req *req,
		       const struct rpcrdma2_msg *msg);
bool xprt2_is_chunked(const struct xprt2_req *req);
bool xprt2_chunked_read(struct xprt2_req *req, u32 most);
int xprt2_chunked_hold(struct xprt2_ep *ep, struct xprt2_req *req);
bool xprt2_chunked_reply(struct xprt2_ep *ep, struct xprt2_req *req,
			 struct rpcrdma2_hdr *h);

#endif /* _XPRTRDMA2_CALLBACK_H */
