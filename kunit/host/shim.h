/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of the kernel that the pure code and its suites use, for a build in user
 * space: types, byte order, a few helpers, and XDR streams over a single buffer.
 * prepare.sh generates kernel headers that include this file or one of the others in
 * this folder, which include it too.
 *
 * The streams treat the end of a message as the kernel does: if its length is not a
 * multiple of four, the last word counts as complete but cannot be decoded.
 *
 * Any C11 compiler with statement expressions can compile this file.
 */
#ifndef _RPCRDMA2_HOST_SHIM_H
#define _RPCRDMA2_HOST_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* End the run: the kernel would report a bug, or hang. */
void host_bug(const char *file, int line, const char *what)
	__attribute__((noreturn));

typedef uint8_t			u8;
typedef uint16_t		u16;
typedef uint32_t		u32;
typedef unsigned long long	u64;
typedef int8_t			s8;
typedef int16_t			s16;
typedef int32_t			s32;
typedef long long		s64;
typedef uint16_t		__be16;
typedef uint32_t		__be32;
typedef u64			__be64;

#define U8_MAX			UINT8_MAX
#define U16_MAX			UINT16_MAX
#define U32_MAX			UINT32_MAX
#define U64_MAX			UINT64_MAX
#define INT_MAX			__INT_MAX__
#define ULONG_MAX		(~0UL)

#define EIO			5
#define EAGAIN			11
#define ENOMEM			12
#define ENODEV			19
#define EINVAL			22
#define ERANGE			34
#define EPROTO			71
#define EMSGSIZE		90
#define EPROTONOSUPPORT		93
#define EOPNOTSUPP		95
#define EAFNOSUPPORT		97
#define ENETUNREACH		101
#define ECONNRESET		104
#define ENOBUFS			105
#define ENOTCONN		107
#define ETIMEDOUT		110
#define ECONNREFUSED		111
#define EHOSTUNREACH		113

#ifndef PAGE_SHIFT
#define PAGE_SHIFT		12
#endif
#define PAGE_SIZE		(1UL << PAGE_SHIFT)
#define SZ_1M			0x100000
#define HZ			1000
#define time_before(a, b)	((long)((a) - (b)) < 0)
#define time_before64(a, b)	((s64)((a) - (b)) < 0)

#define __maybe_unused		__attribute__((unused))
#define __printf(fmt, args)	__attribute__((format(printf, fmt, args)))
#define __aligned(n)		__attribute__((aligned(n)))
#define fallthrough		__attribute__((fallthrough))
#define __force
#define __read_mostly
#define likely(x)		(x)
#define unlikely(x)		(x)

#define MODULE_AUTHOR(text)
#define MODULE_DESCRIPTION(text)
#define MODULE_LICENSE(text)
#define MODULE_INFO(tag, text)
#define EXPORT_SYMBOL_GPL(sym)
#define EXPORT_SYMBOL_IF_KUNIT(sym)

#define BIT(n)			(1UL << (n))
#define GENMASK(h, l)		((~0UL << (l)) & (~0UL >> (8 * sizeof(long) - 1 - (h))))
#define sizeof_field(t, f)	sizeof(((t *)0)->f)
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), #cond)
#define static_assert(cond)	_Static_assert(cond, #cond)
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define round_up(x, to)		(DIV_ROUND_UP(x, to) * (to))
#define roundup			round_up
#define round_down(x, to)		((x) / (to) * (to))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define min_t(t, a, b)		min((t)(a), (t)(b))
#define min3(a, b, c)		min(min(a, b), c)
#define max3(a, b, c)		max(max(a, b), c)
#define max_t(t, a, b)		max((t)(a), (t)(b))
#define clamp(x, lo, hi)	min(max(x, lo), hi)
#define clamp_t(t, x, lo, hi)	clamp((t)(x), (t)(lo), (t)(hi))
#define upper_32_bits(x)	((u32)((x) >> 32))
#define lower_32_bits(x)	((u32)(x))

#define PTR_ALIGN(p, to)	((typeof(p))round_up((uintptr_t)(p), to))

