// SPDX-License-Identifier: GPL-2.0
/*
 * Where the kernel's own fault injection hits: in a build with FAULTS=1 each function
 * of the modules begins and ends here (-finstrument-functions), and while a task is
 * in one of them that was aimed at, its make_it_fail is set. So failslab and
 * fail_page_alloc, with their task-filter, fail what the modules allocate and what
 * the kernel allocates for them, and leave NFS alone.
 *
 * rpcrdma2_aim in debugfs takes the addresses of functions, in hex, in place of
 * those that it had before; "all" is every function, and an empty line none.
 *
 * make_it_fail counts how deep the task is, and has the number of the aim in its
 * upper half: what a task has counted for an earlier aim is void. A test that does
 * not aim has the field to itself.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "rpcrdma2_scope.h"

#define MAX_AIMS	16
#define DEPTH		0xffff

static unsigned long aims[MAX_AIMS];
static unsigned int num_aims;
static bool aim_at_all;
/* of the aim, beginning with 1 */
static unsigned int serial;
static struct dentry *aim_file;

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
	aim_file = debugfs_create_file("rpcrdma2_aim", 0200, NULL, NULL,
				       &aim_fops);
	return 0;
}

static void __exit scope_exit(void)
{
	debugfs_remove(aim_file);
}

module_init(scope_init);
module_exit(scope_exit);

MODULE_DESCRIPTION("RPC-over-RDMA version 2: where injected faults hit");
MODULE_LICENSE("GPL");
