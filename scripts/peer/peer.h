/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PEER_H
#define PEER_H

#include "wire.h"

#define PAYLOAD_MAX	((1 << 20) + 4096)	/* octets of an NFS Reply */

struct conn;

typedef void (*answer)(struct conn *c, const struct message *m);

struct manners {
	const char *name;
	answer to_probe, to_two, to_one;
	answer first;		/* before anything was asked */
	answer after;		/* when an RPC in version 2 was answered */
	answer poked;		/* by a signal, *conn_count() is how often */
};

/* peer.c: one line of the log */
void note(const struct conn *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* peer.c: send, and wait until the other side has it; hang up */
void say(struct conn *c, const struct draft *d);
/* peer.c: the same, and invalidate a handle of the other side, if not 0 */
void say_invalidating(struct conn *c, const struct draft *d, uint32_t handle);
void hang_up(struct conn *c);
/* peer.c: post no Receives any more; and those that were not posted */
void stop_receiving(struct conn *c);
void receive_again(struct conn *c);
/* peer.c: several messages with one doorbell */
void say_all(struct conn *c, const struct draft *d, unsigned int count);
/* peer.c: PAYLOAD_MAX octets that may be placed, and RDMA Write some of them */
uint8_t *conn_payload(struct conn *c);
void place(struct conn *c, size_t from, size_t len, const struct segment *to,
	   int immediate);
/* peer.c: RDMA Read a segment to there */
void take(struct conn *c, size_t to, const struct segment *from);
/* peer.c: TCP connection to the NFS server, -1 before the first Call */
int *conn_server(struct conn *c);
/* peer.c: version of the last Call */
uint32_t *conn_version(struct conn *c);
/* peer.c: a number for manners.c to count with, 0 in the beginning */
unsigned int *conn_count(struct conn *c);

/* manners.c */
uint32_t next_xid(uint32_t xid);
void connprop(struct conn *c, const struct message *m);
const struct manners *find_manners(const char *name);
void list_manners(void);
void greet(struct conn *c, const struct manners *m);
void poke(struct conn *c, const struct manners *m);
void respond(struct conn *c, const struct manners *m, const uint8_t *data,
	     size_t len);

/* manners.c: the body of a property message becomes an option */
void wrap(struct draft *d);

/* asked.c: answers to a REQPROP, and what a peer says of itself */
#define RECEIVES	8192
void grants(struct conn *c, const struct message *m);
void rejects(struct conn *c, const struct message *m);
void contradicts(struct conn *c, const struct message *m);
void digresses(struct conn *c, const struct message *m);
void mumbles(struct conn *c, const struct message *m);
void answers_another(struct conn *c, const struct message *m);
void grants_by_option(struct conn *c, const struct message *m);
void ignores(struct conn *c, const struct message *m);
void refuses_bad(struct conn *c, const struct message *m);
void refuses_proc(struct conn *c, const struct message *m);
void refuses_option(struct conn *c, const struct message *m);
void marked(struct conn *c, const struct message *m);
void marked_otherwise(struct conn *c, const struct message *m);
void refuses_reply(struct conn *c, const struct message *m);
void say_larger(struct conn *c, const struct message *m);
void ask_same_xid(struct conn *c, const struct message *m);
void say_experimental(struct conn *c, const struct message *m);
void hesitates(struct conn *c, const struct message *m);
void is_miserly(struct conn *c, const struct message *m);
void babbles(struct conn *c, const struct message *m);

/* faults.c: as the last LOOKUP says; and what needs chunks when it comes again */
void answer_faultily(struct conn *c, const struct message *m);
void answer_second(struct conn *c, const struct message *m);

/* proxy.c: the Reply of the NFS server, its length or 0. A Call with a Position-Zero
 * chunk, or with one Read chunk, is put together in conn_payload() first.
 */
size_t fetch(struct conn *c, const struct message *m, uint8_t *rpc, size_t max);
void serve(struct conn *c, const struct message *m);
void called_back(struct conn *c);

#endif
