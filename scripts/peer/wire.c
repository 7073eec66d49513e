// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of versions 1 and 2: taken apart, put together, and told in a line.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "wire.h"

#define BODY_SHOWN	40	/* octets of a property message */

uint32_t grant = 32;
uint32_t said_rbsiz = MESSAGE_MAX;

uint32_t get32(const uint8_t *p)
{
	uint32_t word;

	memcpy(&word, p, 4);
	return ntohl(word);
}

void put32(struct draft *d, uint32_t word)
{
	if (d->len + 4 > sizeof(d->data))
		return;
	word = htonl(word);
	memcpy(d->data + d->len, &word, 4);
	d->len += 4;
}

void put_octets(struct draft *d, const uint8_t *data, size_t len)
{
	if (len > sizeof(d->data) - d->len)
		len = sizeof(d->data) - d->len;
	memcpy(d->data + d->len, data, len);
	d->len += len;
}

/* The counted segments; what says that there is a chunk goes before */
void put_chunk(struct draft *d, const struct chunk *ck)
{
	unsigned int i;

	put32(d, ck->count);
	for (i = 0; i < ck->count; i++) {
		put32(d, ck->at[i].handle);
		put32(d, ck->at[i].length);
		put32(d, ck->at[i].offset >> 32);
		put32(d, ck->at[i].offset);
	}
}

uint32_t chunk_length(const struct chunk *ck)
{
	uint32_t length = 0;
	unsigned int i;

	for (i = 0; i < ck->count; i++)
		length += ck->at[i].length;
	return length;
}

struct cursor {
	const uint8_t *p, *end;
	int bad;
};

static uint32_t next(struct cursor *c)
{
	if (c->end - c->p < 4) {
		c->bad = 1;
		return 0;
	}
	c->p += 4;
	return get32(c->p - 4);
}

static struct segment next_segment(struct cursor *c)
{
	struct segment s;

	s.handle = next(c);
	s.length = next(c);
	s.offset = (uint64_t)next(c) << 32;
	s.offset |= next(c);
	return s;
}

/* Counts all segments, and keeps as many as @ck has room for. */
static void take_segments(struct cursor *c, struct chunk *ck)
{
	uint32_t i, n = next(c);
	struct segment s;

	if (n > (size_t)(c->end - c->p) / 16) {
		c->bad = 1;
		return;
	}
	for (i = 0; i < n; i++) {
		s = next_segment(c);
		if (ck && ck->count < SEGMENTS_MAX)
			ck->at[ck->count++] = s;
	}
}

static void take_lists(struct cursor *c, struct message *m)
{
	struct read_segment rs;

	while (next(c) && !c->bad) {
		rs.position = next(c);
		rs.at = next_segment(c);
		if (m->reads < SEGMENTS_MAX)
			m->read[m->reads] = rs;
		m->reads++;
	}
	while (next(c) && !c->bad) {
		take_segments(c, m->writes ? NULL : &m->write);
		m->writes++;
	}
	if (next(c)) {
		take_segments(c, &m->reply);
		m->replies++;
	}
}

int parse(struct message *m, const uint8_t *data, size_t len)
{
	struct cursor c = { data, data + len, 0 };

	memset(m, 0, sizeof(*m));
	m->data = data;
	m->len = len;
	m->xid = next(&c);
	m->vers = next(&c);
	m->credit = next(&c);
	m->proc = next(&c);
	if (c.bad)
		return -1;
	if ((m->vers != 1 && m->vers != 2) || m->proc > NOMSG)
		return 0;
	if (m->vers == 2) {
		next(&c);	/* direction */
		m->handle = next(&c);
	}
	take_lists(&c, m);
	if (c.bad)
		return -1;
	if (m->proc == MSG) {
		m->rpc = c.p;
		m->rpc_len = c.end - c.p;
	}
	return 0;
}

int nfs_proc(const struct message *m)
{
	if (!m->rpc || m->rpc_len < 24 || get32(m->rpc + 4) != CALL ||
	    get32(m->rpc + 12) != NFS_PROGRAM)
		return -1;
	return get32(m->rpc + 20);
}

/* Over one opaque of variable length */
static uint32_t skip_opaque(struct cursor *c)
{
	uint32_t len = next(c);

	if (len > (size_t)(c->end - c->p)) {
		c->bad = 1;
		return 0;
	}
	c->p += (len + 3) & ~3u;
	return len;
}

size_t lookup_name(const struct message *m, char *name, size_t max)
{
	struct cursor c;
	uint32_t len;

	if (nfs_proc(m) != NFS3_LOOKUP)
		return 0;
	c = (struct cursor){ m->rpc + 24, m->rpc + m->rpc_len, 0 };
	next(&c);		/* credential and verifier: flavor, body */
	skip_opaque(&c);
	next(&c);
	skip_opaque(&c);
	skip_opaque(&c);	/* handle of the folder */
	len = next(&c);
	if (c.bad || c.p > c.end || len > (size_t)(c.end - c.p) || len >= max)
		return 0;
	memcpy(name, c.p, len);
	name[len] = '\0';
	return len;
}

static const char *type_name(const struct message *m)
{
	static const char *const names[] = {
		"MSG", "NOMSG", "MSGP", "DONE", "ERROR", "OPTIONAL",
		"CONNPROP", "REQPROP", "RESPROP", "UPDPROP",
	};

	return m->proc < sizeof(names) / sizeof(names[0]) ?
	       names[m->proc] : "type?";
}

