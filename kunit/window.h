/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Windows of waits: places in the code under test where another task may act, so that a wakeup
 * could be lost. A suite compiles that code in, with functions that pass these places in place of
 * the kernel's, and a test case lets the other side act at one of them, once and completely.
 */
#ifndef _RPCRDMA2_KUNIT_WINDOW_H
#define _RPCRDMA2_KUNIT_WINDOW_H

#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/sunrpc/xprt.h>
#include <asm/barrier.h>

enum place {
	NOWHERE,
	/* A thread that takes messages passes these in this order. */
	BEFORE_CLEAR,		/* the next flag is cleared then */
	BEHIND_BARRIER,		/* the next full barrier has been passed */
	BEHIND_LOOK,		/* the thread has looked for messages */
	BEFORE_SET,		/* the next flag is set then */
	BEFORE_SECOND_CLEAR,	/* the flag is cleared again then */

	BEHIND_UPDATE,		/* an update has looked for changes */
	BEHIND_DENIAL,		/* there were too few units */
	BEHIND_QUOTA,		/* the quota has allowed no pages */
	BEHIND_GRANT,		/* the quota has allowed them */
	BEHIND_RELEASE,		/* a store for others to acquire has been done */
	BEFORE_MARK,		/* the taker is marked as a waiter then */
	BEHIND_MARK,		/* it has passed the barrier after that */
	BEFORE_WAIT,		/* the RPC layer notes then that a Call waits */
	BEHIND_WAIT,		/* the RPC layer has noted it */
	BEFORE_RETURN,		/* units are given back then */
	BEHIND_RETURN,		/* units were given back */
	AT_WAKEUP,		/* the RPC layer looks for a thread */
};

/* The place where the other side acts next */
static enum place window;
static void (*other_side)(void);

static inline void open_window(enum place place, void (*act)(void))
{
	window = place;
	other_side = act;
}

static inline void pass(enum place place)
{
	if (place != window)
		return;
	window = NOWHERE;
	other_side();
}

/* The code under test passes the place of the window, so its barrier is there, too. */
static inline void expect_passed(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, window, NOWHERE);
	window = NOWHERE;
}

static inline void windowed_barrier(void)
{
	smp_mb();	/* as the code under test requests */
	pass(BEHIND_BARRIER);
}

static inline void windowed_release(unsigned long *word, unsigned long value)
{
	smp_store_release(word, value);	/* pairs as in the code under test */
	pass(BEHIND_RELEASE);
}

static inline void windowed_set_bit(unsigned int nr, unsigned long *word)
{
	pass(BEFORE_SET);
	set_bit(nr, word);
}

static inline void windowed_wait(struct rpc_xprt *xprt)
{
	pass(BEFORE_WAIT);
	xprt_wait_for_buffer_space(xprt);
	pass(BEHIND_WAIT);
}

#endif /* _RPCRDMA2_KUNIT_WINDOW_H */
