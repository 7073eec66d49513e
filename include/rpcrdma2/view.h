/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of the connections of both ends: a file in /proc/net/rpc of each
 * network namespace, and the fields that have the same meaning in both files.
 */
#ifndef _RPCRDMA2_VIEW_H
#define _RPCRDMA2_VIEW_H

#include <linux/atomic.h>
#include <linux/seq_file.h>
#include <linux/time64.h>

#include <net/net_namespace.h>

#include <rpcrdma2/props.h>
#include <rpcrdma2/wire.h>

/**
 * struct rpcrdma2_errors - number of RDMA2_ERROR messages on a connection
 * @er_codes: number for each code
 */
struct rpcrdma2_errors {
	atomic_t	er_codes[RDMA2_ERR_SYSTEM + 1];
};

/**
 * rpcrdma2_errors_count - count an error
 * @er: errors of a connection
 * @code: error code, perhaps unknown
 *
 * Context: any.
 */
static inline void rpcrdma2_errors_count(struct rpcrdma2_errors *er, u32 code)
{
	if (code <= RDMA2_ERR_SYSTEM)
		atomic_inc(&er->er_codes[code]);
}

/**
 * rpcrdma2_errors_show - print " errors=NAME:COUNT,...", or nothing
 * @seq: output
 * @er: errors of a connection
 */
void rpcrdma2_errors_show(struct seq_file *seq, const struct rpcrdma2_errors *er);

/**
 * struct rpcrdma2_backward - number of backward Calls on a connection
 * @bw_calls: Calls that a server has posted, or that a client has passed to its
 *	service
 * @bw_read_chunks: Read chunks of these Calls
 * @bw_write_chunks: Write chunks of these Calls
 * @bw_reply_chunks: Reply chunks of these Calls
 * @bw_invs: Replies to these Calls that were sent with invalidation
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
 * @bw: backward Calls of a connection
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
 * @seq: output
 * @bw: backward Calls of a connection
 * @used: credits in use
 */
void rpcrdma2_backward_show(struct seq_file *seq,
			    const struct rpcrdma2_backward *bw, unsigned int used);

/**
 * rpcrdma2_peer_show - print " rbsiz=BYTES brs=LEVEL" as announced
 * @seq: output
 * @pp: properties of the peer; nothing is printed before it has announced any
 */
void rpcrdma2_peer_show(struct seq_file *seq, const struct rpcrdma2_peer_props *pp);

/**
 * rpcrdma2_error_show - print " error=ERRNO error_ago=SECONDS"
 * @seq: output
 * @error: negative errno; nothing is printed for 0
 * @at: time of the error, in seconds since boot
 */
void rpcrdma2_error_show(struct seq_file *seq, int error, time64_t at);

/**
 * rpcrdma2_word_show - print " key=text", the text as one word
 * @seq: output
 * @key: name
 * @text: text; blanks are printed as "-"
 */
void rpcrdma2_word_show(struct seq_file *seq, const char *key, const char *text);

/*
 * Create and remove the file. sunrpc provides the directory. No transport
 * depends on the file.
 */
void rpcrdma2_view_make(struct net *net, const char *path,
			int (*show)(struct seq_file *seq, void *unused));
void rpcrdma2_view_remove(struct net *net, const char *path);

/*
 * RPCRDMA2_VIEW - define the operations that keep a file in each network
 * namespace
 * @_ops: name of the operations, for register_pernet_subsys()
 * @_path: path of the file, below /proc/net
 * @_show: prints the file; the namespace is in seq->private
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
