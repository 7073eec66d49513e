// SPDX-License-Identifier: GPL-2.0
/*
 * A run: a number of RPCs in one direction or both, with a limit of outstanding RPCs.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/mutex.h>
#include <linux/parser.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "echo.h"

enum {
	MAX_SIZES	= 16,
	MAX_TRIES	= 100,
	/* applies to every second RPC */
	ALTERNATE	= 2,
};

enum direction {
	FORWARD,
	BACKWARD,
	DIRECTIONS,
};

struct sizes {
	u32		count;
	u32		bytes[MAX_SIZES];
	u32		most;
};

/**
 * struct run - options and results of a run
 * @clnt: the client's end; the service's ends are echo_peer_get()'s
 * @count: RPCs in each direction
 * @window: maximum of outstanding RPCs in each direction
 * @wanted: directions of the run
 * @call: sizes of the data of Calls, in turn
 * @reply: sizes of the data of Replies; each is combined with each of @call
 * @base: offset of the data in their first page, in the requester's memory
 * @ddp: 0, 1 or ALTERNATE: the data of Calls are DDP-eligible
 * @reply_ddp: the same for Replies
 * @flags: ECHO_...
 * @hold: delay of Replies in milliseconds
 * @every: period of RPCs with this delay
 * @retry: repeat an RPC that fails, on the next connection
 * @serial: makes the data of this run differ from those of other runs
 * @next: number of the next RPC
 * @done: RPCs with correct data
 * @wrong: RPCs with a wrong byte, on either end
 * @failed: RPCs that ended with an error
 * @retried: number of repetitions
 * @met: increase of echo_met during the run
 * @alone: increase of echo_alone during the run
 * @error: last error
 * @ms: duration
 */
struct run {
	struct rpc_clnt	*clnt;
	u32		count;
	u32		window;
	bool		wanted[DIRECTIONS];
	struct sizes	call;
	struct sizes	reply;
	u32		base;
	u32		ddp;
	u32		reply_ddp;
	u32		flags;
	u32		hold;
	u32		every;
	bool		retry;
	u32		serial;

	atomic_t	next[DIRECTIONS];
	atomic_t	done[DIRECTIONS];
	atomic_t	wrong;
	atomic_t	failed;
	atomic_t	retried;
	int		met;
	int		alone;
	int		error;
	s64		ms;
};

struct worker {
	struct work_struct	work;
	struct completion	idle;
	struct run		*run;
	struct echo_call	*call;
	enum direction		direction;
};

static struct run last;
static bool halted;
static DEFINE_MUTEX(bind_lock);

/**
 * echo_run_halt - end the current run
 */
void echo_run_halt(void)
{
	WRITE_ONCE(halted, true);
}

/**
 * echo_run_unhalt - clear the effect of echo_run_halt() before the next run
 *
 * Context: before echo_run(), under control_lock.
 */
void echo_run_unhalt(void)
{
	WRITE_ONCE(halted, false);
}

static bool chosen(u32 which, u32 number)
{
	return which == ALTERNATE ? number & 1 : which;
}

/* Set the arguments of RPC number @n of its direction. */
static void prepare(const struct run *run, enum direction direction, u32 n,
		    struct echo_call *call)
{
	u32 round = n / run->call.count / run->reply.count;

	call->ec_args = (struct echo_args){
		.ea_seed  = run->serial + 2 * n + direction,
		.ea_len	  = run->call.bytes[n % run->call.count],
		.ea_want  = run->reply.bytes[n / run->call.count %
					     run->reply.count],
		.ea_flags = run->flags,
		.ea_hold  = (n + 1) % run->every ? 0 : run->hold,
	};
	if (call->ec_args.ea_want > ECHO_MAX_HEAD)
		call->ec_args.ea_flags &= ~ECHO_HEAD;
	call->ec_ddp = chosen(run->ddp, round);
	call->ec_reply_ddp = chosen(run->reply_ddp, round >> 1);
}

static int call_backward(u32 n, struct echo_call *call)
{
	struct echo_peer *peer = echo_peer_get(n);
	int ret;

	if (!peer)
		return -ENOTCONN;
	ret = echo_call(peer->ep_clnt, RPC_TASK_NOCONNECT, call);
	echo_peer_put(peer);
	return ret;
}

/* After a reconnect the service sends Calls only when the client has sent BIND. */
static void bind_again(struct run *run)
{
	msleep(50);
	guard(mutex)(&bind_lock);
	echo_bind(run->clnt);
}

