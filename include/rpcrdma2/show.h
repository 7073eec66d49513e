/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of the values on the wire.
 *
 * A list is written once, as a macro of (value, name) pairs: a trace event
 * passes it to __print_symbolic(), a function searches it, both by way of
 * RPCRDMA2_SHOW_PAIR.
 */
#ifndef _RPCRDMA2_SHOW_H
#define _RPCRDMA2_SHOW_H

#include <linux/array_size.h>

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

#define RPCRDMA2_NAMES(_pair)	RPCRDMA2_PROCS(_pair) RPCRDMA2_ERRCODES(_pair)

#define RPCRDMA2_BKREQSUPS(_pair)			\
	_pair(RDMA2_BKREQSUP_NONE,	"NONE")		\
	_pair(RDMA2_BKREQSUP_INLINE,	"INLINE")	\
	_pair(RDMA2_BKREQSUP_GENL,	"GENL")

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
	static const struct {
		u32		value;
		const char	*name;
	} list[] = {
		RPCRDMA2_BKREQSUPS(RPCRDMA2_SHOW_PAIR)
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(list); i++)
		if (list[i].value == level)
			return list[i].name;
	return "?";
}

#endif /* _RPCRDMA2_SHOW_H */
