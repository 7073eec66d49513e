/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of the kernel that code with a device uses: lists, locks, time, work items,
 * memory. There is one thread. The run ends on an operation that needs a second thread,
 * and on an error that the kernel's debug options would report. system.c has the parts
 * that are not macros.
 *
 * Time advances only while the thread sleeps. Work items that are due run meanwhile.
 */
#ifndef _RPCRDMA2_HOST_SYSTEM_H
#define _RPCRDMA2_HOST_SYSTEM_H

#include <stdlib.h>

#include "shim.h"

#define must_not(cond) \
	((cond) ? host_bug(__FILE__, __LINE__, #cond) : (void)0)
#define WARN_ON_ONCE(cond)						\
	({								\
		bool _warn = (cond);					\
									\
		must_not(_warn && #cond);					\
		_warn;							\
	})

/* Return: true if the case released everything. Resets the counters. */
bool host_case_ended(void);

#define CONFIG_LOCKDEP		1
#define IS_ENABLED(option)	(option)

#define EINPROGRESS		115
#define ENFILE			23
#define EUSERS			87
#define E2BIG			7
#define UINT_MAX		(~0U)

#define ____cacheline_aligned_in_smp
#undef __always_inline
#define __always_inline		inline

typedef s64			time64_t;
typedef unsigned int		gfp_t;

/* <linux/err.h> */
#define ERR_PTR(error)		((void *)(long)(error))
#define PTR_ERR(p)		((long)(p))
#define IS_ERR(p)		((unsigned long)(p) >= -4095UL)

/* <linux/bitops.h> */
#define test_bit(n, word)	(*(word) >> (n) & 1)
#define set_bit(n, word)	((void)(*(word) |= BIT(n)))
#define clear_bit(n, word)	((void)(*(word) &= ~BIT(n)))

static inline bool test_and_clear_bit(unsigned int n, unsigned long *word)
{
	bool was = test_bit(n, word);

	clear_bit(n, word);
	return was;
}

/* <linux/atomic.h>, and barriers */
typedef struct {
	long	counter;
} atomic_long_t;

#define smp_mb()		((void)0)
#define smp_rmb()		((void)0)
#define smp_wmb()		((void)0)
#define smp_mb__before_atomic()	((void)0)
#define smp_mb__after_atomic()	((void)0)
#define atomic_inc(v)		((void)(v)->counter++)
#define atomic_add(i, v)	((void)((v)->counter += (i)))
#define atomic_sub(i, v)	atomic_add(-(i), v)
#define atomic_dec(v)		atomic_sub(1, v)
#define atomic_inc_return(v)	atomic_add_return(1, v)
#define atomic_xchg(v, new)	xchg(&(v)->counter, new)
#define atomic_long_read	atomic_read
#define atomic_long_set		atomic_set
#define atomic_long_add		atomic_add
#define atomic_long_inc		atomic_inc
#define atomic_long_try_cmpxchg	atomic_try_cmpxchg

/* Return: false if the value is @not, which stays. */
static inline bool atomic_add_unless(atomic_t *v, int more, int not)
{
	if (v->counter == not)
		return false;
	v->counter += more;
	return true;
}

/* Return: the value less one; a negative one is not stored. */
static inline int atomic_dec_if_positive(atomic_t *v)
{
	return v->counter > 0 ? --v->counter : v->counter - 1;
}

/* <linux/percpu.h>: there is one processor */
#define __percpu
#define DECLARE_PER_CPU(type, name)	extern typeof(type) name
#define DEFINE_PER_CPU(type, name)	typeof(type) name
#define this_cpu_add(var, n)		((void)((var) += (n)))
#define this_cpu_inc(var)		this_cpu_add(var, 1)
#define per_cpu(var, cpu)		(var)
#define per_cpu_ptr(ptr, cpu)		(ptr)
#define raw_cpu_ptr(ptr)		(ptr)
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < 1; (cpu)++)

/* <linux/list.h>, with the checks of CONFIG_DEBUG_LIST */

struct list_head {
	struct list_head	*next, *prev;
};

#define LIST_HEAD_INIT(name)	{ &(name), &(name) }
#define LIST_HEAD(name)		struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline void host_list_insert(struct list_head *new,
				    struct list_head *prev,
				    struct list_head *next)
{
	must_not(next->prev != prev || prev->next != next || new == prev ||
		 new == next);
	new->prev = prev;
	new->next = next;
	prev->next = new;
	next->prev = new;
}

static inline void list_add(struct list_head *new, struct list_head *head)
{
	host_list_insert(new, head, head->next);
}

static inline void list_add_tail(struct list_head *new, struct list_head *head)
{
	host_list_insert(new, head->prev, head);
}

static inline void list_del_init(struct list_head *entry)
{
	must_not(!entry->next || entry->next->prev != entry ||
		 entry->prev->next != entry);
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	INIT_LIST_HEAD(entry);
}

static inline void list_del(struct list_head *entry)
{
	list_del_init(entry);
	entry->next = NULL;
	entry->prev = NULL;
}

static inline void list_move(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add(entry, head);
}

static inline void list_move_tail(struct list_head *entry,
				  struct list_head *head)
{
	list_del(entry);
	list_add_tail(entry, head);
}

static inline void list_rotate_left(struct list_head *head)
{
	if (head->next != head)
		list_move_tail(head->next, head);
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline void list_splice_tail_init(struct list_head *from,
					 struct list_head *to)
{
	while (!list_empty(from))
		list_move_tail(from->next, to);
}

static inline void list_splice(const struct list_head *from, struct list_head *to)
{
	while (!list_empty(from))
		list_move(from->prev, to);
}

static inline size_t list_count_nodes(const struct list_head *head)
{
	const struct list_head *at;
	size_t n = 0;

	for (at = head->next; at != head; at = at->next)
		n++;
	return n;
}

#define list_del_init_careful	list_del_init
#define list_empty_careful	list_empty
#define list_is_first(entry, head)	((entry)->prev == (head))
#define list_entry		container_of
#define list_first_entry(head, type, member) \
	list_entry((head)->next, type, member)
#define list_last_entry(head, type, member) \
	list_entry((head)->prev, type, member)
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_entry((head)->next, type, member))
#define list_for_each(at, head) \
	for (at = (head)->next; at != (head); at = at->next)
#define host_next(at, member) \
	list_entry((at)->member.next, typeof(*(at)), member)
#define list_for_each_entry(at, head, member)				\
	for (at = list_entry((head)->next, typeof(*at), member);	\
	     &at->member != (head); at = host_next(at, member))
#define list_for_each_entry_reverse(at, head, member)			\
	for (at = list_entry((head)->prev, typeof(*at), member);	\
	     &at->member != (head);					\
	     at = list_entry(at->member.prev, typeof(*at), member))
#define list_for_each_entry_safe(at, then, head, member)		\
	for (at = list_entry((head)->next, typeof(*at), member),	\
	     then = host_next(at, member); &at->member != (head);	\
	     at = then, then = host_next(then, member))

/* <linux/llist.h>, for one thread */
struct llist_node {
	struct llist_node	*next;
};

struct llist_head {
	struct llist_node	*first;
};

#define LLIST_HEAD(name)	struct llist_head name = { NULL }
#define init_llist_head(head)	((void)((head)->first = NULL))
#define llist_empty(head)	(!(head)->first)
#define llist_entry		container_of

static inline void llist_add(struct llist_node *node, struct llist_head *head)
{
	node->next = head->first;
	head->first = node;
}

static inline struct llist_node *llist_del_all(struct llist_head *head)
{
	struct llist_node *first = head->first;

	head->first = NULL;
	return first;
}

static inline struct llist_node *llist_del_first(struct llist_head *head)
{
	struct llist_node *first = head->first;

	if (first)
		head->first = first->next;
	return first;
}

#define host_llist_entry(node, type, member) ({				\
	struct llist_node *host_node = (node);				\
									\
	host_node ? list_entry(host_node, type, member) : NULL;		\
})
#define llist_for_each_entry(at, node, member)				\
	for (at = host_llist_entry(node, typeof(*at), member); at;	\
	     at = host_llist_entry(at->member.next, typeof(*at), member))
