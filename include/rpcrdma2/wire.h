/* SPDX-License-Identifier: GPL-2.0 */
/* Values, headers and errors of both versions. Pure functions: any context. */
#ifndef _RPCRDMA2_WIRE_H
#define _RPCRDMA2_WIRE_H

#include <linux/array_size.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <linux/sunrpc/xdr.h>

/*
 * Constants of the RPC-over-RDMA wire format, in the order and under the names
 * of draft-cel-nfsv4-rpcrdma-version-two-04 section 6.2, and the limits of this
 * implementation. Ids such as C-083 or S10 refer to Documentation/protocol.rst.
 */

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

/* Property messages as RDMA2_OPTIONAL, draft section 5.3, table 2 (S01) */
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
	RPCRDMA2_INLINE_DEFAULT	= 4096,	/* also the minimum (C-003, C-005) */
	RPCRDMA2_INLINE_FIRST	= 1024,	/* first messages (C-098) */
	RPCRDMA2_INLINE_MAX	= 65536,	/* largest own RBSIZ (S13) */
	RPCRDMA1_INLINE_DEFAULT	= 1024,	/* of version 1 (E-14) */
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

/* The decoded form of headers, of either version, that all other code uses */

/* A range of the requester's registered memory */
struct rpcrdma2_segment {
	u32	rs_handle;	/* steering tag */
	u32	rs_length;	/* in bytes */
	u64	rs_offset;	/* address that the tag was registered under */
};

/*
 * Consecutive segments that carry one data item. The sum of their lengths does
 * not wrap, nor does the sum over all Read chunks (S05).
 */
struct rpcrdma2_chunk {
	u32	ck_position;	/* of a Read chunk; 0: a Position-Zero chunk */
	u32	ck_length;	/* sum of the segments' lengths */
	u16	ck_first;	/* index of the first segment in h_segs */
	u16	ck_nsegs;
};

/*
 * Body of RDMA2_ERROR. er_arg has, with codes 4 and 5 the most chunks, with 6
 * the most segments, with 8 the bytes needed. Codes with er_arg and er_arg2: 1
 * has the lowest and the highest version, 7 the index of the short chunk,
 * counted from 1, and the bytes needed.
 */
struct rpcrdma2_error {
	u32	er_code;	/* may be unknown to the draft (S43) */
	u32	er_arg;
	u32	er_arg2;
};

/**
 * struct rpcrdma2_hdr - a decoded transport header
 * @h_xid: transaction
 * @h_vers: version found on the wire, or to be sent
 * @h_credit: grant or request, as on the wire; see plan.h
 * @h_proc: enum rpcrdma2_proc; version 1 MSGP is decoded as RDMA2_MSG
 * @h_direction: enum rpcrdma2_direction; RDMA2_NODIR only with a verdict other
 *	than RDMA2_OK. Version 1 has no such field: the decoder infers it from
 *	the RPC message, or from the chunks of a NOMSG. RDMA2_REPLY for an ERROR
 *	in either version (C-071), and for a RESPROP (S38)
 * @h_inv_handle: nominated handle (C-072), 0 in version 1
 * @h_len: length of the header; the RPC message starts there
 * @h_nreads: entries of h_reads, one for each position, ascending, whatever the
 *	order on the wire (S09); segments of length 0 are removed
 * @h_nwrites: entries of h_writes, in wire order
 * @h_has_reply: h_reply is present
 * @h_nsegs: entries of h_segs
 * @h_reads: Read chunks
 * @h_writes: Write chunks; ck_nsegs 0 requests the result inline (S10)
 * @h_reply: Reply chunk
 * @h_segs: segments of all chunks
 * @h_error: body of an RDMA2_ERROR
 * @h_opttype: type of an RDMA2_OPTIONAL, or of a property message, which gets
 *	the enum rpcrdma2_opttype of its other encoding (S01)
 * @h_optoff: offset of the body of the option or property message
 * @h_optlen: length of that body
 */
struct rpcrdma2_hdr {
	u32	h_xid;
	u32	h_vers;
	u32	h_credit;
	u32	h_proc;
	u32	h_direction;
	u32	h_inv_handle;
	u32	h_len;

	u8	h_nreads;
	u8	h_nwrites;
	bool	h_has_reply;
	u8	h_nsegs;

