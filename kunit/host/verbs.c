// SPDX-License-Identifier: GPL-2.0
/*
 * DMA mappings, and the poll of a CQ.
 */
#include "verbs.h"

struct mapping {
	struct mapping	*next;
	const char	*at;
	size_t		size;
	struct device	*dev;
	u64		addr;
	int		dir;
	bool		is_cpus;
};

static struct mapping *mappings;

/* Return: a mapping of any of these bytes, or NULL. */
static const struct mapping *mapping_of(const void *memory, size_t size)
{
	const char *at = memory;
	const struct mapping *m;

	for (m = mappings; m; m = m->next)
		if (m->at < at + size && at < m->at + m->size)
			break;
	return m;
}

bool host_page_is_mapped(const struct page *page)
{
	return mapping_of(page, PAGE_SIZE);
}

bool host_is_mapped(const void *memory)
{
	return mapping_of(memory, 1);
}

bool host_page_is_cpus(const struct page *page)
{
	const struct mapping *m = mapping_of(page, PAGE_SIZE);

	return !m || m->is_cpus;
}

/*
 * DMA addresses differ from all CPU addresses and from each other. A byte has one mapping
 * at most. A device writes to whole pages.
 */
u64 ib_dma_map_page(struct ib_device *dev, struct page *page, unsigned long offset,
		    size_t size, enum dma_data_direction dir)
{
	struct mapping *m = calloc(1, sizeof(*m));
	const char *at = (char *)page + offset;
	static u64 last = 1ULL << 60;

	must_not(!m || !page || !size || offset + size > PAGE_SIZE);
	must_not(dir == DMA_FROM_DEVICE && size != PAGE_SIZE);
	if (ib_uses_virt_dma(dev)) {
		free(m);
		return (uintptr_t)at;
	}
	must_not(mapping_of(at, size));
	if (!host_left) {
		free(m);
		return 0;
	}
	host_left--;
	m->at = at;
	m->size = size;
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

static void unmap(struct device *dev, u64 addr, size_t size, int dir)
{
	struct mapping **m = find(dev, addr, dir), *gone = *m;

	must_not(size != gone->size);
	*m = gone->next;
	free(gone);
	host_account(-1);
}

void ib_dma_unmap_page(struct ib_device *dev, u64 addr, size_t size,
		       enum dma_data_direction dir)
{
	if (!ib_uses_virt_dma(dev))
		unmap(dev->dma_device, addr, size, dir);
}

void dma_unmap_page_attrs(struct device *dev, u64 addr, size_t size,
			  enum dma_data_direction dir, unsigned long attrs)
{
	/* The unmap must not overwrite data of the CPU. */
	must_not(!(attrs & DMA_ATTR_SKIP_CPU_SYNC));
	unmap(dev, addr, size, dir);
}

static void sync(struct ib_device *dev, u64 addr, size_t size, int dir, bool is_cpus)
{
	struct mapping *m;

	must_not(!size);
	if (ib_uses_virt_dma(dev))
		return;
	m = *find(dev->dma_device, addr, dir);
	must_not(size > m->size);
	m->is_cpus = is_cpus;
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

struct ib_mr *ib_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 depth)
{
	struct ib_mr *mr = pd->device->ops.alloc_mr(pd, type, depth);

	if (!IS_ERR(mr))
		mr->pd = pd;
	return mr;
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
