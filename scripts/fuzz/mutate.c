// SPDX-License-Identifier: GPL-2.0
/*
 * The sources of messages: the vectors of the protocol document, messages with lists of
 * random length, and changes to either that often reveal faults of parsers.
 */
#include <linux/types.h>

#include <vectors.h>
#include "fuzz.h"

#define SEED(_v)	{ #_v, _v, sizeof(_v) }

const struct seed seeds[] = {
	SEED(v01), SEED(v02), SEED(v03), SEED(v04), SEED(v05), SEED(v06),
	SEED(v07), SEED(v08), SEED(v09), SEED(v10), SEED(v11), SEED(v12),
	SEED(v13), SEED(v14), SEED(v15), SEED(v16), SEED(v17), SEED(v18),
	SEED(v19), SEED(v20), SEED(v21), SEED(v22), SEED(v23), SEED(v24),
	SEED(v25), SEED(v26), SEED(v27), SEED(v28), SEED(v29), SEED(v30),
	SEED(v31), SEED(v32), SEED(v33), SEED(v34), SEED(v35),
};

const size_t nseeds = ARRAY_SIZE(seeds);

/* Values at which parsers often fail: types, limits, lengths, ends of ranges */
static const u32 words[] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16, 17, 31, 32, 33,
	40, 63, 64, 65, 72, 255, 256, 904, 1024, 4095, 4096, 4097, 65536,
	0x01000000, 0x0fffffff, 0x10000000, 0x10000001, 0x1fffffff,
	0x20000000, 0x3fffffff, 0x40000000, 0x40000001, 0x7fffffff,
	0x80000000, 0x80000001, 0xfffff000, 0xfffffff8, 0xfffffffc,
	0xfffffffe, 0xffffffff,
};

uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return x;
}

static u32 below(uint64_t *state, u32 limit)
{
	return (next_random(state) >> 32) * limit >> 32;
}

static u32 any_word(uint64_t *state)
{
	switch (below(state, 4)) {
	case 0:
		return next_random(state) >> 32;
	case 1:
		return below(state, 128);
	default:
		return words[below(state, ARRAY_SIZE(words))];
	}
}

/* A message under construction; words beyond the maximum are dropped. */
struct draft {
	uint8_t		*data;
	size_t		len;
	size_t		max;
	uint64_t	*state;
};

static void put(struct draft *d, u32 word)
{
	__be32 wire = cpu_to_be32(word);

	if (d->max - d->len < sizeof(wire))
		return;
	memcpy(d->data + d->len, &wire, sizeof(wire));
	d->len += sizeof(wire);
}

/* Mostly @good, sometimes another word */
static void put_mostly(struct draft *d, u32 good)
{
	put(d, below(d->state, 256) ? good : any_word(d->state));
}

static void put_segment(struct draft *d)
{
	put(d, below(d->state, 8));
	put(d, below(d->state, 16) ? below(d->state, 8192) :
				     any_word(d->state));
	put(d, 0);
	put(d, next_random(d->state));
}

static void put_counted(struct draft *d, u32 count)
{
	put_mostly(d, count);
	while (count--)
		put_segment(d);
}

/* Mostly few entries, sometimes as many as the limit, or more */
static u32 some(struct draft *d, u32 limit)
{
	return below(d->state, below(d->state, 16) ? 4 : limit + 3);
}

/*
 * Few chunks with many segments, and many with few; with @zero a Position-Zero chunk first
 */
static void put_reads(struct draft *d, bool zero)
{
	u32 chunks = 1 + below(d->state, 32), position = 0, n;

	for (n = some(d, 64) + zero; n; n--) {
		put_mostly(d, 1);
		if (!zero && below(d->state, 4))
			position = 4 * below(d->state, chunks);
		put_mostly(d, position);
		put_segment(d);
		zero = false;
	}
	put_mostly(d, 0);
}

static void put_lists(struct draft *d, bool zero)
{
	u32 n;

	put_reads(d, zero);
	for (n = some(d, 8); n; n--) {
		put_mostly(d, 1);
		put_counted(d, some(d, 64));
	}
	put_mostly(d, 0);
	if (below(d->state, 2)) {
		put_mostly(d, 1);
		put_counted(d, some(d, 64));
	} else {
		put_mostly(d, 0);
	}
}

static void put_rpc(struct draft *d, u32 xid, u32 vers, u32 proc)
{
	u32 direction = below(d->state, 2), n;

	if (vers == 2) {
		put_mostly(d, direction);
		put(d, below(d->state, 8));
	} else if (proc == 2) {
		put(d, any_word(d->state));
		put(d, any_word(d->state));
	}
	if (direction) {
		put_mostly(d, 0);
		for (n = some(d, 8); n; n--) {
			put_mostly(d, 1);
			put_counted(d, some(d, 64));
		}
		put_mostly(d, 0);
		put_mostly(d, proc == 1);
		if (proc == 1)
			put_counted(d, some(d, 64));
	} else {
		put_lists(d, proc == 1);
	}
	if (proc == 1)
		return;
	put_mostly(d, xid);
	put_mostly(d, direction);
	for (n = below(d->state, 32); n; n--)
		put(d, any_word(d->state));
}

