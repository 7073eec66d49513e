// SPDX-License-Identifier: GPL-2.0
/*
 * Substitutes for functions in files of the core and the server that are not part of
 * this build.
 */
#include <rpcrdma2/chunks.h>
#include <rpcrdma2/conn.h>
#include <rpcrdma2/fault.h>

#include "../../rpcrdma2/core.h"
#include "../../svcrdma2/svcrdma2.h"

struct workqueue_struct *rpcrdma2_wq;

struct fault_attr rpcrdma2_faults[] = {
	[0 ... RPCRDMA2_NFAULTS - 1] = FAULT_ATTR_INITIALIZER
};

void rpcrdma2_word_show(struct seq_file *seq, const char *key, const char *text)
{
	seq_printf(seq, " %s=%s", key, text);
}
