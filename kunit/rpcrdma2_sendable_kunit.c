// SPDX-License-Identifier: GPL-2.0
/*
 * Headers that break the rules of sending, and random headers that the decoder must reproduce.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include <rpcrdma2/wire.h>

#include "util.h"

/* A Call with two Read chunks, a Write chunk and a Reply chunk */
static void fill_call(struct rpcrdma2_hdr *h)
{
	unsigned int i;

	memset(h, 0, sizeof(*h));
	h->h_xid = WORDS_XID;
	h->h_vers = RPCRDMA2_VERS_TWO;
	h->h_credit = 32;
	h->h_proc = RDMA2_MSG;
	h->h_direction = RDMA2_CALL;
	h->h_inv_handle = 0x103;
	h->h_nreads = 2;
	h->h_nwrites = 1;
	h->h_has_reply = true;
	h->h_nsegs = 6;
	for (i = 0; i < h->h_nsegs; i++) {
		h->h_segs[i].rs_handle = 0x100 + i;
		h->h_segs[i].rs_length = 1000 + i;
		h->h_segs[i].rs_offset = 0x1234567800000000 + i;
	}
	h->h_reads[0] = (struct rpcrdma2_chunk){ 40, 2001, 0, 2 };
	h->h_reads[1] = (struct rpcrdma2_chunk){ 3000, 1002, 2, 1 };
	h->h_writes[0] = (struct rpcrdma2_chunk){ 0, 2007, 3, 2 };
	h->h_reply = (struct rpcrdma2_chunk){ 0, 1005, 5, 1 };
}

/*
 * A Call at all limits: 16 Read chunks, 8 Write chunks, and a Reply chunk with the rest of
 * the 64 segments. In memory the first Write chunk follows the last Read chunk, and the
 * Reply chunk follows the last Write chunk: the chunk beyond a count is valid, and only the
 * count is wrong.
 */
static void fill_limits(struct rpcrdma2_hdr *h)
{
	unsigned int i, seg = 0;

	fill_call(h);
	h->h_nsegs = RPCRDMA2_MAX_SEGMENTS;
	for (i = 0; i < h->h_nsegs; i++) {
		h->h_segs[i].rs_handle = 0x100 + i;
		h->h_segs[i].rs_length = 4;
	}
	h->h_nreads = RPCRDMA2_MAX_READ_CHUNKS;
	for (i = 0; i < h->h_nreads; i++, seg++)
		h->h_reads[i] = (struct rpcrdma2_chunk){ 40 + 8 * i, 4, seg, 1 };
	h->h_nwrites = RPCRDMA2_MAX_WRITE_CHUNKS;
	for (i = 0; i < h->h_nwrites; i++, seg++)
		h->h_writes[i] = (struct rpcrdma2_chunk){ 4096, 4, seg, 1 };
	h->h_reply = (struct rpcrdma2_chunk){ 0, 4 * (h->h_nsegs - seg), seg,
					      h->h_nsegs - seg };
}

/* The Reply to a Call with a Write chunk */
static void fill_reply(struct rpcrdma2_hdr *h)
{
	fill_call(h);
	h->h_direction = RDMA2_REPLY;
	h->h_inv_handle = 0;
	h->h_nreads = 0;
	h->h_has_reply = false;
}

static void fill_error(struct rpcrdma2_hdr *h)
{
	fill_call(h);
	rpcrdma2_set_error(h, RDMA2_ERR_SYSTEM, 0, 0);
}

struct refusal {
	const char	*desc;
	void		(*fill)(struct rpcrdma2_hdr *h);
	void		(*spoil)(struct rpcrdma2_hdr *h);
	bool		good;
};

static void unchanged(struct rpcrdma2_hdr *h)
{
}

#define SPOIL(_name, ...)					\
	static void _name(struct rpcrdma2_hdr *h) { __VA_ARGS__; }

