/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the wire have in common: those that read and lay out
 * headers and property messages, and nothing else.
 */
#ifndef _RPCRDMA2_WIRE_H
#define _RPCRDMA2_WIRE_H

#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/codec.h>
#include <rpcrdma2/error.h>
#include <rpcrdma2/propset.h>

/* chunks.c */

/**
 * struct rpcrdma2_excess - what did not fit into the decoded form
 * @ex_reads: Read chunks were left out
 * @ex_zero: among them was the Position-Zero chunk
 * @ex_writes: Write chunks were left out
 * @ex_segs: segments were left out
 */
struct rpcrdma2_excess {
	bool	ex_reads;
	bool	ex_zero;
	bool	ex_writes;
	bool	ex_segs;
};

/**
 * rpcrdma2_decode_chunks - read the three lists
 * @h: to be filled; its counts are zero on entry
 * @ex: what did not fit; false on entry
 * @xdr: received message, standing at the Read list
 *
 * Return: RDMA2_OK with the stream behind the lists, or RDMA2_ERR_BAD_XDR
 * (C-081).
 */
enum rpcrdma2_errcode
rpcrdma2_decode_chunks(struct rpcrdma2_hdr *h, struct rpcrdma2_excess *ex,
		       struct xdr_stream *xdr);

/* Octets rpcrdma2_encode_chunks() adds to three empty lists */
size_t rpcrdma2_chunks_size(const struct rpcrdma2_hdr *h);

/**
 * rpcrdma2_encode_chunks - lay out the three lists
 * @p: where; rpcrdma2_chunks_size() + 12 octets of room
 * @h: chunks that rpcrdma2_chunks_sendable() has passed
 *
 * Return: where the lists end.
 */
__be32 *rpcrdma2_encode_chunks(__be32 *p, const struct rpcrdma2_hdr *h);

/* payload.c */

/**
 * struct rpcrdma2_payload - the RPC message behind the header
 * @pl_xid: its xid
 * @pl_type: its msg_type
 * @pl_len: octets in the message received; less than RPCRDMA2_RPC_PEEK when
 *	the fields above could not be read
 * @pl_hdr: octets of the header of a Call, see rpcrdma2_peek_call_hdr()
 */
struct rpcrdma2_payload {
	u32	pl_xid;
	u32	pl_type;
	u32	pl_len;
	u32	pl_hdr;
};

/* Looks ahead; the stream stays where it is, at the end of the header. */
void rpcrdma2_peek_payload(struct rpcrdma2_payload *pl,
			   const struct xdr_stream *xdr);

/* Only Read chunks make it necessary to know where the RPC header ends. */
void rpcrdma2_peek_call_hdr(struct rpcrdma2_payload *pl,
			    const struct xdr_stream *xdr);

/*
 * When Read chunks were left out the sums do not add up, and positions say
 * nothing; the verdict is READ_CHUNKS next. What is in a Position-Zero chunk
 * has not been read: where the RPC header ends in it is the responder's to find
 * out.
 */
bool rpcrdma2_call_agrees(const struct rpcrdma2_hdr *h,
			  const struct rpcrdma2_payload *pl,
			  const struct rpcrdma2_excess *ex);

/* S07, S10, E-06, E-22: a Reply chunk of no octets is one not used */
bool rpcrdma2_reply_agrees(const struct rpcrdma2_hdr *h,
			   const struct rpcrdma2_payload *pl);

/* version1.c */

/**
 * rpcrdma2_decode_v1 - read what follows rdma_proc in version 1
 * @h: prefix filled, h_direction RDMA2_NODIR, counts zero
 * @ex: what did not fit; false on entry
 * @xdr: received message, standing behind rdma_proc
 *
 * Return: a verdict of steps 3 to 6. The direction of a MSG or NOMSG is yet
 * unknown: rpcrdma2_infer_direction().
 */
enum rpcrdma2_errcode
rpcrdma2_decode_v1(struct rpcrdma2_hdr *h, struct rpcrdma2_excess *ex,
		   struct xdr_stream *xdr);

