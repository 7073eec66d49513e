// SPDX-License-Identifier: GPL-2.0
/* The kernel allocates shrinkers. */
#include <linux/mm.h>
#include <linux/shrinker.h>

static inline void probe(struct shrinker *shrinker)
{
#ifndef RPCRDMA2_PROBE_WITHOUT
	shrinker = shrinker_alloc(0, "probe");
	shrinker_register(shrinker);
	shrinker_free(shrinker);
#else
	if (!register_shrinker(shrinker, "probe"))
		unregister_shrinker(shrinker);
#endif
}