	union {
		struct {
			struct rpcrdma2_chunk	h_reads[RPCRDMA2_MAX_READ_CHUNKS];
			struct rpcrdma2_chunk	h_writes[RPCRDMA2_MAX_WRITE_CHUNKS];
			struct rpcrdma2_chunk	h_reply;
			struct rpcrdma2_segment	h_segs[RPCRDMA2_MAX_SEGMENTS];
		};
		struct rpcrdma2_error	h_error;
		struct {
			u32	h_opttype;
			u32	h_optoff;
			u32	h_optlen;
		};
	};
};

/* Initialise a header without chunks and nominated handle */
static inline void rpcrdma2_hdr_begin(struct rpcrdma2_hdr *h, u32 xid, u32 vers,
				      u32 credit, u32 proc, u32 direction)
{
	h->h_xid = xid;
	h->h_vers = vers;
	h->h_credit = credit;
	h->h_proc = proc;
	h->h_direction = direction;
	h->h_inv_handle = 0;
	h->h_nreads = 0;
	h->h_nwrites = 0;
	h->h_has_reply = false;
	h->h_nsegs = 0;
}

/* Length of a header with three empty lists */
static inline u32 rpcrdma2_hdr_min(u32 vers)
{
	return vers == RPCRDMA2_VERS_ONE ? RPCRDMA1_HDR_MIN : RPCRDMA2_HDR_MIN;
}

/*
 * Encoding and decoding of transport headers of any version.
 *
 * This is the trust boundary: a header that has passed rpcrdma2_decode_hdr() is
 * trusted. No function allocates memory. A message is contiguous in memory.
 */

/* Whether a Call was refused only for the size of its well-formed lists */
static inline bool rpcrdma2_is_excess(enum rpcrdma2_errcode verdict)
{
	return verdict == RDMA2_ERR_READ_CHUNKS ||
	       verdict == RDMA2_ERR_WRITE_CHUNKS ||
	       verdict == RDMA2_ERR_SEGMENTS;
}

/**
 * rpcrdma2_decode_hdr - decode and check the transport header of a message
 * @h: header to fill
 * @base: start of the message
 * @room: contiguous bytes at @base: at most @len, see rpcrdma2_msg_read()
 * @len: length of the message
 *
 * One bounded pass: steps 1 to 8 of the responder's order of checks, 2.5 of
 * Documentation/protocol.rst. On RDMA2_OK all of @h is valid, and h_len is the
 * length of the header. It is followed by the RPC message of a MSG, the body of
 * a property message, or any bytes after the body of an RDMA2_OPTIONAL. Bytes
 * after a NOMSG or an ERROR are ignored (S07).
 *
 * Otherwise only h_xid, h_vers, h_credit, h_proc and h_direction are valid, and
 * after RDMA2_DROP perhaps not even these; h_len is not past the end of the
 * message, unless the message is shorter than the prefix. If
 * rpcrdma2_is_excess(), the chunks are valid too, without what exceeds the
 * capacity: chunks, or segments of chunks. h_direction determines the reaction
 * to an error verdict:
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
rpcrdma2_decode_hdr(struct rpcrdma2_hdr *h, const void *base, u32 room,
		    u32 len);

/**
 * rpcrdma2_hdr_size - compute the length that rpcrdma2_encode_hdr() produces
 * @h: header to send
 */
size_t rpcrdma2_hdr_size(const struct rpcrdma2_hdr *h);

/**
 * rpcrdma2_encode_hdr - encode a transport header in the format of its version
 * @to: buffer of RPCRDMA2_HDR_MAX bytes, or of rpcrdma2_hdr_size()
 * @h: header of a MSG, NOMSG or ERROR
 *
 * The caller appends the RPC message of a MSG.
 *
 * Return: rpcrdma2_hdr_size() of @h.
 */
size_t rpcrdma2_encode_hdr(void *to, const struct rpcrdma2_hdr *h);

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
 * rpcrdma2_call_hdr_len - compute the length of the header of an RPC Call
 * @p: the Call, from its xid
 * @len: bytes of the Call that are available; the peer wrote the lengths in it
 *
 * Return: length up to the end of the verifier; 0 if the header is incomplete,
 * or a body exceeds its limit.
 */
u32 rpcrdma2_call_hdr_len(const __be32 *p, u32 len);

/**
 * rpcrdma2_set_error - turn a received Call into the error that answers it
 * @h: decoded header, valid at least up to rdma_proc, with code 6 to its end;
 *	overwritten
 * @code: verdict
 * @arg: the code's first word, or 0 for the limit of the codec: the lowest
 *	version in code 1, chunks in codes 4 and 5, segments for each chunk of
 *	the Call in code 6
 * @arg2: the code's second word, or 0 for the highest version in code 1
 *
 * The xid and the version stay (C-076). The caller sets h_credit to its grant
 * (C-077), and ensures that the message may be answered (C-078, S38). Version 1
 * has a single code for all errors in a header.
 */
