/* SPDX-License-Identifier: GPL-2.0 */
/* Decisions from plain values. Unit tests in user space include this file. */
#ifndef _XPRTRDMA2_PURE_H
#define _XPRTRDMA2_PURE_H

#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#include <linux/sunrpc/addr.h>

#include <net/net_namespace.h>

#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>

#include <rpcrdma2/plan.h>
#include <rpcrdma2/props.h>
#include <rpcrdma2/wire.h>

/*
 * Version negotiation with a server: the decisions. version.c carries them out.
 *
 *                 connected
 *                     |
 *      pinned to 1, or known as 1 ---------------------------> SETTLED 1
 *                     |
 *                   PROBE (CONNPROP, alone)
 *                     |
 *                     +-- CONNPROP, or error 3 or 9 ----------> SETTLED 2
 *                     +-- ERR_VERS, version 1 message --------> SETTLED 1
 *                     +-- BAD_XDR: once more, without experimental
 *                     |   properties, on the next connection
 *                     +-- another dialect: 1 on the next connection
 *                     +-- silence --> TRIAL (an RPC is sent in version 2)
 *                     |                 +-- answer to it -----> SETTLED 2
 *                     |                 +-- refusal, silence, loss: 1 on next
 *                     +-- silence of a server that was of version 1, or the
 *                     |   second silence: 1 on the next
 *                     +-- connection lost: connect later
 *                     +-- lost again, XPRT2_OUTAGE or more after the first:
 *                     |   1 on the next
 *
 *      SETTLED -- an RPC is refused: see xprt2_action_settled() --> OVER
 *
 * A server is remembered as a version 1 server after its first good Reply in
 * version 1. Until then version 1 applies to one connection only, whatever the
 * reason, if that connection comes up soon.
 *
 * Section 2.2 of Documentation/protocol.rst; C-096 to C-105, S29, S34 to S37.
 */

/* not visible on the wire (S34) */
#define XPRT2_PROBE_TIMEOUT	(2U * HZ)
#define XPRT2_TRIAL_TIMEOUT	(10U * HZ)
#define XPRT2_MEMORY_TIME	(60UL * 60 * HZ)
#define XPRT2_PROBES_MAX	2
/* Probes lost within this time are attributed to one outage. */
#define XPRT2_OUTAGE		(2U * HZ)
/*
 * How long the result of a connection applies to the next attempts to connect.
 * It outlasts a back-off, and an attempt that meets silence, which lasts 80 s.
 * A server that gives no answer may go down with each probe: its result outlasts
 * three back-offs. A back-off is at most a minute and an eighth, and its timer
 * expires late by up to an eighth of that: 76 s.
 */
#define XPRT2_NOTE_TIME		(90U * HZ)
#define XPRT2_NOTE_TIME_SILENT	(240U * HZ)

#define XPRT2_ALL_VERSIONS	(BIT(RPCRDMA2_VERS_ONE) | BIT(RPCRDMA2_VERS_TWO))

enum xprt2_phase {
	XPRT2_PROBE,	/* only a CONNPROP is outstanding */
	XPRT2_TRIAL,	/* RPCs use version 2: one, until its answer */
	XPRT2_SETTLED,
	XPRT2_OVER,	/* connection given up for its version */
};

/* Answers of a server, and their names in trace events */
#define XPRT2_ANSWERS(A)						\
	/* none in time; also a message that is irrelevant here */	\
	A(NONE, "silence")						\
	A(CONNPROP, "CONNPROP")	/* in version 2, in either form */	\
	A(ERR_VERS, "ERR_VERS")	/* in any version (S36) */		\
	/* code 3 or 9 for the probe: no properties */			\
	A(ERR_LACKS, "lacks properties")				\
	/* code 3 or 9 for an RPC: not this draft */			\
	A(ERR_LACKS_RPC, "lacks RPCs")					\
	A(ERR_BAD_XDR, "BAD_XDR")	/* for the probe */		\
	A(ERR_OTHER, "other error")	/* for an RPC, in version 2 */	\
	A(REPLY_TWO, "Reply")		/* to an RPC, in version 2 */	\
	A(MSG_ONE, "version 1")	/* good version 1 message, no error */	\
	A(FOREIGN, "foreign")	/* from no version 2 server (S37) */	\
	A(LOST, "lost")		/* connection */

enum xprt2_answer {
#define XPRT2_ANSWER_ENUM(_name, _text) XPRT2_A_##_name,
	XPRT2_ANSWERS(XPRT2_ANSWER_ENUM)
#undef XPRT2_ANSWER_ENUM
};

