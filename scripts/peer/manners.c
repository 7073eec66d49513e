// SPDX-License-Identifier: GPL-2.0
/*
 * How a peer behaves: what it answers to a probe, to a Call in version 2, to
 * a Call in version 1. One row for each kind of server a client may meet.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

/* The client counts its xids in its own order of octets, which is the same here. */
uint32_t next_xid(uint32_t xid)
{
	return ntohl(htonl(xid) + 1);
}

static void nothing(struct conn *c, const struct message *m)
{
	(void)c;
	(void)m;
}

void connprop(struct conn *c, const struct message *m)
{
	struct draft d;

	make_connprop(&d, m->xid, MESSAGE_MAX);
	say(c, &d);
}

/* Ends a word too soon, and grants credits all the same */
static void short_connprop(struct conn *c, const struct message *m)
{
	struct draft d;

	make_connprop(&d, m->xid, MESSAGE_MAX);
	d.len -= 4;
	say(c, &d);
}

static void large_connprop(struct conn *c, const struct message *m)
{
	struct draft d;

	make_connprop(&d, m->xid, 2 * MESSAGE_MAX);
	say(c, &d);
}

static void code(struct conn *c, uint32_t xid, uint32_t code)
{
	struct draft d;

	make_error(&d, xid, 2, code);
	say(c, &d);
}

static void code2(struct conn *c, const struct message *m)
{
	code(c, m->xid, ERR_BAD);
}

static void code3(struct conn *c, const struct message *m)
{
	code(c, m->xid, ERR_PROC);
}

static void code9(struct conn *c, const struct message *m)
{
	code(c, m->xid, ERR_OPTION);
}

/*
 * Looks like a server of this draft until the first, or the fourth, Call: then
 * no Call is good enough.
 */
static void code3_from_fourth(struct conn *c, const struct message *m)
{
	if (++*conn_count(c) < 4)
		serve(c, m);
	else
		code3(c, m);
}

/* Three SYMLINKs are out when @refused of them, bits, are answered. */
static void hoard(struct conn *c, const struct message *m, unsigned int refused)
{
	static uint32_t xids[3];
	unsigned int i;

	if (nfs_proc(m) != NFS3_SYMLINK || *conn_count(c) == 3) {
		serve(c, m);
		return;
	}
	xids[*conn_count(c)] = m->xid;
	if (++*conn_count(c) < 3)
		return;
	for (i = 0; i < 3; i++)
		if (refused & 1 << i)
			code(c, xids[i], ERR_OPTION);
}

static void code9_second(struct conn *c, const struct message *m)
{
	hoard(c, m, 2);
}

static void code9_all(struct conn *c, const struct message *m)
{
	hoard(c, m, 7);
}

/* The first SYMLINK is refused when two more have been served. */
static void code9_late(struct conn *c, const struct message *m)
{
	static uint32_t xid;

	if (nfs_proc(m) == NFS3_SYMLINK && ++*conn_count(c) == 1) {
		xid = m->xid;
		return;
	}
	serve(c, m);
	if (nfs_proc(m) == NFS3_SYMLINK && *conn_count(c) == 3)
		code(c, xid, ERR_OPTION);
}

/* An error that ends an RPC for good, before its task has turned round */
static void bad_symlinks(struct conn *c, const struct message *m)
{
	if (nfs_proc(m) == NFS3_SYMLINK)
		code(c, m->xid, ERR_BAD);
	else
		serve(c, m);
}

/* Errors that answer no Call, then what does */
static void stray_codes(struct conn *c, const struct message *m)
{
	code(c, m->xid ^ 0x10000000, ERR_PROC);
	code(c, m->xid ^ 0x20000000, ERR_OPTION);
	serve(c, m);
}

/* Longer than a client waits for an answer to its probe */
static void late_connprop(struct conn *c, const struct message *m)
{
	usleep(2500000);
	connprop(c, m);
}

static void late_code9(struct conn *c, const struct message *m)
{
	usleep(2500000);
	code9(c, m);
}

static void range(struct conn *c, const struct message *m, uint32_t vers,
		  uint32_t low, uint32_t high)
{
	struct draft d;

	make_err_vers(&d, m->xid, vers, low, high);
	say(c, &d);
}

static void only_one(struct conn *c, const struct message *m)
{
	range(c, m, 1, 1, 1);
}

