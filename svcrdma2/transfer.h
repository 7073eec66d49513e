/* SPDX-License-Identifier: GPL-2.0 */
/* Quotas for the payload memory of all connections: see limits.c. */
#ifndef _SVCRDMA2_TRANSFER_H
#define _SVCRDMA2_TRANSFER_H

#include <linux/list.h>
#include <linux/types.h>

struct seq_file;
struct sockaddr_storage;
struct svc2_msg;
struct svc2_xprt;

/**
 * struct svc2_transfer - payload quota of a connection
 * @tr_address: state shared by the connections of its address; NULL before
 *	svc2_transfer_begin()
 * @tr_pages: pages of its payload; written under transfer_lock, as the next
 *	three
 * @tr_line: Calls that wait for pages, in FIFO order
 * @tr_served: Calls with pages that threads are working on
 * @tr_waiting: on ad_line: it waits for pages, or until it is within its quota
 */
struct svc2_transfer {
	struct svc2_address	*tr_address;
	long			tr_pages;
	struct list_head	tr_line;
	struct list_head	tr_served;
	struct list_head	tr_waiting;
};

const struct sockaddr_storage *svc2_transfer_address(const struct svc2_xprt *sp);
void svc2_transfer_set(void);
void svc2_transfer_init(struct svc2_xprt *sp);
int svc2_transfer_begin(struct svc2_xprt *sp);
void svc2_transfer_end(struct svc2_xprt *sp);
int svc2_transfer_enter(struct svc2_xprt *sp, struct svc2_msg *call,
			unsigned int pages);
void svc2_transfer_serve(struct svc2_xprt *sp, struct svc2_msg *call);
void svc2_transfer_defer(struct svc2_xprt *sp);
int svc2_transfer_take(struct svc2_xprt *sp, struct svc2_msg *call,
		       unsigned int pages);
void svc2_transfer_untake(struct svc2_xprt *sp, struct svc2_msg *call,
			  unsigned int pages);
void svc2_transfer_give(struct svc2_xprt *sp, unsigned int pages);
void svc2_transfer_leave(struct svc2_xprt *sp, struct svc2_msg *call);
void svc2_transfer_flush(struct svc2_xprt *sp, struct list_head *line);
void svc2_transfer_show(struct seq_file *seq);

#endif /* _SVCRDMA2_TRANSFER_H */
