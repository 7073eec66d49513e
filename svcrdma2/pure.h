/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decisions of the server, from plain values. Pure functions: unit tests in
 * user space include this file alone.
 */
#ifndef _SVCRDMA2_PURE_H
#define _SVCRDMA2_PURE_H

#include <linux/if_ether.h>
#include <linux/jiffies.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/types.h>

#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/msg_prot.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xdr.h>

#include <rpcrdma2/plan.h>
#include <rpcrdma2/props.h>
#include <rpcrdma2/wire.h>

/*
 * True if the administrator allows a version: @only this one, or any for 0. The
 * server keeps no version: the answer to a Call has that of the Call (S35).
 */
static inline bool svc2_version_is_allowed(u32 only, u32 vers)
{
	return vers >= (only ?: RPCRDMA2_VERS_ONE) &&
	       vers <= (only ?: RPCRDMA2_VERS_TWO);
}

/*
 * Largest Send toward a requester: its private data limits it in version 1
 * (P-04, P-12, E-14, S28), its properties in version 2 (C-005, S13, S33).
 */
static inline u32 svc2_send_limit(u32 vers, const struct rpcrdma2_cm_limits *cm,
				  const struct rpcrdma2_exchange *ex)
{
	if (vers == RPCRDMA2_VERS_ONE)
		return min(ex->ex_supported.pr_sbsiz, cm->cl_recv);
	return rpcrdma2_exchange_send_max(ex);
}

/* Makes a callback's header, for @credits: B-07, B-15, B-18, C-036, S25 */
static inline void svc2_callback_header(struct rpcrdma2_hdr *h, u32 vers,
					u32 xid, u32 credits)
{
	rpcrdma2_hdr_begin(h, xid, vers, credits, RDMA2_MSG, RDMA2_CALL);
}

/*
 * Number of callbacks that may be outstanding: limited by @grant of the peer, 0
 * before its first, and by @answers, for which there are Receives (B-12). The
 * peer counts @gone ones, which were aborted and not answered, as outstanding
 * while it works on them (B-05).
 */
static inline u32 svc2_backward_window(u32 grant, u32 answers, u32 gone)
{
	u32 most = min(grant ?: 1, answers);

	return most > gone ? most - gone : 0;
}

/*
 * Number of send contexts, and of Send Queue entries, for the Sends of callbacks
 * of which @most may be outstanding. The answer to a callback, which returns its
 * credit, may come before the device reports its Send.
 */
static inline u32 svc2_backward_contexts(u32 most)
{
	return 2 * most;
}

enum {
	/* consecutive errors without a pause */
	SVC2_BACKWARD_ERRORS	= 16,
	/* longest pause, in quarters of a second */
	SVC2_BACKWARD_PAUSE	= 40,
};

/*
 * Pause before the next callback, in quarters of a second, after @errors in a
 * row that ended with an error or a malformed Reply: nfsd retries these at
 * once.
 */
static inline u32 svc2_backward_pause(u32 errors)
{
	return errors <= SVC2_BACKWARD_ERRORS ? 0 :
	       min_t(u32, errors - SVC2_BACKWARD_ERRORS, SVC2_BACKWARD_PAUSE);
}

/* Action for an answer to a callback */
enum svc2_answer {
	SVC2_ANSWER_DROP,	/* no RPC waits for it */
	SVC2_ANSWER_FAIL,	/* end the RPC with -EIO */
	SVC2_ANSWER_REPLY,	/* end the RPC with the Reply */
};

/*
 * Judges an answer to a callback of version @vers. Only an ERR_VERS may come
 * in another version (S35, S36). No error leads to a retry: the upper layer
 * repeats its Calls (2.4). A Reply must not report more bytes in chunks than
 * the callback offers, @write_max and @reply_max, nor more bytes than the upper
 * layer can receive, @room (E-20). An inline Reply may return the Reply chunk
 * unused (S10). A malformed Reply ends the RPC, never the connection (S06, S07,
 * S08); of such a header only the valid part is used.
 */
