/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Computations before anything is sent or posted: pieces of a message, transfer
 * plans, the layout of a Call, credits, units of a resource, and the
 * capabilities of a device. Pure functions, except the counter of units; any
 * context may call them.
 */
#ifndef _RPCRDMA2_PLAN_H
#define _RPCRDMA2_PLAN_H

#include <linux/atomic.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/pfn.h>
#include <linux/types.h>

#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/wire.h>

/*
 * Size of the object for an RDMA Read or Write of a segment, or of a section of
 * one, at most; with more than 16 pages, or a region, it allocates more
 */
#define RPCRDMA2_RW_PART_BYTES	768

/* Bytes of an RPC message, from an offset from the beginning of the head */
struct rpcrdma2_range {
	u32	ra_off;
	u32	ra_len;
};

/* Bytes in one page, at least one: input for a scatterlist or a copy */
struct rpcrdma2_piece {
	struct page	*pc_page;
	unsigned int	pc_off;
	unsigned int	pc_len;
};

/**
 * struct rpcrdma2_walk - a position in some ranges of an xdr_buf
 * @wk_buf: the buffer
 * @wk_range: current range
 * @wk_ranges: number of ranges from there on
 * @wk_off: bytes of that range up to the end of the current part
 * @wk_pages: pages of the buffer, if the current part lies in them
 * @wk_pos: offset in these pages, or else an address
 * @wk_here: bytes from there on that lie in head, pages or tail, and in the
 *	range
 * @wk_left: bytes that may still be passed; the owner may set it at any time
 */
struct rpcrdma2_walk {
	const struct xdr_buf		*wk_buf;
	const struct rpcrdma2_range	*wk_range;
	unsigned int			wk_ranges;
	u32				wk_off;
	struct page			*const *wk_pages;
	unsigned long			wk_pos;
	u32				wk_here;
	u32				wk_left;
};

/**
 * rpcrdma2_walk_begin - start at the beginning of some ranges
 * @wk: position
 * @buf: the buffer; its lengths are those of head, pages and tail, whatever
 *	->len is
 * @range: the ranges, in the order of the walk; any of them may be empty
 * @ranges: number of ranges
 */
void rpcrdma2_walk_begin(struct rpcrdma2_walk *wk, const struct xdr_buf *buf,
			 const struct rpcrdma2_range *range,
			 unsigned int ranges);

/**
 * rpcrdma2_walk_next - take the next piece
 * @wk: position, which advances past the piece
 * @pc: the piece, as long as its page, the part of the buffer, the range and
 *	wk_left permit
 *
 * Return: false at the end of the ranges or of the buffer.
 */
bool rpcrdma2_walk_next(struct rpcrdma2_walk *wk, struct rpcrdma2_piece *pc);

/**
 * rpcrdma2_walk_count - count the pieces left
 * @wk: position; the number of pages has no effect on the cost
 */
unsigned int rpcrdma2_walk_count(struct rpcrdma2_walk wk);

/* True if memory that ends at @end of a page and @pc leave no hole in a page list */
static inline bool rpcrdma2_piece_joins(unsigned int end,
					const struct rpcrdma2_piece *pc)
{
	return end == PAGE_SIZE && !pc->pc_off;
}

/**
 * rpcrdma2_walk_count_joined - count the pieces that a page list may have
 * @wk: position
 * @most: maximum number of pieces, not 0
 *
 * Return: number of pieces up to the first hole between two pages.
 */
unsigned int rpcrdma2_walk_count_joined(struct rpcrdma2_walk wk,
					unsigned int most);

/* Transfer plans of requester and responder, from sizes and chunks alone */

/* Number of pages that @len bytes span, from an address or offset on */
static inline unsigned int rpcrdma2_pages_of(unsigned long pos, u32 len)
{
	return len ? PFN_UP(offset_in_page(pos) + len) : 0;
}

/**
 * rpcrdma2_count_segs - count the segments for bytes in several places
 * @pages: rpcrdma2_pages_of() each place
 * @places: number of places
 * @most: most pages of a segment
 * @holes: a segment may have holes, and so continues at the next place
 *
 * Return: an upper bound; exact for a single place, and with holes.
 */
