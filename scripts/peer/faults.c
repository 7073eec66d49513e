// SPDX-License-Identifier: GPL-2.0
/*
 * Replies that break the protocol. A LOOKUP chooses which: where the name that
 * it asks for is the name of a fault, that is what is wrong with the Replies
 * to the READs or READDIRs that follow, until the next LOOKUP or MKDIR. All else is
 * answered as the NFS server answers it, what offers a Write chunk or a Reply
 * chunk by RDMA Write, and what has Read chunks by RDMA Read.
 *
 * Or the name is that of a refusal: then all Calls of a kind are answered with
 * RDMA2_ERROR, each once, or each time.
 */
#include <arpa/inet.h>
#include <string.h>

#include "peer.h"

/*
 * The true Reply to a Call, in conn_payload(): @len octets, the result that may
 * be placed directly behind the first @head.
 */
struct reply {
	const struct message *m;
	uint8_t *rpc;
	size_t len, head;
	uint32_t data;
};

/* What a Call must have offered for a fault to be possible */
enum offer { NOTHING, WRITE_CHUNK, REPLY_CHUNK };

struct fault {
	const char *name;
	int proc;
	enum offer offer;
	void (*answer)(struct conn *c, struct reply *r);
};

enum { RPC_REPLY = 24, STATUS = 4, ATTRIBUTES = 84, STALE = 160 };

/* Where the data of a READ begin; 0 in a Reply without data. */
static size_t read_head(const uint8_t *rpc, size_t len)
{
	size_t at = RPC_REPLY + STATUS;

	if (len < at + 4 || get32(rpc + RPC_REPLY))
		return 0;
	at += get32(rpc + at) ? 4 + ATTRIBUTES : 4;
	at += 3 * 4;			/* count, eof, length */
	return len < at ? 0 : at;
}

static int get_reply(struct conn *c, const struct message *m, struct reply *r)
{
	*r = (struct reply){ .m = m, .rpc = conn_payload(c) };
	r->len = fetch(c, m, r->rpc, PAYLOAD_MAX);
	r->head = r->len;
	return r->len > 0;
}

static int find_data(struct reply *r)
{
	if (nfs_proc(r->m) != NFS3_READ)
		return 1;
	r->head = read_head(r->rpc, r->len);
	if (r->head)
		r->data = get32(r->rpc + r->head - 4);
	return r->head > 0;
}

/* @ck as a responder returns it that wrote @len octets */
static struct chunk used(const struct chunk *ck, size_t len)
{
	struct chunk to = *ck;
	unsigned int i;

	for (i = 0; i < to.count; i++) {
		if (to.at[i].length > len)
			to.at[i].length = len;
		len -= to.at[i].length;
	}
	return to;
}

static void place_all(struct conn *c, size_t from, const struct chunk *ck)
{
	unsigned int i;

	for (i = 0; i < ck->count; i++) {
		if (ck->at[i].length)
			place(c, from, ck->at[i].length, &ck->at[i], 0);
		from += ck->at[i].length;
	}
}

/* A header with so many Write chunks, and with a Reply chunk or NULL */
static void begin_reply(struct draft *d, const struct reply *r, uint32_t proc,
			const struct chunk *writes, unsigned int count,
			const struct chunk *reply)
{
	unsigned int i;

	begin(d, r->m->xid, 2, proc);
	put32(d, REPLY);
	put32(d, 0);
	put32(d, 0);
	for (i = 0; i < count; i++) {
		put32(d, 1);
		put_chunk(d, &writes[i]);
	}
	put32(d, 0);
	put32(d, reply ? 1 : 0);
	if (reply)
		put_chunk(d, reply);
}

/* Behind these chunks the first @len octets of the Reply, inline */
static void say_inline(struct conn *c, const struct reply *r,
		       const struct chunk *writes, unsigned int count,
		       size_t len)
{
	struct draft d;

	begin_reply(&d, r, MSG, writes, count, NULL);
	put_octets(&d, r->rpc, len);
	say(c, &d);
}

static void say_nomsg(struct conn *c, const struct reply *r,
		      const struct chunk *ck)
{
	struct draft d;

	begin_reply(&d, r, NOMSG, NULL, 0, ck);
	say(c, &d);
}

static void honest_read(struct conn *c, struct reply *r)
{
	struct chunk ck = used(&r->m->write, r->data), rest;
	struct draft d;

	place_all(c, r->head, &ck);
	if (!r->m->replies) {
		say_inline(c, r, &ck, 1, r->head);
		return;
	}
	rest = used(&r->m->reply, r->head);
	place_all(c, 0, &rest);
	begin_reply(&d, r, NOMSG, &ck, 1, &rest);
	say(c, &d);
}