static inline enum svc2_answer
svc2_judge_answer(const struct rpcrdma2_msg *msg, u32 vers, u32 room,
		  u32 write_max, u32 reply_max)
{
	const struct rpcrdma2_hdr *h = &msg->mg_hdr;
	bool nomsg = h->h_proc == RDMA2_NOMSG;
	u32 written, came = msg->mg_paylen;

	if (h->h_vers != vers &&
	    !(rpcrdma2_msg_is_error(msg) &&
	      h->h_error.er_code == RDMA2_ERR_VERS))
		return SVC2_ANSWER_DROP;
	if (msg->mg_verdict || h->h_proc > RDMA2_NOMSG ||
	    h->h_nwrites > !!write_max || (nomsg && !h->h_has_reply))
		return SVC2_ANSWER_FAIL;
	written = h->h_nwrites ? h->h_writes[0].ck_length : 0;
	if (nomsg)
		came = h->h_reply.ck_length;
	if (written > write_max || (nomsg && came > reply_max) ||
	    came > room || xdr_align_size(written) > room - came)
		return SVC2_ANSWER_FAIL;
	return SVC2_ANSWER_REPLY;
}

/* Layout checks for nfsd, for both forms of rq_arg in recvfrom.c */

/* NFSv4 WRITE: opcode, stateid, offset, stable_how, length, a word of data */
#define SVC2_WRITE_MIN		(10 * XDR_UNIT)

/* True for a Call with RPCSEC_GSS, of which @len bytes are present at @p */
static inline bool svc2_layout_is_gss(const __be32 *p, u32 len)
{
	return len >= RPCRDMA2_CALL_FIXED + XDR_UNIT &&
	       p[RPCRDMA2_CALL_FLAVOR] == cpu_to_be32(RPC_AUTH_GSS);
}

/*
 * True if the word in front of a chunk gives the chunk's length, so that the
 * chunk is one whole data item. A requester may put anything into a chunk, but
 * the part that is taken for data must not contain another WRITE operation.
 */
static inline bool svc2_layout_is_item(const struct rpcrdma2_chunk *ck,
				       __be32 before)
{
	return xdr_align_size(be32_to_cpu(before)) ==
	       xdr_align_size(ck->ck_length);
}

/*
 * True if there is one chunk, whose data might stay separate. RPCSEC_GSS needs
 * more of a Call in its head than the RPC header.
 */
static inline bool svc2_layout_has_item(const struct rpcrdma2_hdr *h,
					const __be32 *p, u32 inlined)
{
	const struct rpcrdma2_chunk *ck = h->h_reads;

	return h->h_proc == RDMA2_MSG && h->h_nreads == 1 &&
	       !svc2_layout_is_gss(p, inlined) &&
	       svc2_layout_is_item(ck, p[ck->ck_position / XDR_UNIT - 1]);
}

/*
 * For Calls in one piece: true if the data can stay separate, as one data item
 * with no other WRITE behind it. nfsd expects that all data in pages begins at
 * the start of a page. @p: the RPC message, of @inlined bytes
 */
static inline bool svc2_layout_splits(const struct rpcrdma2_hdr *h,
				      const __be32 *p, u32 inlined)
{
	return inlined - h->h_reads->ck_position < SVC2_WRITE_MIN &&
	       svc2_layout_has_item(h, p, inlined);
}

/*
 * svc2_layout_splits() for Calls in pages: true for one data item when all in
 * front of it is in the first page, of which @p may be read to the end.
 */
static inline bool svc2_layout_splits_paged(const struct rpcrdma2_hdr *h,
					    const __be32 *p, u32 inlined)
{
	return h->h_len + h->h_reads->ck_position <= PAGE_SIZE &&
	       svc2_layout_has_item(h, p, inlined);
}