static inline unsigned int
rpcrdma2_count_segs(const unsigned int *pages, unsigned int places,
		    unsigned int most, bool holes)
{
	unsigned int i, left = 0, segs = 0;

	for (i = 0; i < places; i++) {
		left += pages[i];
		if (holes && i + 1 < places)
			continue;
		/* nearly always 0 or 1: avoid the division */
		segs += left <= most ? !!left : DIV_ROUND_UP(left, most);
		left = 0;
	}
	return segs;
}

/* Transfer plan of a Call and its Reply */
struct rpcrdma2_call_plan {
	u32	cp_proc;	/* RDMA2_MSG or RDMA2_NOMSG */
	bool	cp_read;	/* the Call's pages go in a Read chunk */
	bool	cp_poszero;	/* the Call's rest in a Position-Zero chunk */
	bool	cp_copy;	/* that chunk exposes a contiguous copy */
	bool	cp_write;	/* the Reply's pages get a Write chunk */
	bool	cp_reply;	/* the Reply's rest gets a Reply chunk */
};

/* Limits of the peer for one Call: the most chunks, and segments of a chunk */
struct rpcrdma2_call_limits {
	u32	cl_reads;	/* a Position-Zero chunk counts unless alone */
	u32	cl_writes;
	u32	cl_segs;
};

#define RPCRDMA2_NO_LIMITS	{ U32_MAX, U32_MAX, U32_MAX }

/**
 * struct rpcrdma2_call_sizes - inputs of a plan, in bytes unless noted
 * @sz_call_threshold: largest Send of the requester
 * @sz_reply_threshold: largest Send of the peer
 * @sz_call_rest: the Call without its payload pages and their XDR pad
 * @sz_call_pages: payload pages of the Call, with their pad
 * @sz_copy_max: most of a Call that can be copied if there is no Reply chunk
 * @sz_reply_rest: most of the Reply besides its payload pages
 * @sz_reply_pages: payload pages of the Reply
 * @sz_reply_needed: chunk that the Reply needs according to the peer, or 0
 * @sz_limits: limits of the peer
 * @sz_call_scattered: the Call's pages are in more pieces than a Send can
 *	gather
 * @sz_call_ddp: the Call's pages may go in a Read chunk
 * @sz_reply_ddp: the Reply's pages may go in a Write chunk
 * @sz_read_segs: number of segments for the Call's pages. This and the other
 *	numbers of segments are not used if rpcrdma2_fits_inline()
 * @sz_rest_segs: for the Call without its pages
 * @sz_call_segs: for the whole Call
 * @sz_closed_segs: for the whole Call, if there is no Reply chunk
 * @sz_write_segs: for the Reply's pages
 * @sz_reply_rest_segs: for the Reply without its pages
 * @sz_reply_segs: for the whole Reply
 * @sz_hdr_min: header with three empty lists, in the version of the connection
 */
struct rpcrdma2_call_sizes {
	u32	sz_call_threshold;
	u32	sz_reply_threshold;
	u32	sz_call_rest;
	u32	sz_call_pages;
	u32	sz_copy_max;
	u32	sz_reply_rest;
	u32	sz_reply_pages;
	u32	sz_reply_needed;
	struct rpcrdma2_call_limits sz_limits;
	bool	sz_call_scattered;
	bool	sz_call_ddp;
	bool	sz_reply_ddp;
	u16	sz_read_segs;
	u16	sz_rest_segs;
	u16	sz_call_segs;
	u16	sz_closed_segs;
	u16	sz_write_segs;
	u16	sz_reply_rest_segs;
	u16	sz_reply_segs;
	u16	sz_hdr_min;
};

/* The Reply needs no chunk (C-002, C-030). */
static inline bool
rpcrdma2_reply_fits_inline(const struct rpcrdma2_call_sizes *sz)
{
	return !sz->sz_reply_needed &&
	       sz->sz_hdr_min + sz->sz_reply_rest + sz->sz_reply_pages <=
	       sz->sz_reply_threshold;
}

/* The Call needs no chunk after a header of @hdr bytes (C-001). */
static inline bool
rpcrdma2_call_fits_inline(const struct rpcrdma2_call_sizes *sz, u32 hdr)
{
	return !sz->sz_call_scattered &&
	       hdr + sz->sz_call_rest + sz->sz_call_pages <=
	       sz->sz_call_threshold;
}

