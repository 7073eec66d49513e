// SPDX-License-Identifier: GPL-2.0
/*
 * Make "proto=rdma2" known to the NFS client of an unmodified kernel.
 *
 * The NFS client looks the value of proto= up in a constant table of its own
 * before it hands the string to sunrpc, which would find us. Only the table
 * is in the way. So the return value of that look-up is amended: for a table
 * that has an entry "rdma", the name "rdma2" means the same as "rdma", and
 * "rdma26" the same as "rdma6". Every other table and every other name is
 * left alone, and nothing of the kernel's is written to.
 *
 * A kernel with an ident of our own has the names in its table.
 */
#include "xprtrdma2.h"

#ifdef XPRT2_REPLACES_RPCRDMA
#ifdef CONFIG_KRETPROBES

#include <linux/fs_parser.h>
#include <linux/kprobes.h>
#include <linux/string.h>

static const struct {
	const char	*name;
	const char	*stands_for;
} netids[] = {
	{ "rdma2",	"rdma" },
	{ "rdma26",	"rdma6" },
};

struct lookup {
	int	value;
};

static const char *stands_for(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(netids); i++)
		if (!strcmp(name, netids[i].name))
			return netids[i].stands_for;
	return NULL;
}

/* A non-zero return lets the look-up go its way without our return handler. */
static int xprt2_lookup_entry(struct kretprobe_instance *ri,
			      struct pt_regs *regs)
{
	const struct constant_table *entry =
		(const void *)regs_get_kernel_argument(regs, 0);
	const char *name = (const void *)regs_get_kernel_argument(regs, 1);
	struct lookup *lookup = (void *)ri->data;

	if (!entry || !name)
		return 1;
	name = stands_for(name);
	if (!name)
		return 1;
	for (; entry->name; entry++) {
		if (!strcmp(entry->name, name)) {
			lookup->value = entry->value;
			return 0;
		}
	}
	return 1;
}

static int xprt2_lookup_return(struct kretprobe_instance *ri,
			       struct pt_regs *regs)
{
	const struct lookup *lookup = (void *)ri->data;

	regs_set_return_value(regs, lookup->value);
	return 0;
}

NOKPROBE_SYMBOL(xprt2_lookup_entry);
NOKPROBE_SYMBOL(xprt2_lookup_return);

static struct kretprobe lookup_probe = {
	.kp.symbol_name	= "lookup_constant",
	.entry_handler	= xprt2_lookup_entry,
	.handler	= xprt2_lookup_return,
	.data_size	= sizeof(struct lookup),
};

static bool registered;

/**
 * xprt2_netid_init - make the mount option known
 *
 * Return: 0, also when the kernel does not allow it: proto=rdma, which needs
 * no help, then leads to us.
 */
int xprt2_netid_init(void)
{
	int ret = register_kretprobe(&lookup_probe);

	registered = !ret;
	if (ret)
		pr_warn("xprtrdma2: mount option proto=rdma2 is not available (error %d); use proto=rdma, which reaches this module\n",
			ret);
	return 0;
}

/**
 * xprt2_netid_exit - undo xprt2_netid_init(); waits for look-ups under way
 */
void xprt2_netid_exit(void)
{
	if (registered)
		unregister_kretprobe(&lookup_probe);
}

#else /* !CONFIG_KRETPROBES */

int xprt2_netid_init(void)
{
	pr_warn("xprtrdma2: mount option proto=rdma2 is not available without CONFIG_KRETPROBES; use proto=rdma, which reaches this module\n");
	return 0;
}

void xprt2_netid_exit(void)
{
}

#endif
#else /* !XPRT2_REPLACES_RPCRDMA */

int xprt2_netid_init(void)
{
	return 0;
}

void xprt2_netid_exit(void)
{
}

#endif