/*
 * For kernels that take Calls in one piece: judges one with RPCSEC_GSS, which
 * is not in one piece, and has @head bytes in the head of rq_arg. The data may
 * begin in the head, and must be one item, as the word @before its chunk
 * proves: a WRITE behind it would begin in the middle of a page.
 *
 * Return: RDMA2_OK; RDMA2_ERR_READ_CHUNKS when one Read chunk less would do; or
 * RDMA2_ERR_SYSTEM when the Call is valid, but beyond this responder.
 */
static inline enum rpcrdma2_errcode
svc2_layout_judge_gss(const struct rpcrdma2_hdr *h, u32 inlined, u32 head,
		      __be32 before)
{
	bool zero = h->h_proc == RDMA2_NOMSG;
	u32 reduced = zero ? h->h_reads->ck_length : inlined;
	const struct rpcrdma2_chunk *ck = h->h_reads + zero;

	if (h->h_nreads == zero || rpcrdma2_layout_length(h, inlined) <= head)
		return RDMA2_OK;
	if (h->h_nreads > zero + 1)
		return RDMA2_ERR_READ_CHUNKS;	/* one at most (C-083) */
	if (ck->ck_position > head ||
	    reduced - ck->ck_position >= SVC2_WRITE_MIN ||
	    !svc2_layout_is_item(ck, before))
		return RDMA2_ERR_SYSTEM;
	return RDMA2_OK;
}

/* Route of packets to a peer with RoCE, see limits.c */
struct svc2_route {
	/*
	 * destination MAC of the queue pair; the connection manager takes it
	 * from the source of the request to connect
	 */
	u8	mac[ETH_ALEN];
	/* there is a route to the GID that the peer claims; it has the rest */
	bool	known;
	u8	own[ETH_ALEN];	/* source MAC */
	u8	next[ETH_ALEN];	/* MAC of the next hop */
	bool	gateway;	/* the next hop is a router */
};

/*
 * True if a GID is more than a claim of the peer. A peer behind a router is
 * known by its GID only. If it claims the GID of another host, the router sends
 * the packets to that host, and the peer receives none. The same holds within
 * this machine. On the link the GID is just a field of the packets, and a host
 * can use any number of GIDs.
 */
static inline bool svc2_gid_counts(const struct svc2_route *rt)
{
	return rt->known && !memcmp(rt->next, rt->mac, ETH_ALEN) &&
	       (rt->gateway || !memcmp(rt->own, rt->mac, ETH_ALEN));
}

/* Return: the link-local address, from a MAC, that stands for a port. */
static inline struct sockaddr_in6 svc2_link_address(const u8 *mac)
{
	return (struct sockaddr_in6){
		.sin6_family = AF_INET6,
		.sin6_addr.s6_addr = {
			0xfe, 0x80, [8] = mac[0] ^ 2, mac[1], mac[2], 0xff,
			0xfe, mac[3], mac[4], mac[5],
		},
	};
}

/*
 * Return: the link-local address made from the first LID of an InfiniBand port
 * with @lid; the low @lmc bits of a LID select a path, not a port.
 */
static inline struct sockaddr_in6 svc2_lid_address(u32 lid, u8 lmc)
{
	const u32 first = lid >> lmc << lmc;
	const u8 mac[ETH_ALEN] = {
		[2] = first >> 24, first >> 16 & 0xff, first >> 8 & 0xff, first & 0xff,
	};

	return svc2_link_address(mac);
}

/* Calls that broke their connection, see message.c. */

#define SVC2_LOST_MAX	64
#define SVC2_LOST_FOR	(120 * HZ)
/* Connections that a Call may break before it is refused */
#define SVC2_LOST_TIMES	2

/* A Call that broke a connection; the first three are its key */
struct svc2_loss {
	u64			ls_net;		/* cookie of the namespace */
	struct sockaddr_storage	ls_peer;	/* address without a port */
	u32			ls_xid;
	u32			ls_times;	/* 0 if not in use */
	unsigned long		ls_since;	/* last loss, in jiffies */
};