/* Neither Call nor Reply needs a chunk, and the header has none (C-073). */
static inline bool rpcrdma2_fits_inline(const struct rpcrdma2_call_sizes *sz)
{
	return rpcrdma2_call_fits_inline(sz, sz->sz_hdr_min) &&
	       rpcrdma2_reply_fits_inline(sz);
}

/**
 * rpcrdma2_plan_call - choose how a Call and its Reply are transferred
 * @sz: sizes and limits
 * @plan: result
 *
 * Draft sections 2.1 and 5.2.1; C-001, C-002, C-029, C-030. The plan observes
 * the limits of the peer: C-083 to C-085, C-091.
 *
 * Return: 0; or -EMSGSIZE if no form is within the limits, or the Reply needs
 * more room than its buffer has.
 */
int rpcrdma2_plan_call(const struct rpcrdma2_call_sizes *sz,
		       struct rpcrdma2_call_plan *plan);

/**
 * struct rpcrdma2_reply_plan - transfer plan of a Reply
 * @pn_code: RDMA2_OK, or the error that replaces the Reply
 * @pn_arg: first word of the error
 * @pn_arg2: second word of the error
 * @pn_send_max: largest Send allowed
 * @pn_reply_chunk: the rest goes in the Reply chunk
 * @pn_len: length of the rest
 * @pn_gather: bytes at its end that the device gathers if it goes inline; the
 *	owner sets it
 * @pn_nrest: entries of @pn_rest
 * @pn_rest: the Reply without the contents of Write chunks and their padding
 *	(E-07, E-08)
 * @pn_writes: contents of each Write chunk; none if ra_len is 0
 */
struct rpcrdma2_reply_plan {
	enum rpcrdma2_errcode	pn_code;
	u32			pn_arg;
	u32			pn_arg2;
	u32			pn_send_max;
	bool			pn_reply_chunk;
	u32			pn_len;
	u32			pn_gather;
	unsigned int		pn_nrest;
	struct rpcrdma2_range	pn_rest[RPCRDMA2_MAX_WRITE_CHUNKS + 1];
	struct rpcrdma2_range	pn_writes[RPCRDMA2_MAX_WRITE_CHUNKS];
};

static inline void rpcrdma2_plan_error(struct rpcrdma2_reply_plan *plan,
				       enum rpcrdma2_errcode code,
				       u32 arg, u32 arg2)
{
	plan->pn_code = code;
	plan->pn_arg = arg;
	plan->pn_arg2 = arg2;
}

/**
 * rpcrdma2_plan_reply - choose how a Reply is transferred
 * @plan: result
 * @h: header of the Call
 * @results: results eligible for Write chunks, in ascending order
 * @nresults: number of results
 * @length: length of the Reply
 * @hdrlen: length of its header, without a Reply chunk
 * @send_max: largest Send that the requester accepts
 *
 * Results are assigned to chunks in order (E-10); a chunk without segments
 * requests its result inline (S10); further results go with the rest (E-28).
 */
void rpcrdma2_plan_reply(struct rpcrdma2_reply_plan *plan,
			 const struct rpcrdma2_hdr *h,
			 const struct rpcrdma2_range *results,
			 unsigned int nresults, u32 length, u32 hdrlen,
			 u32 send_max);

/**
 * rpcrdma2_inv_handle - choose the handle that a Reply invalidates
 * @h: header of the Call
 * @enabled: version 1: the requester has enabled remote invalidation (P-07,
 *	P-09)
 *
 * In version 2 the Call nominates the handle (C-008, C-075), which must be its
 * own: any other might fence the memory of another RPC (S47). In version 1 all
 * handles must be the same: a requester cannot express which of several it
 * would rather invalidate itself (P-08).
 *
 * Return: the handle, or 0 for a plain Send.
 */
static inline u32 rpcrdma2_inv_handle(const struct rpcrdma2_hdr *h,
				      bool enabled)
{
	bool nominated = h->h_vers != RPCRDMA2_VERS_ONE;
	unsigned int i, same = 0;
	u32 handle;

	if (!h->h_nsegs)
		return 0;
	handle = nominated ? h->h_inv_handle : h->h_segs[0].rs_handle;
	for (i = 0; i < h->h_nsegs; i++)
		same += h->h_segs[i].rs_handle == handle;
	if (nominated)
		return same ? handle : 0;
	return enabled && same == h->h_nsegs ? handle : 0;
}