static void put_propset(struct draft *d)
{
	u32 count = some(d, 40), n, len;

	put_mostly(d, count);
	while (count--) {
		put(d, below(d->state, 4));
		len = below(d->state, 16) ? 4 : below(d->state, 12);
		put_mostly(d, len);
		for (n = (len + 3) / 4; n; n--)
			put(d, below(d->state, 4) ? below(d->state, 4) :
						    any_word(d->state));
	}
}

static void put_subset(struct draft *d)
{
	u32 count = some(d, 4);

	put_mostly(d, count);
	while (count--)
		put(d, any_word(d->state));
}

static void put_properties(struct draft *d, u32 type)
{
	switch (type) {
	case 1:
		put_propset(d);
		put_subset(d);
		break;
	case 3:
		put_subset(d);
		put_subset(d);
		put_propset(d);
		break;
	default:
		put_propset(d);
		break;
	}
}

static void put_option(struct draft *d)
{
	u32 type = below(d->state, 6);
	size_t at;
	__be32 len;

	put_mostly(d, below(d->state, 2));
	put(d, type);
	at = d->len;
	put(d, 0);
	put_properties(d, type);
	if (!below(d->state, 8) || d->len < at + 4)
		return;
	len = cpu_to_be32(d->len - at - 4);
	memcpy(d->data + at, &len, sizeof(len));
}

static void put_error(struct draft *d)
{
	put(d, below(d->state, 12));
	put(d, any_word(d->state));
	put(d, any_word(d->state));
}

size_t make_message(uint8_t *data, size_t max, uint64_t *state)
{
	struct draft d = { .data = data, .max = max, .state = state };
	u32 xid = next_random(state) >> 32;
	u32 vers = 2 - !below(state, 3);
	u32 proc = below(state, vers == 2 ? 10 : 4);

	/* Half of the messages carry RPCs. */
	if (below(state, 2))
		proc = below(state, 2);
	put(&d, xid);
	put_mostly(&d, vers);
	put_mostly(&d, below(state, 256));
	put_mostly(&d, proc);

	switch (proc) {
	case 4:
		put_error(&d);
		break;
	case 5:
		put_option(&d);
		break;
	case 6:
	case 7:
	case 8:
	case 9:
		put_properties(&d, proc - 5);
		break;
	default:
		put_rpc(&d, xid, vers, proc);
		break;
	}
	return d.len;
}

static size_t drop_bytes(uint8_t *data, size_t len, uint64_t *state)
{
	size_t from = below(state, len / 4 + 1) * 4;
	size_t count = 4 * (1 + below(state, 8));

	if (from + count > len)
		return from;
	memmove(data + from, data + from + count, len - from - count);
	return len - count;
}

/* Repeats a range of bytes, like an additional entry of a list */
static size_t repeat_bytes(uint8_t *data, size_t len, size_t max,
			   uint64_t *state)
{
	size_t from = below(state, len / 4 + 1) * 4;
	size_t count = 4 * (1 + below(state, 8));

	if (from + count > len || len + count > max)
		return len;
	memmove(data + from + count, data + from, len - from);
	return len + count;
}

static void change_word(uint8_t *data, size_t len, uint64_t *state)
{
	size_t at = below(state, len / 4 + 1) * 4;
	__be32 wire = cpu_to_be32(any_word(state));

	if (at + 4 <= len)
		memcpy(data + at, &wire, sizeof(wire));
}

static void step_word(uint8_t *data, size_t len, uint64_t *state)
{
	size_t at = below(state, len / 4 + 1) * 4;
	__be32 wire;

	if (at + 4 > len)
		return;
	memcpy(&wire, data + at, sizeof(wire));
	wire = cpu_to_be32(be32_to_cpup(&wire) + below(state, 9) - 4);
	memcpy(data + at, &wire, sizeof(wire));
}

size_t mutate_message(uint8_t *data, size_t len, size_t max, uint64_t *state)
{
	u32 changes = 1 + below(state, 8) * !below(state, 2);

	while (changes--) {
		switch (below(state, 12)) {
		case 0:
			len = drop_bytes(data, len, state);
			break;
		case 1:
		case 2:
			len = repeat_bytes(data, len, max, state);
			break;
		case 3:
			if (!below(state, 4))
				len = below(state, len + 1);
			break;
		case 4:
			if (len)
				data[below(state, len)] ^= 1 << below(state, 8);
			break;
		case 5:
		case 6:
			step_word(data, len, state);
			break;
		default:
			change_word(data, len, state);
			break;
		}
	}
	return len;
}