/* The last Calls that broke a connection */
struct svc2_losses {
	unsigned int		lo_next;	/* entry to use next */
	/*
	 * svc2_loss_bit() of the entries in use, and perhaps of others until
	 * the next search. Each Call reads it: nothing that is written is near
	 */
	u32			lo_xids;
	struct svc2_loss	lo_all[SVC2_LOST_MAX];
};

static inline u32 svc2_loss_bit(u32 xid)
{
	return BIT(xid % 32);
}

/* False if no entry has this xid: most Calls need no search, and no lock. */
static inline bool svc2_loss_may_be(const struct svc2_losses *lo, u32 xid)
{
	return READ_ONCE(lo->lo_xids) & svc2_loss_bit(xid);
}

/*
 * Whether a Call of this peer, in any namespace, has broken a connection: the
 * others need no search, whatever the entries of this one are (S46)
 */
static inline bool svc2_loss_has_peer(const struct svc2_losses *lo,
				      const struct sockaddr_storage *peer)
{
	const struct svc2_loss *ls;

	for (ls = lo->lo_all; ls < lo->lo_all + SVC2_LOST_MAX; ls++)
		if (ls->ls_times &&
		    rpc_cmp_addr((const struct sockaddr *)&ls->ls_peer,
				 (const struct sockaddr *)peer))
			return true;
	return false;
}

/* Return: the entry of a Call, or NULL. Drops entries that are too old. */
static inline struct svc2_loss *svc2_loss_find(struct svc2_losses *lo,
					       const struct svc2_loss *key,
					       unsigned long now)
{
	struct svc2_loss *ls, *found = NULL;
	u32 xids = 0;

	for (ls = lo->lo_all; ls < lo->lo_all + SVC2_LOST_MAX; ls++) {
		if (ls->ls_times && time_before(ls->ls_since + SVC2_LOST_FOR, now))
			ls->ls_times = 0;
		if (!ls->ls_times)
			continue;
		xids |= svc2_loss_bit(ls->ls_xid);
		if (ls->ls_xid == key->ls_xid && ls->ls_net == key->ls_net &&
		    rpc_cmp_addr((const struct sockaddr *)&ls->ls_peer,
				 (const struct sockaddr *)&key->ls_peer))
			found = ls;
	}
	if (xids != lo->lo_xids)
		WRITE_ONCE(lo->lo_xids, xids);
	return found;
}

/* Records that a Call broke a connection. */
static inline void svc2_loss_note(struct svc2_losses *lo,
				  const struct svc2_loss *key,
				  unsigned long now)
{
	struct svc2_loss *ls = svc2_loss_find(lo, key, now);

	if (!ls) {
		ls = &lo->lo_all[lo->lo_next++ % SVC2_LOST_MAX];
		*ls = *key;
		WRITE_ONCE(lo->lo_xids, lo->lo_xids | svc2_loss_bit(key->ls_xid));
	}
	ls->ls_times++;
	ls->ls_since = now;
}

/* True for a Call that broke its maximum of connections; it is forgotten. */
static inline bool svc2_loss_is_last(struct svc2_losses *lo,
				     const struct svc2_loss *key,
				     unsigned long now)
{
	struct svc2_loss *ls = svc2_loss_find(lo, key, now);

	if (!ls || ls->ls_times < SVC2_LOST_TIMES)
		return false;
	ls->ls_times = 0;
	return true;
}

/*
 * Number of Receives of a connection, for @answers callbacks that may be
 * outstanding, and a @grant of Calls. The pool may hold up to a batch less one
 * that are not posted, so that number is added.
 */
static inline unsigned int svc2_grant_recvs(u32 answers, u32 grant)
{
	return rpcrdma2_receives_needed(answers, grant) +
	       rpcrdma2_recv_batch(grant) - 1;
}

/*
 * Reduces both grants to the Receives that a device supports, @most: halves the
 * larger, but not @answers to 0, nor @grant below @least. Return: false when
 * the Receives never suffice.
 */
