// SPDX-License-Identifier: GPL-2.0
/*
 * Unguided runs, as fast as possible: a third of the messages are generated, two thirds are
 * vectors and generated messages with changes.
 *
 *	random RUNS SECONDS SEED	stops at the first of both limits; 0 means none
 *	random seeds FOLDER		writes the vectors, for the guided runs
 *
 * The last line has the number of messages.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(_p, _len)
#define ASAN_UNPOISON_MEMORY_REGION(_p, _len)
#endif

/* Messages between two readings of the clock */
#define BATCH	65536

static _Alignas(8) uint8_t message[FUZZ_MAX + 64];

static size_t next_message(uint64_t *state)
{
	const struct seed *seed;
	uint64_t what = next_random(state) % 6;
	size_t len;

	if (what < 3) {
		len = make_message(message, FUZZ_MAX, state);
	} else {
		seed = &seeds[next_random(state) % nseeds];
		len = seed->len;
		memcpy(message, seed->data, len);
	}
	return what < 2 ? len : mutate_message(message, len, FUZZ_MAX, state);
}

/* The bytes behind the message are poisoned. */
static void run_one(uint64_t *state)
{
	size_t len = next_message(state);

	ASAN_POISON_MEMORY_REGION(message + len, sizeof(message) - len);
	check_message(message, len);
	ASAN_UNPOISON_MEMORY_REGION(message + len, sizeof(message) - len);
}

static int run(uint64_t runs, time_t seconds, uint64_t seed)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1, done = 0;
	time_t end = time(NULL) + seconds;

	while (!runs || done < runs) {
		run_one(&state);
		if (++done % BATCH == 0 && seconds && time(NULL) >= end)
			break;
	}
	printf("%llu\n", (unsigned long long)done);
	return 0;
}

static int write_seeds(const char *folder)
{
	char path[4096];
	size_t i;
	FILE *f;

	for (i = 0; i < nseeds; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, seeds[i].name);
		f = fopen(path, "w");
		if (!f || fwrite(seeds[i].data, 1, seeds[i].len, f) !=
		    seeds[i].len || fclose(f)) {
			perror(path);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "seeds"))
		return write_seeds(argv[2]);
	if (argc != 4)
		return 2;
	return run(strtoull(argv[1], NULL, 10), strtoul(argv[2], NULL, 10),
		   strtoull(argv[3], NULL, 10));
}
