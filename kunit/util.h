/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages for the suites, built word by word or from a vector. Every message lies in
 * memory of exactly its length, and KASAN detects an access to the byte behind it.
 */
#ifndef _RPCRDMA2_KUNIT_UTIL_H
#define _RPCRDMA2_KUNIT_UTIL_H

#include <kunit/test.h>
#include <linux/string.h>
#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/props.h>
#include <rpcrdma2/wire.h>

#include "sendable.h"

/* Room for one header that exceeds every limit */
#define WORDS_MAX	4096

/**
 * struct wire - a message from or for the wire
 * @data: its memory
 * @len: length in bytes
 */
struct wire {
	void	*data;
	size_t	len;
};

/**
 * struct words - a message under construction
 * @count: number of words
 * @word: the words
 */
struct words {
	unsigned int	count;
	__be32		word[WORDS_MAX];
};

static inline void room(struct kunit *test, struct wire *w, size_t len)
{
	w->data = kunit_kmalloc(test, len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w->data);
	w->len = len;
}

static inline void receive(struct kunit *test, struct wire *w,
			   const void *data, size_t len)
{
	room(test, w, len);
	memcpy(w->data, data, len);
}

/* Allocates the size of the header, and encodes the header into it. */
static inline void send_hdr(struct kunit *test, struct wire *w,
			    const struct rpcrdma2_hdr *h)
{
	KUNIT_ASSERT_TRUE(test, rpcrdma2_sendable(h));
	room(test, w, rpcrdma2_hdr_size(h));
	KUNIT_ASSERT_EQ(test, rpcrdma2_encode_hdr(w->data, h), w->len);
}

/* Encodes a property message; returns its length. */
static inline int send_propmsg(struct wire *w, const struct rpcrdma2_hdr *h,
			       const struct rpcrdma2_propmsg *pm)
{
	struct rpcrdma2_propmsg sent = *pm;

	sent.pm_xid = h->h_xid;
	sent.pm_option = h->h_proc == RDMA2_OPTIONAL;
	return rpcrdma2_encode_propmsg(w->data, w->len, h->h_credit, &sent);
}

/* Decodes the header of a message; returns the verdict. */
static inline enum rpcrdma2_errcode judge(struct kunit *test,
					  struct rpcrdma2_hdr *h,
					  const void *data, size_t len)
{
	struct wire w;

	receive(test, &w, data, len);
	return rpcrdma2_decode_hdr(h, w.data, w.len, w.len);
}

static inline struct words *words_new(struct kunit *test)
{
	struct words *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	return m;
}

/*
 * The header is filled with ones: a field that the decoder does not set shows. Both modules
 * decode into headers that hold an earlier message.
 */
static inline struct rpcrdma2_hdr *hdr_new(struct kunit *test)
{
	struct rpcrdma2_hdr *h = kunit_kmalloc(test, sizeof(*h), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, h);
	memset(h, 0xff, sizeof(*h));
	return h;
}

static inline size_t words_len(const struct words *m)
{
	return m->count * XDR_UNIT;
}

static inline enum rpcrdma2_errcode judge_words(struct kunit *test,
						struct rpcrdma2_hdr *h,
						const struct words *m)
{
	return judge(test, h, m->word, words_len(m));
}

static inline void put(struct words *m, u32 word)
{
	m->word[m->count++] = cpu_to_be32(word);
}

static inline void put_segment(struct words *m, u32 handle, u32 length)
{
	put(m, handle);
	put(m, length);
	put(m, 0);
	put(m, handle << 12);
}

static inline void put_read(struct words *m, u32 position, u32 length)
{
	put(m, 1);
	put(m, position);
	put_segment(m, 0x100 + m->count, length);
}

/* Counted segments of 4096 bytes each, for a Write or Reply chunk */
static inline void put_segments(struct words *m, unsigned int count)
{
	put(m, count);
	while (count--)
		put_segment(m, 0x100 + m->count, 4096);
}

#define WORDS_XID	0x1a2b3c4d

/* Starts a new message: a header up to its Read list */
static inline void put_start(struct words *m, u32 vers, u32 proc, u32 direction)
{
	m->count = 0;
	put(m, WORDS_XID);
	put(m, vers);
	put(m, 32);
	put(m, proc);
	if (vers == RPCRDMA2_VERS_ONE)
		return;
	put(m, direction);
	put(m, 0);
}

/* An RPC message of @len bytes; only its first two words have a meaning */
static inline void put_payload(struct words *m, u32 msg_type, size_t len)
{
	unsigned int end = m->count + len / XDR_UNIT;

	put(m, WORDS_XID);
	put(m, msg_type);
	while (m->count < end)
		put(m, 0);
}

/*
 * Reads a message into a struct that held other contents. Only the first @room of its @len
 * bytes are in memory.
 */
static inline struct rpcrdma2_msg *read_part(struct kunit *test,
					     const void *data, size_t room,
					     size_t len, u32 handle)
{
	struct rpcrdma2_msg *msg = kunit_kmalloc(test, sizeof(*msg),
						 GFP_KERNEL);
	struct rpcrdma2_exchange ex;
	struct wire w;

	KUNIT_ASSERT_NOT_NULL(test, msg);
	memset(msg, 0xff, sizeof(*msg));
	receive(test, &w, data, min(room, len));
	rpcrdma2_exchange_init(&ex, NULL, true);
	rpcrdma2_msg_read(msg, w.data, room, len, handle, &ex);
	return msg;
}

static inline struct rpcrdma2_msg *read_message(struct kunit *test,
						const void *data, size_t len,
						u32 handle)
{
	return read_part(test, data, len, len, handle);
}

/* Receives a message and reads its body. @pm keeps its pm_want. */
static inline enum rpcrdma2_errcode read_body(struct kunit *test,
					      struct rpcrdma2_propmsg *pm,
					      const void *data, size_t len)
{
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct wire w;

	receive(test, &w, data, len);
	KUNIT_ASSERT_EQ(test, rpcrdma2_decode_hdr(h, w.data, w.len, w.len), RDMA2_OK);
	return rpcrdma2_decode_propmsg(pm, h, w.data);
}

static inline enum rpcrdma2_errcode read_words(struct kunit *test,
					       struct rpcrdma2_propmsg *pm,
					       const struct words *m)
{
	return read_body(test, pm, m->word, words_len(m));
}

/* Encodes a property message; the result must equal @data. */
static inline void expect_sent(struct kunit *test,
			       const struct rpcrdma2_propmsg *pm,
			       u32 xid, u32 credit, u32 proc,
			       const u8 *data, size_t len)
{
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct wire w;

	h->h_xid = xid;
	h->h_credit = credit;
	h->h_proc = proc;
	room(test, &w, len);
	KUNIT_ASSERT_EQ(test, send_propmsg(&w, h, pm), len);
	KUNIT_EXPECT_MEMEQ(test, w.data, data, len);
}

static inline void put_propval(struct words *m, u32 which, u32 len, u32 value)
{
	u32 i;

	put(m, which);
	put(m, len);
	for (i = 0; i < DIV_ROUND_UP(len, 4); i++)
		put(m, value);
}

#endif /* _RPCRDMA2_KUNIT_UTIL_H */
