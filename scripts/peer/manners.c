// SPDX-License-Identifier: GPL-2.0
/*
 * How a peer behaves: what it answers to a probe, to a Call in version 2, to
 * a Call in version 1. One row for each kind of server a client may meet.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

/* The client counts its xids in its own order of octets, which is the same here. */
static uint32_t next_xid(uint32_t xid)
{
	return ntohl(htonl(xid) + 1);
}

static void nothing(struct conn *c, const struct message *m)
{
	(void)c;
	(void)m;
}

static void connprop(struct conn *c, const struct message *m)
{
	struct draft d;

	make_connprop(&d, m->xid);
	say(c, &d);
}

static void range(struct conn *c, const struct message *m, uint32_t vers,
		  uint32_t low, uint32_t high)
{
	struct draft d;

	make_err_vers(&d, m->xid, vers, low, high);
	say(c, &d);
}

static void only_two(struct conn *c, const struct message *m)
{
	range(c, m, m->vers, 2, 2);
}

static void only_one(struct conn *c, const struct message *m)
{
	range(c, m, m->vers, 1, 1);
}

static void only_newer(struct conn *c, const struct message *m)
{
	range(c, m, m->vers, 3, 4);
}

static void hang(struct conn *c, const struct message *m)
{
	(void)m;
	hang_up(c);
}

static void die(struct conn *c, const struct message *m)
{
	(void)c;
	(void)m;
	exit(0);
}

static void only_one_and_hang(struct conn *c, const struct message *m)
{
	only_one(c, m);
	hang(c, m);
}

static void hang_on_fourth(struct conn *c, const struct message *m)
{
	if (++*conn_count(c) < 4)
		serve(c, m);
	else
		hang(c, m);
}

static void garbage(struct conn *c, const struct message *m)
{
	struct draft d = { .len = 300 };
	unsigned int i, seed = m->xid;

	for (i = 0; i < d.len; i++) {
		seed = seed * 1103515245 + 12345;
		d.data[i] = seed >> 16;
	}
	say(c, &d);
}

/* With a Read chunk of so many segments, and so many Write chunks, 1 at most */
static void call_back(struct conn *c, uint32_t xid, int reads, int writes)
{
	/* discriminator; position, or number of segments; segment */
	static const uint32_t chunk[] = { 1, 0, 0x77, 4, 0, 0x1000 };
	/* CB_NULL, ten words with xid and direction: chunks go behind them */
	static const uint32_t call[] = { 2, 0x40000000, 1, 0, 0, 0, 0, 0 };
	struct draft d;
	size_t i;

	begin(&d, xid, 2, MSG);
	put32(&d, CALL);
	put32(&d, 0);
	for (; reads; reads--)
		for (i = 0; i < 6; i++)
			put32(&d, i == 1 ? 40 : chunk[i]);
	put32(&d, 0);
	for (i = 0; writes && i < 6; i++)
		put32(&d, i == 1 ? 1 : chunk[i]);
	put32(&d, 0);
	put32(&d, 0);
	put32(&d, xid);
	put32(&d, CALL);
	for (i = 0; i < sizeof(call) / sizeof(call[0]); i++)
		put32(&d, call[i]);
	say(c, &d);
}

/*
 * Calls that the client has not agreed to, once a connection: one with the xid of an
 * RPC, two with chunks, one with more segments than any client takes, and more
 * at once than any client grants.
 */
static void uncalled_for(struct conn *c, const struct message *m)
{
	static const struct conn *last;
	uint32_t i;

	if (c == last)
		return;
	last = c;
	call_back(c, m->xid + 0x1000000, 0, 0);
	call_back(c, 0xcb4, 1, 0);
	call_back(c, 0xcb5, 0, 1);
	call_back(c, 0xcb6, 65, 0);
	for (i = 0; i < 40; i++)
		call_back(c, 0xcc00 + i, 0, 0);
}

/* A Call with the xid of the RPC, which is waiting for its Reply, comes first. */
static void call_same_xid(struct conn *c, const struct message *m)
{
	call_back(c, m->xid, 0, 0);
	serve(c, m);
}

/* The last READ or READDIR that was not answered */
static struct message kept;

static void silent_reads(struct conn *c, const struct message *m)
{
	switch (nfs_proc(m)) {
	case NFS3_READ:
	case NFS3_READDIR:
	case NFS3_READDIRPLUS:
		kept = *m;
		break;
	default:
		serve(c, m);
	}
}

/* Answered now, and its region invalidated: the one, or one without a Call */
static void answer_kept(struct conn *c, uint32_t xid)
{
	struct draft d;

	make_error(&d, xid, 2, ERR_BAD);
	say_invalidating(c, &d, kept.handle);
}

static void answer_late(struct conn *c, const struct message *m)
{
	(void)m;
	answer_kept(c, kept.xid);
}

static void answer_another(struct conn *c, const struct message *m)
{
	(void)m;
	answer_kept(c, kept.xid ^ 0x10000000);
}

/* LOOKUPs that were not answered */
static uint32_t lookups[64];
static unsigned int num_lookups;

