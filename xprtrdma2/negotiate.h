/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which version to speak with a server: the decision, without the doing.
 *
 *                 connected
 *                     |
 *      pinned to 1, or known as 1 ---------------------------> SETTLED 1
 *                     |
 *                   PROBE (CONNPROP, alone)
 *                     |
 *                     +-- CONNPROP, or "I lack that" ---------> SETTLED 2
 *                     +-- ERR_VERS, version 1 message --------> SETTLED 1
 *                     +-- BAD_XDR: once more, without experimental
 *                     |   properties, on the next connection
 *                     +-- another dialect: 1 on the next connection
 *                     +-- silence --> TRIAL (an RPC goes in version 2)
 *                     |                 +-- answer to it -----> SETTLED 2
 *                     |                 +-- refusal, silence, loss: 1 on the next
 *                     +-- silence of a server that was of version 1, or the
 *                     |   second silence: 1 on the next
 *                     +-- connection lost: connect later
 *                     +-- lost again, long after the first: 1 on the next
 *
 *      SETTLED -- an RPC is refused: see xprt2_move_settled() --> OVER
 *
 * Version 1 is known once it works: from the first good Reply in it. Before that
 * it holds for one connection, whatever led to it, if that comes up soon.
 *
 * Section 2.2 of Documentation/protocol.rst; C-096 to C-105, S29, S34 to S37.
 */
#ifndef _XPRTRDMA2_NEGOTIATE_H
#define _XPRTRDMA2_NEGOTIATE_H

#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/types.h>

#include <rpcrdma2/error.h>
#include <rpcrdma2/message.h>

/* S34: not on the wire, so another choice is as good */
#define XPRT2_PROBE_TIMEOUT	(2U * HZ)
#define XPRT2_TRIAL_TIMEOUT	(10U * HZ)
#define XPRT2_MEMORY_TIME	(60UL * 60 * HZ)
#define XPRT2_PROBES_MAX	2
/* Probes that are lost within this time are lost to one outage. */
#define XPRT2_OUTAGE		(2U * HZ)
/*
 * The next attempts to connect begin with the result of the last connection. While an RPC
 * waits, the back-off puts one off by a minute and an eighth at most, and one that meets
 * silence lasts 80 s: the note outlasts either. After a longer outage the server may be
 * another one. A server that gives no answer may go down with each probe, and need longer
 * to come up: the note for it outlasts three back-offs.
 */
#define XPRT2_NOTE_TIME		(90U * HZ)
#define XPRT2_NOTE_TIME_MUTE	(210U * HZ)

#define XPRT2_ALL_VERSIONS	(BIT(RPCRDMA2_VERS_ONE) | BIT(RPCRDMA2_VERS_TWO))

enum xprt2_phase {
	XPRT2_PROBE,	/* a CONNPROP is out, and nothing else */
	XPRT2_TRIAL,	/* RPCs go in version 2, one until it is answered */
	XPRT2_SETTLED,
	XPRT2_OVER,	/* given up for what the server said or did not say */
};

/* What a server says, or does, and its name for the trace */
#define XPRT2_ANSWERS(A)						\
	A(SILENCE, "silence")	/* says nothing that counts, in time */	\
	A(CONNPROP, "CONNPROP")	/* in version 2, in either spelling */	\
	A(ERR_VERS, "ERR_VERS")	/* in whatever version (S36) */		\
	/* code 3 or 9 for the probe: no properties */			\
	A(ERR_LACKS, "lacks properties")				\
	/* code 3 or 9 for an RPC: not this draft */			\
	A(ERR_LACKS_RPC, "lacks RPCs")					\
	A(ERR_BAD_XDR, "BAD_XDR")	/* for the probe */		\
	A(ERR_OTHER, "other error")	/* for an RPC, in version 2 */	\
	A(REPLY_TWO, "Reply")		/* to an RPC, in version 2 */	\
	A(ONE, "version 1")	/* good version 1 message, no error */	\
	A(FOREIGN, "foreign")	/* as no version 2 server speaks (S37) */ \
	A(LOST, "lost")		/* connection */

enum xprt2_answer {
#define XPRT2_ANSWER_ENUM(_name, _text) XPRT2_A_##_name,
	XPRT2_ANSWERS(XPRT2_ANSWER_ENUM)
#undef XPRT2_ANSWER_ENUM
};

