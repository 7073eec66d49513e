// SPDX-License-Identifier: GPL-2.0
/*
 * The way through a Call with Read chunks, stretch by stretch.
 */
#include <linux/export.h>
#include <linux/math.h>
#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/layout.h>

void rpcrdma2_layout_begin(struct rpcrdma2_layout *lo,
			   const struct rpcrdma2_hdr *h, u32 inlined)
{
	*lo = (struct rpcrdma2_layout){
		.lo_chunk	= h->h_reads,
		.lo_end		= h->h_reads + h->h_nreads,
		.lo_reduced	= inlined,
	};
	if (h->h_proc == RDMA2_NOMSG) {
		lo->lo_reduced = h->h_reads->ck_length;
		lo->lo_chunk++;
	}
}
EXPORT_SYMBOL_GPL(rpcrdma2_layout_begin);

bool rpcrdma2_layout_next(struct rpcrdma2_layout *lo,
			  struct rpcrdma2_stretch *st)
{
	const struct rpcrdma2_chunk *ck = lo->lo_chunk;
	bool last = ck == lo->lo_end;

	if (lo->lo_due) {
		if (last)
			return false;
		*st = (struct rpcrdma2_stretch){ ck, 0, ck->ck_length,
						 lo->lo_sink };
		lo->lo_sink += xdr_align_size(ck->ck_length);
		lo->lo_chunk++;
	} else {
		*st = (struct rpcrdma2_stretch){ NULL, lo->lo_src, 0,
						 lo->lo_sink };
		st->st_len = last ? lo->lo_reduced - lo->lo_src :
				    ck->ck_position - lo->lo_sink;
		lo->lo_src += st->st_len;
		lo->lo_sink += st->st_len;
	}
	lo->lo_due = !lo->lo_due;
	return true;
}
EXPORT_SYMBOL_GPL(rpcrdma2_layout_next);

u64 rpcrdma2_layout_length(const struct rpcrdma2_hdr *h, u32 inlined)
{
	u64 length = inlined;
	unsigned int i = 0;

	if (h->h_proc == RDMA2_NOMSG)
		length = h->h_reads[i++].ck_length;
	for (; i < h->h_nreads; i++)
		length += round_up((u64)h->h_reads[i].ck_length, XDR_UNIT);
	return length;
}
EXPORT_SYMBOL_GPL(rpcrdma2_layout_length);
