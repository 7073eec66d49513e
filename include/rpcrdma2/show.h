/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of what the wire carries, for messages, counters and trace events.
 *
 * Each list is written once, as a macro of (value, name) pairs: the functions
 * below search it, and a trace event hands it to __print_symbolic() by way of
 * RPCRDMA2_SHOW_PAIR.
 */
#ifndef _RPCRDMA2_SHOW_H
#define _RPCRDMA2_SHOW_H

#include <rpcrdma2/proto.h>

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

#define RPCRDMA2_DIRECTIONS(_pair)	\
	_pair(RDMA2_CALL,	"CALL")	\
	_pair(RDMA2_REPLY,	"REPLY") \
	_pair(RDMA2_NODIR,	"?")

#define RPCRDMA2_PROPIDS(_pair)			\
	_pair(RDMA2_PROPID_RBSIZ,	"RBSIZ") \
	_pair(RDMA2_PROPID_BRS,		"BRS")

#define RPCRDMA2_BKREQSUPS(_pair)			\
	_pair(RDMA2_BKREQSUP_NONE,	"NONE")		\
	_pair(RDMA2_BKREQSUP_INLINE,	"INLINE")	\
	_pair(RDMA2_BKREQSUP_GENL,	"GENL")

/* __print_symbolic(word, RPCRDMA2_PROCS(RPCRDMA2_SHOW_PAIR) { -1, NULL }) */
#define RPCRDMA2_SHOW_PAIR(_value, _name)	{ _value, _name },

struct rpcrdma2_name {
	u32		value;
	const char	*name;
};

static inline const char *rpcrdma2_name_of(const struct rpcrdma2_name *list,
					   u32 value)
{
	for (; list->name; list++)
		if (list->value == value)
			return list->name;
	return "?";
}

/* Each returns "?" for a value without a name */
static inline const char *rpcrdma2_proc_name(u32 proc)
{
	static const struct rpcrdma2_name list[] = {
		RPCRDMA2_PROCS(RPCRDMA2_SHOW_PAIR) { }
	};

	return rpcrdma2_name_of(list, proc);
}

static inline const char *rpcrdma2_errcode_name(u32 code)
{
	static const struct rpcrdma2_name list[] = {
		RPCRDMA2_ERRCODES(RPCRDMA2_SHOW_PAIR) { }
	};

	return rpcrdma2_name_of(list, code);
}

static inline const char *rpcrdma2_direction_name(u32 direction)
{
	static const struct rpcrdma2_name list[] = {
		RPCRDMA2_DIRECTIONS(RPCRDMA2_SHOW_PAIR) { }
	};

	return rpcrdma2_name_of(list, direction);
}

static inline const char *rpcrdma2_propid_name(u32 which)
{
	static const struct rpcrdma2_name list[] = {
		RPCRDMA2_PROPIDS(RPCRDMA2_SHOW_PAIR) { }
	};

	return rpcrdma2_name_of(list, which);
}

static inline const char *rpcrdma2_bkreqsup_name(u32 level)
{
	static const struct rpcrdma2_name list[] = {
		RPCRDMA2_BKREQSUPS(RPCRDMA2_SHOW_PAIR) { }
	};

	return rpcrdma2_name_of(list, level);
}

#endif /* _RPCRDMA2_SHOW_H */