SPOIL(no_credit, h->h_credit = 0)
SPOIL(no_direction, h->h_direction = RDMA2_NODIR; h->h_inv_handle = 0)
SPOIL(no_direction_at_all, h->h_direction = RDMA2_NODIR)
SPOIL(version_three, h->h_vers = 3)
SPOIL(version_zero, h->h_vers = 0)
SPOIL(proc_two, h->h_proc = 2)
SPOIL(proc_ten, h->h_proc = 10)
SPOIL(version_one, h->h_vers = 1)
SPOIL(version_one_call, h->h_vers = 1; h->h_inv_handle = 0)
SPOIL(version_one_option, h->h_vers = 1; h->h_proc = RDMA2_OPTIONAL)
SPOIL(version_one_property, h->h_vers = 1; h->h_proc = RDMA2_CONNPROP)
SPOIL(option, h->h_proc = RDMA2_OPTIONAL)
SPOIL(option_without_direction, h->h_proc = RDMA2_OPTIONAL;
	h->h_direction = RDMA2_NODIR)
SPOIL(odd_position, h->h_reads[0].ck_position = 41)
SPOIL(equal_positions, h->h_reads[1].ck_position = 40)
SPOIL(descending_positions, h->h_reads[1].ck_position = 36)
SPOIL(empty_read_segment, h->h_segs[0].rs_length = 0;
	h->h_reads[0].ck_length = 1001)
SPOIL(second_segment_empty, h->h_segs[1].rs_length = 0;
	h->h_reads[0].ck_length = 1000)
SPOIL(version_one_msgp, h->h_vers = 1; h->h_inv_handle = 0; h->h_proc = 2)
SPOIL(read_chunk_without_segments, h->h_reads[0].ck_nsegs = 0;
	h->h_reads[0].ck_length = 0)
SPOIL(wrong_length, h->h_reads[0].ck_length++)
SPOIL(wrapped_length, h->h_segs[0].rs_length = U32_MAX;
	h->h_reads[0].ck_length = 1000)
SPOIL(write_longer, h->h_writes[0].ck_length++)
SPOIL(write_shorter, h->h_writes[0].ck_length--)
SPOIL(write_wrapped, h->h_segs[3].rs_length = U32_MAX;
	h->h_writes[0].ck_length = 1003)
SPOIL(write_past_the_end, h->h_writes[0].ck_first = 5;
	h->h_nsegs = 6; h->h_segs[6].rs_length = 1002;
	h->h_writes[0].ck_length = 2007)
SPOIL(second_write_longer, h->h_nwrites = 2;
	h->h_writes[1] = (struct rpcrdma2_chunk){ 0, 1006, 5, 1 })
SPOIL(second_write, h->h_nwrites = 2;
	h->h_writes[1] = (struct rpcrdma2_chunk){ 0, 1005, 5, 1 })
SPOIL(reply_longer, h->h_reply.ck_length++)
SPOIL(reply_shorter, h->h_reply.ck_length--)
SPOIL(wrapped_list, h->h_segs[1].rs_length = 0x80000000;
	h->h_reads[0].ck_length = 0x80000000 + 1000;
	h->h_segs[2].rs_length = 0x80000000 - 1000;
	h->h_reads[1].ck_length = 0x80000000 - 1000)
SPOIL(full_list, h->h_segs[1].rs_length = 0x80000000;
	h->h_reads[0].ck_length = 0x80000000 + 1000;
	h->h_segs[2].rs_length = 0x80000000 - 1001;
	h->h_reads[1].ck_length = 0x80000000 - 1001)
SPOIL(segments_past_the_end, h->h_reply.ck_first = 6;
	h->h_segs[6].rs_length = 1005)
SPOIL(too_many_segments, h->h_nsegs++)
SPOIL(too_many_reads, h->h_nreads++; h->h_nwrites = 0)
SPOIL(too_many_writes, h->h_nwrites++; h->h_has_reply = false)
SPOIL(limit_of_reads, h->h_nwrites = 0)
SPOIL(limit_of_writes, h->h_has_reply = false)
SPOIL(write_chunk_without_segments, h->h_writes[0].ck_nsegs = 0;
	h->h_writes[0].ck_length = 0)
