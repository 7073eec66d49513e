/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Constants of the RPC-over-RDMA wire format, in the order and under the names
 * of draft-cel-nfsv4-rpcrdma-version-two-04 section 6.2, and the limits of this
 * implementation.
 *
 * Identifiers such as C-083 or S10 refer to Documentation/protocol.rst.
 */
#ifndef _RPCRDMA2_PROTO_H
#define _RPCRDMA2_PROTO_H

#include <linux/types.h>

enum rpcrdma2_version {
	RPCRDMA2_VERS_ONE	= 1,
	RPCRDMA2_VERS_TWO	= 2,
};

/* rpcrdma2_xprt_hdr.rdma_direction; the values of msg_type (RFC 5531) */
enum rpcrdma2_direction {
	RDMA2_CALL		= 0,
	RDMA2_REPLY		= 1,
	RDMA2_NODIR		= 2,	/* a verdict: the header has none */
};

enum rpcrdma2_proc {
	RDMA2_MSG		= 0,
	RDMA2_NOMSG		= 1,
	RDMA2_ERROR		= 4,
	RDMA2_OPTIONAL		= 5,
	RDMA2_CONNPROP		= 6,
	RDMA2_REQPROP		= 7,
	RDMA2_RESPROP		= 8,
	RDMA2_UPDPROP		= 9,
};

/* Version 1 has MSG, NOMSG and ERROR under the same values, and these procs. */
enum rpcrdma1_proc {
	RDMA1_MSGP		= 2,	/* read as MSG (E-23) */
	RDMA1_DONE		= 3,	/* ignored (E-22) */
};

enum rpcrdma2_errcode {
	RDMA2_OK		= 0,	/* a verdict, never on the wire */
	RDMA2_ERR_VERS		= 1,
	RDMA2_ERR_BAD_XDR	= 2,	/* ERR_CHUNK in version 1 (C-095) */
	RDMA2_ERR_INVALID_PROC	= 3,
	RDMA2_ERR_READ_CHUNKS	= 4,
	RDMA2_ERR_WRITE_CHUNKS	= 5,
	RDMA2_ERR_SEGMENTS	= 6,
	RDMA2_ERR_WRITE_RESOURCE = 7,
	RDMA2_ERR_REPLY_RESOURCE = 8,
	RDMA2_ERR_INVALID_OPTION = 9,
	RDMA2_ERR_SYSTEM	= 10,
	RDMA2_DROP		= 0x100, /* a verdict: discard, do not answer */
};

/*
 * The second encoding of the property messages: opttypes of RDMA2_OPTIONAL,
 * draft section 5.3, table 2 (S01)
 */
enum rpcrdma2_opttype {
	RDMA2_OPT_CONNPROP	= 1,
	RDMA2_OPT_REQPROP	= 2,
	RDMA2_OPT_RESPROP	= 3,
	RDMA2_OPT_UPDPROP	= 4,
};

enum rpcrdma2_propid {
	RDMA2_PROPID_RBSIZ	= 1,
	RDMA2_PROPID_BRS	= 2,
	/* from the experimental range, see 2.6 (C-060) */
	RDMA2_PROPID_X_MARK	= 0xffffff00,
	RDMA2_PROPID_X_LIMITS	= 0xffffff01,
	RDMA2_PROPID_X_SBSIZ	= 0xffffff02,
};

/*
 * X_MARK, an opaque of 16 bytes: the UUID 4b3c712e-3626-44af-9d2c-3e28063801e6
 */
#define RPCRDMA2_MARK	{ 0x4b3c712e, 0x362644af, 0x9d2c3e28, 0x063801e6 }

enum rpcrdma2_bkreqsup {
	RDMA2_BKREQSUP_NONE	= 0,
	RDMA2_BKREQSUP_INLINE	= 1,
	RDMA2_BKREQSUP_GENL	= 2,
};

/* Bytes on the wire */
enum {
	RPCRDMA2_PREFIX_LEN	= 16,	/* xid, vers, credit, proc: all versions */
	RPCRDMA2_HDR_MIN	= 36,	/* version 2, three empty lists */
	RPCRDMA1_HDR_MIN	= 28,	/* version 1, three empty lists */
	RPCRDMA2_READ_SEG_LEN	= 24,	/* discriminator, position, segment */
	RPCRDMA2_SEG_LEN	= 16,
	RPCRDMA2_WRITE_CHUNK_LEN = 8,	/* discriminator, segment count */
	RPCRDMA2_REPLY_CHUNK_LEN = 4,	/* segment count */
	RPCRDMA2_OPTIONAL_LEN	= 28,	/* up to the body */
	RPCRDMA2_ERROR_MAX	= 28,	/* codes VERS and WRITE_RESOURCE */
};

/* Inline thresholds, which limit one whole Send (C-001) */
enum {
	RPCRDMA2_INLINE_DEFAULT	= 4096,	/* C-003, C-005 */
	RPCRDMA2_INLINE_FIRST	= 1024,	/* C-098: first messages */
	RPCRDMA2_INLINE_MAX	= 65536,	/* S13 */
	RPCRDMA1_INLINE_DEFAULT	= 1024,	/* E-14 */
};

/*
 * Capacity of a decoded header. An item beyond it leads to the error code that
 * carries the limit: C-083, C-084, C-085. Segments are counted over the whole
 * header.
 */
enum {
	RPCRDMA2_MAX_READ_CHUNKS	= 16,
	RPCRDMA2_MAX_WRITE_CHUNKS	= 8,
	RPCRDMA2_MAX_SEGMENTS		= 64,
};

/* Length of the largest header, full of chunks */
#define RPCRDMA2_HDR_MAX	(RPCRDMA2_HDR_MIN +			\
	RPCRDMA2_MAX_SEGMENTS * RPCRDMA2_READ_SEG_LEN +			\
	RPCRDMA2_MAX_WRITE_CHUNKS * RPCRDMA2_WRITE_CHUNK_LEN +		\
	RPCRDMA2_REPLY_CHUNK_LEN)

/* Receives beyond the RPC credits, reserved for control messages (S27) */
#define RPCRDMA2_CONTROL_RECVS	2

/* The default service port, IANA "nfsrdma" */
#define RPCRDMA2_PORT		20049

#endif /* _RPCRDMA2_PROTO_H */