/* What that leads to */
#define XPRT2_MOVES(M)							\
	M(WAIT, "wait")		/* no answer, or not to this */		\
	M(TRIAL, "try version 2") /* let an RPC through, in version 2 */ \
	M(ONE, "version 1")	/* settle for it, here and now */	\
	M(TWO, "version 2")						\
	M(AGAIN, "connect again") /* forget that version 1 was known */	\
	/* and announce no experimental properties */			\
	M(AGAIN_PLAIN, "connect again, plainly")			\
	/* and use version 1 that time */				\
	M(AGAIN_ONE, "connect again, version 1")			\
	M(LATER, "connect later") /* a loss like any other: back off */	\
	M(FAIL, "fail")		/* no common version */

enum xprt2_move {
#define XPRT2_MOVE_ENUM(_name, _text) XPRT2_M_##_name,
	XPRT2_MOVES(XPRT2_MOVE_ENUM)
#undef XPRT2_MOVE_ENUM
};

/**
 * struct xprt2_nego - what a decision depends on
 * @ng_phase: where the negotiation is
 * @ng_known: the server is known as one of version 1
 * @ng_had_one: it was, and is asked again
 * @ng_plain: the probe has no experimental properties
 * @ng_asked: the RPC on trial has been sent
 * @ng_probes: connections spent on probing, this one included
 * @ng_outlasted: XPRT2_OUTAGE has passed since the first of them
 * @ng_vers: version spoken
 * @ng_refused: versions in which RPCs were refused before, a bit each
 * @ng_low: lowest version of an ERR_VERS
 * @ng_high: highest
 * @ng_min: lowest version the administrator allows
 * @ng_max: highest
 * @ng_pinned: the two are those of a pin
 */
struct xprt2_nego {
	enum xprt2_phase	ng_phase;
	bool			ng_known;
	bool			ng_had_one;
	bool			ng_plain;
	bool			ng_asked;
	unsigned int		ng_probes;
	bool			ng_outlasted;
	u32			ng_vers;
	u32			ng_refused;
	u32			ng_low;
	u32			ng_high;
	u32			ng_min;
	u32			ng_max;
	bool			ng_pinned;
};

/*
 * S36: the highest common version below the one refused can only be 1. A
 * range that is none says nothing but that.
 */
static inline bool xprt2_server_has_one(const struct xprt2_nego *ng)
{
	return ng->ng_low > ng->ng_high ||
	       (ng->ng_low <= RPCRDMA2_VERS_ONE &&
		ng->ng_high >= RPCRDMA2_VERS_ONE);
}

/* S36: nothing to be had by asking again */
static inline bool xprt2_no_common(const struct xprt2_nego *ng)
{
	return ng->ng_low <= ng->ng_high &&
	       (ng->ng_low > ng->ng_max || ng->ng_high < ng->ng_min);
}

/* The RPC it answers was not looked at, and is sent again. */
static inline bool xprt2_is_refusal(enum xprt2_answer answer)
{
	return answer == XPRT2_A_ERR_VERS || answer == XPRT2_A_ERR_LACKS_RPC;
}

/*
 * 2.2 step 5: honest peers do not refuse a settled version. Ask again, once.
 * 2.4: a server that lacks the message of an RPC speaks another version. One that
 * has refused an RPC in both versions has none.
 */
static inline enum xprt2_move xprt2_move_settled(const struct xprt2_nego *ng,
						 enum xprt2_answer answer)
{
	if (!xprt2_is_refusal(answer))
		return XPRT2_M_WAIT;
	if (answer == XPRT2_A_ERR_LACKS_RPC &&
	    ng->ng_vers != RPCRDMA2_VERS_TWO)
		return XPRT2_M_WAIT;
	if (ng->ng_refused & ~BIT(ng->ng_vers))
		return XPRT2_M_FAIL;
	if (answer == XPRT2_A_ERR_LACKS_RPC)
		return XPRT2_M_AGAIN_ONE;
	if (xprt2_no_common(ng))
		return XPRT2_M_FAIL;
	return ng->ng_refused ? XPRT2_M_WAIT : XPRT2_M_AGAIN;
}

