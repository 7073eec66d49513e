/* SPDX-License-Identifier: GPL-2.0 */
/* Queues of a connection over a device that refuses large ones; no verbs object is created. */
#ifndef _RPCRDMA2_KUNIT_FAKE_QUEUES_H
#define _RPCRDMA2_KUNIT_FAKE_QUEUES_H

#include <rpcrdma2/conn.h>

/* The device refuses queues of more entries with the error, and counts the attempts. */
static unsigned int most_entries, attempts;
static int refusal;

/* The device cannot create a protection domain. */
static bool no_pd;

static int fake_conn_create(struct rpcrdma2_conn *co,
			    const struct rpcrdma2_conn_size *size)
{
	static struct ib_pd pd;

	attempts++;
	if (no_pd)
		return refusal;
	co->co_pd = &pd;
	return max(size->sends, size->recvs) > most_entries ? refusal : 0;
}

#undef rpcrdma2_conn_create
#define rpcrdma2_conn_create(co, size, event)	((void)(event), fake_conn_create(co, size))

#endif