static void chunk_used(struct conn *c, struct reply *r);

static void honest(struct conn *c, struct reply *r)
{
	if (r->m->writes)
		honest_read(c, r);
	else if (r->m->replies)
		chunk_used(c, r);
	else
		say_inline(c, r, NULL, 0, r->len);
}

/* A chunk of @count segments, each of @length */
static struct chunk made_of(unsigned int count, uint32_t length)
{
	struct chunk ck = { .count = count };
	unsigned int i;

	for (i = 0; i < count; i++)
		ck.at[i] = (struct segment){ 0x77, length, 0x1000 };
	return ck;
}

/* One octet more than the last segment has, with its XDR padding */
static void exceed(struct chunk *ck)
{
	if (ck->count)
		ck->at[ck->count - 1].length += 4;
}

static void writes_too_much(struct conn *c, struct reply *r)
{
	struct chunk ck = r->m->write;

	exceed(&ck);
	say_inline(c, r, &ck, 1, r->head);
}

static void writes_two_chunks(struct conn *c, struct reply *r)
{
	struct chunk ck[2] = { r->m->write, r->m->write };

	ck[1] = used(&ck[1], 4);
	say_inline(c, r, ck, 2, r->head);
}

/* Modulo 2^32 these are the octets offered */
static void writes_wrap_list(struct conn *c, struct reply *r)
{
	struct chunk ck[2] = { made_of(1, 0x80000000), made_of(1, 0x80000000) };

	ck[1].at[0].length += chunk_length(&r->m->write);
	say_inline(c, r, ck, 2, r->head);
}

static void writes_wrap_chunk(struct conn *c, struct reply *r)
{
	struct chunk ck = made_of(2, 0x80000000);

	ck.at[1].length += chunk_length(&r->m->write);
	say_inline(c, r, &ck, 1, r->head);
}

static void writes_unasked(struct conn *c, struct reply *r)
{
	struct chunk ck = made_of(1, 4);

	say_inline(c, r, &ck, 1, r->len);
}

/* The inline part says that all was written. */
static void writes_nothing(struct conn *c, struct reply *r)
{
	struct chunk ck = used(&r->m->write, 0);

	say_inline(c, r, &ck, 1, r->head);
}

/* Half of what the inline part says */
static void writes_half(struct conn *c, struct reply *r)
{
	struct chunk ck = used(&r->m->write, r->data / 2 & ~3u);

	place_all(c, r->head, &ck);
	say_inline(c, r, &ck, 1, r->head);
}

/* What follows the head has no place. */
static void writes_and_more(struct conn *c, struct reply *r)
{
	struct chunk ck = used(&r->m->write, r->data);

	place_all(c, r->head, &ck);
	say_inline(c, r, &ck, 1, r->head + 2000);
}

/* The data go on inline, where the chunk could have held more. */
static void writes_half_and_more(struct conn *c, struct reply *r)
{
	size_t half = r->data / 2 & ~3u;
	struct chunk ck = used(&r->m->write, half);
	struct draft d;

	place_all(c, r->head, &ck);
	begin_reply(&d, r, MSG, &ck, 1, NULL);
	put_octets(&d, r->rpc, r->head);
	put_octets(&d, r->rpc + r->head + half, half < 2000 ? half : 2000);
	say(c, &d);
}

/* Nothing but a head that is too short for what it must hold */
static void writes_headless(struct conn *c, struct reply *r)
{
	struct chunk ck = used(&r->m->write, r->data);

	place_all(c, r->head, &ck);
	say_inline(c, r, &ck, 1, RPC_REPLY + STATUS);
}

/*
 * Empty segments, which mean nothing, make a header of nearly a page: the RPC Reply
 * behind it goes on in the next one. Each time it is a segment further on.
 */
static void header_of_a_page(struct conn *c, struct reply *r)
{
	static unsigned int turn;
	unsigned int count = 159 + turn++ % 10, i;
	struct draft d;

	begin(&d, r->m->xid, 2, MSG);
	put32(&d, REPLY);
	put32(&d, 0);
	for (; count; count--) {
		put32(&d, 1);
		put32(&d, 256);
		for (i = 0; i < 4; i++)
			put32(&d, 0);
	}
	for (i = 0; i < 3; i++)
		put32(&d, 0);
	put_octets(&d, r->rpc, r->len);
	say(c, &d);
}