/*
 * The layout of a Call with Read chunks.
 *
 * The reduced message is the Call without the data items that have Read chunks
 * of their own; it came inline, or is offered in a Position-Zero chunk. The
 * position of a chunk is the place of its item in the whole Call, padding
 * included (E-05, E-07). So a Call is laid out from the chunks in the order of
 * their positions, with stretches of the reduced message between them.
 */

/* Bytes of a Call that come from one source */
struct rpcrdma2_stretch {
	const struct rpcrdma2_chunk	*st_chunk; /* NULL: reduced message */
	u32				st_src;	/* offset in the source */
	u32				st_len;	/* may be 0 */
	u32				st_sink; /* offset in the Call */
};

/* A position in a Call */
struct rpcrdma2_layout {
	const struct rpcrdma2_chunk	*lo_chunk; /* next, not Position-Zero */
	const struct rpcrdma2_chunk	*lo_end; /* of the Read chunks */
	u32				lo_reduced; /* reduced message, bytes */
	u32				lo_src;	/* of these before here */
	u32				lo_sink; /* of the Call before here */
	bool				lo_due;	/* lo_chunk is next */
};

/**
 * rpcrdma2_layout_begin - start at the beginning of a Call
 * @lo: position
 * @h: header of the Call
 * @inlined: bytes of the RPC message after the header
 */
void rpcrdma2_layout_begin(struct rpcrdma2_layout *lo,
			   const struct rpcrdma2_hdr *h, u32 inlined);

/**
 * rpcrdma2_layout_next - advance by one stretch
 * @lo: position
 * @st: stretch at the position
 *
 * Return: false at the end. The decoder has checked the positions (S09).
 */
bool rpcrdma2_layout_next(struct rpcrdma2_layout *lo,
			  struct rpcrdma2_stretch *st);

/**
 * rpcrdma2_layout_length - compute the length that the peer claims for a Call
 * @h: header of the Call
 * @inlined: bytes of the RPC message after the header
 *
 * Return: length, perhaps more than 32 bits.
 */
u64 rpcrdma2_layout_length(const struct rpcrdma2_hdr *h, u32 inlined);

/* RPCSEC_GSS data in front of the arguments: lengths, header, confounder */
#define RPCRDMA2_GSS_MAX	64

/* Minimum length in bytes of the head of a longer Call */
#define RPCRDMA2_HEAD_MIN	1024

/*
 * For Calls in pages: true if the first page holds enough of a Call at offset
 * @at in a message of @len bytes. RPCSEC_GSS computes the length of the RPC
 * header as the difference of two addresses, and decrypts as if the beginning
 * of the data were in the head. A header full of empty segments leaves less.
 */
static inline bool rpcrdma2_layout_has_head(u32 at, u32 len)
{
	u32 room = PAGE_SIZE - offset_in_page(at);

	static_assert(RPCRDMA2_CALL_FIXED +
		      2 * (2 * XDR_UNIT + RPCRDMA2_AUTH_MAX) +
		      RPCRDMA2_GSS_MAX <= RPCRDMA2_HEAD_MIN);
	static_assert(RPCRDMA2_HDR_MAX + RPCRDMA2_HEAD_MIN <= PAGE_SIZE);
	return len - at <= room || room >= RPCRDMA2_HEAD_MIN;
}

/*
 * Credits. A grant on the wire is an absolute limit on the RPCs outstanding in
 * one direction. Control messages neither take nor return a credit (2.3 of
 * Documentation/protocol.rst), except at xprt2_props_needs_credit().
 */

/*
 * Number of Receives that a connection keeps posted: for answers to own Calls,
 * Calls granted to the peer, and control messages (S27, B-09 to B-12)
 */
static inline u32 rpcrdma2_receives_needed(u32 answers, u32 calls)
{
	return answers + calls + RPCRDMA2_CONTROL_RECVS;
}

/**
 * rpcrdma2_recv_batch - number of Receives that are posted at once
 * @grant: credits of the requester. A larger grant has no smaller batch
 *
 * A connection has these Receives besides those that must be posted, so fewer
 * with a small grant. Batches above the maximum save little. RPCs that follow
 * one another keep one batch busy, which does not raise the server's grant
 * (svc2_grant_next()).
 */
static inline unsigned int rpcrdma2_recv_batch(u32 grant)
{
	return clamp(grant / 2, 1U, 16U);
}

