// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA Reads and Writes of the core. No module is loaded: the cache of parts exists from
 * the start.
 */
#include "system.h"

static struct kmem_cache parts;
static struct kmem_cache *part_cache = &parts;

#include "../../rpcrdma2/rw.c"

static struct kmem_cache parts = { .size = sizeof(struct part) };
