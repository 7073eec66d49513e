// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of system.h.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "system.h"

/* As in the kernel: jiffies wraps around while the first cases run. */
unsigned long jiffies = -5UL * HZ;
unsigned int host_locks;
unsigned int host_traced;
struct task_struct host_task;
wait_queue_head_t host_variable_wait;
const void *host_variable;
struct workqueue_struct *const system_percpu_wq;

static LIST_HEAD(works);
static int allocations;

void host_bug(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
	abort();
}

void host_account(int more)
{
	allocations += more;
}

bool host_case_ended(void)
{
	bool good = !allocations && !host_locks && list_empty(&works);

	if (!good)
		printf("        # not true: all freed: %d allocations, %u locks, %zu works\n",
		       allocations, host_locks, list_count_nodes(&works));
	allocations = 0;
	host_locks = 0;
	INIT_LIST_HEAD(&works);
	return good;
}

/* Work, and time */

bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *dwork,
			unsigned long delay)
{
	struct delayed_work *at;

	if (delayed_work_pending(dwork))
		return false;
	dwork->at = jiffies + delay;
	list_for_each_entry(at, &works, pending)
		if (time_after(at->at, dwork->at))
			break;
	list_add_tail(&dwork->pending, &at->pending);
	return true;
}

bool cancel_delayed_work(struct delayed_work *dwork)
{
	bool was = delayed_work_pending(dwork);

	list_del_init(&dwork->pending);
	return was;
}

bool cancel_delayed_work_sync(struct delayed_work *dwork)
{
	might_sleep();
	return cancel_delayed_work(dwork);
}

bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *dwork,
		      unsigned long delay)
{
	bool was = delayed_work_pending(dwork);

	list_del_init(&dwork->pending);
	queue_delayed_work(wq, dwork, delay);
	return was;
}

bool queue_work(struct workqueue_struct *wq, struct work_struct *work)
{
	if (work->queued || work->disabled)
		return false;
	work->queued = true;
	host_account(1);
	return true;
}

bool flush_work(struct work_struct *work)
{
	might_sleep();
	if (!work->queued)
		return false;
	work->queued = false;
	host_account(-1);
	work->func(work);
	return true;
}

bool disable_work_sync(struct work_struct *work)
{
	bool was = work->queued;

	might_sleep();
	work->queued = false;
	work->disabled = true;
	host_account(was ? -1 : 0);
	return was;
}

bool flush_delayed_work(struct delayed_work *dwork)
{
	if (!cancel_delayed_work_sync(dwork))
		return false;
	dwork->work.func(&dwork->work);
	return true;
}

long host_sleep(wait_queue_head_t *wq, long timeout)
{
	unsigned long since = jiffies;
	struct delayed_work *first;

	might_sleep();
	while (!wq || !wq->woken) {
		first = list_first_entry_or_null(&works, struct delayed_work,
						 pending);
		/* There is no work that could wake the thread. */
		must_not(!first && timeout == MAX_SCHEDULE_TIMEOUT);
		if (!first || (long)(first->at - since) > timeout) {
			jiffies = since + timeout;
			return 0;
		}
		if (time_after(first->at, jiffies))
			jiffies = first->at;
		flush_delayed_work(first);
	}
	wq->woken = false;
	return timeout == MAX_SCHEDULE_TIMEOUT ? timeout :
	       max(timeout - (long)(jiffies - since), 0L);
}

/* Memory */

static kmalloc_probe_t *probe;
static void *probe_data;

int register_trace_kmalloc(kmalloc_probe_t *new, void *data)
{
	probe = new;
	probe_data = data;
	return 0;
}

void unregister_trace_kmalloc(kmalloc_probe_t *old, void *data)
{
	probe = NULL;
}

void *kzalloc(size_t size, gfp_t gfp)
{
	void *memory;

	if (gfp & GFP_KERNEL)
		might_sleep();
	if (size > KMALLOC_MAX_SIZE)
		return NULL;
	/* A power of two is aligned to itself. */
	memory = size >= sizeof(void *) && !(size & (size - 1)) ?
		 aligned_alloc(size, size) : malloc(size);
	must_not(!memory);
	memset(memory, 0, size);
	host_account(1);
	if (probe)
		probe(probe_data, 0, memory, size, size, gfp, 0);
	return memory;
}

void kfree(const void *memory)
{
	if (memory)
		host_account(-1);
	must_not(memory && host_is_mapped(memory));
	free((void *)memory);
}

/*
 * The pages are in a file, so that a page can be mapped twice. Each page is followed by
 * a guard page, and a freed page is made inaccessible.
 */