/*
 * Version 1 is what is left, and the administrator does not allow it. Only a
 * server that said so lacks version 2: one that is slow or goes away may not
 * cost a mount more than patience.
 */
static inline enum xprt2_move
xprt2_move_without_one(enum xprt2_phase phase, enum xprt2_answer answer)
{
	switch (answer) {
	case XPRT2_A_SILENCE:
		return phase == XPRT2_PROBE ? XPRT2_M_TRIAL : XPRT2_M_WAIT;
	case XPRT2_A_LOST:
		return XPRT2_M_LATER;
	default:
		return XPRT2_M_FAIL;
	}
}

/*
 * Before a version is settled. In a trial an RPC is out, so version 1 starts on a
 * new connection, where the RPC is marshalled anew.
 */
static inline enum xprt2_move xprt2_move_unsettled(const struct xprt2_nego *ng,
						   enum xprt2_phase phase,
						   enum xprt2_answer answer)
{
	static const u8 moves[][XPRT2_SETTLED] = {
		/*			    the probe, the RPC on trial */
		[XPRT2_A_SILENCE]	= { XPRT2_M_TRIAL, XPRT2_M_AGAIN_ONE },
		[XPRT2_A_CONNPROP]	= { XPRT2_M_TWO, XPRT2_M_TWO },
		[XPRT2_A_ERR_VERS]	= { XPRT2_M_ONE, XPRT2_M_AGAIN_ONE },
		[XPRT2_A_ERR_LACKS]	= { XPRT2_M_TWO, XPRT2_M_TWO },
		[XPRT2_A_ERR_LACKS_RPC]	= { XPRT2_M_WAIT, XPRT2_M_AGAIN_ONE },
		[XPRT2_A_ERR_BAD_XDR]	= { XPRT2_M_AGAIN_PLAIN,
					    XPRT2_M_AGAIN_PLAIN },
		[XPRT2_A_ERR_OTHER]	= { XPRT2_M_WAIT, XPRT2_M_TWO },
		[XPRT2_A_REPLY_TWO]	= { XPRT2_M_WAIT, XPRT2_M_TWO },
		[XPRT2_A_ONE]		= { XPRT2_M_ONE, XPRT2_M_AGAIN_ONE },
		[XPRT2_A_FOREIGN]	= { XPRT2_M_AGAIN_ONE,
					    XPRT2_M_AGAIN_ONE },
		[XPRT2_A_LOST]		= { XPRT2_M_LATER, XPRT2_M_AGAIN_ONE },
	};
	enum xprt2_move move = moves[answer][phase];
	bool last = ng->ng_probes >= XPRT2_PROBES_MAX;

	if (answer == XPRT2_A_ERR_VERS)
		return xprt2_server_has_one(ng) ? move : XPRT2_M_FAIL;
	/* S37: the experimental properties are not the reason */
	if (move == XPRT2_M_AGAIN_PLAIN && ng->ng_plain)
		return XPRT2_M_AGAIN_ONE;
	if (phase == XPRT2_TRIAL)
		return answer == XPRT2_A_LOST && !ng->ng_asked ?
		       XPRT2_M_LATER : move;
	/* The RPC of the last trial may have had less time than it. */
	if ((move == XPRT2_M_TRIAL && (last || ng->ng_had_one)) ||
	    (move == XPRT2_M_LATER && last && ng->ng_outlasted))
		return XPRT2_M_AGAIN_ONE;
	return move;
}

/**
 * xprt2_next_move - what an answer leads to
 * @ng: where the negotiation is
 * @answer: what came, or did not
 *
 * Never a loop: after XPRT2_PROBES_MAX connections at the most the next one is
 * made in version 1, or the RPC layer backs off before there is one.
 *
 * Return: the move.
 */
static inline enum xprt2_move xprt2_next_move(const struct xprt2_nego *ng,
					      enum xprt2_answer answer)
{
	enum xprt2_phase phase = READ_ONCE(ng->ng_phase);
	enum xprt2_move move;