/* Actions for an answer */
#define XPRT2_ACTIONS(M)						\
	M(WAIT, "wait")		/* no change */				\
	M(TRIAL, "try version 2") /* send one RPC in version 2 */	\
	M(ONE, "version 1")	/* settle on it, on this connection */	\
	M(TWO, "version 2")						\
	M(AGAIN, "connect again") /* forget that version 1 was known */	\
	/* connect now, and announce no experimental properties */	\
	M(AGAIN_PLAIN, "connect again, plainly")			\
	/* connect now, and use version 1 on the next connection */	\
	M(AGAIN_ONE, "connect again, version 1")			\
	M(LATER, "connect later") /* a loss like any other: back off */	\
	M(FAIL, "fail")		/* no common version */

enum xprt2_action {
#define XPRT2_ACTION_ENUM(_name, _text) XPRT2_ACT_##_name,
	XPRT2_ACTIONS(XPRT2_ACTION_ENUM)
#undef XPRT2_ACTION_ENUM
};

/* Inputs of a negotiation decision */
struct xprt2_nego {
	enum xprt2_phase	ng_phase;
	bool			ng_known;	/* known as version 1 server */
	bool			ng_expired;	/* was known, is probed again */
	bool			ng_plain;	/* probe has no X_ properties */
	bool			ng_trial_sent;	/* the RPC on trial was sent */
	unsigned int		ng_probes;	/* connections spent on probes */
	bool			ng_outlasted;	/* XPRT2_OUTAGE since the first */
	u32			ng_vers;	/* version in use */
	/* bit n: RPCs were refused in version n */
	u32			ng_refused;
	u32			ng_low;		/* versions of an ERR_VERS */
	u32			ng_high;
	u32			ng_min;		/* versions that are allowed */
	u32			ng_max;
	bool			ng_pinned;	/* a pin allows only these */
};

/* The server did not process the RPC, so the client sends it again. */
static inline bool xprt2_is_refusal(enum xprt2_answer answer)
{
	return answer == XPRT2_A_ERR_VERS || answer == XPRT2_A_ERR_LACKS_RPC;
}

/*
 * A correct peer does not refuse a settled version (2.2). Negotiate again,
 * once. 2.4: a server that lacks the message type of an RPC uses another
 * version.
 */
static inline enum xprt2_action
xprt2_action_settled(const struct xprt2_nego *ng, enum xprt2_answer answer)
{
	if (!xprt2_is_refusal(answer))
		return XPRT2_ACT_WAIT;
	if (answer == XPRT2_A_ERR_LACKS_RPC &&
	    ng->ng_vers != RPCRDMA2_VERS_TWO)
		return XPRT2_ACT_WAIT;
	if (ng->ng_refused & ~BIT(ng->ng_vers))
		return XPRT2_ACT_FAIL;
	if (answer == XPRT2_A_ERR_LACKS_RPC)
		return XPRT2_ACT_AGAIN_ONE;
	/* the two ranges are disjoint (S36) */
	if (ng->ng_low <= ng->ng_high &&
	    (ng->ng_low > ng->ng_max || ng->ng_high < ng->ng_min))
		return XPRT2_ACT_FAIL;
	return ng->ng_refused ? XPRT2_ACT_WAIT : XPRT2_ACT_AGAIN;
}

/*
 * The administrator does not allow version 1, which is all that is left. Fail
 * only if an answer shows that the server lacks version 2: it may be slow, or
 * restart.
 */
static inline enum xprt2_action
xprt2_action_without_one(enum xprt2_phase phase, enum xprt2_answer answer)
{
	switch (answer) {
	case XPRT2_A_NONE:
		return phase == XPRT2_PROBE ? XPRT2_ACT_TRIAL : XPRT2_ACT_WAIT;
	case XPRT2_A_LOST:
		return XPRT2_ACT_LATER;
	default:
		return XPRT2_ACT_FAIL;
	}
}

/*
 * Decide before a version is settled. An RPC on trial is outstanding, so
 * version 1 starts on a new connection, where the RPC is marshalled again.
 */
static inline enum xprt2_action
xprt2_action_unsettled(const struct xprt2_nego *ng, enum xprt2_phase phase,
		       enum xprt2_answer answer)
{
	static const u8 actions[][XPRT2_SETTLED] = {
		/*			    the probe, the RPC on trial */
		[XPRT2_A_NONE]	= { XPRT2_ACT_TRIAL, XPRT2_ACT_AGAIN_ONE },
		[XPRT2_A_CONNPROP]	= { XPRT2_ACT_TWO, XPRT2_ACT_TWO },
		[XPRT2_A_ERR_VERS]	= { XPRT2_ACT_ONE, XPRT2_ACT_AGAIN_ONE },
		[XPRT2_A_ERR_LACKS]	= { XPRT2_ACT_TWO, XPRT2_ACT_TWO },
		[XPRT2_A_ERR_LACKS_RPC]	= { XPRT2_ACT_WAIT, XPRT2_ACT_AGAIN_ONE },
		[XPRT2_A_ERR_BAD_XDR]	= { XPRT2_ACT_AGAIN_PLAIN,
					    XPRT2_ACT_AGAIN_PLAIN },
		[XPRT2_A_ERR_OTHER]	= { XPRT2_ACT_WAIT, XPRT2_ACT_TWO },
		[XPRT2_A_REPLY_TWO]	= { XPRT2_ACT_WAIT, XPRT2_ACT_TWO },
		[XPRT2_A_MSG_ONE]	= { XPRT2_ACT_ONE, XPRT2_ACT_AGAIN_ONE },
		[XPRT2_A_FOREIGN]	= { XPRT2_ACT_AGAIN_ONE,
					    XPRT2_ACT_AGAIN_ONE },
		[XPRT2_A_LOST]		= { XPRT2_ACT_LATER, XPRT2_ACT_AGAIN_ONE },
	};
	enum xprt2_action action = actions[answer][phase];
	bool last = ng->ng_probes >= XPRT2_PROBES_MAX;

