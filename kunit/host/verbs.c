// SPDX-License-Identifier: GPL-2.0
/*
 * DMA mappings, and the poll of a CQ.
 */
#include "verbs.h"

struct mapping {
	struct mapping	*next;
	struct page	*page;
	struct device	*dev;
	u64		addr;
	int		dir;
	bool		is_cpus;
};

static struct mapping *mappings;

static const struct mapping *mapping_of(const struct page *page)
{
	const struct mapping *m;

	for (m = mappings; m; m = m->next)
		if (m->page == page)
			break;
	return m;
}

bool host_page_is_mapped(const struct page *page)
{
	return mapping_of(page);
}

bool host_page_is_cpus(const struct page *page)
{
	const struct mapping *m = mapping_of(page);

	return !m || m->is_cpus;
}

/*
 * DMA addresses differ from all CPU addresses and from each other. A page has one
 * mapping at most.
 */
u64 ib_dma_map_page(struct ib_device *dev, struct page *page, unsigned long offset,
		    size_t size, enum dma_data_direction dir)
{
	struct mapping *m = calloc(1, sizeof(*m));
	static u64 last = 1ULL << 60;

	must_not(!m || !page || offset || size != PAGE_SIZE);
	if (ib_uses_virt_dma(dev)) {
		free(m);
		return (uintptr_t)page;
	}
	must_not(host_page_is_mapped(page));
	if (!host_left) {
		free(m);
		return 0;
	}
	host_left--;
	m->page = page;
	m->dev = dev->dma_device;
	m->dir = dir;
	m->addr = last += 2 * PAGE_SIZE;
	m->next = mappings;
	mappings = m;
	host_account(1);
	return m->addr;
}

static struct mapping **find(const struct device *dev, u64 addr, int dir)
{
	struct mapping **m;

	for (m = &mappings; *m; m = &(*m)->next)
		if ((*m)->dev == dev && (*m)->addr == addr)
			break;
	must_not(!*m || (*m)->dir != dir);
	return m;
}

void dma_unmap_page_attrs(struct device *dev, u64 addr, size_t size,
			  enum dma_data_direction dir, unsigned long attrs)
{
	struct mapping **m = find(dev, addr, dir), *gone = *m;

	/* The unmap must not overwrite data of the CPU. */
	must_not(size != PAGE_SIZE || !(attrs & DMA_ATTR_SKIP_CPU_SYNC));
	*m = gone->next;
	free(gone);
	host_account(-1);
}

static void sync(struct ib_device *dev, u64 addr, size_t size, int dir, bool is_cpus)
{
	must_not(!size || size > PAGE_SIZE);
	if (!ib_uses_virt_dma(dev))
		(*find(dev->dma_device, addr, dir))->is_cpus = is_cpus;
}

void ib_dma_sync_single_for_cpu(struct ib_device *dev, u64 addr, size_t size,
				enum dma_data_direction dir)
{
	sync(dev, addr, size, dir, true);
}

void ib_dma_sync_single_for_device(struct ib_device *dev, u64 addr, size_t size,
				   enum dma_data_direction dir)
{
	sync(dev, addr, size, dir, false);
}

int ib_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
		 const struct ib_recv_wr **bad)
{
	const struct device *dev = qp->device->dma_device;
	const struct ib_recv_wr *at;
	int i;

	for (at = wr; dev && at; at = at->next)
		for (i = 0; i < at->num_sge; i++)
			must_not((*find(dev, at->sg_list[i].addr,
					DMA_FROM_DEVICE))->is_cpus);
	return qp->device->ops.post_recv(qp, wr, bad);
}

int ib_process_cq_direct(struct ib_cq *cq, int budget)
{
	struct ib_wc wc;
	int n = 0;

	while (n < budget && cq->device->ops.poll_cq(cq, 1, &wc) > 0) {
		wc.wr_cqe->done(cq, &wc);
		n++;
	}
	return n;
}