	move = phase < XPRT2_SETTLED ?
	       xprt2_move_unsettled(ng, phase, answer) :
	       xprt2_move_settled(ng, answer);
	if (ng->ng_min > RPCRDMA2_VERS_ONE &&
	    (move == XPRT2_M_ONE || move == XPRT2_M_AGAIN_ONE))
		return xprt2_move_without_one(phase, answer);
	return move;
}

/**
 * xprt2_first_phase - how a connection begins (C-096)
 * @min: lowest version allowed
 * @max: highest
 * @one: the server is known to be of version 1, or this connection is to try it
 *
 * Return: XPRT2_SETTLED for version 1, or XPRT2_PROBE.
 */
static inline enum xprt2_phase xprt2_first_phase(u32 min, u32 max, bool one)
{
	return max < RPCRDMA2_VERS_TWO || (one && min <= RPCRDMA2_VERS_ONE) ?
	       XPRT2_SETTLED : XPRT2_PROBE;
}

/**
 * xprt2_note_end - how long does the result of a connection count for the next one? (S34)
 * @answer: the result
 * @now: jiffies
 *
 * Return: jiffies; a connection that begins then begins as if there had been none.
 */
static inline unsigned long xprt2_note_end(enum xprt2_answer answer, unsigned long now)
{
	bool mute = answer == XPRT2_A_SILENCE || answer == XPRT2_A_LOST;

	return now + (mute ? XPRT2_NOTE_TIME_MUTE : XPRT2_NOTE_TIME);
}

/**
 * xprt2_asks_again - is a server known as version 1 to be probed once more? (S34)
 * @since: when it was asked the last time, in jiffies
 * @now: jiffies
 * @busy: RPCs wait that the last connection of this transport was lost under
 *
 * Servers are upgraded. The question takes time, where the server gives no answer: an
 * RPC that has lost its connection does not wait for that too.
 */
static inline bool xprt2_asks_again(unsigned long since, unsigned long now,
				    bool busy)
{
	return !busy && !time_before(now, since + XPRT2_MEMORY_TIME);
}

/**
 * xprt2_doubts_one - does a connection throw doubt on version 1? (S34)
 * @vers: its version
 * @replied: it brought a good Reply
 * @busy: RPCs waited at its end
 * @innocent: the server had no part in that end
 *
 * The server may have dropped version 1.
 */
static inline bool xprt2_doubts_one(u32 vers, bool replied, bool busy,
				    bool innocent)
{
	return vers == RPCRDMA2_VERS_ONE && !replied && busy && !innocent;
}

/**
 * xprt2_proves_one - does a good Reply show what a server speaks? (S34)
 * @ng: how the connection came by its version
 * @vers: that
 *
 * Version 2 is asked for each time. Where it is not allowed, or version 1 was known
 * before, the server was not asked; meanwhile another transport may have found it to
 * be of version 2.
 */
static inline bool xprt2_proves_one(const struct xprt2_nego *ng, u32 vers)
{
	return vers == RPCRDMA2_VERS_ONE && ng->ng_max >= RPCRDMA2_VERS_TWO &&
	       !ng->ng_known;
}

/*
 * S18: an error belongs to the message whose xid it has. A server of this
 * draft answers a CONNPROP with no other codes than 3 and 9, and an RPC with
 * any but these (S37); but with code 2 where it knows the ids of experimental
 * properties as another extension's (5.1.1, C-060).
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

/**
 * xprt2_error_counts - may an error that is not for the probe change the version?
 * @answer: what it means
 * @to_property: it answers a REQPROP or an UPDPROP
 * @to_rpc: it answers an RPC that waits
 *
 * S31: one that answers nothing does not. 2.4: one for a message about properties does
 * if it is about the version; another one says that the server lacks that message.
 */
static inline bool xprt2_error_counts(enum xprt2_answer answer,
				      bool to_property, bool to_rpc)
{
	return to_property ? answer == XPRT2_A_ERR_VERS : to_rpc;
}

/**
 * xprt2_classify - what a received message means to the negotiation
 * @msg: the message
 * @to_probe: it has the xid of the probe
 *
 * Return: the answer; XPRT2_A_SILENCE for what means nothing.
 */