void rpcrdma2_set_error(struct rpcrdma2_hdr *h, enum rpcrdma2_errcode code,
			u32 arg, u32 arg2);

/**
 * enum rpcrdma2_remedy - reaction of a requester to an error
 * @RPCRDMA2_REMEDY_FAIL: end the RPC with -EIO, unless the negotiation takes the
 *	error. A Write chunk is as large as the upper layer's buffer (C-089)
 * @RPCRDMA2_REMEDY_VERSION_ONE: reconnect with version 1 and send the RPC again
 * @RPCRDMA2_REMEDY_FEWER_READS: send again with at most er_arg Read chunks, or
 *	all of it in a Position-Zero chunk
 * @RPCRDMA2_REMEDY_NO_WRITES: send again with a Reply chunk, but no Write list
 * @RPCRDMA2_REMEDY_FEWER_SEGMENTS: remember er_arg for the connection and send
 *	again with at most that number of segments
 * @RPCRDMA2_REMEDY_LARGER_REPLY: send again with a Reply chunk of er_arg bytes
 *	if the receive buffer holds them, else fail
 */
enum rpcrdma2_remedy {
	RPCRDMA2_REMEDY_FAIL,
	RPCRDMA2_REMEDY_VERSION_ONE,
	RPCRDMA2_REMEDY_FEWER_READS,
	RPCRDMA2_REMEDY_NO_WRITES,
	RPCRDMA2_REMEDY_FEWER_SEGMENTS,
	RPCRDMA2_REMEDY_LARGER_REPLY,
};

/**
 * rpcrdma2_remedy - select the reaction to an error that answers an RPC
 * @vers: version of the connection (an ERR_VERS may carry another, S36)
 * @er: the error
 * @resent: the RPC was already sent again once because of an error
 *
 * Unknown codes end the RPC (S43). An RPC is rebuilt at most once (S45).
 */
enum rpcrdma2_remedy rpcrdma2_remedy(u32 vers, const struct rpcrdma2_error *er,
				     bool resent);

/* The credits before the first grant of the peer (C-097) */
#define RPCRDMA2_CREDIT_INITIAL	1

/* Clamp a grant or request to 1 to @max: a peer with grant 0 waits (S26) */
static inline u32 rpcrdma2_grant_sanitise(u32 wire, u32 max)
{
	return clamp(wire, 1U, max);
}

/**
 * rpcrdma2_grant_next - compute the grant in force after a message
 * @h: well-formed message of the peer that grants
 * @now: grant in force
 * @max: largest grant used
 * @granted: an earlier message has granted credits on this connection
 *
 * Replies always grant. An error grants only after another message has (C-097),
 * an ERR_VERS never (S36). A server's CONNPROP or RESPROP grants, too (S26).
 */
u32 rpcrdma2_grant_next(const struct rpcrdma2_hdr *h, u32 now, u32 max,
			bool granted);

/*
 * Whether the peer does not support the type of the message that this error
 * answers, a property message or RDMA2_OPTIONAL. If so, no message of that type
 * may be sent again on this connection (C-026); otherwise the peer has refused
 * only this one message.
 */
static inline bool rpcrdma2_lacks_message(const struct rpcrdma2_error *er)
{
	return er->er_code == RDMA2_ERR_INVALID_PROC ||
	       er->er_code == RDMA2_ERR_INVALID_OPTION;
}

/*
 * Private data of the connection manager, RFC 8797. It is always sent, but used
 * only on a version 1 connection (S28).
 */

#define RPCRDMA2_CM_MAGIC	0xf6ab0e18
#define RPCRDMA2_CM_VERSION	1
#define RPCRDMA2_CM_F_INV	0x01	/* accepts Send With Invalidate */

/* Sizes are encoded in these units, minus one: 1 KB to 256 KB (P-11). */
#define RPCRDMA2_CM_UNIT	1024
#define RPCRDMA2_CM_UNITS_MAX	256

/* Private data on the wire */
struct rpcrdma2_cm_private {
	__be32	cm_magic;
	u8	cm_version;
	u8	cm_flags;	/* RPCRDMA2_CM_F_INV, others are 0 (P-10) */
	u8	cm_send_size;	/* largest Send of the sender */
	u8	cm_recv_size;	/* size of the sender's Receives */
};

