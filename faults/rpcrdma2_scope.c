// SPDX-License-Identifier: GPL-2.0
/*
 * Restricts the kernel's fault injection to functions of the modules. In a build with
 * FAULTS=1 (-finstrument-functions) each function of the modules calls this module on
 * entry and exit. While a task executes a selected function, its make_it_fail is set.
 * With their task-filter, failslab and fail_page_alloc then fail allocations of the
 * modules, and of the kernel on their behalf, but not those of NFS.
 *
 * A write to rpcrdma2_aim in debugfs selects functions by their addresses in hex, and
 * replaces the previous selection; "all" selects every function, an empty line none.
 *
 * The lower half of make_it_fail is the depth of selected functions in the task, and the
 * upper half is the serial number of the selection, so that a count for an earlier
 * selection is ignored. Without a selection this module does not touch the field.
 *
 * rpcrdma2_entered has a line for each function that was entered, as %pS prints it, for
 * scripts/coverage.sh. A function is recorded by its address while its module is loaded,
 * and by its name after the unload, when another function may get the address.
 */
#include <linux/debugfs.h>
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "rpcrdma2_scope.h"

#define MAX_AIMS	16
#define DEPTH		0xffff

static unsigned long aims[MAX_AIMS];
static unsigned int num_aims;
static bool aim_at_all;
/* number of the selection, from 1 */
static unsigned int serial;
static struct dentry *aim_file;

/* About twice the number of functions in the modules */
#define SLOT_BITS	11
#define SLOTS		BIT(SLOT_BITS)

/* Hash tables with open addressing and linear probing */
static unsigned long entered[SLOTS];
static char lines[SLOTS][96];
static DEFINE_MUTEX(lines_lock);
static struct dentry *entered_file;

/* Record a function. Context: any. */
static void note(unsigned long fn)
{
	unsigned int i = hash_long(fn, SLOT_BITS), n;
	unsigned long had;

	for (n = 0; n < SLOTS; n++, i = (i + 1) % SLOTS) {
		had = READ_ONCE(entered[i]);
		if (had == fn || (!had && !cmpxchg(&entered[i], 0, fn)))
			return;
	}
}

static void keep_line(unsigned long fn)
{
	char line[sizeof(lines[0])];
	unsigned int i, n;

	snprintf(line, sizeof(line), "%pS", (void *)fn);
	i = full_name_hash(NULL, line, strlen(line)) % SLOTS;
	for (n = 0; n < SLOTS; n++, i = (i + 1) % SLOTS) {
		if (!*lines[i])
			strscpy(lines[i], line, sizeof(lines[i]));
		if (!strcmp(lines[i], line))
			return;
	}
}

/* Convert addresses in @mod to lines; all addresses if @mod is NULL. */
static void keep_lines(const struct module *mod)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++) {
		if (!entered[i] || (mod && !within_module(entered[i], mod)))
			continue;
		keep_line(entered[i]);
		WRITE_ONCE(entered[i], 0);
	}
}

/* A function entered after MODULE_STATE_GOING would have no name for a later reader. */
static void forget(const struct module *mod)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		if (within_module(entered[i], mod))
			WRITE_ONCE(entered[i], 0);
}

/* In MODULE_STATE_LIVE the code of __init functions is still loaded. */
static int module_changes(struct notifier_block *nb, unsigned long state,
			  void *data)
{
	mutex_lock(&lines_lock);
	if (state == MODULE_STATE_COMING)
		forget(data);
	else
		keep_lines(data);
	mutex_unlock(&lines_lock);
	return NOTIFY_OK;
}

static struct notifier_block module_nb = {
	.notifier_call = module_changes,
};

static int entered_show(struct seq_file *sf, void *v)
{
	unsigned int i;

	mutex_lock(&lines_lock);
	keep_lines(NULL);
	for (i = 0; i < SLOTS; i++)
		if (*lines[i])
			seq_printf(sf, "%s\n", lines[i]);
	mutex_unlock(&lines_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(entered);

static bool is_aimed_at(const void *fn)
{
	unsigned int i, n = READ_ONCE(num_aims);

	if (READ_ONCE(aim_at_all))
		return true;
	for (i = 0; i < n; i++)
		if (aims[i] == (unsigned long)fn)
			return true;
	return false;
}

void __cyg_profile_func_enter(void *fn, void *site)
{
	int now = READ_ONCE(serial) << 16;

	note((unsigned long)fn);
	if (!now || !is_aimed_at(fn))
		return;
	if ((current->make_it_fail & ~DEPTH) != now)
		current->make_it_fail = now;
	current->make_it_fail++;
}
EXPORT_SYMBOL_GPL(__cyg_profile_func_enter);

void __cyg_profile_func_exit(void *fn, void *site)
{
	int now = READ_ONCE(serial) << 16;

	if (!now || !current->make_it_fail)
		return;
	if ((current->make_it_fail & ~DEPTH) != now)
		current->make_it_fail = 0;
	else if (is_aimed_at(fn) && !(--current->make_it_fail & DEPTH))
		current->make_it_fail = 0;
}
EXPORT_SYMBOL_GPL(__cyg_profile_func_exit);

static int take_aim(char *line)
{
	char *word;
	int ret;

	while ((word = strsep(&line, "\n "))) {
		if (!*word)
			continue;
		if (!strcmp(word, "all")) {
			WRITE_ONCE(aim_at_all, true);
			continue;
		}
		if (num_aims == MAX_AIMS)
			return -E2BIG;
		ret = kstrtoul(word, 16, &aims[num_aims]);
		if (ret)
			return ret;
		WRITE_ONCE(num_aims, num_aims + 1);
	}
	return 0;
}

static ssize_t aim_write(struct file *file, const char __user *buf, size_t len,
			 loff_t *pos)
{
	char *line = memdup_user_nul(buf, len);
	int ret;

	if (IS_ERR(line))
		return PTR_ERR(line);
	WRITE_ONCE(aim_at_all, false);
	WRITE_ONCE(num_aims, 0);
	WRITE_ONCE(serial, serial % (INT_MAX >> 16) + 1);
	ret = take_aim(line);
	kfree(line);
	return ret ?: len;
}

static const struct file_operations aim_fops = {
	.owner = THIS_MODULE,
	.write = aim_write,
};

static int __init scope_init(void)
{
	int ret = register_module_notifier(&module_nb);

	if (ret)
		return ret;
	aim_file = debugfs_create_file("rpcrdma2_aim", 0200, NULL, NULL,
				       &aim_fops);
	entered_file = debugfs_create_file("rpcrdma2_entered", 0400, NULL, NULL,
					   &entered_fops);
	return 0;
}

static void __exit scope_exit(void)
{
	debugfs_remove(entered_file);
	debugfs_remove(aim_file);
	unregister_module_notifier(&module_nb);
}

module_init(scope_init);
module_exit(scope_exit);

MODULE_DESCRIPTION("RPC-over-RDMA version 2: restricts fault injection to the modules");
MODULE_LICENSE("GPL");
