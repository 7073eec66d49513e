// SPDX-License-Identifier: GPL-2.0
/*
 * Rules that hold for any input. The sanitizers check memory accesses and arithmetic; this
 * file checks results.
 *
 * - A verdict is one of the draft's, and names the part of the message that it concerns.
 * - Accepted values lie within the message and within the limits.
 * - An accepted message that may be sent is the same after encoding and decoding.
 * - The reply to a verdict is a message that is accepted.
 */
#include <stdio.h>
#include <stdlib.h>

#include <rpcrdma2/plan.h>
#include <rpcrdma2/props.h>
#include <rpcrdma2/wire.h>

#include "../../kunit/sendable.h"
#include "fuzz.h"

#define require(_cond)							\
	do {								\
		if (!(_cond)) {						\
			fprintf(stderr, "%s:%d: not true: %s\n",	\
				__FILE__, __LINE__, #_cond);		\
			abort();					\
		}							\
	} while (0)

/* Memory for a message to be sent; its bytes do not move between runs. */
static uint32_t sent[2 * FUZZ_MAX / 4];

static void require_segments(const struct rpcrdma2_hdr *h,
			     const struct rpcrdma2_chunk *ck, unsigned int first)
{
	u64 sum = 0;
	unsigned int i;

	require(ck->ck_first == first);
	require(ck->ck_first + ck->ck_nsegs <= h->h_nsegs);
	for (i = 0; i < ck->ck_nsegs; i++)
		sum += h->h_segs[ck->ck_first + i].rs_length;
	require(sum == ck->ck_length);
}

static void require_lists(const struct rpcrdma2_hdr *h)
{
	unsigned int i, first = 0;

	require(h->h_nreads <= RPCRDMA2_MAX_READ_CHUNKS);
	require(h->h_nwrites <= RPCRDMA2_MAX_WRITE_CHUNKS);
	require(h->h_nsegs <= RPCRDMA2_MAX_SEGMENTS);

	for (i = 0; i < h->h_nreads; i++) {
		const struct rpcrdma2_chunk *ck = &h->h_reads[i];

		require(ck->ck_position % 4 == 0);
		require(ck->ck_length);
		require(!i || ck->ck_position > ck[-1].ck_position);
		require_segments(h, ck, first);
		first += ck->ck_nsegs;
	}
	for (i = 0; i < h->h_nwrites; i++) {
		require_segments(h, &h->h_writes[i], first);
		first += h->h_writes[i].ck_nsegs;
	}
	if (h->h_has_reply) {
		require_segments(h, &h->h_reply, first);
		first += h->h_reply.ck_nsegs;
	}
	require(first == h->h_nsegs);
}

/* Checks a header without access to the message. */
static void require_rpc(const struct rpcrdma2_hdr *h, size_t len)
{
	bool zero = h->h_nreads && !h->h_reads[0].ck_position;

	require_lists(h);
	if (h->h_proc == RDMA2_MSG)
		require(h->h_len + RPCRDMA2_RPC_PEEK <= len);
	if (h->h_direction == RDMA2_CALL) {
		require(zero == (h->h_proc == RDMA2_NOMSG));
		return;
	}
	require(!h->h_nreads);
	require((h->h_proc == RDMA2_NOMSG) ==
		(h->h_has_reply && h->h_reply.ck_length));
}

static void require_accepted(const struct rpcrdma2_hdr *h, size_t len)
{
	require(h->h_len <= len);
	require(h->h_len >= RPCRDMA2_PREFIX_LEN);
	require(h->h_direction <= RDMA2_REPLY);
	switch (h->h_proc) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		require_rpc(h, len);
		break;
	case RDMA2_ERROR:
		require(h->h_direction == RDMA2_REPLY);
		break;
	case RDMA2_OPTIONAL:
		require(h->h_optoff + (u64)h->h_optlen <= len);
		break;
	default:
		require(h->h_optoff + (u64)h->h_optlen == len);
		require((h->h_proc == RDMA2_RESPROP) ==
			(h->h_direction == RDMA2_REPLY));
		break;
	}
}