#define llist_for_each_entry_safe(at, then, node, member)		\
	for (at = host_llist_entry(node, typeof(*at), member);		\
	     at && (then = host_llist_entry(at->member.next, typeof(*at), \
					    member), true); at = then)

/*
 * <linux/spinlock.h>: taking a lock that is held or not initialised fails the case, and so
 * does releasing one that is free. tcc lacks cleanup: there only the initialisation is checked.
 */

typedef struct {
	unsigned int	state;
} spinlock_t;

enum {
	HOST_UNLOCKED	= 0x10c4ed,
	HOST_LOCKED,
};

/* Number of locks held */
extern unsigned int host_locks;

#define __SPIN_LOCK_UNLOCKED(lock)	{ HOST_UNLOCKED }
#define DEFINE_SPINLOCK(lock)	spinlock_t lock = __SPIN_LOCK_UNLOCKED(lock)
#define spin_lock_init(lock)	((void)((lock)->state = HOST_UNLOCKED))
#define might_sleep()		must_not(host_locks)

static inline spinlock_t *spin_lock(spinlock_t *lock)
{
	must_not(lock->state != HOST_UNLOCKED);
#ifndef __TINYC__
	lock->state = HOST_LOCKED;
	host_locks++;
#endif
	return lock;
}

static inline void spin_unlock(spinlock_t *lock)
{
#ifndef __TINYC__
	must_not(lock->state != HOST_LOCKED);
	host_locks--;
#endif
	lock->state = HOST_UNLOCKED;
}