static inline bool svc2_grant_fit(u32 *answers, u32 *grant, u32 least,
				  unsigned int most)
{
	while (svc2_grant_recvs(*answers, *grant) > most) {
		if (*answers > 1 && (*answers >= *grant || *grant / 2 < least))
			*answers /= 2;
		else if (*grant / 2 >= least)
			*grant /= 2;
		else
			return false;
	}
	return true;
}

/* Return: the next grant, doubled up to @max if three quarters are @busy. */
static inline u32 svc2_grant_next(u32 grant, unsigned int busy, u32 max)
{
	return 4 * busy < 3 * grant ? grant : min(2 * grant, max);
}

/*
 * True if a grant of half the size would be raised, while @others are busy
 * beside the batch that is posted: a grant is taken back only as far as it
 * would not grow again at once.
 */
static inline bool svc2_grant_is_used(u32 grant, unsigned int others)
{
	u32 half = grant / 2;

	return svc2_grant_next(half, others + rpcrdma2_recv_batch(half), grant) >
	       half;
}

/*
 * Limit of pages in use before memory counts as short, of @most for Receives.
 * The rest is reserved for new connections, which begin with a few Receives.
 */
static inline long svc2_grant_soft_limit(long most)
{
	return most - most / 4;
}

/* Limit of pages in use before all connections give some back */
static inline long svc2_grant_hard_limit(long most)
{
	return most - most / 8;
}

/* 1/8 of all pages is reserved for connections without any */
#define SVC2_PAGES_RESERVE	8
/* a Reply up to this number of pages is not counted: 32 KiB, at least a page */
#define SVC2_REPLY_FEW		DIV_ROUND_UP(32768, PAGE_SIZE)
/* if at most this number of Sends is in progress */
#define SVC2_REPLIES_FEW	16
/* pages of a Reply besides its payload: head, tail, unaligned start */
#define SVC2_REPLY_BESIDE	3
/*
 * Counted pages that a Reply keeps beyond its own: SVC2_REPLY_FEW, or
 * SVC2_REPLY_BESIDE if that is more
 */
#define SVC2_REPLY_SURPLUS	max_t(unsigned int, SVC2_REPLY_FEW, SVC2_REPLY_BESIDE)

/*
 * Whether a connection that has @own pages may have @more, of @most, when all
 * connections have @all and those of its address @address. These may have half
 * of @most. A connection without pages may have any that are left; if it has
 * pages, at most the number left afterwards, of the half and of the whole without
 * the reserve. Thus n connections of an address that take more and more pages
 * end at 1/(n+1) of the half each, the same amount is left for one more, and
 * the reserve for other addresses.
 */
static inline bool svc2_pages_quota_allows(long most, long all, long address,
					   long own, long more)
{
	long left = most / 2 - address - more;

	if (!own)
		return min(most - all - more, left) >= 0;
	return own + more <= min(most - most / SVC2_PAGES_RESERVE - all - more, left);
}

/*
 * True if a connection would still have little with @more pages: if each of
 * @conns, of its address or in all, had this amount, they would have a quarter
 * of the whole, at most half of their quota.
 */
static inline bool svc2_pages_is_small(long most, unsigned int conns, long own,
				       long more)
{
	return own + more <= most / 4 / conns;
}

/*
 * Pages that are counted for a Reply before its Call is carried out: for the
 * bytes that the Call offers in its Write chunks and Reply chunk, up to the
 * pages that a thread has for a Reply.
 */
static inline unsigned int svc2_reply_pages(u64 offered, unsigned int most)
{
	u64 pages = DIV_ROUND_UP(offered, PAGE_SIZE);

	if (pages <= SVC2_REPLY_FEW)
		return 0;
	return min_t(u64, pages + SVC2_REPLY_BESIDE, most);
}