static void require_verdict(const struct rpcrdma2_hdr *h,
			    enum rpcrdma2_errcode verdict, size_t len)
{
	switch (verdict) {
	case RDMA2_OK:
	case RDMA2_ERR_BAD_XDR:
		break;
	case RDMA2_ERR_VERS:
		require(h->h_vers != 1 && h->h_vers != 2);
		break;
	case RDMA2_ERR_INVALID_PROC:
		require(h->h_proc != RDMA2_MSG && h->h_proc != RDMA2_NOMSG);
		break;
	case RDMA2_ERR_READ_CHUNKS:
	case RDMA2_ERR_WRITE_CHUNKS:
	case RDMA2_ERR_SEGMENTS:
		require(h->h_direction == RDMA2_CALL);
		break;
	case RDMA2_DROP:
		break;
	default:
		require(!"a code of the draft");
	}
	require(len >= RPCRDMA2_PREFIX_LEN || verdict == RDMA2_DROP);
	require(h->h_direction <= RDMA2_NODIR);
}

static bool nominates(const struct rpcrdma2_hdr *h)
{
	unsigned int i;

	for (i = 0; i < h->h_nsegs; i++)
		if (h->h_segs[i].rs_handle == h->h_inv_handle)
			return true;
	return false;
}

/* Adapts a received header to the stricter rules of the encoder. */
static void tidy(struct rpcrdma2_hdr *h)
{
	if (!h->h_credit)
		h->h_credit = 1;
	if (h->h_proc > RDMA2_NOMSG)
		return;
	if (h->h_direction == RDMA2_REPLY || !nominates(h))
		h->h_inv_handle = 0;
	if (h->h_proc == RDMA2_MSG && h->h_direction == RDMA2_REPLY &&
	    h->h_has_reply) {
		h->h_nsegs -= h->h_reply.ck_nsegs;
		memset(&h->h_segs[h->h_nsegs], 0,
		       h->h_reply.ck_nsegs * sizeof(h->h_segs[0]));
		memset(&h->h_reply, 0, sizeof(h->h_reply));
		h->h_has_reply = false;
	}
}

/*
 * Encodes a received header and decodes it again. @data is the original message, for the
 * RPC message behind the header.
 */
static void require_round_trip(struct rpcrdma2_hdr *h, const u8 *data,
			       size_t len)
{
	static struct rpcrdma2_hdr back;
	u32 was = h->h_len;

	tidy(h);
	if (!rpcrdma2_sendable(h))
		return;
	require(rpcrdma2_hdr_size(h) <= RPCRDMA2_HDR_MAX);
	require(rpcrdma2_encode_hdr(sent, h) == rpcrdma2_hdr_size(h));
	h->h_len = rpcrdma2_hdr_size(h);
	require(h->h_len <= was);

	/* The encoded header may be shorter; the RPC message is copied behind it. */
	memcpy((u8 *)sent + h->h_len, data + was, len - was);
	memset(&back, 0, sizeof(back));
	len = h->h_len + len - was;
	require(rpcrdma2_decode_hdr(&back, sent, len, len) == RDMA2_OK);
	require(!memcmp(&back, h, sizeof(back)));
}

static void require_error(struct rpcrdma2_hdr *h, enum rpcrdma2_errcode code)
{
	static struct rpcrdma2_hdr back;
	size_t len;

	rpcrdma2_set_error(h, code, 0, 0);
	h->h_credit = 1;
	len = rpcrdma2_hdr_size(h);
	require(len <= RPCRDMA2_ERROR_MAX);
	require(rpcrdma2_encode_hdr(sent, h) > 0);
	require(rpcrdma2_decode_hdr(&back, sent, len, len) == RDMA2_OK);
	require(back.h_xid == h->h_xid && back.h_vers == h->h_vers);
	require(back.h_error.er_code == h->h_error.er_code);
	rpcrdma2_remedy(back.h_vers, &back.h_error, false);
}

