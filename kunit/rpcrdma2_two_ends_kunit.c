// SPDX-License-Identifier: GPL-2.0
/*
 * Simulates two ends and the messages between them. Each end changes its sizes at random
 * times, and announces them with a delay. Messages in one direction keep their order; the
 * delay of a message is random.
 *
 * For every order of events the test checks these rules: no message is longer than the
 * peer's Receives at its arrival (C-028, C-034). No end has more property messages under
 * way than there are Receives for them (2.3, S27). No end refuses a Reply that its
 * announcements permit (S14). Finally both ends have each other's values.
 */
#include <linux/container_of.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>

#include "util.h"

#define RUNS		300
#define STEPS		300
#define LINE		64	/* messages under way in one direction */
#define BYTES		256	/* of a property message */

/**
 * struct parcel - a message under way
 * @due: time of its handling, in jiffies
 * @len: length in bytes
 * @reply: length of the Reply to this Call, the inline maximum; or 0
 * @needed: length of the Reply that this error refuses; or 0
 * @control: a property message, stored in @data
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
 * @world: the simulation
 * @configured: size of its Receives, as configured
 * @requested: size of Receives that the peer requested
 * @actual: actual size of its Receives
 * @send: size of its largest Send, as configured
 * @xid: XID of its next message
 * @line: messages under way to this end
 * @first: oldest message in @line
 * @count: number of messages in @line
 * @controls: property messages of this end under way
 */
struct end {
	struct rpcrdma2_exchange	ex;
	struct world			*world;
	u32				configured;
	u32				requested;
	u32				actual;
	u32				send;
	u32				xid;
	struct parcel			line[LINE];
	unsigned int			first;
	unsigned int			count;
	unsigned int			controls;
};