/**
 * rpcrdma2_infer_direction - tell a version 1 Call from a Reply
 * @h: MSG or NOMSG with its lists
 * @pl: the RPC message behind the header
 *
 * A MSG says so itself. The receiver of a NOMSG Call reads it, the sender of a
 * NOMSG Reply has written it.
 *
 * Return: enum rpcrdma2_direction.
 */
u32 rpcrdma2_infer_direction(const struct rpcrdma2_hdr *h,
			     const struct rpcrdma2_payload *pl);

/* Octets of a version 1 header */
size_t rpcrdma2_size_v1(const struct rpcrdma2_hdr *h);

/* What follows rdma_proc in version 1; the header has passed its checks */
__be32 *rpcrdma2_encode_v1(__be32 *p, const struct rpcrdma2_hdr *h);

/* version2.c */

/**
 * rpcrdma2_decode_v2 - read what follows rdma_proc in version 2
 * @h: prefix filled, h_direction RDMA2_NODIR, counts zero
 * @ex: what did not fit; false on entry
 * @xdr: received message, standing behind rdma_proc
 *
 * Return: a verdict of steps 4 to 6.
 */
enum rpcrdma2_errcode
rpcrdma2_decode_v2(struct rpcrdma2_hdr *h, struct rpcrdma2_excess *ex,
		   struct xdr_stream *xdr);

/* Octets of a version 2 header */
size_t rpcrdma2_size_v2(const struct rpcrdma2_hdr *h);

/* What follows rdma_proc in version 2; the header has passed its checks */
__be32 *rpcrdma2_encode_v2(__be32 *p, const struct rpcrdma2_hdr *h);

/* error.c */

/**
 * rpcrdma2_error_args - words that follow rdma_err
 * @vers: version of the header
 * @code: rdma_err
 *
 * Version 1 knows ERR_VERS and ERR_CHUNK; what else it may say is a bare code.
 *
 * Return: 0 to 2; 0 for a code unknown to the version (S43).
 */
unsigned int rpcrdma2_error_args(u32 vers, u32 code);

/**
 * rpcrdma2_decode_error - read the body of RDMA2_ERROR
 * @h: version already known; h_direction and h_error are filled
 * @xdr: received message, standing behind rdma_proc
 *
 * S02: no direction word; an error is a Reply (C-071). S43: an unknown code is
 * passed on, whatever follows it.
 *
 * Return: RDMA2_OK or RDMA2_ERR_BAD_XDR.
 */
enum rpcrdma2_errcode
rpcrdma2_decode_error(struct rpcrdma2_hdr *h, struct xdr_stream *xdr);

/* C-062: exactly the words of the code, nothing behind them */
__be32 *rpcrdma2_encode_error(__be32 *p, const struct rpcrdma2_hdr *h);

/* Ten codes in version 2, two in version 1; S36: VERS under any version */
bool rpcrdma2_error_sendable(const struct rpcrdma2_hdr *h);

/* props.c */

/**
 * struct rpcrdma2_prop_row - one property
 * @row_which: rpcrdma2_propid
 * @row_size: octets of the value, on the wire as in struct rpcrdma2_props
 * @row_offset: of the value in struct rpcrdma2_props
 * @row_valid: check
 * @row_wish: rule
 */
struct rpcrdma2_prop_row {
	u32	row_which;
	u16	row_size;
	u16	row_offset;
	bool	(*row_valid)(const u32 *value);
	enum rpcrdma2_wish (*row_wish)(const u32 *want, const u32 *now,
				       const u32 *able, u32 *other);
};

extern const struct rpcrdma2_prop_row rpcrdma2_prop_rows[];

/* The row of a property, or RPCRDMA2_NPROPS (C-108: ids are not dense) */
enum rpcrdma2_prop rpcrdma2_prop_find(u32 which);

u32 *rpcrdma2_prop_value(struct rpcrdma2_props *pr, enum rpcrdma2_prop r);

const u32 *rpcrdma2_prop_value_const(const struct rpcrdma2_props *pr,
				     enum rpcrdma2_prop r);

/**
 * rpcrdma2_props_copy - take over the values of some properties
 * @to: where
 * @from: whence
 * @rows: which
 */
void rpcrdma2_props_copy(struct rpcrdma2_props *to,
			 const struct rpcrdma2_props *from, u32 rows);

#endif /* _RPCRDMA2_WIRE_H */