static void inline_too_long(struct conn *c, struct reply *r)
{
	memset(r->rpc + r->len, 0x5a, MESSAGE_MAX);
	say_inline(c, r, NULL, 0, 3000);
}

static void inline_too_short(struct conn *c, struct reply *r)
{
	say_inline(c, r, NULL, 0, r->head + (r->data < 100 ? r->data : 100));
}

static void set32(uint8_t *p, uint32_t word)
{
	struct draft d = {};

	put32(&d, word);
	memcpy(p, d.data, 4);
}

/* In its two places, as the count and as the length of the opaque */
static void set_count(struct reply *r, uint32_t count)
{
	set32(r->rpc + r->head - 12, count);
	set32(r->rpc + r->head - 4, count);
}

/* The data are all there; that there are more is not so. */
static void inline_says_more(struct conn *c, struct reply *r)
{
	set_count(r, 1 << 20);
	say_inline(c, r, NULL, 0, r->len);
}

static void inline_says_all(struct conn *c, struct reply *r)
{
	set_count(r, 0xffffffff);
	say_inline(c, r, NULL, 0, r->len);
}

static void cut_in_result(struct conn *c, struct reply *r)
{
	say_inline(c, r, NULL, 0, RPC_REPLY + STATUS);
}

static void cut_in_rpc(struct conn *c, struct reply *r)
{
	say_inline(c, r, NULL, 0, 8);
}

static void cut_in_type(struct conn *c, struct reply *r)
{
	say_inline(c, r, NULL, 0, 6);
}

static void cut_in_word(struct conn *c, struct reply *r)
{
	say_inline(c, r, NULL, 0, r->head + 2);
}

static void chunk_unasked(struct conn *c, struct reply *r)
{
	struct chunk ck = made_of(1, 128);

	say_nomsg(c, r, &ck);
}

static void chunk_missing(struct conn *c, struct reply *r)
{
	say_nomsg(c, r, NULL);
}

static void chunk_used(struct conn *c, struct reply *r)
{
	struct chunk ck = used(&r->m->reply, r->len);

	place_all(c, 0, &ck);
	say_nomsg(c, r, &ck);
}

static void chunk_too_long(struct conn *c, struct reply *r)
{
	struct chunk ck = r->m->reply;

	exceed(&ck);
	say_nomsg(c, r, &ck);
}

static void chunk_wraps(struct conn *c, struct reply *r)
{
	struct chunk ck = made_of(2, 0x80000000);

	ck.at[1].length += chunk_length(&r->m->reply);
	say_nomsg(c, r, &ck);
}

/* The whole chunk, of which only the RPC header was written */
static void chunk_cut(struct conn *c, struct reply *r)
{
	struct chunk ck = used(&r->m->reply, 8);

	place_all(c, 0, &ck);
	say_nomsg(c, r, &ck);
}

static void chunk_and_inline(struct conn *c, struct reply *r)
{
	struct chunk ck = used(&r->m->reply, r->len);
	struct draft d;

	place_all(c, 0, &ck);
	begin_reply(&d, r, MSG, NULL, 0, &ck);
	put_octets(&d, r->rpc, r->len);
	say(c, &d);
}

/* Both are sent with one doorbell: the second one comes during the fence. */
static void answers_twice(struct conn *c, struct reply *r)
{
	struct chunk ck = used(&r->m->write, r->data);
	struct draft d[2];

	place_all(c, r->head, &ck);
	begin_reply(&d[0], r, MSG, &ck, 1, NULL);
	put_octets(&d[0], r->rpc, r->head);
	d[1] = d[0];
	say_all(c, d, 2);
}

/* Each Reply once more, when the next one is due */
static void answers_again(struct conn *c, struct reply *r)
{
	static struct draft last;
	struct draft d;

	if (last.len)
		say(c, &last);
	begin_reply(&d, r, MSG, NULL, 0, NULL);
	put_octets(&d, r->rpc, r->len);
	say(c, &d);
	last = d;
}

/* An RPC that there never was */
static void answers_stranger(struct conn *c, struct reply *r)
{
	struct message m = *r->m;
	struct reply to = *r;

	m.xid ^= 0x40000000;
	set32(to.rpc, m.xid);
	to.m = &m;
	say_inline(c, &to, NULL, 0, r->len);
	serve(c, r->m);
}

/* The xid that fill_for() was told last; 0 when that is done with */
static uint32_t filled_for;