SPOIL(reply_chunk_without_segments, h->h_reply.ck_nsegs = 0;
	h->h_reply.ck_length = 0)
SPOIL(position_zero, h->h_reads[0].ck_position = 0)
SPOIL(nomsg, h->h_proc = RDMA2_NOMSG)
SPOIL(nomsg_zero, h->h_proc = RDMA2_NOMSG; h->h_reads[0].ck_position = 0)
SPOIL(nomsg_empty, h->h_proc = RDMA2_NOMSG; h->h_nreads = 0)
SPOIL(foreign_handle, h->h_inv_handle = 0x999)
SPOIL(handle_behind, h->h_inv_handle = 0x106; h->h_segs[6].rs_handle = 0x106)
SPOIL(last_handle, h->h_inv_handle = 0x105)
SPOIL(no_handle, h->h_inv_handle = 0)
SPOIL(with_reads, h->h_nreads = 1)
SPOIL(with_handle, h->h_inv_handle = 0x103)
SPOIL(with_reply_chunk, h->h_has_reply = true)
SPOIL(nomsg_reply, h->h_proc = RDMA2_NOMSG; h->h_has_reply = true)
SPOIL(nomsg_reply_in_part, h->h_proc = RDMA2_NOMSG; h->h_has_reply = true;
	h->h_reply.ck_nsegs = 2; h->h_nsegs = 7)
SPOIL(nomsg_reply_unused, h->h_proc = RDMA2_NOMSG; h->h_has_reply = true;
	h->h_segs[5].rs_length = 0; h->h_reply.ck_length = 0)
SPOIL(error_as_call, h->h_direction = RDMA2_CALL)
SPOIL(error_zero, h->h_error.er_code = 0)
SPOIL(error_eleven, h->h_error.er_code = 11)
SPOIL(error_drop, h->h_error.er_code = RDMA2_DROP)
SPOIL(error_version_three, h->h_vers = 3)
SPOIL(error_version_one, h->h_vers = 1)
SPOIL(error_vers_backwards, rpcrdma2_set_error(h, RDMA2_ERR_VERS, 2, 1))
SPOIL(error_vers_three, h->h_vers = 3;
	rpcrdma2_set_error(h, RDMA2_ERR_VERS, 0, 0))
SPOIL(error_chunk, h->h_vers = 1;
	rpcrdma2_set_error(h, RDMA2_ERR_SYSTEM, 0, 0))

