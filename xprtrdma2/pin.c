// SPDX-License-Identifier: GPL-2.0
/*
 * The module parameter "pin": servers whose version the administrator knows
 * better.
 *
 * The server's address is the unit because the NFS client shares a transport
 * among all mounts of a server, and hands a transport nothing of a mount's
 * options but address, port and timeouts.
 */
#include "xprtrdma2.h"

#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "pin.h"

#define SEPARATORS	", \t\n"

/**
 * struct pin_table - the parameter's value
 * @pt_text: as it was given
 * @pt_count: number of pins
 * @pt_pins: pins
 */
struct pin_table {
	char			*pt_text;
	unsigned int		pt_count;
	struct xprt2_pin	pt_pins[] __counted_by(pt_count);
};

static DEFINE_SPINLOCK(pin_lock);	/* guards the pointer and what it is to */
static struct pin_table *pin_table;

static unsigned int count_words(const char *text)
{
	unsigned int count = 0;

	text += strspn(text, SEPARATORS);
	while (*text) {
		count++;
		text += strcspn(text, SEPARATORS);
		text += strspn(text, SEPARATORS);
	}
	return count;
}

/* Cuts @text in words. */
static int fill_table(struct pin_table *table, char *text)
{
	char *word, *copy;
	const char *fault;
	unsigned int i = 0;

	while ((word = strsep(&text, SEPARATORS))) {
		if (!*word)
			continue;
		copy = kstrdup(word, GFP_KERNEL);
		if (!copy)
			return -ENOMEM;
		fault = xprt2_parse_pin(word, &table->pt_pins[i++]);
		if (fault)
			pr_err("xprtrdma2: parameter pin, word '%s': %s; nothing is changed\n",
			       copy, fault);
		kfree(copy);
		if (fault)
			return -EINVAL;
	}
	return 0;
}

static void free_table(struct pin_table *table)
{
	if (table)
		kfree(table->pt_text);
	kfree(table);
}

static struct pin_table *make_table(const char *val)
{
	unsigned int count = count_words(val);
	struct pin_table *table;
	char *text;
	int ret = -ENOMEM;

	table = kzalloc(struct_size(table, pt_pins, count), GFP_KERNEL);
	if (!table)
		return ERR_PTR(-ENOMEM);
	table->pt_count = count;
	table->pt_text = kstrdup(skip_spaces(val), GFP_KERNEL);
	text = kstrdup(val, GFP_KERNEL);
	if (table->pt_text && text)
		ret = fill_table(table, text);
	kfree(text);
	if (ret) {
		free_table(table);
		return ERR_PTR(ret);
	}
	strim(table->pt_text);
	return table;
}

static int set_pins(const char *val, const struct kernel_param *kp)
{
	struct pin_table *table = make_table(val);

	if (IS_ERR(table))
		return PTR_ERR(table);
	spin_lock(&pin_lock);
	swap(pin_table, table);
	spin_unlock(&pin_lock);
	free_table(table);
	return 0;
}

static int get_pins(char *buffer, const struct kernel_param *kp)
{
	int len;

	spin_lock(&pin_lock);
	len = scnprintf(buffer, PAGE_SIZE, "%s\n",
			pin_table ? pin_table->pt_text : "");
	spin_unlock(&pin_lock);
	return len;
}

static void free_pins(void *arg)
{
	free_table(pin_table);
}

static const struct kernel_param_ops pin_ops = {
	.set	= set_pins,
	.get	= get_pins,
	.free	= free_pins,
};

module_param_cb(pin, &pin_ops, NULL, 0644);
MODULE_PARM_DESC(pin, "Servers to speak one RPC-over-RDMA version with, whatever min_version and max_version say, for example \"192.0.2.1=1 [fd00::2]:20049=2\"; applies to new connections");

/**
 * xprt2_pinned_version - what the administrator says about a server
 * @sap: its address and port
 *
 * A pin of the port goes before one of the address, a later one before an
 * earlier one.
 *
 * Return: version, or 0.
 */
u32 xprt2_pinned_version(const struct sockaddr *sap)
{
	unsigned int i, fits, best = 1;
	u32 vers = 0;

	spin_lock(&pin_lock);
	for (i = 0; pin_table && i < pin_table->pt_count; i++) {
		fits = xprt2_pin_fits(&pin_table->pt_pins[i], sap);
		if (fits >= best) {
			best = fits;
			vers = pin_table->pt_pins[i].pin_vers;
		}
	}
	spin_unlock(&pin_lock);
	return vers;
}