static inline void host_unguard(spinlock_t **lock)
{
	spin_unlock(*lock);
}

#ifdef __TINYC__
#define lockdep_is_held(lock)		1
#else
#define lockdep_is_held(lock)		((lock)->state == HOST_LOCKED)
#endif
#define lockdep_assert_held(lock)	must_not(!lockdep_is_held(lock))
#define host_guard \
	spinlock_t *_guard __attribute__((cleanup(host_unguard), unused))
#define host_guard_spinlock		host_guard = spin_lock
#define guard(kind)			host_guard_##kind
#define scoped_guard(kind, lock)					\
	for (bool _in = true; _in; _in = false)				\
		for (guard(kind)(lock); _in; _in = false)

/* <linux/mutex.h>, for tcc as above */
struct mutex {
	unsigned int	state;
};

#define DEFINE_MUTEX(name)	struct mutex name = { HOST_UNLOCKED }
#define mutex_init(mutex)	((void)((mutex)->state = HOST_UNLOCKED))

static inline void mutex_lock(struct mutex *mutex)
{
	might_sleep();
	must_not(mutex->state != HOST_UNLOCKED);
#ifndef __TINYC__
	mutex->state = HOST_LOCKED;
#endif
}

static inline void mutex_unlock(struct mutex *mutex)
{
#ifndef __TINYC__
	must_not(mutex->state != HOST_LOCKED);
#endif
	mutex->state = HOST_UNLOCKED;
}

static inline bool mutex_trylock(struct mutex *mutex)
{
	if (mutex->state == HOST_LOCKED)
		return false;
	mutex_lock(mutex);
	return true;
}

static inline struct mutex *host_mutex(struct mutex *mutex)
{
	mutex_lock(mutex);
	return mutex;
}

static inline void host_unguard_mutex(struct mutex **mutex)
{
	mutex_unlock(*mutex);
}

#define host_guard_mutex \
	struct mutex *_mutex __attribute__((cleanup(host_unguard_mutex), unused)) = host_mutex

