#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs the header codec, built for user space with sanitizers, on random and mutated
# messages, on all processors: first guided by coverage (libFuzzer), then without guidance
# and four times as fast. The last line has the number of messages.
#
#	run.sh [--runs N] [--seed N]
#
# Without options: 100,000,000 messages. After FUZZ_SECONDS, if it is not 0, the run ends
# earlier. A run prints its seed, which is a random number by default.
#
# Exit status: 0; 1 a message caused a failure, and was stored; 2 nothing was run.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/../vm/common.sh"

# A small quarantine is enough, because each message is processed on its own.
export ASAN_OPTIONS=quarantine_size_mb=4

here=$top/scripts/fuzz
out=$(own_dir "$top")/fuzz || exit 2
# Inputs that have reached new code, of all checkouts
corpus=$cache/fuzz-corpus
runs=100000000
seconds=${FUZZ_SECONDS:-0}
seed=$((RANDOM * 32768 + RANDOM))

while [ $# -gt 0 ]; do
	case $1 in
	--runs)		runs=${2:-} ;;
	--seed)		seed=${2:-} ;;
	*)		echo "usage: $0 [--runs N] [--seed N]" >&2; exit 2 ;;
	esac
	shift $(($# > 1 ? 2 : 1))
done
number runs "$runs"
number FUZZ_SECONDS "$seconds"
number seed "$seed"

compile()
{
	local target=$1 sanitizers=$2

	shift 2
	clang -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter \
		-Wno-sign-compare -Wno-missing-field-initializers -fno-sanitize-recover=all \
		-fsanitize="address,undefined$sanitizers" \
		-I"$out/include" -I"$here" -I"$top/kunit/host" \
		-I"$top/include" "$here/check.c" "$here/mutate.c" "${pure[@]}" \
		"$@" -o "$out/$target"
}

build()
{
	local pure

	need_packages clang libclang-rt-dev make
	mkdir -p "$corpus" "$out/found" || return 1
	# The kernel headers are substitutes, as in the user-space unit tests.
	cd "$top" && make -s -f kunit/host/Makefile OUT="$out" headers ||
		return 1
	mapfile -t pure < <(make -s -f kunit/host/Makefile list |
		sed -n 's/^pure //p')
	compile random '' "$here/random.c" || return 1
	compile guided ,fuzzer "$here/guided.c" || return 1
	"$out/random" seeds "$corpus"
}

# worker N: the share of one processor: a tenth of the messages guided, or half of the time
worker()
{
	local n=$1 log=$out/worker-$1.log
	local blind=$(((runs + jobs - 1) / jobs)) first=$((seconds / 2))

	"$out/guided" -max_len=2048 -seed=$((seed + n + 1)) -runs=$((blind / 10 + 1)) \
		-max_total_time=$first -artifact_prefix="$out/found/" \
		-print_final_stats=1 "$corpus" >"$log" 2>&1 || return 1
	sed -n 's/^stat::number_of_executed_units: //p' "$log" \
		>"$out/guided-$n.count"

	blind=$((blind - $(cat "$out/guided-$n.count")))
	[ $blind -gt 0 ] || blind=1
	"$out/random" $blind $((seconds - first)) $((seed + n)) \
		>"$out/random-$n.count" 2>>"$log"
}

run()
{
	local n failed=0 pids=()

	rm -f "$out"/*.count "$out"/worker-*.log
	for ((n = 0; n < jobs; n++)); do
		worker $n &
		pids+=($!)
	done
	for n in "${!pids[@]}"; do
		wait "${pids[n]}" && continue
		failed=1
		tail -n 40 "$out/worker-$n.log" >&2
	done
	[ $failed -eq 0 ] || die "see $out/worker-*.log and $out/found"
}

say "building the fuzzer"
build || { say "no fuzzer"; exit 2; }
limit=
[ "$seconds" -gt 0 ] && limit=" in $seconds seconds"
say "up to $runs messages$limit on $jobs processors, seed $seed"
run
cat "$out"/*.count | awk -v least="$((seconds ? 1 : runs))" '{ n += $1 }
	END { printf "%s fuzz: %d messages\n", (n >= least ? "ok" : "FAIL"), n; exit n < least }'
