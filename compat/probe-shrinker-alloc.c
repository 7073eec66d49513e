// SPDX-License-Identifier: GPL-2.0
/* A shrinker is allocated by the kernel. */
#include <linux/slab.h>
#include <linux/shrinker.h>

#ifndef RPCRDMA2_PROBE_WITHOUT
static inline struct shrinker *probe(void)
{
	return shrinker_alloc(0, "probe");
}
#else
static inline int probe(struct shrinker *shrinker)
{
	return register_shrinker(shrinker, "%s", "probe");
}
#endif