const char *describe(const uint8_t *data, size_t len)
{
	static char text[160];
	struct message m;
	size_t at;
	int n;

	if (parse(&m, data, len)) {
		snprintf(text, sizeof(text), "unreadable len=%zu", len);
		return text;
	}
	n = snprintf(text, sizeof(text), "v%u %s xid=%08x len=%zu", m.vers,
		     type_name(&m), m.xid, len);
	if (m.proc == ERROR && len >= 20)
		n += snprintf(text + n, sizeof(text) - n, " code=%u",
			      get32(data + 16));
	if (m.proc == ERROR && len == 24)
		n += snprintf(text + n, sizeof(text) - n, " arg=%u",
			      get32(data + 20));
	if (m.rpc && m.rpc_len >= 8)
		n += snprintf(text + n, sizeof(text) - n, " %s credit=%u",
			      get32(m.rpc + 4) == CALL ? "call" : "reply",
			      m.credit);
	if (nfs_proc(&m) >= 0)
		n += snprintf(text + n, sizeof(text) - n, " nfs=%d",
			      nfs_proc(&m));
	if (m.proc == ERROR && len >= 28)
		snprintf(text + n, sizeof(text) - n, " range=%u-%u",
			 get32(data + 20), get32(data + 24));
	if (m.vers == 2 && m.proc >= OPTIONAL)
		n += snprintf(text + n, sizeof(text) - n, " body=");
	for (at = 16; m.vers == 2 && m.proc >= OPTIONAL && at + 4 <= len &&
	     at < 16 + BODY_SHOWN; at += 4)
		n += snprintf(text + n, sizeof(text) - n, "%08x",
			      get32(data + at));
	if (m.reads + m.writes + m.replies)
		snprintf(text + n, sizeof(text) - n,
			 " reads=%d writes=%d reply=%d", m.reads, m.writes,
			 m.replies);
	return text;
}

void begin(struct draft *d, uint32_t xid, uint32_t vers, uint32_t proc)
{
	d->len = 0;
	put32(d, xid);
	put32(d, vers);
	put32(d, grant);
	put32(d, proc);
}

/* A Call or Reply without chunks; the RPC message follows. */
void begin_rpc(struct draft *d, uint32_t xid, uint32_t vers, uint32_t direction)
{
	begin(d, xid, vers, MSG);
	if (vers == 2) {
		put32(d, direction);
		put32(d, 0);
	}
	put32(d, 0);
	put32(d, 0);
	put32(d, 0);
}

/* One property and its value of a word */
static void put_property(struct draft *d, uint32_t which, uint32_t value)
{
	put32(d, which);
	put32(d, 4);
	put32(d, value);
}

static void put_rbsiz(struct draft *d, uint32_t rbsiz)
{
	put_property(d, RBSIZ, rbsiz);
	said_rbsiz = rbsiz < MESSAGE_MAX ? MESSAGE_MAX :
		     rbsiz > DRAFT_MAX ? DRAFT_MAX : rbsiz;
}

/* Receives of so many octets, for good */
void make_connprop(struct draft *d, uint32_t xid, uint32_t rbsiz)
{
	begin(d, xid, 2, CONNPROP);
	put32(d, 1);
	put_rbsiz(d, rbsiz);
	put32(d, 1);
	put32(d, 3);
}

/* Receives of so many octets, which may change */
void make_changing(struct draft *d, uint32_t xid, uint32_t rbsiz)
{
	make_connprop(d, xid, rbsiz);
	d->len -= 8;
	put32(d, 0);
}

/*
 * Receives of so many octets for good, Sends of so many, and no Read chunk. That
 * comes before a mark that begins so.
 */
void make_marked(struct draft *d, uint32_t xid, uint32_t rbsiz, uint32_t sbsiz,
		 uint32_t mark)
{
	begin(d, xid, 2, CONNPROP);
	put32(d, 4);
	put_rbsiz(d, rbsiz);
	put_property(d, X_SBSIZ, sbsiz);
	put32(d, X_LIMITS);
	put32(d, 16);
	put32(d, 16);
	put32(d, 1 << 20);
	put32(d, 0);
	put32(d, 1);
	put32(d, X_MARK);
	put32(d, 16);
	put32(d, mark);
	put32(d, 0x362644af);
	put32(d, 0x9d2c3e28);
	put32(d, 0x063801e6);
	put32(d, 1);
	put32(d, 1);
}

/* To a REQPROP of one property; @other octets of a Receive are one more, if not 0 */
void make_resprop(struct draft *d, uint32_t xid, uint32_t done,
		  uint32_t rejected, uint32_t other)
{
	begin(d, xid, 2, RESPROP);
	put32(d, 1);
	put32(d, done);
	put32(d, 1);
	put32(d, rejected);
	put32(d, other ? 1 : 0);
	if (other)
		put_property(d, RBSIZ, other);
}

void make_updprop(struct draft *d, uint32_t xid, uint32_t rbsiz)
{
	begin(d, xid, 2, UPDPROP);
	put32(d, 1);
	put_rbsiz(d, rbsiz);
}

/* Backward Calls as they are, an unknown property, larger Receives */
void make_reqprop(struct draft *d, uint32_t xid)
{
	begin(d, xid, 2, REQPROP);
	put32(d, 3);
	put_property(d, BRS, 1);
	put_property(d, 0xffffffff, 7);
	put_property(d, RBSIZ, 65536);
}

void make_error(struct draft *d, uint32_t xid, uint32_t vers, uint32_t code)
{
	begin(d, xid, vers, ERROR);
	put32(d, code);
}

void make_err_vers(struct draft *d, uint32_t xid, uint32_t vers, uint32_t low,
		   uint32_t high)
{
	make_error(d, xid, vers, ERR_VERS);
	put32(d, low);
	put32(d, high);
}
