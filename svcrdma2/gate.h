/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gates: how what a connection has little of is waited for. See gate.c.
 */
#ifndef _SVCRDMA2_GATE_H
#define _SVCRDMA2_GATE_H

#include <linux/list.h>
#include <linux/spinlock.h>

#include <rpcrdma2/units.h>

struct svc2_msg;
struct svc2_xprt;
struct svc_xprt;

/**
 * struct svc2_gate - a counted resource that threads and Calls wait for in turn
 * @ga_units: units to be had
 * @ga_own: these, unless they are counted elsewhere
 * @ga_opened: how many of these there are
 * @ga_counter: enum svc2_counter that counts the waits
 * @ga_lock: guards the next
 * @ga_line: what waits, first come, first served, but threads before Calls. Without
 *	the lock it can only be told whether there is a line
 */
struct svc2_gate {
	struct rpcrdma2_units	*ga_units;
	struct rpcrdma2_units	ga_own;
	unsigned int		ga_opened;
	unsigned int		ga_counter;
	spinlock_t		ga_lock;	/* guards the next */
	struct list_head	ga_line;
};

/**
 * struct svc2_waiter - what stands in the line of a gate
 * @wt_list: on ga_line until it is served
 * @wt_units: how many it waits for
 * @wt_spare: how many it has to leave for others
 * @wt_call: Call that waits, or NULL: a thread does, and this may be gone as soon
 *	as it is served
 * @wt_held: where to note the units of @wt_call
 */
struct svc2_waiter {
	struct list_head	wt_list;
	unsigned int		wt_units;
	unsigned int		wt_spare;
	struct svc2_msg		*wt_call;
	unsigned int		*wt_held;
};

/* Below 1 there is nothing to be had. */
static inline int svc2_gate_avail(const struct svc2_gate *ga)
{
	return atomic_read(&ga->ga_units->un_free);
}

void svc2_gate_init(struct svc2_gate *ga, struct rpcrdma2_units *units,
		    unsigned int counter);
void svc2_gate_open(struct svc2_gate *ga, unsigned int units);
bool svc2_gate_is_whole(const struct svc2_gate *ga);
int svc2_gate_take(struct svc2_xprt *sp, struct svc2_gate *ga,
		   unsigned int units, unsigned int spare);
int svc2_gate_enter(struct svc2_xprt *sp, struct svc2_gate *ga,
		    struct svc2_msg *call, unsigned int units,
		    unsigned int spare, unsigned int *held);
void svc2_gate_flush(struct svc2_gate *ga, struct list_head *line);
void svc2_gate_serve(struct svc2_xprt *sp, struct svc2_gate *ga);
void svc2_gate_give(struct svc2_xprt *sp, struct svc2_gate *ga,
		    unsigned int units);

/* Does an error mean too little memory, or too few mappings or memory regions? */
static inline bool svc2_is_shortage(int ret)
{
	return ret == -ENOMEM || ret == -EAGAIN || ret == -EIO;
}

bool svc2_try_again(struct svc2_xprt *sp, unsigned int *tries, int *ret);
int svc2_has_wspace(struct svc_xprt *xprt);

#endif /* _SVCRDMA2_GATE_H */