	/* S36: below the refused version is only 1, also with an empty range */
	if (answer == XPRT2_A_ERR_VERS)
		return ng->ng_low > ng->ng_high ||
		       (ng->ng_low <= RPCRDMA2_VERS_ONE &&
			ng->ng_high >= RPCRDMA2_VERS_ONE) ?
		       action : XPRT2_ACT_FAIL;
	/* the experimental properties are not the reason (S37) */
	if (action == XPRT2_ACT_AGAIN_PLAIN && ng->ng_plain)
		return XPRT2_ACT_AGAIN_ONE;
	if (phase == XPRT2_TRIAL)
		return answer == XPRT2_A_LOST && !ng->ng_trial_sent ?
		       XPRT2_ACT_LATER : action;
	/* The RPC of the last trial may have ended before the trial did. */
	if ((action == XPRT2_ACT_TRIAL && (last || ng->ng_expired)) ||
	    (action == XPRT2_ACT_LATER && last && ng->ng_outlasted))
		return XPRT2_ACT_AGAIN_ONE;
	return action;
}

/**
 * xprt2_next_action - decide the next action of the negotiation
 * @ng: inputs
 * @answer: XPRT2_A_NONE or XPRT2_A_LOST if there is none
 *
 * The negotiation cannot loop: after at most XPRT2_PROBES_MAX connections the
 * next one uses version 1, or the RPC layer backs off first.
 */
static inline enum xprt2_action
xprt2_next_action(const struct xprt2_nego *ng, enum xprt2_answer answer)
{
	enum xprt2_phase phase = READ_ONCE(ng->ng_phase);
	enum xprt2_action action;

	action = phase < XPRT2_SETTLED ?
	       xprt2_action_unsettled(ng, phase, answer) :
	       xprt2_action_settled(ng, answer);
	if (ng->ng_min > RPCRDMA2_VERS_ONE &&
	    (action == XPRT2_ACT_ONE || action == XPRT2_ACT_AGAIN_ONE))
		return xprt2_action_without_one(phase, answer);
	return action;
}

/* C-096. @one: the server is known as, or this connection tries, version 1. */
static inline enum xprt2_phase xprt2_first_phase(u32 min, u32 max, bool one)
{
	return max < RPCRDMA2_VERS_TWO || (one && min <= RPCRDMA2_VERS_ONE) ?
	       XPRT2_SETTLED : XPRT2_PROBE;
}

/*
 * Times that may be days old have 64 bits, from get_jiffies_64(). On 32 bit one
 * in jiffies lies in the future when half of their range is over, 25 days or
 * more.
 */

/* When the result of a connection expires (S34) */
static inline u64 xprt2_note_end(enum xprt2_answer answer, u64 now)
{
	bool silent = answer == XPRT2_A_NONE || answer == XPRT2_A_LOST;

	return now + (silent ? XPRT2_NOTE_TIME_SILENT : XPRT2_NOTE_TIME);
}

/*
 * Servers are upgraded, so a version 1 server is probed again, unless RPCs that
 * have lost their connection (@busy) would have to wait for that as well (S34).
 */
static inline bool xprt2_probe_is_due(u64 since, u64 now, bool busy)
{
	return !busy && !time_before64(now, since + XPRT2_MEMORY_TIME);
}

/*
 * The server may have dropped version 1 (S34). @replied: the connection brought
 * a good Reply. @busy: RPCs waited when it ended. @innocent: the server did not
 * cause that end.
 */
static inline bool xprt2_doubts_v1(u32 vers, bool replied, bool busy,
				   bool innocent)
{
	return vers == RPCRDMA2_VERS_ONE && !replied && busy && !innocent;
}

/*
 * A good Reply proves version 1, unless this connection uses it because the
 * server was remembered (ng_known): another transport may have found version 2
 * meanwhile (S34).
 */
static inline bool xprt2_proves_v1(const struct xprt2_nego *ng, u32 vers)
{
	return vers == RPCRDMA2_VERS_ONE && ng->ng_max >= RPCRDMA2_VERS_TWO &&
	       !ng->ng_known;
}