static inline enum xprt2_answer xprt2_classify(const struct rpcrdma2_msg *msg,
					       bool to_probe)
{
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;

	/* a message of this very dialect, if a bad one */
	if (msg->mg_bad_body)
		return XPRT2_A_SILENCE;
	switch (msg->mg_verdict) {
	case RDMA2_OK:
		break;
	case RDMA2_DROP:
		return XPRT2_A_SILENCE;
	case RDMA2_ERR_READ_CHUNKS:
	case RDMA2_ERR_WRITE_CHUNKS:
	case RDMA2_ERR_SEGMENTS:
		/* a Call of this very dialect, if too long a one */
		return h->h_direction == RDMA2_CALL ? XPRT2_A_SILENCE :
						      XPRT2_A_FOREIGN;
	default:
		return XPRT2_A_FOREIGN;
	}

	if (h->h_proc == RDMA2_ERROR &&
	    h->h_error.er_code == RDMA2_ERR_VERS)
		return XPRT2_A_ERR_VERS;
	if (h->h_vers == RPCRDMA2_VERS_ONE)
		return h->h_proc == RDMA2_ERROR ? XPRT2_A_FOREIGN :
						  XPRT2_A_ONE;
	if (h->h_proc == RDMA2_ERROR)
		return xprt2_classify_error(&h->h_error, to_probe);
	if (rpcrdma2_msg_is_control(msg))
		return msg->mg_prop.pm_type == RDMA2_OPT_CONNPROP ?
		       XPRT2_A_CONNPROP : XPRT2_A_SILENCE;
	return h->h_direction == RDMA2_REPLY ? XPRT2_A_REPLY_TWO :
					       XPRT2_A_SILENCE;
}

/**
 * xprt2_probe_failed - was the probe answered by a server that lacks version 2?
 * @phase: where the negotiation is
 * @answer: to the probe, or XPRT2_A_SILENCE while there is none
 *
 * What the server says after that is not looked at.
 */
static inline bool xprt2_probe_failed(enum xprt2_phase phase,
				      enum xprt2_answer answer)
{
	return phase == XPRT2_PROBE && answer != XPRT2_A_SILENCE &&
	       answer != XPRT2_A_CONNPROP;
}

/* What becomes of a message once the negotiation has looked at it */
enum xprt2_fate {
	XPRT2_F_HANDLE,	/* it goes to its handler */
	XPRT2_F_FAIL,	/* likewise; the RPC it answers ends: no version left */
	XPRT2_F_DONE,	/* the probe's, or the RPC it answers is sent again */
	XPRT2_F_PROBE,	/* it answers the probe: connect decides */
	XPRT2_F_MOVE,	/* it may move the negotiation, see xprt2_next_move() */
};

/**
 * xprt2_judge_message - what an answer is to a connection
 * @phase: where the negotiation is
 * @answer: what xprt2_classify() says
 * @to_probe: it has the xid of the probe
 *
 * 2.4: a server that has refused a CONNPROP gets no other, and nothing else
 * comes of it.
 */
static inline enum xprt2_fate xprt2_judge_message(enum xprt2_phase phase,
						  enum xprt2_answer answer,
						  bool to_probe)
{
	if (answer == XPRT2_A_SILENCE)
		return XPRT2_F_HANDLE;
	switch (phase) {
	case XPRT2_PROBE:
		return XPRT2_F_PROBE;
	case XPRT2_OVER:
		return xprt2_is_refusal(answer) ? XPRT2_F_DONE :
						  XPRT2_F_HANDLE;
	case XPRT2_SETTLED:
		return to_probe && answer != XPRT2_A_ERR_VERS ?
		       XPRT2_F_DONE : XPRT2_F_MOVE;
	default:
		return XPRT2_F_MOVE;
	}
}

/**
 * xprt2_fate_after - what becomes of a message that has moved the negotiation
 * @answer: what it was
 * @ret: what came of the move: 0, -EPROTONOSUPPORT when no version is left, or
 *	another error when the connection is given up for the next one
 */
static inline enum xprt2_fate xprt2_fate_after(enum xprt2_answer answer, int ret)
{
	if (ret == -EPROTONOSUPPORT && xprt2_is_refusal(answer))
		return XPRT2_F_FAIL;
	return ret ? XPRT2_F_DONE : XPRT2_F_HANDLE;
}

#endif /* _XPRTRDMA2_NEGOTIATE_H */