static void make_rpc(struct worker *w, u32 n)
{
	struct run *run = w->run;
	unsigned int tries = 0;
	int ret;

	do {
		if (tries) {
			atomic_inc(&run->retried);
			bind_again(run);
		}
		prepare(run, w->direction, n, w->call);
		ret = w->direction == FORWARD ?
		      echo_call(run->clnt, 0, w->call) :
		      call_backward(n, w->call);
	} while (ret < 0 && run->retry && ++tries < MAX_TRIES &&
		 !READ_ONCE(halted));

	if (!ret)
		atomic_inc(&run->done[w->direction]);
	else if (ret > 0)
		atomic_inc(&run->wrong);
	else
		atomic_inc(&run->failed);
	if (ret < 0)
		WRITE_ONCE(run->error, ret);
}

static void work(struct work_struct *ws)
{
	struct worker *w = container_of(ws, struct worker, work);
	struct run *run = w->run;
	u32 n;

	do {
		n = atomic_inc_return(&run->next[w->direction]) - 1;
		if (n >= run->count || READ_ONCE(halted))
			break;
		make_rpc(w, n);
	} while (!(run->flags & ECHO_MEET));
	complete(&w->idle);
}

static void set_xid(struct rpc_clnt *clnt, u32 xid)
{
	struct rpc_xprt *xprt;

	rcu_read_lock();
	xprt = rcu_dereference(clnt->cl_xprt);
	spin_lock(&xprt->reserve_lock);
	xprt->xid = xid;
	spin_unlock(&xprt->reserve_lock);
	rcu_read_unlock();
}

/* Make the next RPCs of both directions use the same XIDs. */
static int align_xids(const struct run *run, u32 xid)
{
	struct echo_peer *peer = echo_peer_get(0);

	if (!peer)
		return -ENOTCONN;
	set_xid(run->clnt, xid);
	set_xid(peer->ep_clnt, xid);
	echo_peer_put(peer);
	return 0;
}

static void workers_free(struct worker *workers, u32 count)
{
	while (count--)
		echo_call_free(workers[count].call);
	kfree(workers);
}

static struct worker *workers_alloc(struct run *run, u32 count)
{
	struct worker *workers = kcalloc(count, sizeof(*workers), GFP_KERNEL);
	u32 i;

	for (i = 0; workers && i < count; i++) {
		struct worker *w = &workers[i];

		INIT_WORK(&w->work, work);
		init_completion(&w->idle);
		w->run = run;
		w->direction = run->wanted[FORWARD] && run->wanted[BACKWARD] ?
			       i % DIRECTIONS :
			       run->wanted[BACKWARD] ? BACKWARD : FORWARD;
		w->call = echo_call_alloc(run->base, run->call.most,
					  run->reply.most);
		if (!w->call) {
			workers_free(workers, i);
			return NULL;
		}
	}
	return workers;
}

static int work_all(struct run *run, struct worker *workers, u32 count)
{
	u32 n = 0, i;
	int ret;

	do {
		ret = run->flags & ECHO_MEET ?
		      align_xids(run, run->serial + n) : 0;
		for (i = 0; !ret && i < count; i++)
			queue_work(echo_wq, &workers[i].work);
		/* TASK_IDLE, so that a long run is not reported as a hung task */
		while (i--) {
			wait_for_completion_state(&workers[i].idle, TASK_IDLE);
			flush_work(&workers[i].work);
		}
		n += run->window;
	} while (!ret && run->flags & ECHO_MEET && n < run->count &&
		 !READ_ONCE(halted));
	return ret;
}

static int run_all(struct run *run)
{
	u32 count = run->window * (run->wanted[FORWARD] + run->wanted[BACKWARD]);
	int met = atomic_read(&echo_met), alone = atomic_read(&echo_alone);
	struct worker *workers = workers_alloc(run, count);
	ktime_t start = ktime_get();
	int ret;

	if (!workers)
		return -ENOMEM;
	ret = work_all(run, workers, count);
	run->ms = ktime_ms_delta(ktime_get(), start);
	workers_free(workers, count);
	run->met = atomic_read(&echo_met) - met;
	run->alone = atomic_read(&echo_alone) - alone;
	return ret;
}

static int parse_sizes(struct sizes *sizes, char *text)
{
	char *word;

	sizes->count = 0;
	sizes->most = 0;
	while ((word = strsep(&text, "/"))) {
		u32 *bytes = &sizes->bytes[sizes->count];

		if (sizes->count == MAX_SIZES || kstrtou32(word, 0, bytes) ||
		    *bytes > ECHO_MAX_DATA)
			return -EINVAL;
		sizes->most = max(sizes->most, *bytes);
		sizes->count++;
	}
	return 0;
}