/*
 * An error belongs to the message with the same xid (S18). A server of this
 * draft answers a CONNPROP only with code 3 or 9, and an RPC with any other
 * code (S37). The exception is code 2 for a CONNPROP: on the server the ids of
 * the experimental properties belong to another extension (5.1.1, C-060).
 */
static inline enum xprt2_answer
xprt2_classify_error(const struct rpcrdma2_error *er, bool to_probe)
{
	if (to_probe && er->er_code == RDMA2_ERR_BAD_XDR)
		return XPRT2_A_ERR_BAD_XDR;
	if (to_probe)
		return rpcrdma2_lacks_message(er) ? XPRT2_A_ERR_LACKS :
						    XPRT2_A_FOREIGN;
	return rpcrdma2_remedy(RPCRDMA2_VERS_TWO, er, false) ==
	       RPCRDMA2_REMEDY_VERSION_ONE ? XPRT2_A_ERR_LACKS_RPC :
					     XPRT2_A_ERR_OTHER;
}

/*
 * An error that does not answer the probe may change the version, but not if it
 * answers no message (2.4), nor, for a REQPROP or UPDPROP (@to_property),
 * unless it is about the version: else the server lacks that message type.
 */
static inline bool xprt2_error_counts(enum xprt2_answer answer,
				      bool to_property, bool to_rpc)
{
	return to_property ? answer == XPRT2_A_ERR_VERS : to_rpc;
}

/**
 * xprt2_classify - map a received message to an answer
 * @msg: the message
 * @to_probe: it has the xid of the probe
 *
 * Return: XPRT2_A_NONE if it has no meaning for the negotiation.
 */
static inline enum xprt2_answer xprt2_classify(const struct rpcrdma2_msg *msg,
					       bool to_probe)
{
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;

	/* a message of this draft, although malformed */
	if (msg->mg_bad_body)
		return XPRT2_A_NONE;
	switch (msg->mg_verdict) {
	case RDMA2_OK:
		break;
	case RDMA2_DROP:
		return XPRT2_A_NONE;
	case RDMA2_ERR_READ_CHUNKS:
	case RDMA2_ERR_WRITE_CHUNKS:
	case RDMA2_ERR_SEGMENTS:
		/* a Call of this draft, although too long */
		return h->h_direction == RDMA2_CALL ? XPRT2_A_NONE :
						      XPRT2_A_FOREIGN;
	default:
		return XPRT2_A_FOREIGN;
	}

	if (h->h_proc == RDMA2_ERROR &&
	    h->h_error.er_code == RDMA2_ERR_VERS)
		return XPRT2_A_ERR_VERS;
	if (h->h_vers == RPCRDMA2_VERS_ONE)
		return h->h_proc == RDMA2_ERROR ? XPRT2_A_FOREIGN :
						  XPRT2_A_MSG_ONE;
	if (h->h_proc == RDMA2_ERROR)
		return xprt2_classify_error(&h->h_error, to_probe);
	if (rpcrdma2_msg_is_optional(msg))
		return msg->mg_prop.pm_type == RDMA2_OPT_CONNPROP ?
		       XPRT2_A_CONNPROP : XPRT2_A_NONE;
	return h->h_direction == RDMA2_REPLY ? XPRT2_A_REPLY_TWO :
					       XPRT2_A_NONE;
}

/*
 * Result of an @answer behind another one that has given the connection up:
 * 0 to handle it, or an error when its RPC is sent again on the next connection,
 * because the server has refused it, or its answer cannot be read (S36, S37).
 * The server's reply cache recognizes an RPC that was carried out.
 */
static inline int xprt2_result_given_up(enum xprt2_answer answer)
{
	return xprt2_is_refusal(answer) || answer == XPRT2_A_FOREIGN ? -EAGAIN : 0;
}

/* @answer to the probe is no CONNPROP: messages behind it are ignored. */
static inline bool xprt2_probe_failed(enum xprt2_phase phase,
				      enum xprt2_answer answer)
{
	return phase == XPRT2_PROBE && answer != XPRT2_A_NONE &&
	       answer != XPRT2_A_CONNPROP;
}

/* Disposition of a message, as decided by the negotiation */
enum xprt2_disposition {
	XPRT2_D_HANDLE,	/* call its handler */
	XPRT2_D_FAIL,	/* call it; the RPC ends, no version is left */
	XPRT2_D_DONE,	/* for the probe, or its RPC is sent again */
	XPRT2_D_PROBE,	/* answer to the probe: connect decides */
	XPRT2_D_NEGOTIATE, /* its action: see xprt2_next_action() */
};

/**
 * xprt2_judge_message - decide the disposition of a message
 * @phase: state of the negotiation
 * @answer: result of xprt2_classify()
 * @to_probe: the message has the xid of the probe
 *
 * 2.4: a server that has refused a CONNPROP gets no other CONNPROP, and the
 * refusal has no other effect.
 */
