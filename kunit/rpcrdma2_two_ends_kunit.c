// SPDX-License-Identifier: GPL-2.0
/*
 * Two ends and what is on its way between them: each changes its sizes when it
 * likes, and what either says of them takes its time. Messages of one direction
 * keep their order; how long one is on its way, or lies there until it is looked
 * at, is a matter of chance.
 *
 * The promises that hold whatever the order of events is: no message is longer than the
 * Receives that its peer has by then (C-028, C-034), no end has more messages about
 * properties under way than Receives are kept for them (2.3, S27), none refuses a Reply
 * that its peer has a right to by what both have said so far (S14), and in the end each
 * knows the other.
 */
#include <linux/container_of.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>

#include "util.h"

#define RUNS		300
#define STEPS		300
#define LINE		64	/* messages under way in one direction */
#define BYTES		256	/* of a message about properties */

/**
 * struct parcel - a message under way
 * @due: when it is looked at, in jiffies
 * @len: bytes
 * @reply: bytes of the Reply to this Call, as long as one may be inline; or 0
 * @needed: bytes of a Reply that this error refuses; or 0
 * @control: it is about properties, and @data has it; else it is any other
 * @data: the message
 */
struct parcel {
	unsigned long	due;
	u32		len;
	u32		reply;
	u32		needed;
	bool		control;
	__be32		data[BYTES / XDR_UNIT];
};

/**
 * struct end - one end
 * @ex: its properties
 * @world: both ends
 * @set: bytes of its Receives as the administrator has them
 * @wish: and as the peer has asked for them
 * @have: as they are
 * @send: bytes of its largest Send as the administrator has it
 * @xid: of its next message
 * @line: what has been sent to it
 * @first: the first one there
 * @count: how many there are
 * @controls: messages of it about properties under way
 */
struct end {
	struct rpcrdma2_exchange	ex;
	struct world			*world;
	u32				set;
	u32				wish;
	u32				have;
	u32				send;
	u32				xid;
	struct parcel			line[LINE];
	unsigned int			first;
	unsigned int			count;
	unsigned int			controls;
};

/**
 * struct world - both ends
 * @test: what it is for
 * @ends: the requester first
 * @now: jiffies
 * @seed: of what is left to chance
 * @run: one in which an end was not as it should be can be looked at by itself
 * @slow: messages may be under way for longer than an answer is waited for
 * @too_long: messages that were longer than a Receive
 * @most: messages about properties that one end had under way
 * @msg: to work with
 */
struct world {
	struct kunit		*test;
	struct end		ends[2];
	unsigned long		now;
	u32			seed;
	unsigned int		run;
	bool			slow;
	unsigned int		too_long;
	unsigned int		most;
	struct rpcrdma2_msg	msg;
};

static u32 chance(struct world *wd, u32 below)
{
	wd->seed = wd->seed * 1664525 + 1013904223;
	return (wd->seed >> 8) % below;
}

static u32 any_size(struct world *wd)
{
	return 4096 << chance(wd, 5);
}

static struct end *peer_of(struct world *wd, struct end *en)
{
	return &wd->ends[en == wd->ends];
}

/* How long a message is under way; now and then its end is slow. */
static unsigned long delay(struct world *wd)
{
	if (wd->slow && !chance(wd, 10))
		return chance(wd, 100 * HZ);
	return chance(wd, HZ / 2);
}

static struct parcel *post(struct world *wd, struct end *en)
{
	struct end *to = peer_of(wd, en);
	struct parcel *pa = &to->line[(to->first + to->count) % LINE];
	unsigned long due = wd->now + delay(wd);

	KUNIT_ASSERT_LT(wd->test, to->count, LINE);
	if (to->count) {
		struct parcel *last = &to->line[(to->first + to->count - 1) % LINE];

		due = time_before(due, last->due) ? last->due : due;
	}
	to->count++;
	*pa = (struct parcel){ .due = due };
	return pa;
}

/* Now and then there is no memory for a message that is no answer. */
static int post_control(struct rpcrdma2_exchange *ex, struct rpcrdma2_hdr *h,
			struct rpcrdma2_propmsg *pm)
{
	struct end *en = container_of(ex, struct end, ex);
	struct world *wd = en->world;
	struct parcel *pa;
	int len;