/* Buffers of Sends: see sendto.c */
enum {
	/* bytes of a part; the first one has any header */
	SVC2_TX_BUFSIZE		= RPCRDMA2_INLINE_DEFAULT,
	/*
	 * Up to this size copying costs less than mapping pages for the device:
	 * a payload of 16 KiB and the rest of its Reply.
	 */
	SVC2_PULLUP_MAX		= 16384 + 1024,
	/* maximum parts of a buffer: a header, and SVC2_PULLUP_MAX */
	SVC2_TX_BUF_PARTS	= 1 + DIV_ROUND_UP(SVC2_PULLUP_MAX, SVC2_TX_BUFSIZE),
	/*
	 * Gather entries of a Reply besides its pages: the header, behind which
	 * the head is copied; the tail; and a page more when the payload does
	 * not begin at the start of one. A piece of the head that does not fit
	 * behind the header has one, too. Pages of 4 KiB then have one less;
	 * larger pages may not.
	 */
	SVC2_TX_EXTRA_SGES	= 3 + (PAGE_SIZE > SVC2_TX_BUFSIZE),
};

/*
 * Gather entries of a Send; a device permits @width. The rest of a Reply with
 * Write chunks has a piece before each of them and one behind the last. When it
 * is just too long to be copied, the entries for 4 KiB pages suffice for these
 * pieces; larger pages need more. With fewer entries, or a longer rest, such a
 * Reply needs a Reply chunk (C-093).
 */
static inline u32 svc2_send_sges(u32 width)
{
	u32 pages = DIV_ROUND_UP(RPCRDMA2_INLINE_MAX, PAGE_SIZE);

	if (PAGE_SIZE > SVC2_TX_BUFSIZE)
		pages += RPCRDMA2_MAX_WRITE_CHUNKS;

	return min_t(u32, width, max_t(u32, SVC2_TX_EXTRA_SGES + pages,
				       SVC2_TX_BUF_PARTS));
}

/* Largest Send: the pages that @sges can gather, or without them the buffer */
static inline u32 svc2_send_able(u32 sges)
{
	if (sges <= SVC2_TX_EXTRA_SGES)
		return SVC2_TX_BUFSIZE;
	return min_t(u32, (sges - SVC2_TX_EXTRA_SGES) * PAGE_SIZE,
		     RPCRDMA2_INLINE_MAX);
}

/* Size of struct svc2_msg, at most */
#define SVC2_MSG_BYTES	2048

/*
 * Pages that a Call with Read chunks counts (S46): @pages that its RDMA Reads
 * fill and that its Reply may have, and those of its message and of its RDMA
 * Reads, with which it may wait for the Send Queue. There is one of these for
 * each of @segs segments, and one more for each place where one of @chunks
 * interrupts a Position-Zero chunk; those for further sections of a segment are
 * smaller than the pages that they fill. Never more than @most
 */
static inline unsigned int svc2_read_charge(unsigned int pages, unsigned int segs,
					    unsigned int chunks, unsigned int most)
{
	unsigned int bytes = SVC2_MSG_BYTES +
			     (segs + chunks) * RPCRDMA2_RW_PART_BYTES;

	return min(pages + DIV_ROUND_UP(bytes, (unsigned int)PAGE_SIZE), most);
}

/*
 * Most Send Queue entries of a Reply with RDMA Writes, and of its Send. Its
 * Call offers @pages in @segs segments of @chunks Write chunks and Reply chunk;
 * an RDMA Write can gather @width pages. The part in a chunk begins and ends
 * within a page, and may cross from the head to the pages and from these to the
 * tail; a segment ends within a page. An RDMA Write of each segment may be
 * narrower than the others.
 */
static inline unsigned int svc2_reply_wrs(unsigned int pages, unsigned int chunks,
					  unsigned int segs, unsigned int width)
{
	unsigned int pieces = pages + 3 * chunks + segs;

	return (pieces + segs * (width - 1)) / width + 1;
}

/*
 * True if the pages of a Reply are counted. @under_way: Sends of its connection
 * in progress, without those that may have completed unsignaled.
 */
static inline bool svc2_reply_counts(unsigned int pages, int under_way)
{
	return pages > SVC2_REPLY_FEW || (pages && under_way > SVC2_REPLIES_FEW);
}

#endif /* _SVCRDMA2_PURE_H */
