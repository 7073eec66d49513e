// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA Reads and Writes over devices with different capabilities.
 */
#include <kunit/test.h>
#include <linux/sizes.h>

#include <rpcrdma2/chunks.h>
#include <rpcrdma2/compat.h>
#include <rpcrdma2/conn.h>

#define LARGE	0x90000000U	/* negative as an int */
#define PAGES	260		/* pages of the largest message */
#define PARTS	80		/* maximum number of its parts */

/**
 * struct device_case - a device
 * @desc: description
 * @iwarp: the device is an iWARP device
 * @attrs: attributes that the device reports
 * @mrs: memory regions for RDMA Reads of a connection
 * @per_call: Send Queue entries of a message in one part
 * @parts: parts of an RDMA Read of 257 pages into the middle of a page
 */
struct device_case {
	const char		*desc;
	bool			iwarp;
	struct ib_device_attr	attrs;
	unsigned int		mrs, per_call, parts;
};

static const struct device_case device_cases[] = {
	{ "soft-RoCE", false,
	  { .max_sge_rd = 32, .max_fast_reg_page_list_len = 512 },
	  0, 17, 1 },
	{ "soft-iWARP", true,
	  { .max_sge_rd = 1, .max_fast_reg_page_list_len = 256 },
	  PARTS + 2, 17, 2 },
	{ "iWARP with larger regions than rdma_rw uses", true,
	  { .max_sge_rd = 1, .max_fast_reg_page_list_len = 0x40000 },
	  PARTS + 2, 17, 2 },
	{ "iWARP with small regions", true,
	  { .max_sge_rd = 1, .max_fast_reg_page_list_len = 64 },
	  PARTS + 5, 17, 5 },
	{ "RoCE with a threshold for regions", false,
	  { .max_sge_rd = 30, .max_sgl_rd = 16, .max_fast_reg_page_list_len = 512 },
	  0, 18, 17 },
	{ "limits above INT_MAX", false,
	  { .max_sge_rd = LARGE, .max_sgl_rd = LARGE,
	    .max_fast_reg_page_list_len = LARGE },
	  0, 17, 1 },
};

KUNIT_ARRAY_PARAM_DESC(device, device_cases, desc);

/* A connection over such a device; the code reads only the attributes. */
struct fake {
	struct rpcrdma2_conn	co;
	struct rdma_cm_id	id;
	struct ib_device	device;
	struct ib_port_data	*ports;
	struct rpcrdma2_conn_size size;
	unsigned int		per_call, longest;
};

static struct fake *set_up(struct kunit *test, const struct device_case *c)
{
	struct fake *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->ports = kunit_kcalloc(test, 2, sizeof(*f->ports), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->ports);
	f->ports[1].immutable.core_cap_flags = c->iwarp ? RDMA_CORE_PORT_IWARP :
							  RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	f->device.attrs = c->attrs;
	f->device.port_data = f->ports;
	f->device.phys_port_cnt = 1;
	f->id.device = &f->device;
	f->id.port_num = 1;
	f->co.co_id = &f->id;
	f->size.send_sges = 17;
	f->per_call = rpcrdma2_rw_size(&f->co, PAGES, PARTS, &f->size, &f->longest);
	f->co.co_rw_mrs = f->size.rw_mrs;
	f->co.co_rw_pages = f->size.rw_pages;
	return f;
}

static void sizes(struct kunit *test)
{
	const struct device_case *c = test->param_value;
	struct fake *f = set_up(test, c);

	KUNIT_EXPECT_EQ(test, f->size.rw_mrs, c->mrs);
	KUNIT_EXPECT_EQ(test, f->per_call, c->per_call);
	KUNIT_EXPECT_EQ(test, f->longest,
			max(PARTS + c->per_call, c->iwarp ? 3 * c->mrs : 0U));
}

/* A device that cannot carry out RDMA Reads of this size */
static void device_without_regions(struct kunit *test)
{
	static const struct device_case c = { .iwarp = true, .attrs = { .max_sge_rd = 1 } };

	KUNIT_EXPECT_EQ(test, set_up(test, &c)->per_call, 0U);
}

/* No part needs more than one region. */
static void parts(struct kunit *test)
{
	const struct device_case *c = test->param_value;
	const struct rpcrdma2_segment segs[] = {
		{ 0x11, 257 * PAGE_SIZE, 0 },
		{ 0x22, 64, 0 },
	};
	struct fake *f = set_up(test, c);
	static struct page *pages[PAGES];
	struct rpcrdma2_rw rw;

	rpcrdma2_rw_init(&rw, DMA_FROM_DEVICE);
	KUNIT_ASSERT_EQ(test, rpcrdma2_rw_read(&f->co, &rw, segs, 0, 257 * PAGE_SIZE,
					       pages, 8 + PAGE_SIZE / 2), 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&rw.rw_parts), c->parts);
	KUNIT_EXPECT_EQ(test, rpcrdma2_rw_mrs(&f->co, &rw), c->mrs ? c->parts : 0);
	/* from the middle of one segment to the end of the next */
	KUNIT_ASSERT_EQ(test, rpcrdma2_rw_read(&f->co, &rw, segs,
					       257 * PAGE_SIZE - 4, 68, pages, 0), 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&rw.rw_parts), c->parts + 2);
	rpcrdma2_rw_free(&f->co, &rw);
}