static inline enum xprt2_disposition
xprt2_judge_message(enum xprt2_phase phase, enum xprt2_answer answer,
		    bool to_probe)
{
	if (answer == XPRT2_A_NONE)
		return XPRT2_D_HANDLE;
	switch (phase) {
	case XPRT2_PROBE:
		return XPRT2_D_PROBE;
	case XPRT2_OVER:
		return xprt2_result_given_up(answer) ? XPRT2_D_DONE :
						       XPRT2_D_HANDLE;
	case XPRT2_SETTLED:
		return to_probe && answer != XPRT2_A_ERR_VERS ?
		       XPRT2_D_DONE : XPRT2_D_NEGOTIATE;
	default:
		return XPRT2_D_NEGOTIATE;
	}
}

/*
 * Disposition of a message after its action, which returned 0, -EPROTONOSUPPORT
 * when no version is left, or another error when the connection is given up.
 */
static inline enum xprt2_disposition
xprt2_disposition_after(enum xprt2_answer answer, int ret)
{
	if (ret == -EPROTONOSUPPORT && xprt2_is_refusal(answer))
		return XPRT2_D_FAIL;
	return ret ? XPRT2_D_DONE : XPRT2_D_HANDLE;
}

/*
 * Parser for the module parameter "pin": each word is a server, or a port of it,
 * and the protocol version to use with it.
 *
 *	192.0.2.1=1  192.0.2.1:20050=2  fd00::2=1  [fd00::2]:20049=2
 */

/* Room for a word: an IPv6 address with its interface, a port and a version */
#define XPRT2_PIN_WORD	96

/* A server and its version. Port 0 stands for all ports. */
struct xprt2_pin {
	struct sockaddr_storage	pin_addr;
	u32			pin_vers;
};

/*
 * Copy the next word of @text to @word, XPRT2_PIN_WORD bytes, and advance
 * @text. A longer word is cut, and is no valid pin either way. Return its
 * length, 0 at the end.
 */
static inline int xprt2_pin_next_word(const char **text, char *word)
{
	static const char separators[] = ", \t\n";
	const char *begin = *text + strspn(*text, separators);
	size_t len = strcspn(begin, separators);

	strscpy(word, begin, min_t(size_t, len + 1, XPRT2_PIN_WORD));
	*text = begin + len;
	return len;
}

/* An address with several colons can have a port only if it is in brackets. */
static inline char *xprt2_split_port(char *addr)
{
	char *colon;

	if (*addr == '[') {
		colon = strchr(addr, ']');
		if (!colon)
			return NULL;
		*colon++ = '\0';
		return colon;
	}
	colon = strchr(addr, ':');
	if (!colon || strchr(colon + 1, ':'))
		return addr + strlen(addr);
	return colon;
}

/* Parse, and modify, @word. Return NULL, or text that describes the fault. */
static inline const char *xprt2_parse_pin(char *word, struct xprt2_pin *pin)
{
	struct sockaddr *sap = (struct sockaddr *)&pin->pin_addr;
	char *vers = strrchr(word, '='), *addr = word, *end;
	u16 port = 0;

	if (!vers)
		return "no '=' and version behind the address";
	*vers++ = '\0';
	if (kstrtou32(vers, 10, &pin->pin_vers) ||
	    pin->pin_vers < RPCRDMA2_VERS_ONE ||
	    pin->pin_vers > RPCRDMA2_VERS_TWO)
		return "the version is neither 1 nor 2";

	end = xprt2_split_port(addr);
	if (!end || (*end && *end != ':'))
		return "the bracket is not closed, or not followed by ':' and port";
	if (*end) {
		*end++ = '\0';
		if (kstrtou16(end, 10, &port) || !port)
			return "the port is no number from 1 to 65535";
	}
	if (*addr == '[')
		addr++;
	memset(&pin->pin_addr, 0, sizeof(pin->pin_addr));
	if (!rpc_pton(&init_net, addr, strlen(addr), sap,
		      sizeof(pin->pin_addr)))
		return "the address is neither IPv4 nor IPv6";
	rpc_set_port(sap, port);
	return NULL;
}

/* Return: 0 for no match, 1 for the address, 2 for address and port */
static inline unsigned int xprt2_pin_fits(const struct xprt2_pin *pin,
					  const struct sockaddr *sap)
{
	const struct sockaddr *pinned = (const struct sockaddr *)&pin->pin_addr;
	unsigned short port = rpc_get_port(pinned);

	if (!rpc_cmp_addr(pinned, sap))
		return 0;
	if (!port)
		return 1;
	return port == rpc_get_port(sap) ? 2 : 0;
}

/* Reconnect policy, decided from how the last connection went */

