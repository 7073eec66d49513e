/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PEER_H
#define PEER_H

#include "wire.h"

struct conn;

typedef void (*answer)(struct conn *c, const struct message *m);

struct manners {
	const char *name;
	answer to_probe, to_two, to_one;
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
/* peer.c: TCP connection to the NFS server, -1 before the first Call */
int *conn_server(struct conn *c);
/* peer.c: version of the last Call */
uint32_t *conn_version(struct conn *c);
/* peer.c: a number for manners.c to count with, 0 in the beginning */
unsigned int *conn_count(struct conn *c);

/* manners.c */
const struct manners *find_manners(const char *name);
void list_manners(void);
void poke(struct conn *c, const struct manners *m);
void respond(struct conn *c, const struct manners *m, const uint8_t *data,
	     size_t len);

/* proxy.c */
void serve(struct conn *c, const struct message *m);
void called_back(struct conn *c);

#endif