/*
 * Every Receive of the client has held this Reply in the end, which is for an
 * RPC that is not there yet: its data begin inline, and go on for a MiB.
 */
static void fill_for(struct conn *c, uint32_t xid)
{
	static const uint32_t reply[] = { REPLY, 0, 0, 0, 0, 0, 0, 1 << 20, 0,
					  1 << 20 };
	struct draft d;
	size_t i;

	begin_rpc(&d, xid, 2, REPLY);
	put32(&d, xid);
	for (i = 0; i < sizeof(reply) / sizeof(reply[0]); i++)
		put32(&d, reply[i]);
	for (i = 0; i < STALE; i++)
		say(c, &d);
	filled_for = xid;
}

/* The Call that is sent again is answered well. */
static void writes_with_immediate(struct conn *c, struct reply *r)
{
	const struct segment *s = &r->m->write.at[0];

	if (r->m->xid != filled_for) {
		honest_read(c, r);
		return;
	}
	filled_for = 0;
	place(c, r->head, s->length, s, 1);
}

struct refusal {
	const char *name;
	uint32_t code, arg;
	enum {
		ONCE,
		ALWAYS,
		AND_GO,		/* then hang up, and begin again */
	} times;
};

static const struct refusal refusals[] = {
	{ "takes-no-reads", ERR_READS, 0, ONCE },
	{ "takes-no-reads-at-all", ERR_READS, 0, ALWAYS },
	{ "takes-no-reads-and-goes", ERR_READS, 0, AND_GO },
	{ "takes-many-reads", ERR_READS, 0xffffffff, ALWAYS },
	{ "takes-no-writes", ERR_WRITES, 0, ONCE },
	{ "takes-no-writes-at-all", ERR_WRITES, 0, ALWAYS },
	{ "takes-one-segment", ERR_SEGMENTS, 1, ONCE },
	{ "sees-segments", ERR_SEGMENTS, 1, ALWAYS },
	{ "takes-no-segment", ERR_SEGMENTS, 0, ALWAYS },
	{ "takes-many-segments", ERR_SEGMENTS, 0xffffffff, ALWAYS },
	{ "needs-little", ERR_REPLY, 100, ONCE },
	{ "needs-little-always", ERR_REPLY, 100, ALWAYS },
	{ "needs-more", ERR_REPLY, 40000, ONCE },
	{ "needs-too-much", ERR_REPLY, 0x7fffffff, ALWAYS },
	{ "needs-nothing", ERR_REPLY, 0, ALWAYS },
};

static const struct refusal *find_refusal(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (!strcmp(refusals[i].name, name))
			return &refusals[i];
	return NULL;
}

static void refuse(struct conn *c, const struct message *m, uint32_t code,
		   uint32_t arg)
{
	struct draft d;

	make_error(&d, m->xid, 2, code);
	put32(&d, arg);
	say(c, &d);
}

/* READs, and what has Read chunks, as the last LOOKUP chose */
static int refuses(struct conn *c, const struct message *m)
{
	static const struct refusal *f;
	static unsigned int before;
	static uint32_t refused;
	char name[64];

	if (lookup_name(m, name, sizeof(name)))
		f = find_refusal(name);
	else if (nfs_proc(m) == NFS3_MKDIR)
		f = NULL;
	if (!f || (nfs_proc(m) != NFS3_READ && !m->reads))
		return 0;
	before = m->xid == refused ? before + 1 : 0;
	refused = m->xid;
	if (f->times == AND_GO && before == 1) {
		hang_up(c);
		return 1;
	}
	if (before > (f->times == AND_GO ? 2 : 0) && f->times != ALWAYS)
		return 0;
	note(c, "refusal %s xid=%08x", f->name, m->xid);
	refuse(c, m, f->code, f->arg);
	return 1;
}