/* A lockless counter for a scarce resource, such as queue entries */
struct rpcrdma2_units {
	atomic_t	un_free;
	unsigned int	un_reserved;	/* see rpcrdma2_sq_take() */
	/* a taker waits for the next return; not bool, for xchg() */
	unsigned int	un_denied;
};

static inline bool rpcrdma2_units_try(struct rpcrdma2_units *un,
				      unsigned int count, unsigned int spare)
{
	int avail = atomic_read(&un->un_free);

	do {
		if (avail < (int)(count + spare))
			return false;
	} while (!atomic_try_cmpxchg(&un->un_free, &avail, avail - (int)count));
	return true;
}

/**
 * rpcrdma2_units_take - take units, or record that a taker waits
 * @un: units
 * @count: number to take
 * @spare: number to leave
 *
 * Return: true if the caller has the units. Otherwise a later
 * rpcrdma2_units_give() reports that a taker waits.
 */
static inline bool rpcrdma2_units_take(struct rpcrdma2_units *un,
				       unsigned int count, unsigned int spare)
{
	if (likely(rpcrdma2_units_try(un, count, spare)))
		return true;
	/* Units returned after this check see un_denied. */
	smp_store_mb(un->un_denied, true);
	return rpcrdma2_units_try(un, count, spare);
}

/**
 * rpcrdma2_units_give - return units
 * @un: units
 * @count: number to return
 *
 * Return: true if a taker found too few units since the last return.
 */
static inline bool rpcrdma2_units_give(struct rpcrdma2_units *un,
				       unsigned int count)
{
	if (!count)
		return false;
	/* A full barrier: pairs with the one in rpcrdma2_units_take() */
	atomic_add_return(count, &un->un_free);
	return unlikely(READ_ONCE(un->un_denied)) &&
	       xchg(&un->un_denied, false);
}

/*
 * Capabilities of a device, derived from its attributes. An attribute is an int
 * in older kernels and a u32 in newer kernels, where some devices report more
 * than INT_MAX. So attributes are passed as u32, and compared before anything
 * is subtracted from them.
 */

/* Limit of rdma_rw for the pages of a region */
#define RPCRDMA2_RW_REGION_PAGES	256

/* Entries left in a queue of @most besides @beside: at most INT_MAX, or 0 */
static inline u32 rpcrdma2_caps_room(u32 most, u32 beside)
{
	most = min_t(u32, most, INT_MAX);
	return most > beside ? most - beside : 0;
}

/* Properties of RDMA Reads on a device */
struct rpcrdma2_caps_read {
	bool		cr_regions;	/* every part uses a memory region */
	unsigned int	cr_pages;	/* most that a part touches, 0: any */
	unsigned int	cr_width;	/* gather entries; 0: no RDMA Reads */
};

/**
 * rpcrdma2_caps_reads - determine how RDMA Reads are carried out
 * @needs: the device needs memory regions for all of them
 * @region: pages of a region, as reported by the device
 * @threshold: gather entries from which on rdma_rw uses a region that is not
 *	required, 0 for never
 * @sges: gather entries of an RDMA Read
 *
 * If regions are required, a part is limited to one region: the IOMMU may merge
 * all pages of a part into one piece, and rdma_rw does not divide a piece.
 * Otherwise no regions are used, and a part is limited to the entries that
 * rdma_rw handles without a region.
 */
static inline struct rpcrdma2_caps_read
rpcrdma2_caps_reads(bool needs, u32 region, u32 threshold, u32 sges)
{
	if (needs) {
		region = min_t(u32, region, RPCRDMA2_RW_REGION_PAGES);
		return (struct rpcrdma2_caps_read){
			.cr_regions = true, .cr_pages = region,
			.cr_width = region ? sges : 0,
		};
	}
	if (!threshold || !sges)
		return (struct rpcrdma2_caps_read){ .cr_width = sges };
	sges = min(sges, threshold);
	return (struct rpcrdma2_caps_read){
		.cr_pages = threshold / sges * sges, .cr_width = sges,
	};
}

/*
 * Bytes of the next part, of @len left: the part begins at @off of a page, and
 * touches at most @pages (0: no limit)
 */
static inline u32 rpcrdma2_caps_cut(unsigned int pages, u32 off, u32 len)
{
	return pages ? min_t(u64, len, pages * (u64)PAGE_SIZE - off) : len;
}

#endif /* _RPCRDMA2_PLAN_H */