enum {
	OPT_DIRECTION, OPT_COUNT, OPT_WINDOW, OPT_CALL, OPT_REPLY, OPT_BASE,
	OPT_DDP, OPT_REPLY_DDP, OPT_HEAD, OPT_MEET, OPT_RETRY, OPT_HOLD,
	OPT_EVERY, OPT_NONE,
};

static const match_table_t options = {
	{ OPT_DIRECTION,	"direction=%s" },
	{ OPT_COUNT,		"count=%u" },
	{ OPT_WINDOW,		"window=%u" },
	{ OPT_CALL,		"call=%s" },
	{ OPT_REPLY,		"reply=%s" },
	{ OPT_BASE,		"base=%u" },
	{ OPT_DDP,		"ddp=%u" },
	{ OPT_REPLY_DDP,	"reply_ddp=%u" },
	{ OPT_HEAD,		"head" },
	{ OPT_MEET,		"meet" },
	{ OPT_RETRY,		"retry" },
	{ OPT_HOLD,		"hold=%u" },
	{ OPT_EVERY,		"every=%u" },
	{ OPT_NONE,		NULL },
};

static int parse_direction(struct run *run, const char *word)
{
	bool both = !strcmp(word, "both");

	run->wanted[FORWARD] = both || !strcmp(word, "forward");
	run->wanted[BACKWARD] = both || !strcmp(word, "backward");
	return run->wanted[FORWARD] || run->wanted[BACKWARD] ? 0 : -EINVAL;
}

static int parse_word(struct run *run, char *word)
{
	substring_t args[MAX_OPT_ARGS];

	switch (match_token(word, options, args)) {
	case OPT_DIRECTION:	return parse_direction(run, args[0].from);
	case OPT_CALL:		return parse_sizes(&run->call, args[0].from);
	case OPT_REPLY:		return parse_sizes(&run->reply, args[0].from);
	case OPT_COUNT:		return match_uint(args, &run->count);
	case OPT_WINDOW:	return match_uint(args, &run->window);
	case OPT_BASE:		return match_uint(args, &run->base);
	case OPT_DDP:		return match_uint(args, &run->ddp);
	case OPT_REPLY_DDP:	return match_uint(args, &run->reply_ddp);
	case OPT_HOLD:		return match_uint(args, &run->hold);
	case OPT_EVERY:		return match_uint(args, &run->every);
	case OPT_HEAD:
		run->flags |= ECHO_HEAD;
		return 0;
	case OPT_MEET:
		run->flags |= ECHO_MEET;
		return 0;
	case OPT_RETRY:
		run->retry = true;
		return 0;
	default:
		return -EINVAL;
	}
}

/**
 * echo_run - make RPCs
 * @clnt: the client's end, or NULL for backward Calls without repetition
 * @words: "direction=both count=1000 window=16 call=0/4096 reply=1" and more, see
 *	options[]
 *
 * Context: sleeps; one at a time; after echo_run_unhalt().
 * Return: 0 if the run ended, also if RPCs failed; or a negative error.
 */
int echo_run(struct rpc_clnt *clnt, char *words)
{
	static u32 serial;
	char *word;
	int ret;

	last = (struct run){
		.clnt	= clnt,
		.count	= 1,
		.window	= 1,
		.every	= 1,
		.call	= { .count = 1 },
		.reply	= { .count = 1 },
		.serial	= serial += 0x01000000,
	};
	while ((word = strsep(&words, " "))) {
		ret = *word ? parse_word(&last, word) : 0;
		if (ret)
			return ret;
	}
	if (!last.wanted[FORWARD] && !last.wanted[BACKWARD])
		return -EINVAL;
	if (!last.window || last.window > ECHO_WINDOW || !last.every ||
	    last.base >= PAGE_SIZE)
		return -EINVAL;
	if (!clnt && (last.wanted[FORWARD] || last.retry))
		return -ENOTCONN;
	return run_all(&last);
}

/**
 * echo_run_print - print the result of the last run
 * @to: buffer
 * @size: of @to
 *
 * Return: bytes printed.
 */
int echo_run_print(char *to, size_t size)
{
	int n;

	n = scnprintf(to, size, "forward=%d backward=%d wrong=%d failed=%d ",
		      atomic_read(&last.done[FORWARD]),
		      atomic_read(&last.done[BACKWARD]),
		      atomic_read(&last.wrong), atomic_read(&last.failed));
	n += scnprintf(to + n, size - n,
		       "retried=%d error=%d met=%d alone=%d ms=%lld holding=%d\n",
		       atomic_read(&last.retried), last.error, last.met,
		       last.alone, last.ms, atomic_read(&echo_holding));
	return n;
}
