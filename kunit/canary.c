// SPDX-License-Identifier: GPL-2.0
/*
 * Provokes one kind of kernel fault on load. A run shows that the detector of this kind
 * works and that its report fails the run (scripts/canary.py):
 *
 *	insmod canary.ko trouble=KIND
 *
 * Load it only into a guest that is discarded afterwards.
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/debug_locks.h>
#include <linux/dma-mapping.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include <rdma/ib_verbs.h>

static char *trouble = "none";
module_param(trouble, charp, 0444);
MODULE_PARM_DESC(trouble, "Fault to provoke: none, warn, leak, locks, bounds, shift, sleep, hung, killable, unlocked, race, direction, length, twice, mapped, unmapped");

static DECLARE_COMPLETION(never);
static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(spin);
static unsigned long raced;

static void make_none(void)
{
}

static void make_warning(void)
{
	WARN(1, "a canary's warning\n");
}

/* Several leaks, because a stale pointer in a register or on a stack can hide one. */
static void make_leak(void)
{
	unsigned int i;
	void *lost;

	for (i = 0; i < 16; i++) {
		lost = kmalloc(1000, GFP_KERNEL);
		OPTIMIZER_HIDE_VAR(lost);
	}
}

static void make_inversion(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);

	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static void make_overrun(void)
{
	size_t size = 24;
	u8 *object;

	object = kmalloc(size, GFP_KERNEL);
	if (!object)
		return;
	OPTIMIZER_HIDE_VAR(size);
	object[size] = 1;
	kfree(object);
}

static void make_shift(void)
{
	int by = 32, result = 1;

	OPTIMIZER_HIDE_VAR(by);
	result <<= by;
	OPTIMIZER_HIDE_VAR(result);
}

static void make_sleep(void)
{
	spin_lock(&spin);
	might_sleep();
	spin_unlock(&spin);
}

static int wait_forever(void *unused)
{
	wait_for_completion(&never);
	return 0;
}

static int wait_killable(void *unused)
{
	return wait_for_completion_killable(&never);
}

static void make_hung_task(void)
{
	kthread_run(wait_forever, NULL, "canary");
}

static void make_killable_task(void)
{
	kthread_run(wait_killable, NULL, "canary");
}

/* Turns lockdep off, as a report of lockdep does. */
static void make_unlocked(void)
{
	debug_locks_off();
}

/* Without the barrier the compiler would leave the value in a register in a loop. */
static void race(void)
{
	raced++;
	barrier();
}

static int race_until_stopped(void *unused)
{
	while (!kthread_should_stop())
		race();
	return 0;
}

/* The threads run on two processors. KCSAN watches one access in thousands. */
static void make_race(void)
{
	unsigned int cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	struct task_struct *other;
	unsigned long i;

	if (cpu >= nr_cpu_ids)
		return;
	other = kthread_run_on_cpu(race_until_stopped, NULL, cpu, "canary/%u");
	if (IS_ERR(other))
		return;
	for (i = 0; i < 20000000; i++)
		race();
	kthread_stop(other);
}

static struct {
	unsigned int		times;
	size_t			length;
	enum dma_data_direction	dir;
} unmaps;

static int use_device(struct ib_device *device)
{
	void *memory = kmalloc(512, GFP_KERNEL);
	unsigned int i;
	u64 addr;

	if (!memory)
		return -ENOMEM;
	addr = ib_dma_map_single(device, memory, 512, DMA_TO_DEVICE);
	if (!ib_dma_mapping_error(device, addr)) {
		for (i = 0; i < unmaps.times; i++)
			ib_dma_unmap_single(device, addr, unmaps.length, unmaps.dir);
	}
	kfree(memory);
	return -EOPNOTSUPP;
}

static struct ib_client client = {
	.name	= "canary",
	.add	= use_device,
};

/*
 * Maps memory for the RDMA device, and unmaps it so many times, with this length and
 * direction. Where the RDMA core is a module, a reference to it would keep this module from
 * loading.
 */
static void map_and_unmap(unsigned int times, size_t length, enum dma_data_direction dir)
{
	unmaps.times = times;
	unmaps.length = length;
	unmaps.dir = dir;
	if (IS_BUILTIN(CONFIG_INFINIBAND) && !ib_register_client(&client))
		ib_unregister_client(&client);
}

static void make_wrong_direction(void)
{
	map_and_unmap(1, 512, DMA_FROM_DEVICE);
}

static void make_wrong_length(void)
{
	map_and_unmap(1, 256, DMA_TO_DEVICE);
}

static void make_second_unmap(void)
{
	map_and_unmap(2, 512, DMA_TO_DEVICE);
}

static void make_lasting_mapping(void)
{
	map_and_unmap(0, 0, DMA_NONE);
}

/* No fault */
static void make_right_mapping(void)
{
	map_and_unmap(1, 512, DMA_TO_DEVICE);
}

static const struct {
	const char *kind;
	void (*make)(void);
} troubles[] = {
	{ "none",	make_none },
	{ "warn",	make_warning },
	{ "leak",	make_leak },
	{ "locks",	make_inversion },
	{ "bounds",	make_overrun },
	{ "shift",	make_shift },
	{ "sleep",	make_sleep },
	{ "hung",	make_hung_task },
	{ "killable",	make_killable_task },
	{ "unlocked",	make_unlocked },
	{ "race",	make_race },
	{ "direction",	make_wrong_direction },
	{ "length",	make_wrong_length },
	{ "twice",	make_second_unmap },
	{ "mapped",	make_lasting_mapping },
	{ "unmapped",	make_right_mapping },
};

static int __init canary_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(troubles); i++) {
		if (strcmp(trouble, troubles[i].kind))
			continue;
		troubles[i].make();
		return 0;
	}
	return -EINVAL;
}
module_init(canary_init);

MODULE_DESCRIPTION("Provokes kernel faults, for tests of the detectors");
MODULE_LICENSE("GPL");
