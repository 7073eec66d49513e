/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Encoding and decoding of transport headers of any version.
 *
 * This is the trust boundary: a header that has passed rpcrdma2_decode_hdr() is
 * trusted, and every header to be sent passes through rpcrdma2_encode_hdr().
 * Pure functions; no allocation; any context. A message is contiguous in
 * memory.
 */
#ifndef _RPCRDMA2_CODEC_H
#define _RPCRDMA2_CODEC_H

#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/header.h>

/**
 * rpcrdma2_is_excess - check whether a Call was refused only for its size
 * @verdict: result of rpcrdma2_decode_hdr()
 *
 * The lists of such a Call are well-formed, but exceed the decoded form.
 */
static inline bool rpcrdma2_is_excess(enum rpcrdma2_errcode verdict)
{
	return verdict == RDMA2_ERR_READ_CHUNKS ||
	       verdict == RDMA2_ERR_WRITE_CHUNKS ||
	       verdict == RDMA2_ERR_SEGMENTS;
}

/**
 * rpcrdma2_decode_hdr - decode and check the transport header of a message
 * @h: header to fill
 * @base: the whole message received, contiguous
 * @len: length of the message
 *
 * The decoder makes one bounded pass: steps 1 to 8 of the responder's order of
 * checks, 2.5 of Documentation/protocol.rst. On RDMA2_OK all of @h is valid,
 * and h_len is the length of the header. It is followed by the RPC message of a
 * MSG, the body of a property message, or any bytes after the body of an
 * RDMA2_OPTIONAL. Bytes after a NOMSG or an ERROR are ignored (S07).
 *
 * Otherwise only h_xid, h_vers, h_credit, h_proc and h_direction are valid, and
 * after RDMA2_DROP perhaps not even these; h_len is not past the end of the
 * message, unless the message is shorter than the prefix. If
 * rpcrdma2_is_excess(), a list that is not empty has a nonzero h_nreads or
 * h_nwrites. h_direction determines the reaction to an error verdict:
 *
 * * RDMA2_CALL: answer it with rpcrdma2_set_error();
 * * RDMA2_REPLY: end the RPC that it answers, if there is one, with -EIO; send
 *   nothing (C-078);
 * * RDMA2_NODIR: a server treats it as a Call; a client drops it (S06), or in
 *   version 1, where only a Reply with chunks comes without a direction, ends
 *   the RPC of that xid.
 *
 * Return: RDMA2_OK; the code that the draft requires; or RDMA2_DROP for a
 * message that must be discarded silently (E-22, S31, S38, S39).
 */
enum rpcrdma2_errcode
rpcrdma2_decode_hdr(struct rpcrdma2_hdr *h, const void *base, u32 len);

/**
 * rpcrdma2_hdr_size - length of the header that rpcrdma2_encode_hdr() produces
 * @h: header to send
 *
 * The body of a property message or of an RDMA2_OPTIONAL is not included.
 */
size_t rpcrdma2_hdr_size(const struct rpcrdma2_hdr *h);

/**
 * rpcrdma2_encode_hdr - encode a transport header in the format of its version
 * @to: buffer of RPCRDMA2_HDR_MAX bytes, or of rpcrdma2_hdr_size()
 * @h: header; chunk lengths and counts are checked against its segments
 *
 * The caller appends the body of a property message (propset.h) or of an
 * RDMA2_OPTIONAL, and the RPC message of a MSG.
 *
 * Return: rpcrdma2_hdr_size() of @h; -EINVAL if the header breaks a rule of
 * sending, with nothing written.
 */
int rpcrdma2_encode_hdr(void *to, const struct rpcrdma2_hdr *h);

/* The words of an RPC message that the transport reads: xid, msg_type */
#define RPCRDMA2_RPC_PEEK	(2 * XDR_UNIT)

/*
 * The header of a Call, RFC 5531: six words, then credential and verifier, both
 * with a flavor, a length and a body
 */
#define RPCRDMA2_CALL_FIXED	(6 * XDR_UNIT)
#define RPCRDMA2_CALL_FLAVOR	6
#define RPCRDMA2_AUTH_MAX	400
#define RPCRDMA2_CALL_HDR_MIN	(RPCRDMA2_CALL_FIXED + 4 * XDR_UNIT)

/**
 * rpcrdma2_call_hdr_len - length of the header of an RPC Call
 * @p: the Call, from its xid
 * @len: bytes of the Call that are available
 *
 * The lengths of credential and verifier come from the peer.
 *
 * Return: length up to the end of the verifier; 0 if the header is incomplete,
 * or a body exceeds its limit.
 */
u32 rpcrdma2_call_hdr_len(const __be32 *p, u32 len);

/**
 * rpcrdma2_sendable - check whether a header obeys the rules of sending
 * @h: header about to be encoded
 *
 * The rules are C-067, C-072, S05 to S10, and S47. A credit of zero is never
 * sent (B-07, C-077, S26). The caller ensures that rdma_xid and rdma_direction
 * equal the words of the RPC message (C-067, S08), which is not available here.
 */
bool rpcrdma2_sendable(const struct rpcrdma2_hdr *h);

#endif /* _RPCRDMA2_CODEC_H */