/* <linux/jiffies.h>, <linux/delay.h>, <linux/workqueue.h>, <linux/wait.h> */

extern unsigned long jiffies;

#define MAX_SCHEDULE_TIMEOUT	((long)(~0UL >> 1))
#define time_after(a, b)	time_before(b, a)
#define time_after_eq(a, b)	(!time_before(a, b))
#define time_in_range(t, a, b)	(time_after_eq(t, a) && time_after_eq(b, t))
#define ktime_get_boottime_seconds()	((time64_t)(jiffies / HZ))

struct workqueue_struct;
extern struct workqueue_struct *const system_percpu_wq;

/* Work runs when it is flushed. */
struct work_struct {
	void		(*func)(struct work_struct *work);
	bool		queued;
	bool		disabled;
};

#define INIT_WORK(work, run)	(*(work) = (struct work_struct){ .func = (run) })
#define cond_resched()		might_sleep()

bool queue_work(struct workqueue_struct *wq, struct work_struct *work);
bool flush_work(struct work_struct *work);
bool disable_work_sync(struct work_struct *work);

struct delayed_work {
	struct work_struct	work;
	struct list_head	pending;	/* by @at */
	unsigned long		at;
};

#define INIT_DELAYED_WORK(dwork, run)					\
	do {								\
		(dwork)->work.func = (run);				\
		INIT_LIST_HEAD(&(dwork)->pending);			\
	} while (0)
#define DECLARE_DELAYED_WORK(name, run)					\
	struct delayed_work name = {					\
		.work.func = (run),					\
		.pending = LIST_HEAD_INIT((name).pending),		\
	}
#define to_delayed_work(w)	container_of(w, struct delayed_work, work)
#define delayed_work_pending(dwork)	(!list_empty(&(dwork)->pending))

bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *dwork,
			unsigned long delay);
bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *dwork,
		      unsigned long delay);
bool cancel_delayed_work(struct delayed_work *dwork);
bool cancel_delayed_work_sync(struct delayed_work *dwork);
bool flush_delayed_work(struct delayed_work *dwork);

typedef struct {
	bool	woken;
} wait_queue_head_t;

#define init_waitqueue_head(wq)	((void)((wq)->woken = false))
#define wake_up_all(wq)		((void)((wq)->woken = true))

/* Sleep until @wq is woken, at most for @timeout. Return: the rest of @timeout. */
long host_sleep(wait_queue_head_t *wq, long timeout);

#define wait_event_timeout(wq, cond, timeout)				\
	({								\
		long _left = (timeout);					\
									\
		might_sleep();						\
		while (!(cond) && _left)				\
			_left = host_sleep(&(wq), _left);		\
		_left ?: !!(cond);					\
	})
/* <linux/wait_bit.h>: one variable has a task that waits */
extern wait_queue_head_t host_variable_wait;
extern const void *host_variable;
#define wake_up_var(var)						\
	do {								\
		if ((const void *)(var) == host_variable)		\
			wake_up_all(&host_variable_wait);		\
	} while (0)
#define wait_var_event_timeout(var, cond, timeout)			\
	({								\
		host_variable = (var);					\
		wait_event_timeout(host_variable_wait, cond, timeout);	\
	})
#define schedule_timeout_uninterruptible(time)	host_sleep(NULL, time)
#define msleep(ms)		((void)host_sleep(NULL, (ms) * HZ / 1000))

/* <linux/rcupdate.h>: a task does not sleep in between */
#define rcu_read_lock()		((void)host_locks++)
#define rcu_read_unlock()	((void)host_locks--)

/* <linux/completion.h> */
struct completion {
	unsigned int		state;
	wait_queue_head_t	wait;
};

enum {
	HOST_PENDING	= 0xc03b1e,
	HOST_DONE,
};

#define init_completion(c)	((void)((c)->state = HOST_PENDING))

static inline void complete(struct completion *c)
{
	must_not(c->state != HOST_PENDING);
	c->state = HOST_DONE;
	wake_up_all(&c->wait);
}