#define PAGES		8192

static char *pages;
static int taken[PAGES];	/* references */
static int file;

static unsigned long index_of(const struct page *page)
{
	unsigned long index = ((char *)page - pages) / (2 * PAGE_SIZE);

	must_not(index >= PAGES || !taken[index]);
	return index;
}

static void map_at(void *at, unsigned long index)
{
	must_not(mmap(at, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		      file, index * PAGE_SIZE) != at);
}

/* Addresses aligned to PAGE_SIZE, which may be larger than a page of the host */
static void *reserve(size_t size)
{
	char *at = mmap(NULL, size + PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	size_t before;

	must_not(at == MAP_FAILED);
	before = (char *)PTR_ALIGN(at, PAGE_SIZE) - at;
	must_not(before && munmap(at, before));
	must_not(munmap(at + before + size, PAGE_SIZE - before));
	return at + before;
}

unsigned int host_left = UINT_MAX;

struct page *alloc_pages_node(int node, gfp_t gfp, unsigned int order)
{
	unsigned long index = 0;
	char *page;

	must_not(order);
	if (gfp & GFP_KERNEL)
		might_sleep();
	if (!host_left)
		return NULL;
	host_left--;
	if (!pages) {
		file = memfd_create("pages", 0);
		must_not(file < 0 || ftruncate(file, PAGES * PAGE_SIZE));
		pages = reserve(PAGES * 2 * PAGE_SIZE);
	}
	while (index < PAGES && taken[index])
		index++;
	if (index == PAGES)
		return NULL;
	taken[index] = 1;
	page = pages + index * 2 * PAGE_SIZE;
	map_at(page, index);
	memset(page, 0xa5, PAGE_SIZE);
	host_account(1);
	return (struct page *)page;
}

void get_page(struct page *page)
{
	taken[index_of(page)]++;
}

/* Memory that is not in the file is of the slab. */
bool folio_test_slab(const struct folio *folio)
{
	const char *at = (char *)folio;

	return !pages || at < pages || at >= pages + PAGES * 2 * PAGE_SIZE;
}

int page_ref_count(const struct page *page)
{
	return taken[index_of(page)];
}

void put_page(struct page *page)
{
	if (--taken[index_of(page)])
		return;
	must_not(host_page_is_mapped(page));
	must_not(mprotect(page, PAGE_SIZE, PROT_NONE));
	host_account(-1);
}

unsigned long __get_free_pages(gfp_t gfp, unsigned int order)
{
	size_t size = PAGE_SIZE << order;
	char *at = reserve(size + PAGE_SIZE);

	must_not(mprotect(at, size, PROT_READ | PROT_WRITE));
	host_account(1);
	return (uintptr_t)at;
}

void free_pages(unsigned long address, unsigned int order)
{
	size_t at, size = PAGE_SIZE << order;

	for (at = 0; at < size; at += PAGE_SIZE)
		must_not(host_page_is_mapped((struct page *)(address + at)));
	must_not(munmap((void *)address, size + PAGE_SIZE));
	host_account(-1);
}

/* A second, contiguous mapping of pages */
struct host_vmap {
	struct list_head	list;
	char			*at;
	unsigned int		count;
};

static LIST_HEAD(vmaps);

static struct host_vmap *vmap_at(const void *at)
{
	struct host_vmap *st;

	list_for_each_entry(st, &vmaps, list)
		if (st->at == at)
			return st;
	return NULL;
}

void *vmap(struct page **page, unsigned int count, unsigned long flags,
	   int protection)
{
	struct host_vmap *st = kzalloc(sizeof(*st), GFP_KERNEL);
	unsigned int i;

	must_not(flags != VM_MAP || protection != PAGE_KERNEL);
	st->count = count;
	st->at = reserve((count + 1) * PAGE_SIZE);
	for (i = 0; i < count; i++)
		map_at(st->at + i * PAGE_SIZE, index_of(page[i]));
	list_add(&st->list, &vmaps);
	return st->at;
}

bool is_vmalloc_addr(const void *at)
{
	return vmap_at(at);
}

void vunmap(const void *at)
{
	struct host_vmap *st = vmap_at(at);

	must_not(!st);
	munmap(st->at, (st->count + 1) * PAGE_SIZE);
	list_del(&st->list);
	kfree(st);
}

void seq_printf(struct seq_file *seq, const char *fmt, ...)
{
	size_t room = seq->size - seq->count, len;
	va_list args;

	va_start(args, fmt);
	len = vsnprintf(seq->buf + seq->count, room, fmt, args);
	va_end(args);
	seq->count += min(len, room);
}