/*
 * After a server restart its clients reconnect spread over this time: of a
 * thousand clients four connect in each millisecond.
 */
#define XPRT2_SPREAD		(HZ / 4)
/* The first interval of the back-off, which sunrpc then doubles */
#define XPRT2_REEST_TIMEOUT	(3U * HZ)
/* The CM repeats a request for a connection after some 4 s. */
#define XPRT2_CONNECT_TIMEOUT_MIN	(2 * XPRT2_REEST_TIMEOUT)
/*
 * A device may carry small messages, and lose the connection at each RDMA
 * Write. So this number of connections in a row that are lost this soon after
 * the attempt began are replaced at once, good Replies or not.
 */
#define XPRT2_BRIEF		XPRT2_REEST_TIMEOUT
#define XPRT2_BRIEF_MAX		32

enum xprt2_past {
	/* no connection yet, or closed by the client after a good Reply */
	XPRT2_PAST_NONE,
	/* lost after a good Reply, or not because of the server */
	XPRT2_PAST_LOST,
	/* it never came up, brought no good Reply, or is one too many */
	XPRT2_PAST_FAILED,
};

/**
 * xprt2_judge_past - classify how a connection went
 * @replied: it brought a good Reply
 * @lost: the peer, the network or the device ended it
 * @innocent: the peer did not cause the loss, or an RPC of the client timed out
 * @lasted: jiffies since the attempt to connect began
 * @brief: number of losses in a row within XPRT2_BRIEF, of connections that
 *	brought a good Reply; updated
 *
 * A connection that comes up proves little about a server: the server may end
 * each connection at the first Call.
 */
static inline enum xprt2_past xprt2_judge_past(bool replied, bool lost,
					       bool innocent,
					       unsigned long lasted,
					       unsigned int *brief)
{
	if (lasted >= XPRT2_BRIEF)
		*brief = 0;
	else if (replied && lost && !innocent)
		*brief += *brief <= XPRT2_BRIEF_MAX;
	if (!innocent && (!replied || (lost && *brief > XPRT2_BRIEF_MAX)))
		return XPRT2_PAST_FAILED;
	return lost ? XPRT2_PAST_LOST : XPRT2_PAST_NONE;
}

/**
 * xprt2_connect_delay - compute the delay before the next connect, in jiffies
 * @past: how the last connection went
 * @distance: back-off interval between two attempts, in jiffies
 * @since: jiffies since the last attempt began
 * @random: 32 random bits
 */
static inline unsigned long xprt2_connect_delay(enum xprt2_past past,
						unsigned long distance,
						unsigned long since,
						u32 random)
{
	unsigned long wait = 0, spread = XPRT2_SPREAD;

	if (past == XPRT2_PAST_NONE)
		return 0;
	if (past == XPRT2_PAST_FAILED && distance > since) {
		wait = distance - since;
		spread = max(spread, distance / 8);
	}
	return wait + mul_u64_u32_shr(spread + 1, random, 32);
}

/**
 * xprt2_step_error - map an RDMA CM event to the result of the current step
 * @event: event
 * @status: its status: an error, or the reason of a reject
 *
 * Return: 0 for an event that is no failure. mount.nfs has a hint for -EPROTO,
 * an interface without RDMA. No event is -ENETUNREACH, which ends the RPCs of a
 * hard mount in a container: an address and a device are there.
 */
static inline int xprt2_step_error(enum rdma_cm_event_type event, int status)
{
	switch (event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
		return status == -ENODEV ? -EPROTO : -EHOSTUNREACH;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		return -ENOTCONN;
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		return -EHOSTUNREACH;
	case RDMA_CM_EVENT_REJECTED:
		/* The server still has the last connection: retry. */
		return status == IB_CM_REJ_STALE_CONN ? -ENOTCONN :
							-ECONNREFUSED;
	default:
		return 0;
	}
}

/*
 * A message that may get no answer occupies a Call's credit (2.3), from before
 * it is sent until a message from the server shows that it has arrived; but not
 * with a server that has announced the mark (2.6), because it has separate
 * Receives for such messages. @busy: rpcrdma2_exchange_busy().
 */
static inline bool
xprt2_props_needs_credit(bool busy, const struct rpcrdma2_exchange *ex)
{
	return busy && !rpcrdma2_props_marked(&ex->ex_peer.pp_now);
}

/* RPCs that may be outstanding, of @calls by grant and Receives, at least 1 */
static inline u32 xprt2_calls_allowed(bool credit, u32 calls)
{
	return credit && calls > 1 ? calls - 1 : calls;
}

/*
 * Disposition of a backward Call, decided from its header alone. A version 1
 * error can only report bad chunks, including a missing Reply chunk for a long
 * Reply; in all other cases the Call is dropped silently.
 */

enum {
	/* outstanding Calls of the peer: default, maximum of the parameter */
	XPRT2_BACKWARD_CREDITS	= 16,
	XPRT2_BACKWARD_MAX	= 256,
	XPRT2_BACKWARD_FIRST	= 4,	/* doubled when all are outstanding */