static inline void wait_for_completion(struct completion *c)
{
	might_sleep();
	if (c->state != HOST_DONE)
		host_sleep(&c->wait, MAX_SCHEDULE_TIMEOUT);
	must_not(c->state != HOST_DONE);
}

/* <linux/sched.h> */
struct task_struct {
	unsigned int	flags;
};

extern struct task_struct host_task;
#define current			(&host_task)

#define PF_MEMALLOC		0x00800
#define PF_MEMALLOC_NOFS	0x40000

static inline void current_restore_flags(unsigned long old, unsigned long flags)
{
	current->flags = (current->flags & ~flags) | (old & flags);
}

/* <linux/slab.h>, <linux/mm.h>, <linux/vmalloc.h> */

#define GFP_NOWAIT		0
#define GFP_KERNEL		1
#define __GFP_NORETRY		0
#define __GFP_NOWARN		0
#define __GFP_ZERO		0
#define __GFP_RETRY_MAYFAIL	0
#define NUMA_NO_NODE		(-1)
#define KMALLOC_MAX_SIZE	(1UL << 22)

struct kmem_cache {
	size_t	size;
};

void *kzalloc(size_t size, gfp_t gfp);
void kfree(const void *memory);

#define kzalloc_node(size, gfp, node)	((void)(node), kzalloc(size, gfp))
#define kmalloc_node			kzalloc_node
#define kmalloc_array(n, size, gfp)	kzalloc((n) * (size), gfp)
#define kmalloc(size, gfp)		kzalloc(size, gfp)
#define struct_size(p, member, n) \
	(sizeof(*(p)) + (n) * sizeof((p)->member[0]))
void *kmemdup(const void *from, size_t size, gfp_t gfp);
u32 get_random_u32(void);
#define kvmalloc			kzalloc
#define kvmalloc_array			kmalloc_array
#define kvfree				kfree
#define kmem_cache_create		host_cache
#define kmem_cache_destroy		kfree
#define kmem_cache_alloc(cache, gfp)	kzalloc((cache)->size, gfp)
#define kmem_cache_alloc_node(cache, gfp, node)	kmem_cache_alloc(cache, gfp)
#define kmem_cache_zalloc		kmem_cache_alloc
#define kmem_cache_free(cache, memory)	kfree(memory)

static inline struct kmem_cache *
host_cache(const char *name, size_t size, size_t align, int flags, void *ctor)
{
	struct kmem_cache *cache = kzalloc(sizeof(*cache), GFP_KERNEL);

	cache->size = size;
	return cache;
}

/* <trace/events/kmem.h>: the probe is called in kzalloc() */
typedef void kmalloc_probe_t(void *data, unsigned long call_site,
				const void *ptr, size_t bytes_req,
				size_t bytes_alloc, gfp_t gfp_flags, int node);
int register_trace_kmalloc(kmalloc_probe_t *probe, void *data);
void unregister_trace_kmalloc(kmalloc_probe_t *probe, void *data);
#define tracepoint_synchronize_unregister()	((void)0)

#define VM_MAP			4
#define PAGE_KERNEL		8
#define totalram_pages()	(1UL << 20)
#define num_online_cpus()	1u
#define migrate_disable()	do { } while (0)
#define migrate_enable()	do { } while (0)

/* <linux/shrinker.h>: a case calls the shrinker. */
struct shrink_control {
	unsigned long	nr_to_scan;
};

struct shrinker {
	unsigned long	(*count_objects)(struct shrinker *shrinker,
					 struct shrink_control *sc);
	unsigned long	(*scan_objects)(struct shrinker *shrinker,
					struct shrink_control *sc);
	long		batch;
};

#define shrinker_alloc(flags, name) \
	((struct shrinker *)kzalloc(sizeof(struct shrinker), GFP_KERNEL))
#define shrinker_register(shrinker)	((void)0)
#define shrinker_free			kfree