static const struct refusal refusals[] = {
	{ "a Call with every kind of chunk", fill_call, unchanged, true },
	{ "B-07 S26 credit 0", fill_call, no_credit },
	{ "C-077 credit 0 in an error", fill_error, no_credit },
	{ "S06 C-067 no direction, otherwise a Call", fill_call,
	  no_direction },
	{ "S06 C-067 no direction, otherwise a Reply", fill_reply,
	  no_direction_at_all },
	{ "S06 C-072 a handle without a direction", fill_call,
	  no_direction_at_all },
	{ "C-010 version 3", fill_call, version_three },
	{ "C-010 version 0", fill_call, version_zero },
	{ "C-010 proc 2", fill_call, proc_two },
	{ "C-010 proc 10", fill_call, proc_ten },
	{ "C-073 a nominated handle in version 1", fill_call, version_one },
	{ "C-105 a Call of version 1", fill_call, version_one_call, true },
	{ "E-23 MSGP is not sent", fill_call, version_one_msgp },
	{ "C-105 an option in version 1", fill_call, version_one_option },
	{ "C-105 a property in version 1", fill_call, version_one_property },
	{ "C-069 an option in a Call", fill_call, option },
	{ "C-069 an option in a Reply", fill_reply, option },
	{ "S39 C-069 an option without direction", fill_call,
	  option_without_direction },
	{ "S09 a misaligned position", fill_call, odd_position },
	{ "S09 two chunks at one position", fill_call, equal_positions },
	{ "S09 E-02 descending positions", fill_call, descending_positions },
	{ "S09 an empty Read segment", fill_call, empty_read_segment },
	{ "S09 an empty Read segment after another one", fill_call,
	  second_segment_empty },
	{ "S09 a Read chunk without segments", fill_call,
	  read_chunk_without_segments },
	{ "S05 a length that is not the sum", fill_call, wrong_length },
	{ "S05 lengths that wrap", fill_call, wrapped_length },
	{ "S05 a Write chunk longer than its segments", fill_call,
	  write_longer },
	{ "S05 a Write chunk shorter than its segments", fill_call,
	  write_shorter },
	{ "S05 a Write chunk returned with a larger length",
	  fill_reply, write_longer },
	{ "S05 lengths of a Write chunk that wrap", fill_call, write_wrapped },
	{ "S05 a Write chunk with too high a count of segments", fill_call,
	  write_past_the_end },
	{ "S05 two Write chunks", fill_call, second_write, true },
	{ "S05 a second Write chunk longer than its segments", fill_call,
	  second_write_longer },
	{ "S05 a Reply chunk longer than its segments", fill_call,
	  reply_longer },
	{ "S05 a Reply chunk shorter than its segments", fill_call,
	  reply_shorter },
	{ "S05 Read chunks that add up to 2^32", fill_call, wrapped_list },
	{ "S05 Read chunks that stay below 2^32", fill_call, full_list, true },
	{ "S05 too high a count of segments",
	  fill_call, segments_past_the_end },
	{ "C-083 to C-085 all limits reached", fill_limits, unchanged,
	  true },
	{ "C-085 too many segments", fill_limits, too_many_segments },
	{ "C-083 16 Read chunks", fill_limits, limit_of_reads, true },
	{ "C-083 too many Read chunks", fill_limits, too_many_reads },
	{ "C-084 8 Write chunks", fill_limits, limit_of_writes, true },
	{ "C-084 too many Write chunks", fill_limits, too_many_writes },
	{ "S10 a Write chunk without segments in a Call", fill_call,
	  write_chunk_without_segments },
	{ "S10 E-10 a Write chunk without segments returned", fill_reply,
	  write_chunk_without_segments, true },
	{ "S10 a Reply chunk without segments", fill_call,
	  reply_chunk_without_segments },
	{ "S07 E-05 Position-Zero in MSG", fill_call, position_zero },
	{ "S07 NOMSG without Position-Zero", fill_call, nomsg },
	{ "E-04 NOMSG with Position-Zero chunk and Read chunk",
	  fill_call, nomsg_zero, true },
	{ "S07 NOMSG without Read chunks", fill_call, nomsg_empty },
	{ "C-072 a handle of another Call", fill_call, foreign_handle },
	{ "C-072 a handle after the last segment", fill_call, handle_behind },
	{ "C-072 the handle of the last segment", fill_call, last_handle,
	  true },
	{ "C-073 no handle", fill_call, no_handle, true },
	{ "a Reply with a Write chunk", fill_reply, unchanged, true },
	{ "E-22 a Read list in a Reply", fill_reply, with_reads },
	{ "S47 a handle in a Reply", fill_reply, with_handle },
	{ "E-06 S10 a Reply chunk in MSG", fill_reply, with_reply_chunk },
	{ "E-25 a Reply chunk in NOMSG", fill_reply, nomsg_reply, true },
	{ "E-25 a Reply chunk in NOMSG with an unused last segment", fill_reply,
	  nomsg_reply_in_part, true },
	{ "S10 an empty Reply chunk in NOMSG", fill_reply,
	  nomsg_reply_unused },
	{ "S07 NOMSG without a Reply chunk", fill_reply, nomsg },
	{ "an error", fill_error, unchanged, true },
	{ "C-071 an error with the direction of a Call",
	  fill_error, error_as_call },
	{ "C-010 code 0", fill_error, error_zero },
	{ "C-010 code 11", fill_error, error_eleven },
	{ "a verdict that is not an error code", fill_error, error_drop },
	{ "C-076 version 3 with another code than VERS", fill_error,
	  error_version_three },
	{ "C-095 code 10 in version 1", fill_error, error_version_one },
	{ "C-095 any fault in version 1 is ERR_CHUNK", fill_error, error_chunk,
	  true },
	{ "S36 a range with low above high", fill_error,
	  error_vers_backwards },
	{ "C-079 VERS with version 3", fill_error, error_vers_three, true },
};