/* <linux/mm.h>: a struct page pointer is the address of the page's memory */
#define offset_in_page(p)	((unsigned long)(p) & (PAGE_SIZE - 1))
#define PFN_UP(bytes)		DIV_ROUND_UP(bytes, PAGE_SIZE)
#define PAGE_ALIGN(bytes)	round_up(bytes, PAGE_SIZE)
#define page_address(page)	((void *)(page))
#define virt_to_page(p) \
	((struct page *)((uintptr_t)(p) & ~(uintptr_t)(PAGE_SIZE - 1)))

/* For unsigned types; true if the sum overflows */
#define check_add_overflow(a, b, sum)					\
	({								\
		typeof(*(sum)) _a = (a), _sum = _a + (b);		\
									\
		*(sum) = _sum;						\
		_sum < _a;						\
	})

/* a * b >> shift, with a product of 96 bits; shift is at most 32 */
static inline u64 mul_u64_u32_shr(u64 a, u32 b, unsigned int shift)
{
	return ((a >> 32) * b << (32 - shift)) + ((u32)a * (u64)b >> shift);
}

static inline unsigned long roundup_pow_of_two(unsigned long n)
{
	unsigned long power = 1;

	while (power < n)
		power <<= 1;
	return power;
}

static inline unsigned int hweight32(u32 word)
{
	unsigned int count = 0;

	for (; word; word &= word - 1)
		count++;
	return count;
}

/* Constant expressions for constant operands, as initialisers require */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define host_be16(x)		((u16)(x))
#define host_be32(x)		((u32)(x))
#define host_be64(x)		((u64)(x))
#else
#define host_be16(x)		((u16)((u16)(x) << 8 | (u16)(x) >> 8))
#define host_be32(x)		((u32)host_be16(x) << 16 | host_be16((u32)(x) >> 16))
#define host_be64(x)		((u64)host_be32(x) << 32 | host_be32((u64)(x) >> 32))
#endif
#define cpu_to_be16(x)		((__be16)host_be16(x))
#define cpu_to_be32(x)		((__be32)(host_be32(x)))
#define cpu_to_be64(x)		((__be64)(host_be64(x)))

static inline u32 be32_to_cpu(__be32 x)
{
	return host_be32(x);
}

#define be32_to_cpup(p)		be32_to_cpu(*(p))

/* <linux/kernel.h>, <linux/string.h> */

static inline int host_strtou(const char *s, int base, u64 most, u64 *value)
{
	u64 sum = 0;

	if (!*s)
		return -EINVAL;
	for (; *s; s++) {
		if (*s < '0' || *s >= '0' + base)
			return -EINVAL;
		sum = sum * base + (*s - '0');
		if (sum > most)
			return -ERANGE;
	}
	*value = sum;
	return 0;
}

/* For bases up to ten; the kernel's functions also accept a newline at the end */
#define host_kstrtou(s, base, most, value)					\
	({								\
		u64 _value = 0;						\
		int _ret = host_strtou(s, base, most, &_value);		\
									\
		if (!_ret)						\
			*(value) = _value;				\
		_ret;							\
	})
#define kstrtou32(s, base, value)	host_kstrtou(s, base, U32_MAX, value)
#define kstrtou16(s, base, value)	host_kstrtou(s, base, U16_MAX, value)

static inline long host_strscpy(char *to, const char *from, size_t size)
{
	size_t len = strlen(from), fits = len < size ? len : size - 1;

	memcpy(to, from, fits);
	to[fits] = '\0';
	return len < size ? (long)len : -7;		/* -E2BIG */
}

/* With an explicit size, or the size of the array */
#define host_strscpy_first(to, from, size, ...)	host_strscpy(to, from, size)
#define strscpy(to, ...) \
	host_strscpy_first(to, __VA_ARGS__, sizeof(to), 0)

/* <linux/atomic.h>: there is one thread */

typedef struct {
	int	counter;
} atomic_t;

