// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of versions 1 and 2: taken apart, put together, and told in a line.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "wire.h"

uint32_t grant = 32;

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

static void skip_segments(struct cursor *c, uint32_t n)
{
	if (n > (size_t)(c->end - c->p) / 16)
		c->bad = 1;
	else
		c->p += n * 16;
}

static void count_lists(struct cursor *c, struct message *m)
{
	while (next(c) && !c->bad) {
		next(c);	/* position */
		skip_segments(c, 1);
		m->reads++;
	}
	while (next(c) && !c->bad) {
		skip_segments(c, next(c));
		m->writes++;
	}
	if (next(c)) {
		skip_segments(c, next(c));
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
	count_lists(&c, m);
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

/* Receives of MESSAGE_MAX octets, for good */
void make_connprop(struct draft *d, uint32_t xid)
{
	begin(d, xid, 2, CONNPROP);
	put32(d, 1);
	put32(d, RBSIZ);
	put32(d, 4);
	put32(d, MESSAGE_MAX);
	put32(d, 1);
	put32(d, 3);
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
