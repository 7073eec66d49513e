// SPDX-License-Identifier: GPL-2.0
/*
 * Make "proto=rdma2" known to the NFS client of an unmodified kernel.
 *
 * The NFS client looks the value of proto= up in a constant table of its own
 * before it hands the string to sunrpc, which would find this module. Only the
 * table is in the way. So the return value of that look-up is amended: for a table
 * that has an entry "rdma", the name "rdma2" means the same as "rdma", and
 * "rdma26" the same as "rdma6". Every other table and every other name is
 * left alone, and no memory of the kernel is written to.
 *
 * A kernel with an ident for this class has the names in its table.
 */
#include "xprtrdma2.h"

#if defined(XPRT2_REPLACES_RPCRDMA) && defined(CONFIG_KRETPROBES)

#include <linux/fs_parser.h>
#include <linux/kprobes.h>
#include <linux/string.h>

static const char *stands_for(const char *name)
{
	if (!strcmp(name, "rdma2"))
		return "rdma";
	return strcmp(name, "rdma26") ? NULL : "rdma6";
}

/* After a non-zero return the look-up returns what it has found itself. */
static int xprt2_lookup_entry(struct kretprobe_instance *ri,
			      struct pt_regs *regs)
{
	const struct constant_table *entry =
		(const void *)regs_get_kernel_argument(regs, 0);
	const char *name = (const void *)regs_get_kernel_argument(regs, 1);
	int *value = (int *)ri->data;

	if (!entry || !name)
		return 1;
	name = stands_for(name);
	if (!name)
		return 1;
	for (; entry->name; entry++) {
		if (!strcmp(entry->name, name)) {
			*value = entry->value;
			return 0;
		}
	}
	return 1;
}

static int xprt2_lookup_return(struct kretprobe_instance *ri,
			       struct pt_regs *regs)
{
	regs_set_return_value(regs, *(int *)ri->data);
	return 0;
}

NOKPROBE_SYMBOL(xprt2_lookup_entry);
NOKPROBE_SYMBOL(xprt2_lookup_return);

static struct kretprobe lookup_probe = {
	.kp.symbol_name	= "lookup_constant",
	.entry_handler	= xprt2_lookup_entry,
	.handler	= xprt2_lookup_return,
	.data_size	= sizeof(int),
};

static bool registered;

/**
 * xprt2_netid_init - make the mount option known
 *
 * Where the kernel does not allow it, proto=rdma, which needs no help, leads to
 * this module.
 */
void xprt2_netid_init(void)
{
	int ret = register_kretprobe(&lookup_probe);

	registered = !ret;
	if (ret)
		pr_warn("xprtrdma2: mount option proto=rdma2 is not available (error %d); use proto=rdma, which reaches this module\n",
			ret);
}

/**
 * xprt2_netid_exit - undo xprt2_netid_init(); waits for look-ups under way
 */
void xprt2_netid_exit(void)
{
	if (registered)
		unregister_kretprobe(&lookup_probe);
}

#else

void xprt2_netid_init(void)
{
#ifdef XPRT2_REPLACES_RPCRDMA
	pr_warn("xprtrdma2: mount option proto=rdma2 is not available without CONFIG_KRETPROBES; use proto=rdma, which reaches this module\n");
#endif
}

void xprt2_netid_exit(void)
{
}

#endif