struct folio;

/* The list is in the page's own memory. */
struct page {
	struct list_head lru;
};


/* verbs.c: a page, or a piece of the slab, that must not be freed */
bool host_page_is_mapped(const struct page *page);
bool host_is_mapped(const void *memory);
/* Number of pages and mappings that can still be allocated */
extern unsigned int host_left;
#define host_left			host_left
struct page *alloc_pages_node(int node, gfp_t gfp, unsigned int order);
void get_page(struct page *page);
void put_page(struct page *page);
int page_ref_count(const struct page *page);
#define virt_to_folio(p)		((struct folio *)virt_to_page(p))
bool folio_test_slab(const struct folio *folio);
#define alloc_page(gfp)			alloc_pages_node(NUMA_NO_NODE, gfp, 0)
#define __free_page			put_page
#define free_page(address)		put_page((struct page *)(address))
/* Several zeroed pages in one piece, without references */
unsigned long __get_free_pages(gfp_t gfp, unsigned int order);
void free_pages(unsigned long address, unsigned int order);
#define memcpy_from_page(to, page, offset, len) \
	((void)memcpy(to, (char *)page_address(page) + (offset), len))
#define memcpy_to_page(page, offset, from, len) \
	((void)memcpy((char *)page_address(page) + (offset), from, len))
#define want_init_on_free()		false

static inline void release_pages(struct page **pages, int count)
{
	while (count)
		__free_page(pages[--count]);
}

void *vmap(struct page **pages, unsigned int count, unsigned long flags,
	   int protection);
void vunmap(const void *address);
bool is_vmalloc_addr(const void *address);
#define invalidate_kernel_vmap_range(address, size) \
	must_not(!is_vmalloc_addr(address) || !(size))
#define vm_map_ram(pages, count, node)	vmap(pages, count, VM_MAP, PAGE_KERNEL)
#define vm_unmap_ram(address, count)	vunmap(address)

/* Count an allocation (1) or a release (-1); the sum must be 0 after a case. */
void host_account(int more);

/* <linux/fault-inject.h>: each call that counts fails, up to @times */
#define CONFIG_FAULT_INJECTION_DEBUG_FS

struct fault_attr {
	unsigned long	probability;
	unsigned long	interval;
	unsigned long	count;
	unsigned long	verbose;
	atomic_t	times;
};

#define FAULT_ATTR_INITIALIZER				{ .interval = 1 }
#define fault_create_debugfs_attr(name, dir, attr)	((void)(name))

static inline bool should_fail(struct fault_attr *attr, size_t size)
{
	if (!attr->probability || !atomic_read(&attr->times) ||
	    ++attr->count % attr->interval)
		return false;
	atomic_add(-1, &attr->times);
	return true;
}

/* <linux/seq_file.h>, <linux/printk.h> */
struct seq_file {
	char	*buf;
	size_t	size;
	size_t	count;
};

void seq_printf(struct seq_file *seq, const char *fmt, ...);
#define pr_warn_ratelimited		host_log
#define pr_info_ratelimited		host_log

__printf(1, 2) static inline void host_log(const char *fmt, ...)
{
}

/* <linux/module.h> */
#define KBUILD_MODNAME			"kunit"
struct module;
#define THIS_MODULE			((struct module *)NULL)
void __module_get(struct module *module);
void module_put(struct module *module);

/* <linux/tracepoint.h>: tracepoints compile to nothing, or are counted together */
extern unsigned int host_traced;
#define host_traced			host_traced
#define TP_PROTO(...)			__VA_ARGS__
#define TRACE_EVENT(name, proto, ...) \
	static inline void trace_##name(proto) { host_traced++; }
#define DECLARE_EVENT_CLASS(...)
#define TRACE_DEFINE_ENUM(value)
#define DEFINE_EVENT(class, name, proto, args) \
	static inline void trace_##name(proto) { }

#endif /* _RPCRDMA2_HOST_SYSTEM_H */