/* From one signal to the next, which has all of them answered with an error */
static void silent_lookups(struct conn *c, const struct message *m)
{
	if (*conn_count(c) % 2 && nfs_proc(m) == NFS3_LOOKUP && num_lookups < 64)
		lookups[num_lookups++] = m->xid;
	else
		serve(c, m);
}

static void answer_lookups(struct conn *c, const struct message *m)
{
	struct draft d;

	(void)m;
	if (*conn_count(c) % 2) {
		note(c, "silent");
		return;
	}
	note(c, "under way: %u", num_lookups);
	while (num_lookups) {
		make_error(&d, lookups[--num_lookups], 2, ERR_BAD);
		say(c, &d);
	}
}

/*
 * An impostor: once it posts no Receives it answers the Call after the last one
 * without having received it, and then receives what the client still sends,
 * which may be a mixture of two Calls.
 */
static uint32_t last_xid;

static void remember(struct conn *c, const struct message *m)
{
	last_xid = m->xid;
	if (*conn_count(c) < 3)
		serve(c, m);
	else
		hang_up(c);
}

static void pretend(struct conn *c, void (*answer)(struct conn *c, uint32_t xid))
{
	if (*conn_count(c) == 1)
		stop_receiving(c);
	else if (*conn_count(c) == 2)
		answer(c, next_xid(last_xid));
	else
		receive_again(c);
}

/* Too short for an RPC header: the RPC layer sends the Call again. */
static void answer_junk(struct conn *c, uint32_t xid)
{
	struct draft d;

	begin_rpc(&d, xid, 2, REPLY);
	put32(&d, xid);
	put32(&d, REPLY);
	say(c, &d);
}

static void pretend_junk(struct conn *c, const struct message *m)
{
	(void)m;
	pretend(c, answer_junk);
}

/* The client sends the Call again, with a Reply chunk. */
static void refuse_unseen(struct conn *c, uint32_t xid)
{
	struct draft d;

	make_error(&d, xid, 2, ERR_REPLY);
	put32(&d, 100);
	say(c, &d);
}

static void pretend_refusal(struct conn *c, const struct message *m)
{
	(void)m;
	pretend(c, refuse_unseen);
}

static const struct manners table[] = {
	/* name		   probe		version 2	version 1 */
	{ "two",	   connprop,		serve,		serve },
	{ "two-calls",	   connprop,		serve,		serve,
			   uncalled_for },
	{ "two-same-xid",  connprop,		call_same_xid,	serve,
			   nothing },
	{ "silent-reads",  connprop,		silent_reads,	serve },
	{ "late-reads",	   connprop,		silent_reads,	serve,
			   NULL, answer_late },
	{ "other-handle",  connprop,		silent_reads,	serve,
			   NULL, answer_another },
	{ "silent-lookups", connprop,		silent_lookups,	serve,
			   NULL, answer_lookups },
	{ "one",	   only_one,		only_one,	serve },
	{ "one-hangs",	   only_one_and_hang,	only_one,	serve },
	{ "silent",	   nothing,		nothing,	serve },
	{ "closing",	   hang,		hang,		serve },
	{ "dying",	   die,			die,		serve },
	{ "garbage",	   garbage,		garbage,	serve },
	{ "newer",	   only_newer,		only_newer,	only_newer },
	{ "hang-on-rpc",   connprop,		hang,		hang },
	{ "hang-on-fourth", connprop,		hang_on_fourth,	hang },
	{ "two-hangs",	   connprop,		serve,		serve,
			   NULL, hang },
	{ "impostor-junk", connprop,		remember,	serve,
			   NULL, pretend_junk },
	{ "impostor-refuses", connprop,		remember,	serve,
			   NULL, pretend_refusal },
};

const struct manners *find_manners(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

void list_manners(void)
{
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		fprintf(stderr, " %s", table[i].name);
	fputc('\n', stderr);
}

void poke(struct conn *c, const struct manners *m)
{
	const struct message none = { .xid = 0xca11 };

	++*conn_count(c);
	if (m->poked)
		m->poked(c, &none);
}

void respond(struct conn *c, const struct manners *manners,
	     const uint8_t *data, size_t len)
{
	static const char secret[] = "in-plain-text";
	struct message m;

	if (memmem(data, len, secret, strlen(secret)))
		note(c, "in plain text");
	if (parse(&m, data, len)) {
		note(c, "hangs up: unreadable");
		hang_up(c);
	} else if (m.proc == ERROR && (manners->after || manners->poked)) {
		/* it answers a message of this server */
	} else if (m.vers == 2 && (m.proc == RESPROP ||
				   (m.proc == OPTIONAL && len > 20 &&
				    get32(data + 16) == REPLY))) {
		/* so does this */
	} else if (m.proc == ERROR) {
		note(c, "hangs up: an error from a client");
		hang_up(c);
	} else if (m.vers == 2 && m.proc >= OPTIONAL && m.proc <= UPDPROP) {
		manners->to_probe(c, &m);
	} else if (m.vers == 2) {
		manners->to_two(c, &m);
		if (manners->after)
			manners->after(c, &m);
	} else if (m.vers == 1) {
		manners->to_one(c, &m);
	} else {
		only_two(c, &m);
	}
}