/* The regions suffice for every division of a message's pages. */
static void regions_suffice(struct kunit *test)
{
	const struct device_case *c = test->param_value;
	struct rpcrdma2_segment segs[PARTS];
	struct fake *f = set_up(test, c);
	static struct page *pages[PAGES];
	u32 left = (PAGES - 1) * PAGE_SIZE, len;
	struct rpcrdma2_rw rw;
	unsigned int i, large;

	for (large = 0; large < PARTS; large++) {
		len = left - 8 * (PARTS - 1);
		for (i = 0; i < PARTS; i++)
			segs[i] = (struct rpcrdma2_segment){ 0x11, i == large ? len : 8, 0 };
		rpcrdma2_rw_init(&rw, DMA_FROM_DEVICE);
		KUNIT_ASSERT_EQ(test, rpcrdma2_rw_read(&f->co, &rw, segs, 0, left, pages,
						       PAGE_SIZE - 8), 0);
		KUNIT_EXPECT_LE(test, rpcrdma2_rw_mrs(&f->co, &rw), f->size.rw_mrs);
		rpcrdma2_rw_free(&f->co, &rw);
	}
}

/* Parts of the rest of a listing in two segments, of which the first has @first bytes */
static unsigned int parts_of_listing(struct kunit *test, struct fake *f, u32 first)
{
	static struct page *pages[71];
	struct xdr_buf res = { .pages = pages, .page_len = 71 * PAGE_SIZE };
	const u32 all = 124 + 71 * PAGE_SIZE + 40;
	const struct rpcrdma2_reply_plan plan = {
		.pn_reply_chunk = true, .pn_nrest = 1, .pn_rest = { { 0, all } },
	};
	struct rpcrdma2_hdr *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);
	unsigned int count;
	struct rpcrdma2_rw rw;
	struct page *page = alloc_page(GFP_KERNEL);

	KUNIT_ASSERT_TRUE(test, h && page);
	/* the tail lies behind the head */
	res.head[0] = (struct kvec){ page_address(page), 124 };
	res.tail[0] = (struct kvec){ page_address(page) + 124, 40 };
	h->h_reply.ck_nsegs = 2;
	h->h_segs[0] = (struct rpcrdma2_segment){ 0x11, first, 0 };
	h->h_segs[1] = (struct rpcrdma2_segment){ 0x22, SZ_1M * 16, 0 };

	rpcrdma2_rw_init(&rw, DMA_TO_DEVICE);
	KUNIT_EXPECT_EQ(test, rpcrdma2_respond_writes(&f->co, &rw, &res, h, &plan), 0);
	KUNIT_EXPECT_EQ(test, h->h_segs[0].rs_length, min(first, all));
	KUNIT_EXPECT_EQ(test, h->h_segs[1].rs_length, all - min(first, all));
	count = list_count_nodes(&rw.rw_parts);
	if (f->co.co_rw_mrs)
		KUNIT_EXPECT_EQ(test, rpcrdma2_rw_mrs(&f->co, &rw), count);
	rpcrdma2_rw_free(&f->co, &rw);
	put_page(page);
	return count;
}

/*
 * If RDMA Writes read from regions, a part ends where the segment does, at the size of a region,
 * and at a hole between two pages.
 */
static void parts_of_writes(struct kunit *test)
{
	static const struct device_case c = {
		.iwarp = true,	/* rdma_rw takes regions, as with force_mr */
		.attrs = { .max_sge_rd = 1, .max_fast_reg_page_list_len = 64 },
	};
	struct fake *f = set_up(test, &c);

	f->co.co_write_pages = 64;
	KUNIT_EXPECT_EQ(test, parts_of_listing(test, f, SZ_1M * 16), 4U);
	KUNIT_EXPECT_EQ(test, parts_of_listing(test, f, 124 + PAGE_SIZE + 100), 5U);
	f->co.co_write_pages = 0;
	f->co.co_rw_mrs = 0;
	KUNIT_EXPECT_EQ(test, parts_of_listing(test, f, SZ_1M * 16), 1U);
	KUNIT_EXPECT_EQ(test, parts_of_listing(test, f, 124 + PAGE_SIZE + 100), 2U);
}

/* The code computes a figure that older kernels do not report. */
static void send_wrs(struct kunit *test)
{
	const struct device_case *c = test->param_value;
	struct fake *f = set_up(test, c);
	unsigned int n;

	for (n = 0; n < 100; n++)
		KUNIT_EXPECT_EQ(test, rpcrdma2_rw_send_wrs(&f->device, 1, n),
				rdma_rw_max_send_wr(&f->device, 1, n, 0));
}

static struct kunit_case rw_suite_cases[] = {
	KUNIT_CASE_PARAM(sizes, device_gen_params),
	KUNIT_CASE(device_without_regions),
	KUNIT_CASE_PARAM(parts, device_gen_params),
	KUNIT_CASE_PARAM(regions_suffice, device_gen_params),
	KUNIT_CASE(parts_of_writes),
	KUNIT_CASE_PARAM(send_wrs, device_gen_params),
	{ }
};

static struct kunit_suite rw_suite = {
	.name = "rpcrdma2_rw",
	.test_cases = rw_suite_cases,
};

kunit_test_suite(rw_suite);