	/* Read chunks of a Call at level GENL, and limit of Write chunks */
	XPRT2_BACKWARD_CHUNKS	= 2,
	/* segments in each chunk; a Reply's header then fits the headroom */
	XPRT2_BACKWARD_SEGS	= 8,
	/* parts of its RDMA Reads or Writes: a data item may split a segment */
	XPRT2_BACKWARD_PARTS	= (XPRT2_BACKWARD_CHUNKS + 1) * XPRT2_BACKWARD_SEGS,
};

/*
 * Backward requests for @credits Calls, with Replies and errors whose Send is
 * not known to be complete, and requests that service threads still hold: the
 * server counts neither. The last one is for errors: see xprt2_pool_pop().
 */
static inline unsigned int xprt2_backward_reqs(unsigned int credits)
{
	return 4 * max_t(unsigned int, credits, XPRT2_BACKWARD_CREDITS) + 1;
}

/* Limit of these requests for Replies. Calls and other answers use the rest. */
static inline unsigned int xprt2_backward_replies(unsigned int credits)
{
	return 2 * max_t(unsigned int, credits, XPRT2_BACKWARD_CREDITS);
}

/**
 * xprt2_share_receives - split Receives, in half if short, between directions
 * @posted: Receives
 * @credits: Calls of the client that the server allows
 * @target: Calls of the server that the client intends to grant
 * @calls: Calls granted to the server, updated. It never decreases, because the
 *	server may have received the old value, and is at least 1, which the
 *	server may use without a grant (C-097)
 *
 * Return: Calls of the client, at least 1.
 */
static inline u32 xprt2_share_receives(u32 posted, u32 credits, u32 target,
				       u32 *calls)
{
	u32 left = posted - min_t(u32, posted, RPCRDMA2_CONTROL_RECVS);
	u32 most = left < credits + target ? min(left / 2, target) : target;

	*calls = max3(*calls, most, 1U);
	left -= min(left, target ? *calls : 0);
	return clamp(left, 1U, credits);
}

/*
 * The server may make one more Call (S56). @outstanding: its Calls that no
 * answer was posted to; @granted: result of xprt2_share_receives() on their
 * connection.
 */
static inline bool xprt2_is_granted(u32 outstanding, u32 granted)
{
	return outstanding < granted;
}

/*
 * Limit to report with an error (C-083 to C-085). 0 means that no chunk is
 * accepted or, with SEGMENTS, that the limit of the decoder applies.
 */
static inline u32 xprt2_backward_limit(u32 level, enum rpcrdma2_errcode code)
{
	if (level != RDMA2_BKREQSUP_GENL)
		return 0;
	if (code == RDMA2_ERR_SEGMENTS)
		return XPRT2_BACKWARD_SEGS;
	return code == RDMA2_ERR_READ_CHUNKS || code == RDMA2_ERR_WRITE_CHUNKS ?
	       XPRT2_BACKWARD_CHUNKS : 0;
}

/* Chunks to read, or to return. A Write chunk may be empty (E-10). */
static inline bool xprt2_has_chunks(const struct rpcrdma2_hdr *h)
{
	return h->h_nsegs || h->h_nwrites;
}

/* Check the chunks against the limits that the client announces (2.6). */
static inline enum rpcrdma2_errcode
xprt2_judge_chunks(const struct rpcrdma2_hdr *h)
{
	u32 most = h->h_has_reply ? h->h_reply.ck_nsegs : 0;
	unsigned int i;

	if (h->h_nreads > XPRT2_BACKWARD_CHUNKS)
		return RDMA2_ERR_READ_CHUNKS;
	if (h->h_nwrites > XPRT2_BACKWARD_CHUNKS)
		return RDMA2_ERR_WRITE_CHUNKS;
	for (i = 0; i < h->h_nreads; i++)
		most = max_t(u32, most, h->h_reads[i].ck_nsegs);
	for (i = 0; i < h->h_nwrites; i++)
		most = max_t(u32, most, h->h_writes[i].ck_nsegs);
	return most > XPRT2_BACKWARD_SEGS ? RDMA2_ERR_SEGMENTS : RDMA2_OK;
}

/**
 * xprt2_judge_backward - check whether a backward Call is accepted
 * @msg: the Call; only the valid part of its header is read
 * @level: enum rpcrdma2_bkreqsup in force
 *
 * GENL accepts the chunks that a responder accepts, within limits of its own
 * (C-037). A Call beyond the limits of the decoder exceeds these too, perhaps
 * those of an earlier check (S44). INLINE, S23: the code names the first chunk
 * list that is present, even beyond the limits of the decoder. A Reply chunk is
 * harmless, because the Reply comes inline anyway, unless it has more segments
 * than the decoder holds. NONE is handled like a missing service (S24).
 *
 * Return: RDMA2_OK, or the code that refuses the Call.
 */
