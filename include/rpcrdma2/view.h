/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What both ends show of their connections: a file in /proc/net/rpc of each network
 * namespace, and the words that mean the same in both files.
 */
#ifndef _RPCRDMA2_VIEW_H
#define _RPCRDMA2_VIEW_H

#include <linux/atomic.h>
#include <linux/seq_file.h>
#include <linux/time64.h>

#include <net/net_namespace.h>

#include <rpcrdma2/exchange.h>
#include <rpcrdma2/header.h>
#include <rpcrdma2/proto.h>

/**
 * struct rpcrdma2_errors - how many RDMA2_ERROR messages a connection has seen
 * @er_codes: by code
 */
struct rpcrdma2_errors {
	atomic_t	er_codes[RDMA2_ERR_SYSTEM + 1];
};

/**
 * rpcrdma2_errors_count - one more
 * @er: of a connection
 * @code: its code, which a peer may have made up
 *
 * Context: any.
 */
static inline void rpcrdma2_errors_count(struct rpcrdma2_errors *er, u32 code)
{
	if (code <= RDMA2_ERR_SYSTEM)
		atomic_inc(&er->er_codes[code]);
}

/**
 * rpcrdma2_errors_show - print " errors=NAME:COUNT,..."; nothing where there were none
 * @seq: where to
 * @er: of a connection
 */
void rpcrdma2_errors_show(struct seq_file *seq, const struct rpcrdma2_errors *er);

/**
 * struct rpcrdma2_backward - what there was of backward Calls on a connection
 * @bw_calls: Calls that a server has posted, or that a client's service was given
 * @bw_read_chunks: Read chunks that these offer
 * @bw_write_chunks: Write chunks
 * @bw_reply_chunks: Reply chunks
 * @bw_invs: their Replies that were sent with invalidation
 */
struct rpcrdma2_backward {
	atomic_long_t	bw_calls;
	atomic_long_t	bw_read_chunks;
	atomic_long_t	bw_write_chunks;
	atomic_long_t	bw_reply_chunks;
	atomic_long_t	bw_invs;
};

/**
 * rpcrdma2_backward_chunks - count the chunks of a backward Call
 * @bw: of a connection
 * @h: header
 *
 * Context: any.
 */
static inline void rpcrdma2_backward_chunks(struct rpcrdma2_backward *bw,
					    const struct rpcrdma2_hdr *h)
{
	atomic_long_add(h->h_nreads, &bw->bw_read_chunks);
	atomic_long_add(h->h_nwrites, &bw->bw_write_chunks);
	atomic_long_add(h->h_has_reply, &bw->bw_reply_chunks);
}

/**
 * rpcrdma2_backward_show - print " backward_used=COUNT", and so on
 * @seq: where to
 * @bw: of a connection
 * @used: credits in use
 */
void rpcrdma2_backward_show(struct seq_file *seq,
			    const struct rpcrdma2_backward *bw, unsigned int used);

/**
 * rpcrdma2_peer_show - print " rbsiz=OCTETS brs=LEVEL", as the peer said them
 * @seq: where to
 * @pp: properties of the peer; nothing is printed before it has said any
 */
void rpcrdma2_peer_show(struct seq_file *seq, const struct rpcrdma2_peer_props *pp);

/**
 * rpcrdma2_error_show - print " error=ERRNO error_ago=SECONDS"
 * @seq: where to
 * @error: negative errno; nothing is printed for 0
 * @at: when, in seconds since boot
 */
void rpcrdma2_error_show(struct seq_file *seq, int error, time64_t at);

/**
 * rpcrdma2_word_show - print " key=text", the text as one word
 * @seq: where to
 * @key: name
 * @text: text; a "-" stands for each blank
 */
void rpcrdma2_word_show(struct seq_file *seq, const char *key, const char *text);

/* Their file; sunrpc has made the folder. No transport depends on the file. */
void rpcrdma2_view_make(struct net *net, const char *path,
			int (*show)(struct seq_file *seq, void *unused));
void rpcrdma2_view_remove(struct net *net, const char *path);

/*
 * RPCRDMA2_VIEW - define the operations that keep a file in each network namespace
 * @_ops: their name, for register_pernet_subsys()
 * @_path: of the file, below /proc/net
 * @_show: prints it; the namespace is in seq->private
 */
#define RPCRDMA2_VIEW(_ops, _path, _show)				\
	static int __net_init _ops##_make(struct net *net)		\
	{								\
		rpcrdma2_view_make(net, _path, _show);			\
		return 0;						\
	}								\
	static void __net_exit _ops##_remove(struct net *net)		\
	{								\
		rpcrdma2_view_remove(net, _path);			\
	}								\
	static struct pernet_operations _ops = {			\
		.init	= _ops##_make,					\
		.exit	= _ops##_remove,				\
	}

#endif /* _RPCRDMA2_VIEW_H */
