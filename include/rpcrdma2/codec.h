/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transport headers to and from the wire, whatever their version.
 *
 * This is the border: what has passed rpcrdma2_decode_hdr() is trusted, and
 * nothing leaves but through rpcrdma2_encode_hdr(). Pure functions; no
 * allocation; any context. A message lies in one piece of memory.
 */
#ifndef _RPCRDMA2_CODEC_H
#define _RPCRDMA2_CODEC_H

#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/header.h>

/**
 * rpcrdma2_is_excess - is a Call refused for nothing but its size?
 * @verdict: of rpcrdma2_decode_hdr()
 *
 * Its lists are well-formed then, and hold more than the decoded form does.
 */
static inline bool rpcrdma2_is_excess(enum rpcrdma2_errcode verdict)
{
	return verdict == RDMA2_ERR_READ_CHUNKS ||
	       verdict == RDMA2_ERR_WRITE_CHUNKS ||
	       verdict == RDMA2_ERR_SEGMENTS;
}

/**
 * rpcrdma2_decode_hdr - read and judge the transport header of a message
 * @h: to be filled
 * @base: the whole message received, in one piece
 * @len: its octets
 *
 * One bounded pass: steps 1 to 8 of the responder's order of checks, 2.5 of
 * Documentation/protocol.rst. On RDMA2_OK all of @h is valid, and h_len is the
 * header's length. Behind that lies the RPC message of a MSG, the body of a
 * property message, or whatever follows the body of an RDMA2_OPTIONAL. Octets
 * after a NOMSG or an ERROR mean nothing (S07).
 *
 * Otherwise only h_xid, h_vers, h_credit, h_proc and h_direction are valid,
 * and after RDMA2_DROP perhaps not even these; h_len is not past the end of the
 * message, but for one that has no prefix. When rpcrdma2_is_excess(), a
 * list that is not empty has an h_nreads or h_nwrites that is not 0.
 * h_direction tells what an error verdict asks for:
 *
 * * RDMA2_CALL: answer it, rpcrdma2_set_error();
 * * RDMA2_REPLY: end the RPC it answers, if there is one, with -EIO; send
 *   nothing (C-078);
 * * RDMA2_NODIR: a server takes it for a Call; a client drops it (S06), or
 *   in version 1, where only a Reply with chunks comes without a direction, ends
 *   the RPC of that xid.
 *
 * Return: RDMA2_OK; the code the draft demands; or RDMA2_DROP for what must
 * be discarded in silence (E-22, S31, S38, S39).
 */
enum rpcrdma2_errcode
rpcrdma2_decode_hdr(struct rpcrdma2_hdr *h, const void *base, u32 len);

/**
 * rpcrdma2_hdr_size - octets rpcrdma2_encode_hdr() produces
 * @h: header to be sent
 *
 * Without the body of a property message or of an RDMA2_OPTIONAL.
 */
size_t rpcrdma2_hdr_size(const struct rpcrdma2_hdr *h);

/**
 * rpcrdma2_encode_hdr - lay out a transport header in the form of its version
 * @to: where; there are RPCRDMA2_HDR_MAX octets, or as many as it takes
 * @h: what; chunk lengths and counts are checked against its segments
 *
 * The body of a property message (propset.h) or of an RDMA2_OPTIONAL is
 * appended by the caller; so is the RPC message of a MSG.
 *
 * Return: rpcrdma2_hdr_size() of it; -EINVAL when the header breaks a rule of
 * sending, with nothing written.
 */
int rpcrdma2_encode_hdr(void *to, const struct rpcrdma2_hdr *h);

/* The words of an RPC message that the transport looks at: xid, msg_type */
#define RPCRDMA2_RPC_PEEK	(2 * XDR_UNIT)

/*
 * The header of a Call, RFC 5531: six words, then credential and verifier,
 * each a flavor, a length and a body
 */
#define RPCRDMA2_CALL_FIXED	(6 * XDR_UNIT)
#define RPCRDMA2_CALL_FLAVOR	6
#define RPCRDMA2_AUTH_MAX	400
#define RPCRDMA2_CALL_HDR_MIN	(RPCRDMA2_CALL_FIXED + 4 * XDR_UNIT)

/**
 * rpcrdma2_call_hdr_len - where the header of an RPC Call ends
 * @p: the Call, from its xid
 * @len: octets of it that are there
 *
 * The lengths of credential and verifier come from the peer.
 *
 * Return: octets up to the end of the verifier; 0 when not all of them are
 * there, or a body is longer than it may be.
 */
u32 rpcrdma2_call_hdr_len(const __be32 *p, u32 len);

/**
 * rpcrdma2_sendable - does a header keep the rules of sending?
 * @h: header about to be encoded
 *
 * C-067, C-072, S05 to S10, S47. A credit of zero is never sent (B-07, C-077,
 * S26). That rdma_xid and rdma_direction equal the words of the RPC message
 * (C-067, S08) is for the caller to see to: the message is not at hand here.
 */
bool rpcrdma2_sendable(const struct rpcrdma2_hdr *h);

#endif /* _RPCRDMA2_CODEC_H */