static void only_one_echoed(struct conn *c, const struct message *m)
{
	range(c, m, m->vers, 1, 1);
}

static void only_two(struct conn *c, const struct message *m)
{
	range(c, m, m->vers, 2, 2);
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

static void hang_on_fourth(struct conn *c, const struct message *m)
{
	if (++*conn_count(c) < 4)
		serve(c, m);
	else
		hang(c, m);
}

static void only_one_and_hang(struct conn *c, const struct message *m)
{
	only_one(c, m);
	hang_up(c);
}

/* Version 2 by its number, but with neither direction nor handle */
static void dialect(struct conn *c, const struct message *m)
{
	struct draft d;

	begin(&d, m->xid, 2, MSG);
	put32(&d, 1);
	put32(&d, 0xfeed);
	put32(&d, 0xbeef);
	put32(&d, 0xcafe);
	say(c, &d);
}

/* RPC: xid, REPLY, MSG_ACCEPTED, AUTH_NONE, SUCCESS */
static void reply_in_one(struct conn *c, const struct message *m)
{
	struct draft d;
	int i;

	begin_rpc(&d, m->xid, 1, REPLY);
	put32(&d, m->xid);
	put32(&d, REPLY);
	for (i = 0; i < 4; i++)
		put32(&d, 0);
	say(c, &d);
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

/* Things that answer nothing come before what does. */
static void stray_connprop(struct conn *c, const struct message *m)
{
	struct draft d;

	begin_rpc(&d, m->xid ^ 1, 2, REPLY);
	put32(&d, m->xid ^ 1);
	put32(&d, REPLY);
	put32(&d, 0);
	say(c, &d);
	code(c, m->xid ^ 2, ERR_BAD);
	connprop(c, m);
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

/* The least that is obeyed, and then more than the client ever sends */
static void resize(struct conn *c, const struct message *m)
{
	struct draft d;

	make_updprop(&d, m->xid, *conn_count(c) == 1 ? 1024 : 2 * MESSAGE_MAX);
	say(c, &d);
}

static void small_connprop(struct conn *c, const struct message *m)
{
	struct draft d;

	make_connprop(&d, m->xid, 1024);
	say(c, &d);
}

void wrap(struct draft *d)
{
	struct draft body = *d;
	size_t at;

	begin(d, get32(body.data), 2, OPTIONAL);
	put32(d, get32(body.data + 12) == RESPROP ? REPLY : CALL);
	put32(d, get32(body.data + 12) - CONNPROP + 1);
	put32(d, body.len - 16);
	for (at = 16; at < body.len; at += 4)
		put32(d, get32(body.data + at));
}

/* What there is to be asked, one at a time; 2 and 4 draw nothing but errors */
static void ask(struct conn *c, const struct message *m)
{
	struct draft d;

	switch (*conn_count(c)) {
	case 1:
		make_reqprop(&d, m->xid);
		break;
	case 2:
		make_updprop(&d, m->xid, 1024);
		d.len -= 4;
		break;
	case 3:
		make_reqprop(&d, m->xid);
		wrap(&d);
		break;
	case 4:
		begin(&d, m->xid, 2, OPTIONAL);
		put32(&d, CALL);
		put32(&d, 0x7fffff01);
		put32(&d, 0);
		break;
	case 5:	/* the answer to a question that was never asked */
		begin(&d, m->xid, 2, RESPROP);
		put32(&d, 0);
		put32(&d, 0);
		put32(&d, 0);
		break;
	default:
		return;
	}
	say(c, &d);
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
	{ "two-early",	   connprop,		serve,		serve,
			   connprop },
	{ "two-stray",	   stray_connprop,	serve,		serve },
	{ "two-calls",	   connprop,		serve,		serve,
			   NULL, uncalled_for },
	{ "two-same-xid",  connprop,		call_same_xid,	serve,
			   NULL, nothing },
	{ "two-large",	   large_connprop,	serve,		serve },
	{ "two-small",	   small_connprop,	serve,		serve },
	{ "hang-on-probe", hang,		serve,		serve },
	{ "two-resizes",   connprop,		serve,		serve,
			   NULL, NULL, resize },
	{ "two-again",	   connprop,		serve,		serve,
			   NULL, NULL, small_connprop },
	{ "two-asks",	   connprop,		serve,		serve,
			   NULL, NULL, ask },
	{ "grants",	   grants,		serve,		serve },
	{ "grants-option", grants_by_option,	serve,		serve },
	{ "rejects",	   rejects,		serve,		serve },
	{ "contradicts",   contradicts,		serve,		serve },
	{ "digresses",	   digresses,		serve,		serve },
	{ "mumbles",	   mumbles,		serve,		serve },
	{ "another-answer", answers_another,	serve,		serve },
	{ "ignores",	   ignores,		serve,		serve },
	{ "refuses-2",	   refuses_bad,		serve,		serve },
	{ "refuses-3",	   refuses_proc,	serve,		serve },
	{ "refuses-9",	   refuses_option,	serve,		serve },
	{ "marked",	   marked,		serve,		serve },
	{ "marked-otherwise", marked_otherwise,	serve,		serve },
	{ "refuses-reply", ignores,		refuses_reply,	serve,
			   NULL, NULL, say_larger },
	{ "asks-same-xid", connprop,		ask_same_xid,	serve },
	{ "experimental",  connprop,		serve,		serve,
			   NULL, NULL, say_experimental },
	{ "hesitates",	   hesitates,		serve,		serve },
	{ "is-miserly",	   is_miserly,		serve,		serve },
	{ "babbles",	   grants,		babbles,	serve },
	{ "two-late",	   late_connprop,	serve,		serve },
	{ "two-only",	   connprop,		serve,		only_two },
	{ "silent-reads",  connprop,		silent_reads,	serve },
	{ "late-reads",	   connprop,		silent_reads,	serve,
			   NULL, NULL, answer_late },
	{ "other-handle",  connprop,		silent_reads,	serve,
			   NULL, NULL, answer_another },
	{ "code9",	   code9,		serve,		serve },
	{ "code9-late",	   late_code9,		serve,		serve },
	{ "code3",	   code3,		serve,		serve },
	{ "two-short",	   short_connprop,	serve,		serve },
	{ "bad-rpc",	   connprop,		code2,		serve },
	{ "lacks-rpc3",	   connprop,		code3,		serve },
	{ "lacks-rpc9",	   connprop,		code9,		serve },
	{ "lacks-rpc4th",  connprop,		code3_from_fourth, serve },
	{ "lacks-second",  connprop,		code9_second,	serve },
	{ "lacks-all-three", connprop,		code9_all,	serve },
	{ "lacks-first-late", connprop,		code9_late,	serve },
	{ "lacks-both",	   connprop,		code3,		only_two },
	{ "lacks-both4th", connprop,		code3_from_fourth, only_two },
	{ "lacks-on-trial", nothing,		code9,		serve },
	{ "bad-symlinks",  connprop,		bad_symlinks,	serve },
	{ "stray-codes",   connprop,		stray_codes,	serve },
	{ "one-way",	   nothing,		serve,		serve },
	{ "one",	   only_one,		only_one,	serve },
	{ "one-echo",	   only_one_echoed,	only_one_echoed, serve },
	{ "one-then-hang", only_one_and_hang,	hang,		serve },
	{ "one-hang-rpc",  only_one,		only_one,	hang },
	{ "one-on-trial",  nothing,		only_one,	serve },
	{ "speaks-one",	   reply_in_one,	nothing,	serve },
	{ "mute",	   nothing,		nothing,	serve },
	{ "hang",	   hang,		hang,		serve },
	{ "hang-on-trial", nothing,		hang,		serve },
	{ "dialect",	   dialect,		dialect,	serve },
	{ "dialect-on-trial", nothing,		dialect,	serve },
	{ "garbage",	   garbage,		garbage,	serve },
	{ "newer",	   only_newer,		only_newer,	only_newer },
	{ "newer-on-trial", nothing,		only_newer,	only_newer },
	{ "hang-on-rpc",   connprop,		hang,		hang },
	{ "hang-on-fourth", connprop,		hang_on_fourth,	hang },
	{ "two-hangs",	   connprop,		serve,		serve,
			   NULL, NULL, hang },
	{ "faulty",	   connprop,		answer_faultily, serve },
	{ "refusing",	   connprop,		answer_second,	serve },
	{ "impostor-junk", connprop,		remember,	serve,
			   NULL, NULL, pretend_junk },
	{ "impostor-refuses", connprop,		remember,	serve,
			   NULL, NULL, pretend_refusal },
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

void greet(struct conn *c, const struct manners *m)
{
	const struct message none = { .xid = 0x600d };

	if (m->first)
		m->first(c, &none);
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
