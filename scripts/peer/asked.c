// SPDX-License-Identifier: GPL-2.0
/*
 * What a peer answers that is asked to change, whose Receives are of 8192 octets;
 * and what it says of itself meanwhile.
 */
#include <string.h>
#include <unistd.h>

#include "peer.h"

#define MARK	0x4b3c712e

static void say_resprop(struct conn *c, const struct message *m, uint32_t done,
			uint32_t rejected, uint32_t other)
{
	struct draft d;

	make_resprop(&d, m->xid, done, rejected, other);
	say(c, &d);
}

/* Return: whether @m is a REQPROP; another message has been dealt with. */
static int asks(struct conn *c, const struct message *m)
{
	struct draft d;

	if (m->proc == REQPROP)
		return 1;
	if (m->proc != CONNPROP)
		return 0;
	make_changing(&d, m->xid, RECEIVES);
	say(c, &d);
	return 0;
}

/* Receives of any size that is smaller, and the largest instead of a larger one */
void grants(struct conn *c, const struct message *m)
{
	if (!asks(c, m))
		return;
	if (get32(m->data + 28) <= RECEIVES)
		say_resprop(c, m, 1, 0, 0);
	else
		say_resprop(c, m, 0, 0, RECEIVES);
}

void rejects(struct conn *c, const struct message *m)
{
	if (asks(c, m))
		say_resprop(c, m, 0, 1, 0);
}

/* Done, rejected, and a bit for what was not asked */
void contradicts(struct conn *c, const struct message *m)
{
	if (asks(c, m))
		say_resprop(c, m, 3, 1, 0);
}

/* Neither done nor rejected, but another property, twice, and one unknown */
void digresses(struct conn *c, const struct message *m)
{
	struct draft d;
	int i;

	if (!asks(c, m))
		return;
	begin(&d, m->xid, 2, RESPROP);
	put32(&d, 0);
	put32(&d, 0);
	put32(&d, 3);
	for (i = 0; i < 3; i++) {
		put32(&d, i == 1 ? 0xfffffff0 : BRS);
		put32(&d, 4);
		put32(&d, 0);
	}
	say(c, &d);
}

/* An answer that ends too soon */
void mumbles(struct conn *c, const struct message *m)
{
	struct draft d;

	if (!asks(c, m))
		return;
	make_resprop(&d, m->xid, 1, 0, 0);
	d.len -= 4;
	say(c, &d);
}

/* The answer to another question */
void answers_another(struct conn *c, const struct message *m)
{
	struct draft d;

	if (!asks(c, m))
		return;
	make_resprop(&d, m->xid ^ 0x10000000, 1, 0, 0);
	say(c, &d);
}

/* In the other spelling */
void grants_by_option(struct conn *c, const struct message *m)
{
	struct draft d;

	if (!asks(c, m))
		return;
	make_resprop(&d, m->xid, 1, 0, 0);
	wrap(&d);
	say(c, &d);
}

void ignores(struct conn *c, const struct message *m)
{
	asks(c, m);
}

static void refuse(struct conn *c, const struct message *m, uint32_t code)
{
	struct draft d;

	if (!asks(c, m) && m->proc != UPDPROP)
		return;
	make_error(&d, m->xid, 2, code);
	say(c, &d);
}

void refuses_bad(struct conn *c, const struct message *m)
{
	refuse(c, m, ERR_BAD);
}

void refuses_proc(struct conn *c, const struct message *m)
{
	refuse(c, m, ERR_PROC);
}

void refuses_option(struct conn *c, const struct message *m)
{
	refuse(c, m, ERR_OPTION);
}

static void say_marked(struct conn *c, const struct message *m, uint32_t mark)
{
	struct draft d;

	if (m->proc != CONNPROP)
		return;
	make_marked(&d, m->xid, RECEIVES, 2048, mark);
	say(c, &d);
}

void marked(struct conn *c, const struct message *m)
{
	say_marked(c, m, MARK);
}

void marked_otherwise(struct conn *c, const struct message *m)
{
	say_marked(c, m, MARK + 1);
}

/* The first MKDIR: its Reply, of 200 octets, needs a Reply chunk. */
void refuses_reply(struct conn *c, const struct message *m)
{
	static int refused;
	struct draft d;

	if (nfs_proc(m) != NFS3_MKDIR || refused++) {
		serve(c, m);
		return;
	}
	make_error(&d, m->xid, 2, ERR_REPLY);
	put32(&d, 200);
	say(c, &d);
}

void say_larger(struct conn *c, const struct message *m)
{
	struct draft d;

	make_updprop(&d, m->xid, RECEIVES);
	say(c, &d);
}

/* A question with the xid of an RPC, which waits for its Reply, comes first. */
void ask_same_xid(struct conn *c, const struct message *m)
{
	struct draft d;

	make_reqprop(&d, m->xid);
	say(c, &d);
	serve(c, m);
}

/* Larger Receives, among what no client knows */
void say_experimental(struct conn *c, const struct message *m)
{
	struct draft d;
	uint32_t id;

	begin(&d, m->xid, 2, UPDPROP);
	put32(&d, 4);
	for (id = 0xffffff00; id < 0xffffff03; id++) {
		put32(&d, id);
		put32(&d, 2);
		put32(&d, 0x77770000);
	}
	put32(&d, RBSIZ);
	put32(&d, 4);
	put32(&d, RECEIVES);
	say(c, &d);
}

/* A second of silence, and then Receives of 8192 octets for good */
void hesitates(struct conn *c, const struct message *m)
{
	struct draft d;

	sleep(1);
	make_connprop(&d, m->xid, RECEIVES);
	say(c, &d);
}

/* A message about Receives of @rbsiz octets, with the xid of an RPC */
static void babble(struct conn *c, uint32_t xid, uint32_t proc, uint32_t rbsiz)
{
	struct draft d;

	begin(&d, xid, 2, proc);
	if (proc == RESPROP) {	/* done, and yet another value */
		put32(&d, 1);
		put32(&d, 1);
		put32(&d, 0);
	}
	put32(&d, 1);
	put32(&d, RBSIZ);
	put32(&d, 4);
	put32(&d, rbsiz);
	if (proc == CONNPROP)
		put32(&d, 0);
	if (++*conn_count(c) % 2)
		wrap(&d);
	say(c, &d);
}

/* Before each Reply: all that can be said, whether it was asked or not */
void babbles(struct conn *c, const struct message *m)
{
	static const uint32_t sizes[] = { 0, 0xffffffff, 65536, 4096 };
	struct draft d;
	uint32_t proc;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (proc = CONNPROP; proc <= UPDPROP; proc++)
			babble(c, m->xid, proc, sizes[i]);
	make_marked(&d, m->xid, MESSAGE_MAX, *conn_count(c) % 4 ? 0xffffffff : 0,
		    *conn_count(c) % 3 ? MARK : MARK + 1);
	say(c, &d);
	serve(c, m);
}

/* The mark, Receives of no octet, Sends of one, not one chunk and not one segment */
void is_miserly(struct conn *c, const struct message *m)
{
	struct draft d;

	if (m->proc != CONNPROP)
		return;
	make_marked(&d, m->xid, 0, 1, MARK);
	memset(d.data + 52, 0, 16);
	say(c, &d);
}