static void require_set(const struct rpcrdma2_propset *ps)
{
	unsigned int r;

	require(!(ps->ps_rows & ~RPCRDMA2_PROPS_ALL));
	require(ps->ps_val.pr_brs <= RDMA2_BKREQSUP_GENL);
	for (r = 0; r < RPCRDMA2_NPROPS; r++)
		if (ps->ps_rows & BIT(r))
			require(ps->ps_index[r] < ps->ps_count);
}

/* A property message that is sent has to decode to the same values. */
static void send_propmsg(struct rpcrdma2_propmsg *back,
			 struct rpcrdma2_propmsg *pm)
{
	static struct rpcrdma2_hdr h;
	int len;

	pm->pm_option = pm->pm_set.ps_count % 2;
	len = rpcrdma2_encode_propmsg(sent, sizeof(sent), 1, pm);
	require(len > 0);
	require(rpcrdma2_decode_hdr(&h, sent, len, len) == RDMA2_OK);
	back->pm_want = pm->pm_want;
	back->pm_marked = pm->pm_set.ps_rows & RPCRDMA2_PROPS_MARKED;
	require(rpcrdma2_decode_propmsg(back, &h, sent) == RDMA2_OK);
	require(back->pm_type == pm->pm_type);
	require(back->pm_set.ps_rows == pm->pm_set.ps_rows);
	require(!memcmp(&back->pm_set.ps_val, &pm->pm_set.ps_val,
			sizeof(pm->pm_set.ps_val)) || !pm->pm_set.ps_rows ||
		pm->pm_set.ps_rows != RPCRDMA2_PROPS_ALL);
	require(back->pm_set.ps_odd == 0);
}

/* The answer of send_answer() */
static struct rpcrdma2_propmsg answer;

static int send_answer(struct rpcrdma2_exchange *ex, struct rpcrdma2_hdr *h,
		       struct rpcrdma2_propmsg *pm)
{
	answer = *pm;
	return 0;
}

static void changed(struct rpcrdma2_exchange *ex)
{
	require(rpcrdma2_exchange_send_max(ex) >= 1024);
	require(rpcrdma2_exchange_reply_max(ex) <= 65536);
}

static void resize(struct rpcrdma2_exchange *ex, u32 bytes)
{
	require(bytes >= 4096);
}

static void count(enum rpcrdma2_props_counter which, u32 n)
{
	require(which < RPCRDMA2_PROPS_NCOUNTERS);
}

static void begin_exchange(struct rpcrdma2_exchange *ex)
{
	static const struct rpcrdma2_props_ops ops = {
		send_answer, changed, resize, count,
	};

	rpcrdma2_exchange_init(ex, &ops, false);
	ex->ex_supported.pr_rbsiz = 16384;
	ex->ex_supported.pr_brs = 2;
	ex->ex_supported.pr_sbsiz = 65536;
}

static void require_connprop(const struct rpcrdma2_propmsg *pm)
{
	struct rpcrdma2_propmsg same = *pm, back;
	struct rpcrdma2_exchange ex;

	rpcrdma2_propset_init(&same.pm_set, pm->pm_set.ps_rows,
			      &pm->pm_set.ps_val);
	send_propmsg(&back, &same);
	require(back.pm_nochg == pm->pm_nochg);

	begin_exchange(&ex);
	ex.ex_announced.pr_rbsiz = 65536;
	rpcrdma2_exchange_take(&ex, pm);
	require(!(ex.ex_peer.pp_changeable & pm->pm_nochg));
}