	if (!h && ex->ex_sent != RDMA2_OPT_CONNPROP && !chance(wd, 10))
		return -ENOMEM;
	if (!h)
		pm->pm_xid = en->xid++;
	pa = post(wd, en);
	len = rpcrdma2_encode_propmsg(pa->data, sizeof(pa->data), 1, pm);
	KUNIT_ASSERT_GT(wd->test, len, 0);
	pa->len = len;
	pa->control = true;
	en->controls++;
	wd->most = max(wd->most, en->controls);
	return 0;
}

/* Limits are looked at when a message is sent. */
static void changed(struct rpcrdma2_exchange *ex)
{
}

static void resize(struct rpcrdma2_exchange *ex, u32 bytes)
{
	struct end *en = container_of(ex, struct end, ex);

	en->wish = bytes;
	en->have = min(en->have, bytes);
}

static void count(enum rpcrdma2_props_counter which, u32 n)
{
}

static const struct rpcrdma2_props_ops ops = {
	.send		= post_control,
	.changed	= changed,
	.resize		= resize,
	.count		= count,
};

/* C-032: what is larger is there at once; C-033: nothing gets smaller. */
static void converse(struct world *wd, struct end *en)
{
	en->have = max(en->have, min(en->set, en->wish));
	rpcrdma2_exchange_resize(&en->ex, en->have, en->send);
	rpcrdma2_exchange_send_next(&en->ex, wd->now);
}

static void look_at(struct world *wd, struct end *en, struct parcel *pa)
{
	struct rpcrdma2_msg *msg = &wd->msg;

	peer_of(wd, en)->controls--;
	rpcrdma2_msg_read(msg, pa->data, pa->len, pa->len, 0, &en->ex);
	KUNIT_ASSERT_EQ(wd->test, msg->mg_verdict, RDMA2_OK);
	rpcrdma2_exchange_take(&en->ex, &msg->mg_prop);
	rpcrdma2_exchange_answer(&en->ex, msg, wd->now);
}

/* A Reply as long as its Call lets it be, or an error */
static void reply(struct world *wd, struct end *en, u32 bytes)
{
	struct parcel *pa = post(wd, en);

	if (bytes <= rpcrdma2_exchange_send_max(&en->ex)) {
		pa->len = bytes;
	} else {
		pa->len = RPCRDMA2_HDR_MIN;
		pa->needed = bytes - RPCRDMA2_HDR_MIN;
	}
}

static void arrive(struct world *wd, struct end *en)
{
	while (en->count && !time_before(wd->now, en->line[en->first].due)) {
		struct parcel *pa = &en->line[en->first];

		en->first = (en->first + 1) % LINE;
		en->count--;
		wd->too_long += pa->len > en->have;
		rpcrdma2_exchange_received(&en->ex, wd->now);
		if (pa->control)
			look_at(wd, en, pa);
		if (pa->reply)
			reply(wd, en, pa->reply);
		if (pa->needed)
			rpcrdma2_exchange_reply_refused(&en->ex, pa->needed);
		converse(wd, en);
	}
}

/* A Call, as long as one may be, that has a Reply as long as one may be */
static void talk(struct world *wd, struct end *en)
{
	struct parcel *pa;

	if (peer_of(wd, en)->count >= LINE / 2)
		return;
	pa = post(wd, en);
	pa->len = rpcrdma2_exchange_send_max(&en->ex);
	pa->reply = rpcrdma2_exchange_reply_max(&en->ex);
}

static void step(struct world *wd)
{
	struct end *en = &wd->ends[chance(wd, 2)];

	wd->now += chance(wd, wd->slow ? 4 * HZ : HZ / 4);
	switch (chance(wd, 6)) {
	case 0:
		en->set = any_size(wd);
		converse(wd, en);
		break;
	case 1:
		en->send = any_size(wd);
		converse(wd, en);
		break;
	default:
		talk(wd, en);
	}
	arrive(wd, &wd->ends[0]);
	arrive(wd, &wd->ends[1]);
}

