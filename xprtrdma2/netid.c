// SPDX-License-Identifier: GPL-2.0
/*
 * Mount option "proto=rdma2" for the NFS client of an unmodified kernel.
 *
 * The NFS client looks up the value of proto= in a constant table of its own
 * before it passes the string to sunrpc, which would find this module. A
 * kretprobe on the look-up changes the result for a table that has an entry
 * "rdma": there the name "rdma2" means the same as "rdma", and "rdma26" the
 * same as "rdma6". No memory of the kernel is written to.
 *
 * The transport does not receive the name, because the NFS client has one ident
 * for both. So the probe records the task that looks "rdma2" up: that task
 * creates the transport in the same system call, or in the next. /proc/mounts
 * then shows the name of the mount option, where mount.nfs reads it for remount
 * and umount. Without a record it shows "rdma", which mount.nfs accepts without
 * a line in /etc/netconfig.
 *
 * A kernel with an ident for this class has the names in its table.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "xprtrdma2.h"

#if defined(XPRT2_REPLACES_RPCRDMA) && defined(CONFIG_KRETPROBES)

#include <linux/fs_parser.h>
#include <linux/hash.h>
#include <linux/kprobes.h>

#define NOTES_BITS	5
#define NOTE_SECONDS	60

/*
 * Tasks that looked "rdma2" up: pid and time in seconds, 0 for none. A hash
 * collision loses the entry; the mount is then shown as "rdma".
 */
static atomic64_t notes[1 << NOTES_BITS];

static __always_inline atomic64_t *
xprt2_netid_note_of(const struct task_struct *task)
{
	return &notes[hash_32(task->pid, NOTES_BITS)];
}

static __always_inline void xprt2_netid_note_task(bool two)
{
	u64 note = (u64)current->pid << 32 | (u32)(jiffies / HZ);

	if (two)
		atomic64_set(xprt2_netid_note_of(current), note);
	else if (atomic64_read(xprt2_netid_note_of(current)) >> 32 ==
		 current->pid)
		atomic64_set(xprt2_netid_note_of(current), 0);
}

static bool xprt2_netid_is_noted(void)
{
	u64 note = atomic64_read(xprt2_netid_note_of(current));

	return note >> 32 == current->pid &&
	       (u32)(jiffies / HZ) - (u32)note <= NOTE_SECONDS;
}

/* After a non-zero return the look-up returns its own result. */
static int xprt2_lookup_entry(struct kretprobe_instance *ri,
			      struct pt_regs *regs)
{
	const struct constant_table *entry =
		(const void *)regs_get_kernel_argument(regs, 0);
	const char *name = (const void *)regs_get_kernel_argument(regs, 1);
	int *value = (int *)ri->data;

	if (!entry || !name)
		return 1;
	if (!strcmp(name, "rdma") || !strcmp(name, "rdma6"))
		xprt2_netid_note_task(false);
	if (!strcmp(name, "rdma2"))
		name = "rdma";
	else if (!strcmp(name, "rdma26"))
		name = "rdma6";
	else
		return 1;
	for (; entry->name; entry++) {
		if (!strcmp(entry->name, name)) {
			*value = entry->value;
			xprt2_netid_note_task(true);
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
 * xprt2_netid_init - register the mount option, if the kernel allows it
 */
void xprt2_netid_init(void)
{
	int ret = register_kretprobe(&lookup_probe);

	registered = !ret;
	if (ret)
		pr_warn("mount option proto=rdma2 is not available (error %d); use proto=rdma, which reaches this module\n",
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

static bool xprt2_netid_is_noted(void)
{
	return XPRT2_IDENT != XPRT_TRANSPORT_RDMA;
}

void xprt2_netid_init(void)
{
#ifdef XPRT2_REPLACES_RPCRDMA
	pr_warn("mount option proto=rdma2 is not available without CONFIG_KRETPROBES; use proto=rdma, which reaches this module\n");
#endif
}

void xprt2_netid_exit(void)
{
}

#endif

/**
 * xprt2_netid - netid of a transport under construction
 * @v6: over IPv6
 *
 * Context: the task that creates the transport.
 */
const char *xprt2_netid(bool v6)
{
	if (xprt2_netid_is_noted())
		return v6 ? "rdma26" : "rdma2";
	return v6 ? "rdma6" : "rdma";
}
