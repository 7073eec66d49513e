// SPDX-License-Identifier: GPL-2.0
/* Coverage-guided runs with libFuzzer, which makes half of the changes itself. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t max,
			       unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t len, size_t max);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	check_message(data, len);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t max,
			       unsigned int seed)
{
	uint64_t state = 0x9e3779b97f4a7c15ull ^ seed;

	if (next_random(&state) % 2)
		return LLVMFuzzerMutate(data, len, max);
	return mutate_message(data, len, max, &state);
}