static void begin(struct world *wd, unsigned int marked)
{
	struct rpcrdma2_propmsg pm;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct end *en = &wd->ends[i];
		struct rpcrdma2_props *able = &en->ex.ex_supported;

		memset(en, 0, sizeof(*en));
		en->world = wd;
		rpcrdma2_exchange_init(&en->ex, &ops, i);
		if (!(marked & BIT(i)))
			memset(able->pr_mark, 0, sizeof(able->pr_mark));
		en->set = any_size(wd);
		en->have = en->set;
		en->wish = RPCRDMA2_INLINE_MAX;
		en->send = any_size(wd);
		en->xid = i << 31;
		able->pr_rbsiz = en->have;
		able->pr_sbsiz = en->send;
		able->pr_brs = RDMA2_BKREQSUP_INLINE;
	}
	rpcrdma2_exchange_announce(&wd->ends[0].ex, RPCRDMA2_PROPS_ALL, &pm);
	post_control(&wd->ends[0].ex, NULL, &pm);
	while (!wd->ends[0].ex.ex_peer.pp_announced) {
		wd->now += HZ / 4;
		arrive(wd, &wd->ends[1]);
		arrive(wd, &wd->ends[0]);
	}
}

/* Nothing changes any more, and some messages go both ways. */
static void end(struct world *wd)
{
	unsigned int i;

	wd->slow = false;
	for (i = 0; i < 640 || wd->ends[0].count || wd->ends[1].count; i++) {
		wd->now += HZ / 4;
		if (i < 640 && !(i % 16)) {
			talk(wd, &wd->ends[0]);
			talk(wd, &wd->ends[1]);
		}
		arrive(wd, &wd->ends[0]);
		arrive(wd, &wd->ends[1]);
	}
	for (i = 0; i < 2; i++) {
		struct end *en = &wd->ends[i], *peer = &wd->ends[!i];

		KUNIT_ASSERT_FALSE(wd->test, rpcrdma2_exchange_busy(&en->ex));
		KUNIT_ASSERT_EQ_MSG(wd->test, en->ex.ex_peer.pp_now.pr_rbsiz,
				    peer->ex.ex_announced.pr_rbsiz, "run %u", wd->run);
		KUNIT_ASSERT_LE(wd->test, en->ex.ex_announced.pr_rbsiz, en->have);
		if (!rpcrdma2_props_marked(&peer->ex.ex_supported) ||
		    !rpcrdma2_props_marked(&en->ex.ex_supported))
			continue;
		KUNIT_ASSERT_EQ(wd->test, en->ex.ex_peer.pp_now.pr_sbsiz,
				peer->send);
		KUNIT_ASSERT_EQ_MSG(wd->test, en->ex.ex_peer.pp_short, false,
				    "S14: run %u", wd->run);
	}
}

static void meet_and_change(struct kunit *test, bool slow)
{
	struct world *wd = kunit_kzalloc(test, sizeof(*wd), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, wd);
	wd->test = test;
	for (wd->run = 0; wd->run < RUNS; wd->run++) {
		wd->seed = wd->run;
		wd->now = -10UL * HZ;
		wd->slow = false;
		begin(wd, wd->run % 4);
		wd->slow = slow;
		for (i = 0; i < STEPS; i++)
			step(wd);
		end(wd);
		KUNIT_ASSERT_EQ_MSG(test, wd->too_long, 0, "run %u", wd->run);
		if (!slow)
			KUNIT_ASSERT_LE(test, wd->most, RPCRDMA2_CONTROL_RECVS);
	}
}

/* C-028 C-034 S27: no answer takes longer than half a second. */
static void s27_ends_that_are_quick(struct kunit *test)
{
	meet_and_change(test, false);
}

/* C-028 C-034 S16: some answers take much longer than it is waited for them. */
static void s16_ends_that_are_slow(struct kunit *test)
{
	meet_and_change(test, true);
}

static struct kunit_case two_ends_cases[] = {
	KUNIT_CASE(s27_ends_that_are_quick),
	KUNIT_CASE(s16_ends_that_are_slow),
	{ }
};

static struct kunit_suite two_ends_suite = {
	.name = "rpcrdma2_two_ends",
	.test_cases = two_ends_cases,
};

kunit_test_suite(two_ends_suite);