#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))
#define READ_ONCE(x)		(x)
#define data_race(expr)	(expr)
#define WRITE_ONCE(x, value)	((x) = (value))
#define smp_load_acquire(p)	(*(p))
#define atomic_read_acquire(v)	((v)->counter)
#define smp_store_release(p, value)	((void)(*(p) = (value)))
#define smp_store_mb(x, value)	((x) = (value))
#define atomic_read(v)		((v)->counter)
#define atomic_set(v, i)	((v)->counter = (i))
#define atomic_add_return(i, v)	((v)->counter += (i))
#define atomic_try_cmpxchg(v, old, new)					\
	({								\
		bool _same = (v)->counter == *(old);			\
									\
		if (_same)						\
			(v)->counter = (new);				\
		else							\
			*(old) = (v)->counter;				\
		_same;							\
	})
#define xchg(p, value)							\
	({								\
		typeof(*(p)) _was = *(p);				\
									\
		*(p) = (value);						\
		_was;							\
	})

/* <linux/prandom.h>: reproducible for a seed, but not the numbers of the kernel */

struct rnd_state {
	u64	state;
};

static inline void prandom_seed_state(struct rnd_state *rnd, u64 seed)
{
	rnd->state = seed | 1;
}

static inline u32 prandom_u32_state(struct rnd_state *rnd)
{
	rnd->state = rnd->state * 6364136223846793005ULL +
		     1442695040888963407ULL;
	return rnd->state >> 32;
}

/* <linux/sunrpc/msg_prot.h> */

#define RPC_AUTH_GSS		6

/* <linux/sunrpc/xdr.h> */

#define XDR_UNIT		4u
#define xdr_zero		0u
#define xdr_one			cpu_to_be32(1)
#define xdr_align_size(n)	(((n) + XDR_UNIT - 1) & ~(XDR_UNIT - 1))
#define xdr_pad_size(n)		(xdr_align_size(n) - (n))

#define XDRBUF_READ		1
#define XDRBUF_WRITE		2

struct kvec {
	void	*iov_base;
	size_t	iov_len;
};

struct xdr_buf {
	struct kvec	head[1];
	struct kvec	tail[1];
	struct page	**pages;
	unsigned int	page_base;
	unsigned int	page_len;
	unsigned int	flags;
	unsigned int	buflen;
	unsigned int	len;
};

struct xdr_stream {
	__be32		*p;
	__be32		*end;
	struct xdr_buf	*buf;
	unsigned int	nwords;		/* words left to decode */
};

static inline unsigned int xdr_words(size_t bytes)
{
	return DIV_ROUND_UP(bytes, XDR_UNIT);
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

static inline __be32 *xdr_inline_decode(struct xdr_stream *xdr, size_t bytes)
{
	unsigned int words = xdr_words(bytes);
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

/* Byte of a buffer; pages are addresses of memory */
static inline u8 host_xdr_byte(const struct xdr_buf *buf, unsigned int at)
{
	if (at < buf->head[0].iov_len)
		return ((u8 *)buf->head[0].iov_base)[at];
	at -= buf->head[0].iov_len;
	if (at >= buf->page_len)
		return ((u8 *)buf->tail[0].iov_base)[at - buf->page_len];
	at += buf->page_base;
	return ((u8 *)page_address(buf->pages[at >> PAGE_SHIFT]))[offset_in_page(at)];
}

static inline int xdr_decode_word(const struct xdr_buf *buf, unsigned int base,
				  u32 *word)
{
	unsigned int i;

	if (base > buf->len || XDR_UNIT > buf->len - base)
		return -1;
	for (*word = 0, i = 0; i < XDR_UNIT; i++)
		*word = *word << 8 | host_xdr_byte(buf, base + i);
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

static inline __be32 *xdr_reserve_space(struct xdr_stream *xdr, size_t bytes)
{
	size_t size = (size_t)xdr_words(bytes) * XDR_UNIT;
	__be32 *p = xdr->p;

	if ((size_t)((char *)xdr->end - (char *)p) < size)
		return NULL;
	xdr->p = (void *)((char *)p + size);
	xdr->buf->head[0].iov_len += size;
	xdr->buf->len += size;
	return p;
}

#endif /* _RPCRDMA2_HOST_SHIM_H */
