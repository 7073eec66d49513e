/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of the kernel as the headers under include/rpcrdma2/ need, for a
 * build in user space: types, byte order, a few helpers, and XDR streams over
 * one piece of memory. Every <linux/...> they include is this file; run.sh
 * sees to that.
 *
 * The streams keep the kernel's edges: a message whose length is no multiple
 * of four counts its last words as whole, but cannot be read past its end.
 */
#ifndef _RPCRDMA2_FUZZ_SHIM_H
#define _RPCRDMA2_FUZZ_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t		u8;
typedef uint16_t	u16;
typedef uint32_t	u32;
typedef uint64_t	u64;
typedef uint32_t	__be32;

#define U8_MAX			UINT8_MAX
#define U32_MAX			UINT32_MAX
#define EINVAL			22
#define EMSGSIZE		90

#define __maybe_unused		__attribute__((unused))
#define unlikely(x)		__builtin_expect(!!(x), 0)

#define BIT(n)			(1UL << (n))
#define GENMASK(h, l)		((~0UL << (l)) & (~0UL >> (63 - (h))))
#define sizeof_field(t, f)	sizeof(((t *)0)->f)
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), #cond)
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define round_up(x, to)		(DIV_ROUND_UP(x, to) * (to))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define min_t(t, a, b)		min((t)(a), (t)(b))
#define max_t(t, a, b)		max((t)(a), (t)(b))
#define clamp(x, lo, hi)	min(max(x, lo), hi)
#define hweight32(x)		((unsigned int)__builtin_popcount(x))
#define upper_32_bits(x)	((u32)((x) >> 32))
#define lower_32_bits(x)	((u32)(x))
#define check_add_overflow(a, b, sum)	__builtin_add_overflow(a, b, sum)

#define cpu_to_be32(x)		__builtin_bswap32(x)
#define be32_to_cpup(p)		__builtin_bswap32(*(p))

#define XDR_UNIT		4u
#define xdr_zero		0u
#define xdr_one			cpu_to_be32(1)

struct kvec {
	void	*iov_base;
	size_t	iov_len;
};

struct xdr_buf {
	struct kvec	head[1];
	unsigned int	buflen;
	unsigned int	len;
};

struct xdr_stream {
	__be32		*p;
	__be32		*end;
	struct xdr_buf	*buf;
	unsigned int	nwords;		/* to be decoded */
};

static inline unsigned int xdr_words(size_t octets)
{
	return DIV_ROUND_UP(octets, XDR_UNIT);
}

static inline void xdr_init_decode(struct xdr_stream *xdr, struct xdr_buf *buf,
				   __be32 *p, void *rqst)
{
	(void)p;
	(void)rqst;
	xdr->buf = buf;
	xdr->p = buf->head[0].iov_base;
	xdr->end = (void *)((char *)xdr->p + buf->len);
	xdr->nwords = xdr_words(buf->len);
}

static inline unsigned int xdr_stream_pos(const struct xdr_stream *xdr)
{
	return (xdr_words(xdr->buf->len) - xdr->nwords) * XDR_UNIT;
}

static inline size_t xdr_stream_remaining(const struct xdr_stream *xdr)
{
	return (size_t)xdr->nwords * XDR_UNIT;
}

static inline __be32 *xdr_inline_decode(struct xdr_stream *xdr, size_t octets)
{
	unsigned int words = xdr_words(octets);
	__be32 *p = xdr->p;

	if (words > xdr->nwords ||
	    (size_t)((char *)xdr->end - (char *)p) < (size_t)words * XDR_UNIT)
		return NULL;
	xdr->p += words;
	xdr->nwords -= words;
	return p;
}

static inline int xdr_buf_subsegment(const struct xdr_buf *buf,
				     struct xdr_buf *sub, unsigned int base,
				     unsigned int len)
{
	if (base > buf->len || len > buf->len - base)
		return -1;
	sub->head[0].iov_base = (char *)buf->head[0].iov_base + base;
	sub->head[0].iov_len = len;
	sub->buflen = len;
	sub->len = len;
	return 0;
}

static inline void xdr_init_encode(struct xdr_stream *xdr, struct xdr_buf *buf,
				   __be32 *p, void *rqst)
{
	(void)p;
	(void)rqst;
	xdr->buf = buf;
	xdr->p = (void *)((char *)buf->head[0].iov_base + buf->head[0].iov_len);
	xdr->end = (void *)((char *)buf->head[0].iov_base + buf->buflen);
}

static inline __be32 *xdr_reserve_space(struct xdr_stream *xdr, size_t octets)
{
	size_t size = (size_t)xdr_words(octets) * XDR_UNIT;
	__be32 *p = xdr->p;

	if ((size_t)((char *)xdr->end - (char *)p) < size)
		return NULL;
	xdr->p = (void *)((char *)p + size);
	xdr->buf->head[0].iov_len += size;
	xdr->buf->len += size;
	return p;
}

#endif /* _RPCRDMA2_FUZZ_SHIM_H */
