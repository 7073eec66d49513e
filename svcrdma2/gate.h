/* SPDX-License-Identifier: GPL-2.0 */
/* Gates: FIFO wait queues for a connection's scarce resources. See limits.c. */
#ifndef _SVCRDMA2_GATE_H
#define _SVCRDMA2_GATE_H

#include <linux/list.h>
#include <linux/spinlock.h>

#include <rpcrdma2/units.h>

struct svc2_msg;
struct svc2_xprt;
struct svc_xprt;

/**
 * struct svc2_gate - a counted resource with a FIFO wait queue
 * @ga_units: free units
 * @ga_own: the units, unless they are counted elsewhere
 * @ga_opened: number of own units
 * @ga_counter: enum svc2_counter that counts the waits
 * @ga_lock: guards the next
 * @ga_line: waiters in FIFO order, but threads before Calls. Without the lock
 *	only emptiness can be tested
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
 * struct svc2_waiter - a waiter in the queue of a gate
 * @wt_list: on ga_line until it is served
 * @wt_units: units it waits for
 * @wt_spare: units it has to leave for others
 * @wt_call: Call that waits, or NULL for a thread; the waiter of a thread may
 *	be gone as soon as it is served
 * @wt_held: where to store the number of units of @wt_call
 */
struct svc2_waiter {
	struct list_head	wt_list;
	unsigned int		wt_units;
	unsigned int		wt_spare;
	struct svc2_msg		*wt_call;
	unsigned int		*wt_held;
};

/* Below 1 no unit is free. */
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

/* True for an error that means a lack of memory, mappings or memory regions */
static inline bool svc2_is_shortage(int ret)
{
	return ret == -ENOMEM || ret == -EAGAIN || ret == -EIO;
}

bool svc2_try_again(struct svc2_xprt *sp, unsigned int *tries, int *ret);
int svc2_has_wspace(struct svc_xprt *xprt);

#endif /* _SVCRDMA2_GATE_H */