KUNIT_ARRAY_PARAM_DESC(refusal, refusals, desc);

/* The check by which these suites judge the headers of the modules */
static void rules_of_sending(struct kunit *test)
{
	const struct refusal *r = test->param_value;
	struct rpcrdma2_hdr *h = hdr_new(test);
	struct wire w;

	r->fill(h);
	r->spoil(h);
	KUNIT_EXPECT_EQ(test, rpcrdma2_sendable(h), r->good);
	if (r->good)
		send_hdr(test, &w, h);
}

#define ROUNDS	2000
#define SEED	0x72647261

/* Appends segments to the header, and makes them a chunk. */
static void random_chunk(struct rnd_state *rnd, struct rpcrdma2_hdr *h,
			 struct rpcrdma2_chunk *ck, unsigned int nsegs)
{
	ck->ck_position = 0;
	ck->ck_length = 0;
	ck->ck_first = h->h_nsegs;
	ck->ck_nsegs = nsegs;
	while (nsegs--) {
		struct rpcrdma2_segment *seg = &h->h_segs[h->h_nsegs++];

		seg->rs_handle = prandom_u32_state(rnd);
		seg->rs_length = 1 + prandom_u32_state(rnd) % 1048576;
		seg->rs_offset = (u64)prandom_u32_state(rnd) << 32 |
				 prandom_u32_state(rnd);
		ck->ck_length += seg->rs_length;
	}
}

/* A random number of segments that still fits; at least one */
static unsigned int random_nsegs(struct rnd_state *rnd,
				 const struct rpcrdma2_hdr *h, unsigned int chunks)
{
	unsigned int left = RPCRDMA2_MAX_SEGMENTS - h->h_nsegs - chunks + 1;

	return 1 + prandom_u32_state(rnd) % min(left, 8U);
}

static void random_reads(struct rnd_state *rnd, struct rpcrdma2_hdr *h)
{
	u32 position = h->h_proc == RDMA2_NOMSG ? 0 :
		       40 + prandom_u32_state(rnd) % 8 * 4;
	unsigned int i;

	for (i = 0; i < h->h_nreads; i++) {
		random_chunk(rnd, h, &h->h_reads[i],
			     random_nsegs(rnd, h, h->h_nreads - i));
		h->h_reads[i].ck_position = position;
		/* the Position-Zero chunk removes nothing from the message */
		if (!position)
			position = 40;
		else
			position += round_up(h->h_reads[i].ck_length, 4);
	}
}

static void random_call(struct rnd_state *rnd, struct rpcrdma2_hdr *h)
{
	unsigned int i;

	h->h_nreads = prandom_u32_state(rnd) % 5 + (h->h_proc == RDMA2_NOMSG);
	random_reads(rnd, h);
	h->h_nwrites = prandom_u32_state(rnd) % 5;
	for (i = 0; i < h->h_nwrites; i++)
		random_chunk(rnd, h, &h->h_writes[i],
			     random_nsegs(rnd, h, h->h_nwrites - i + 1));
	h->h_has_reply = prandom_u32_state(rnd) % 2;
	if (h->h_has_reply)
		random_chunk(rnd, h, &h->h_reply, random_nsegs(rnd, h, 1));
	if (h->h_vers == RPCRDMA2_VERS_TWO && h->h_nsegs)
		h->h_inv_handle =
			h->h_segs[prandom_u32_state(rnd) % h->h_nsegs].rs_handle;
}

