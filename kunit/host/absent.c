// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that the code refers to and that no case calls: a call ends the run. There are
 * no declarations here, because the definitions ignore the arguments.
 */
#include "system.h"

#define ABSENT(name) \
	void name(void) { host_bug(__FILE__, __LINE__, #name " is not in the shim"); }

/* rdma_rw */
ABSENT(rdma_rw_ctx_destroy)
ABSENT(rdma_rw_ctx_init)
ABSENT(rdma_rw_ctx_wrs)