static const struct fault faults[] = {
	{ "writes-too-much", NFS3_READ, WRITE_CHUNK, writes_too_much },
	{ "writes-two-chunks", NFS3_READ, WRITE_CHUNK, writes_two_chunks },
	{ "writes-wrap-list", NFS3_READ, WRITE_CHUNK, writes_wrap_list },
	{ "writes-wrap-chunk", NFS3_READ, WRITE_CHUNK, writes_wrap_chunk },
	{ "writes-nothing", NFS3_READ, WRITE_CHUNK, writes_nothing },
	{ "writes-half", NFS3_READ, WRITE_CHUNK, writes_half },
	{ "writes-and-more", NFS3_READ, WRITE_CHUNK, writes_and_more },
	{ "writes-half-and-more", NFS3_READ, WRITE_CHUNK, writes_half_and_more },
	{ "writes-headless", NFS3_READ, WRITE_CHUNK, writes_headless },
	{ "writes-unasked", NFS3_READ, NOTHING, writes_unasked },
	{ "header-of-a-page", NFS3_READ, NOTHING, header_of_a_page },
	{ "inline-too-long", NFS3_READ, NOTHING, inline_too_long },
	{ "inline-too-short", NFS3_READ, NOTHING, inline_too_short },
	{ "inline-says-more", NFS3_READ, NOTHING, inline_says_more },
	{ "inline-says-all", NFS3_READ, NOTHING, inline_says_all },
	{ "cut-in-result", NFS3_READ, NOTHING, cut_in_result },
	{ "cut-in-rpc", NFS3_READ, NOTHING, cut_in_rpc },
	{ "cut-in-type", NFS3_READ, NOTHING, cut_in_type },
	{ "cut-in-word", NFS3_READ, NOTHING, cut_in_word },
	{ "chunk-unasked", NFS3_READ, NOTHING, chunk_unasked },
	{ "chunk-missing", NFS3_READ, NOTHING, chunk_missing },
	{ "chunk-used", NFS3_READDIR, REPLY_CHUNK, chunk_used },
	{ "chunk-too-long", NFS3_READDIR, REPLY_CHUNK, chunk_too_long },
	{ "chunk-wraps", NFS3_READDIR, REPLY_CHUNK, chunk_wraps },
	{ "chunk-cut", NFS3_READDIR, REPLY_CHUNK, chunk_cut },
	{ "chunk-and-inline", NFS3_READDIR, REPLY_CHUNK, chunk_and_inline },
	{ "answers-twice", NFS3_READ, WRITE_CHUNK, answers_twice },
	{ "answers-again", NFS3_READ, NOTHING, answers_again },
	{ "answers-stranger", NFS3_READ, NOTHING, answers_stranger },
	{ "writes-with-immediate", NFS3_READ, WRITE_CHUNK,
	  writes_with_immediate },
};

static const struct fault *find_fault(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (!strcmp(faults[i].name, name))
			return &faults[i];
	return NULL;
}

static int offers(const struct message *m, enum offer offer)
{
	switch (offer) {
	case WRITE_CHUNK:	return m->writes == 1 && !m->replies;
	case REPLY_CHUNK:	return m->replies && !m->writes;
	default:		return !m->writes && !m->replies;
	}
}

/* What the last LOOKUP chose, on this connection or an earlier one; or NULL */
static const struct fault *fault_of(const struct message *m)
{
	static const struct fault *fault;
	char name[64];

	if (lookup_name(m, name, sizeof(name)))
		fault = find_fault(name);
	else if (nfs_proc(m) == NFS3_MKDIR)
		fault = NULL;
	return fault;
}

/* With a fault, or honestly where there is none */
static void answer_by(struct conn *c, const struct message *m,
		      const struct fault *f)
{
	struct reply r;

	if (!f && !m->reads && !m->writes && !m->replies) {
		serve(c, m);
	} else if (!get_reply(c, m, &r) ||
		   ((f || m->writes) && !find_data(&r))) {
		note(c, "no Reply to make something of");
		hang_up(c);
	} else if (f) {
		note(c, "fault %s", f->name);
		f->answer(c, &r);
	} else {
		honest(c, &r);
	}
}

void answer_faultily(struct conn *c, const struct message *m)
{
	const struct fault *f = fault_of(m);
	int faulty = f && nfs_proc(m) == f->proc && offers(m, f->offer);

	if (refuses(c, m))
		return;
	if (f && f->answer == writes_with_immediate && !faulty)
		fill_for(c, next_xid(m->xid));
	answer_by(c, m, faulty ? f : NULL);
}

/* Every Call with a Read chunk or a Write chunk, and every READ without, once */
void answer_second(struct conn *c, const struct message *m)
{
	int small = nfs_proc(m) == NFS3_READ && !m->replies;
	static uint32_t refused;

	if ((!m->reads && !m->writes && !small) || m->xid == refused) {
		answer_by(c, m, NULL);
		return;
	}
	refused = m->xid;
	if (m->reads || m->writes)
		refuse(c, m, m->reads ? ERR_READS : ERR_WRITES, 0);
	else
		refuse(c, m, ERR_REPLY, 100);
}