/* C-057: the answer to any request names each requested property exactly once. */
static void require_reqprop(const struct rpcrdma2_propmsg *pm)
{
	static struct rpcrdma2_msg msg;
	struct rpcrdma2_exchange ex;
	struct rpcrdma2_propmsg back;
	u32 other;

	begin_exchange(&ex);
	ex.ex_announced.pr_rbsiz = 8192;
	ex.ex_announced.pr_brs = 2;
	msg.mg_prop = *pm;
	rpcrdma2_exchange_answer(&ex, &msg, 0);
	send_propmsg(&back, &answer);
	other = back.pm_set.ps_rows;
	require(back.pm_done == answer.pm_done);
	require(!(back.pm_done & back.pm_rejected));
	require(!(back.pm_done & other) && !(back.pm_rejected & other));
	require((back.pm_done | back.pm_rejected | other) ==
		pm->pm_set.ps_rows);
	require(ex.ex_announced.pr_rbsiz >= 4096 &&
		ex.ex_announced.pr_rbsiz <= 16384);
	require(ex.ex_announced.pr_brs == 2);
}

static void require_resprop(const struct rpcrdma2_propmsg *pm)
{
	struct rpcrdma2_exchange ex;
	u32 rbsiz = BIT(RPCRDMA2_PROP_RBSIZ);

	begin_exchange(&ex);
	rpcrdma2_exchange_take(&ex, pm);
	if (!pm->pm_want || pm->pm_rejected & rbsiz ||
	    !(pm->pm_want->ps_rows & rbsiz))
		require(ex.ex_peer.pp_now.pr_rbsiz == RPCRDMA2_INLINE_DEFAULT);
}

static void check_properties(const struct rpcrdma2_hdr *h,
			     const u8 *data)
{
	static const struct rpcrdma2_props wished = { 16384, 2 };
	struct rpcrdma2_propset want;
	struct rpcrdma2_propmsg pm;
	enum rpcrdma2_errcode verdict;

	rpcrdma2_propset_init(&want, RPCRDMA2_PROPS_ALL, &wished);
	pm.pm_want = h->h_xid % 2 ? &want : NULL;
	pm.pm_marked = h->h_xid % 4 < 2;
	verdict = rpcrdma2_decode_propmsg(&pm, h, data);
	if (verdict == RDMA2_ERR_INVALID_OPTION) {
		require(h->h_proc == RDMA2_OPTIONAL);
		require(h->h_opttype < 1 || h->h_opttype > 4);
		return;
	}
	if (verdict) {
		require(verdict == RDMA2_ERR_BAD_XDR);
		return;
	}
	require_set(&pm.pm_set);
	switch (pm.pm_type) {
	case RDMA2_OPT_CONNPROP:
		require_connprop(&pm);
		break;
	case RDMA2_OPT_REQPROP:
		require_reqprop(&pm);
		break;
	case RDMA2_OPT_RESPROP:
		require_resprop(&pm);
		break;
	default:
		break;
	}
}

static void check_private_data(const u8 *data, size_t len)
{
	struct rpcrdma2_cm_limits cl;

	rpcrdma2_cm_decode(&cl, data, len);
	require(cl.cl_send >= 1024 && cl.cl_send <= 262144);
	require(cl.cl_recv >= 1024 && cl.cl_recv <= 262144);
}

void check_message(const uint8_t *data, size_t len)
{
	static struct rpcrdma2_hdr h;
	enum rpcrdma2_errcode verdict;

	check_private_data(data, len);

	memset(&h, 0, sizeof(h));
	verdict = rpcrdma2_decode_hdr(&h, data, len, len);
	require_verdict(&h, verdict, len);
	if (verdict == RDMA2_DROP)
		return;
	if (verdict) {
		require_error(&h, verdict);
		return;
	}
	require_accepted(&h, len);
	require(rpcrdma2_grant_next(&h, 5, 64, true) >= 1);
	require(rpcrdma2_grant_next(&h, 5, 64, true) <= 64);
	if (h.h_proc >= RDMA2_OPTIONAL)
		check_properties(&h, data);
	require_round_trip(&h, data, len);
}