static void random_reply(struct rnd_state *rnd, struct rpcrdma2_hdr *h)
{
	unsigned int i;

	h->h_nwrites = prandom_u32_state(rnd) % 9;
	for (i = 0; i < h->h_nwrites; i++)
		random_chunk(rnd, h, &h->h_writes[i], prandom_u32_state(rnd) % 6);
	h->h_has_reply = h->h_proc == RDMA2_NOMSG;
	if (h->h_has_reply)
		random_chunk(rnd, h, &h->h_reply, 8);
}

static void random_hdr(struct rnd_state *rnd, struct rpcrdma2_hdr *h)
{
	memset(h, 0, sizeof(*h));
	h->h_xid = prandom_u32_state(rnd);
	h->h_vers = 1 + prandom_u32_state(rnd) % 2;
	h->h_credit = 1 + prandom_u32_state(rnd) % 1024;
	h->h_proc = prandom_u32_state(rnd) % 2;
	h->h_direction = prandom_u32_state(rnd) % 2;
	if (h->h_direction == RDMA2_CALL)
		random_call(rnd, h);
	else
		random_reply(rnd, h);
	h->h_len = rpcrdma2_hdr_size(h);
}

/* The decoder reproduces all fields of a random header. */
static void round_trip(struct kunit *test)
{
	struct rpcrdma2_hdr *want = hdr_new(test);
	struct rpcrdma2_hdr *got = hdr_new(test);
	struct words *m = words_new(test);
	struct rnd_state rnd;
	unsigned int i;
	struct wire w;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < ROUNDS; i++) {
		random_hdr(&rnd, want);

		send_hdr(test, &w, want);
		memcpy(m->word, w.data, w.len);
		m->count = w.len / XDR_UNIT;
		if (want->h_proc == RDMA2_MSG) {
			put_payload(m, want->h_direction, 96);
			m->word[w.len / XDR_UNIT] = cpu_to_be32(want->h_xid);
		}
		memset(got, 0, sizeof(*got));
		KUNIT_ASSERT_EQ_MSG(test, judge_words(test, got, m), RDMA2_OK,
				    "round %u", i);

		KUNIT_ASSERT_MEMEQ(test, got, want, sizeof(*got));
		kunit_kfree(test, w.data);
	}
}

/* The largest header fits RPCRDMA2_HDR_MAX: it has the longest segments, in all chunks. */
static void largest_header(struct kunit *test)
{
	struct rpcrdma2_hdr *h = hdr_new(test);
	unsigned int i;

	rpcrdma2_hdr_begin(h, 1, 2, 1, RDMA2_NOMSG, RDMA2_CALL);
	h->h_nreads = 1;
	h->h_reads[0].ck_nsegs = RPCRDMA2_MAX_SEGMENTS;
	h->h_nwrites = RPCRDMA2_MAX_WRITE_CHUNKS;
	for (i = 0; i < RPCRDMA2_MAX_WRITE_CHUNKS; i++)
		h->h_writes[i].ck_nsegs = 0;
	h->h_has_reply = true;
	h->h_reply.ck_nsegs = 0;
	KUNIT_EXPECT_EQ(test, rpcrdma2_hdr_size(h), RPCRDMA2_HDR_MAX);
}

static struct kunit_case sendable_cases[] = {
	KUNIT_CASE_PARAM(rules_of_sending, refusal_gen_params),
	KUNIT_CASE(largest_header),
	KUNIT_CASE(round_trip),
	{ }
};

static struct kunit_suite sendable_suite = {
	.name = "rpcrdma2_sendable",
	.test_cases = sendable_cases,
};

kunit_test_suite(sendable_suite);
