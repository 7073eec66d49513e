/* SPDX-License-Identifier: GPL-2.0 */
/* The fuzzer: checks of a message, and generation of messages */
#ifndef _RPCRDMA2_FUZZ_H
#define _RPCRDMA2_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Space for a header at every limit, and some more */
#define FUZZ_MAX	2048

/* check.c: aborts the process when a rule is violated */
void check_message(const uint8_t *data, size_t len);

/* mutate.c */
struct seed {
	const char	*name;
	const uint8_t	*data;
	size_t		len;
};

extern const struct seed seeds[];
extern const size_t nseeds;

/* A xorshift generator; the state is never 0. */
uint64_t next_random(uint64_t *state);

/* Creates a random message; returns its length */
size_t make_message(uint8_t *data, size_t max, uint64_t *state);

/* Changes a message in one to eight places; returns its new length */
size_t mutate_message(uint8_t *data, size_t len, size_t max, uint64_t *state);

#endif /* _RPCRDMA2_FUZZ_H */