/* Decoded private data */
struct rpcrdma2_cm_limits {
	u32	cl_send;	/* largest Send, in bytes */
	u32	cl_recv;	/* size of a Receive, in bytes */
	bool	cl_inv;		/* the sender accepts Send With Invalidate */
};

static inline u8 rpcrdma2_cm_encode_size(u32 bytes)
{
	return clamp(bytes / RPCRDMA2_CM_UNIT, 1U,
		     (u32)RPCRDMA2_CM_UNITS_MAX) - 1;
}

/**
 * rpcrdma2_cm_encode - encode private data
 * @pm: private data to send
 * @cl: own limits; sizes are rounded down to whole units
 */
void rpcrdma2_cm_encode(struct rpcrdma2_cm_private *pm,
			const struct rpcrdma2_cm_limits *cl);

/**
 * rpcrdma2_cm_decode - decode the peer's private data
 * @cl: limits of the peer; the defaults of version 1 without private data
 *	(P-04)
 * @data: private data of the CM event, unaligned, or NULL
 * @len: length of @data; may exceed the format, because the CM pads (S28)
 *
 * Return: true if the data is of this format (P-05, P-06).
 */
bool rpcrdma2_cm_decode(struct rpcrdma2_cm_limits *cl, const void *data,
			size_t len);

/* Names of values: pairs for __print_symbolic(), and for functions to search */

#define RPCRDMA2_PROCS(_pair)				\
	_pair(RDMA2_MSG,		"MSG")		\
	_pair(RDMA2_NOMSG,		"NOMSG")	\
	_pair(RDMA1_MSGP,		"MSGP")		\
	_pair(RDMA1_DONE,		"DONE")		\
	_pair(RDMA2_ERROR,		"ERROR")	\
	_pair(RDMA2_OPTIONAL,		"OPTIONAL")	\
	_pair(RDMA2_CONNPROP,		"CONNPROP")	\
	_pair(RDMA2_REQPROP,		"REQPROP")	\
	_pair(RDMA2_RESPROP,		"RESPROP")	\
	_pair(RDMA2_UPDPROP,		"UPDPROP")

#define RPCRDMA2_ERRCODES(_pair)				\
	_pair(RDMA2_OK,			"OK")			\
	_pair(RDMA2_ERR_VERS,		"VERS")			\
	_pair(RDMA2_ERR_BAD_XDR,	"BAD_XDR")		\
	_pair(RDMA2_ERR_INVALID_PROC,	"INVALID_PROC")		\
	_pair(RDMA2_ERR_READ_CHUNKS,	"READ_CHUNKS")		\
	_pair(RDMA2_ERR_WRITE_CHUNKS,	"WRITE_CHUNKS")		\
	_pair(RDMA2_ERR_SEGMENTS,	"SEGMENTS")		\
	_pair(RDMA2_ERR_WRITE_RESOURCE,	"WRITE_RESOURCE")	\
	_pair(RDMA2_ERR_REPLY_RESOURCE,	"REPLY_RESOURCE")	\
	_pair(RDMA2_ERR_INVALID_OPTION,	"INVALID_OPTION")	\
	_pair(RDMA2_ERR_SYSTEM,		"SYSTEM")		\
	_pair(RDMA2_DROP,		"DROP")

#define RPCRDMA2_NAMES(_pair)	RPCRDMA2_PROCS(_pair) RPCRDMA2_ERRCODES(_pair)

#define RPCRDMA2_SHOW_PAIR(_value, _name)	{ _value, _name },

/* For TP_printk() */
#define rpcrdma2_show_proc(x) \
	__print_symbolic(x, RPCRDMA2_PROCS(RPCRDMA2_SHOW_PAIR) { -1, NULL })
#define rpcrdma2_show_errcode(x) \
	__print_symbolic(x, RPCRDMA2_ERRCODES(RPCRDMA2_SHOW_PAIR) { -1, NULL })
#define rpcrdma2_show_direction(x)	((x) == RDMA2_REPLY ? " (reply)" : "")

/* "?" for a value without a name */
static inline const char *rpcrdma2_bkreqsup_name(u32 level)
{
	static const char *const names[] = { "NONE", "INLINE", "GENL" };

	return level < ARRAY_SIZE(names) ? names[level] : "?";
}

#endif /* _RPCRDMA2_WIRE_H */