static inline enum rpcrdma2_errcode
xprt2_judge_backward(const struct rpcrdma2_msg *msg, u32 level)
{
	enum rpcrdma2_errcode verdict = msg->mg_verdict;
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;

	if (verdict != RDMA2_OK && !rpcrdma2_is_excess(verdict))
		return verdict;
	if (level == RDMA2_BKREQSUP_NONE)
		return RDMA2_ERR_SYSTEM;
	if (level == RDMA2_BKREQSUP_GENL)
		return xprt2_judge_chunks(h);
	if (h->h_nreads)
		return RDMA2_ERR_READ_CHUNKS;
	return h->h_nwrites ? RDMA2_ERR_WRITE_CHUNKS : verdict;
}

/**
 * xprt2_refuse_backward - turn a backward Call into the error that answers it
 * @h: header of the Call, or a header with its xid and version; overwritten
 * @code: reason
 * @arg: length of the Reply in bytes, or another first argument of the code
 * @arg2: second argument, for code 7
 *
 * Return: false when no error can be reported (S24).
 */
static inline bool xprt2_refuse_backward(struct rpcrdma2_hdr *h,
					 enum rpcrdma2_errcode code, u32 arg,
					 u32 arg2)
{
	if (code == RDMA2_DROP ||
	    (code == RDMA2_ERR_SYSTEM && h->h_vers == RPCRDMA2_VERS_ONE))
		return false;

	rpcrdma2_set_error(h, code, arg, arg2);
	if (code != RDMA2_ERR_SEGMENTS)
		h->h_error.er_arg = arg;	/* 0 means no chunk (S23) */
	return true;
}

/*
 * Size of the Send Queue: xprt2_sq_calls() for Calls; XPRT2_SEND_BATCH, more
 * than the tail that no completion covers yet; and xprt2_backward_reqs() for
 * messages that are no Calls.
 *
 * An RPC with one region takes three entries: two are free again when its Send
 * is done, and one when its Reply has come. So while all RPCs wait for their
 * Replies a quarter of the entries for Calls is left, for RPCs whose Send is
 * not done. RPCs of more regions cannot use all slots, nor can any while chains
 * for backward Calls occupy the queue. A Call takes all of its entries at once,
 * or waits until Sends and Replies return enough (xprt2_send_take_entries()).
 * None is outstanding at worst, and then the largest Call finds its entries.
 *
 * A message that is not a Call (a property message, an error, a backward Reply)
 * is one Send and occupies a request of the backward pool until its entry is
 * free again, so each finds an entry. On a device with fewer entries than the
 * pool has requests, errors may take all entries. A Reply is then retried, and
 * an error ends the connection (S46).
 */

/* work requests for each completion */
#define XPRT2_SEND_BATCH	16

/*
 * Regions of the Reply of a WRITE, or of the Call of a READ, beside those of the
 * message with the payload: head, pages and tail, if RPCSEC_GSS encrypts it
 */
#define XPRT2_OTHER_SEGS 3

/* Entries of a Call and all of its regions, invalidations included */
static inline unsigned int xprt2_sq_largest(unsigned int segs)
{
	return 2 * (segs + XPRT2_OTHER_SEGS) + 1;
}

/* Entries for @reqs RPCs at a time */
static inline unsigned int xprt2_sq_calls(unsigned int reqs)
{
	return DIV_ROUND_UP(4 * reqs, 3);
}

/* RPCs at a time that @entries suffice for: the inverse */
static inline unsigned int xprt2_sq_reqs(unsigned int entries)
{
	return entries - DIV_ROUND_UP(entries, 4);
}

/* Entries beside those for the requests of Calls */
static inline unsigned int xprt2_sq_spare(unsigned int backward)
{
	return XPRT2_SEND_BATCH + xprt2_backward_reqs(backward);
}

/* Entries for @reqs RPCs of at most @segs regions, and @backward Calls */
static inline unsigned int xprt2_sq_depth(unsigned int reqs, unsigned int segs,
					  unsigned int backward)
{
	return max(xprt2_sq_calls(reqs), xprt2_sq_largest(segs)) +
	       xprt2_sq_spare(backward);
}

/*
 * Calls of the server, of @calls, that a queue of @depth has entries for. Grant
 * more than XPRT2_BACKWARD_CREDITS only while Calls of the client keep half of
 * the queue.
 */
static inline unsigned int xprt2_sq_backward(unsigned int depth,
					     unsigned int calls)
{
	while (calls > XPRT2_BACKWARD_CREDITS &&
	       2 * xprt2_sq_spare(calls) > depth)
		calls = max_t(unsigned int, calls / 2, XPRT2_BACKWARD_CREDITS);
	return calls;
}

#endif /* _XPRTRDMA2_PURE_H */