/**
 * struct world - the simulation
 * @test: test case
 * @ends: both ends, the requester first
 * @now: jiffies
 * @seed: state of the random numbers
 * @run: number of the run, to repeat a single one
 * @slow: the delay of messages may exceed the wait for an answer
 * @too_long: number of messages that exceeded a Receive
 * @most: maximum number of property messages that one end had under way
 * @msg: scratch memory
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

static u32 random_below(struct world *wd, u32 below)
{
	wd->seed = wd->seed * 1664525 + 1013904223;
	return (wd->seed >> 8) % below;
}

static u32 random_size(struct world *wd)
{
	return 4096 << random_below(wd, 5);
}

static struct end *peer_of(struct world *wd, struct end *en)
{
	return &wd->ends[en == wd->ends];
}

/* The delay of a message; some are slow. */
static unsigned long delay(struct world *wd)
{
	if (wd->slow && !random_below(wd, 10))
		return random_below(wd, 100 * HZ);
	return random_below(wd, HZ / 2);
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

/* The Send of a message that is not an answer fails sometimes. */
static int post_control(struct rpcrdma2_exchange *ex, struct rpcrdma2_hdr *h,
			struct rpcrdma2_propmsg *pm)
{
	struct end *en = container_of(ex, struct end, ex);
	struct world *wd = en->world;
	struct parcel *pa;
	int len;

	if (!h && ex->ex_sent != RDMA2_OPT_CONNPROP && !random_below(wd, 10))
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

/* The ends read their limits when they send. */
static void changed(struct rpcrdma2_exchange *ex)
{
}

static void resize(struct rpcrdma2_exchange *ex, u32 bytes)
{
	struct end *en = container_of(ex, struct end, ex);

	en->requested = bytes;
	en->actual = min(en->actual, bytes);
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

/* C-032: larger Receives are available at once; C-033: Receives do not shrink. */
static void update_properties(struct world *wd, struct end *en)
{
	en->actual = max(en->actual, min(en->configured, en->requested));
	rpcrdma2_exchange_resize(&en->ex, en->actual, en->send);
	rpcrdma2_exchange_send_next(&en->ex, wd->now);
}

static void handle_control(struct world *wd, struct end *en, struct parcel *pa)
{
	struct rpcrdma2_msg *msg = &wd->msg;

	peer_of(wd, en)->controls--;
	rpcrdma2_msg_read(msg, pa->data, pa->len, pa->len, 0, &en->ex);
	KUNIT_ASSERT_EQ(wd->test, msg->mg_verdict, RDMA2_OK);
	rpcrdma2_exchange_take(&en->ex, &msg->mg_prop);
	rpcrdma2_exchange_answer(&en->ex, msg, wd->now);
}

/* A Reply of the length that the Call permits, or an error */
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
		wd->too_long += pa->len > en->actual;
		rpcrdma2_exchange_received(&en->ex, wd->now);
		if (pa->control)
			handle_control(wd, en, pa);
		if (pa->reply)
			reply(wd, en, pa->reply);
		if (pa->needed)
			rpcrdma2_exchange_reply_refused(&en->ex, pa->needed);
		update_properties(wd, en);
	}
}

/* A Call of maximum length with a Reply of maximum length */
static void send_call(struct world *wd, struct end *en)
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
	struct end *en = &wd->ends[random_below(wd, 2)];

	wd->now += random_below(wd, wd->slow ? 4 * HZ : HZ / 4);
	switch (random_below(wd, 6)) {
	case 0:
		en->configured = random_size(wd);
		update_properties(wd, en);
		break;
	case 1:
		en->send = random_size(wd);
		update_properties(wd, en);
		break;
	default:
		send_call(wd, en);
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
		en->configured = random_size(wd);
		en->actual = en->configured;
		en->requested = RPCRDMA2_INLINE_MAX;
		en->send = random_size(wd);
		en->xid = i << 31;
		able->pr_rbsiz = en->actual;
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

/* The values remain constant, and some messages go in both directions. */
static void end(struct world *wd)
{
	unsigned int i;

	wd->slow = false;
	for (i = 0; i < 640 || wd->ends[0].count || wd->ends[1].count; i++) {
		wd->now += HZ / 4;
		if (i < 640 && !(i % 16)) {
			send_call(wd, &wd->ends[0]);
			send_call(wd, &wd->ends[1]);
		}
		arrive(wd, &wd->ends[0]);
		arrive(wd, &wd->ends[1]);
	}
	for (i = 0; i < 2; i++) {
		struct end *en = &wd->ends[i], *peer = &wd->ends[!i];

		KUNIT_ASSERT_FALSE(wd->test, rpcrdma2_exchange_busy(&en->ex));
		KUNIT_ASSERT_EQ_MSG(wd->test, en->ex.ex_peer.pp_now.pr_rbsiz,
				    peer->ex.ex_announced.pr_rbsiz, "run %u", wd->run);
		KUNIT_ASSERT_LE(wd->test, en->ex.ex_announced.pr_rbsiz, en->actual);
		if (!rpcrdma2_props_marked(&peer->ex.ex_supported) ||
		    !rpcrdma2_props_marked(&en->ex.ex_supported))
			continue;
		KUNIT_ASSERT_EQ(wd->test, en->ex.ex_peer.pp_now.pr_sbsiz,
				peer->send);
		KUNIT_ASSERT_EQ_MSG(wd->test, en->ex.ex_peer.pp_short, false,
				    "S14: run %u", wd->run);
	}
}

static void run_simulation(struct kunit *test, bool slow)
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

/* C-028 C-034 S27: all answers arrive within half a second. */
static void s27_quick_ends(struct kunit *test)
{
	run_simulation(test, false);
}

/* C-028 C-034 S16: some answers take much longer than an end waits for them. */
static void s16_slow_ends(struct kunit *test)
{
	run_simulation(test, true);
}

static struct kunit_case two_ends_cases[] = {
	KUNIT_CASE(s27_quick_ends),
	KUNIT_CASE(s16_slow_ends),
	{ }
};

static struct kunit_suite two_ends_suite = {
	.name = "rpcrdma2_two_ends",
	.test_cases = two_ends_cases,
};

kunit_test_suite(two_ends_suite);
