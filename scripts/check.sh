#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The gate that CI runs, as a queue of prove(1); the last line counts the cases. Skipped
# cases do not count as passed, and with CI=true in the environment they fail the run.
#
#	check.sh [SUITE...]	kunit-host lint packages dissector kernels kunit fuzz
#				uml uml-debug debian; canary, long, uml-debug-long, smp, dma,
#				races, soak, conformance, boot, install, quick
#	check.sh --job JOB	one test of the queue, in TAP, for prove
#
# KERNEL is that of the suite conformance, KERNELS are those of boot, and DEBIAN has the
# releases of install.
#
# The unit tests in user space take seconds and run first, alone. All other jobs share one
# queue, with JOBS jobs at a time. The default is two more than there are processors,
# because guests spend part of their time waiting, User-Mode Linux has one processor, and
# other processes of the machine then take a smaller share.
# The jobs that took longest in the last run start first.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

cd "$top" || exit 1
took=$cache/took

run_job()
{
	case $1 in
	lint)	scripts/lint.sh ;;
	lint-changed) scripts/lint.sh --changed ;;
	packages) scripts/packages.sh ;;
	dkms)	scripts/dkms.sh ;;
	dissector) scripts/dissector.sh ;;
	fuzz)	scripts/fuzz/run.sh --runs 5000000 ;;
	canary)	scripts/canary.sh ;;
	canary/*) scripts/canary.sh "${1#*/}" ;;
	kernels/*) scripts/kernels.sh "${1#*/}" ;;
	install/*) scripts/check-install.sh "${1#*/}" ;;
	kunit-host) scripts/kunit-host.sh --cases ;;
	kunit-host-*) scripts/kunit-host.sh --arch "${1#kunit-host-}" ;;
	kunit/*) scripts/kunit.sh --rest "${1#*/}" ;;
	*)	scripts/nfs-test.sh --built "${1%/*}" "${1#*/}" ;;
	esac
}

# tap JOB: runs the job and prints its cases as TAP. A job fails if it ends with an error
# without a failed case, or prints no case at all; the other output of a failing job is
# printed too. The line that announces the job bypasses prove, which would hold it back
# until a result follows. scripts/plan has the number of cases of each job, or of its group in
# all other kernels. The names of the cases are stored without numbers, and a run prints names
# that are new or missing since the last one.
tap()
{
	local names=$took/$1.cases new plan rc=0

	plan=$(awk -v job="$1" -v group="${1#*/}" '
		$1 == group { all = $2 }
		$1 == job { own = $2 }
		END { print own == "" ? all : own }' scripts/plan)
	new=$(mktemp "$names.XXXXXX")
	say "$1: begins" 2>&3
	{ run_job "$1" 2>&1; echo "ended $?"; } |
		awk -v job="$1" -v plan="$plan" -v names="$new" -f scripts/tap.awk || rc=1
	LC_ALL=C sort -o "$new" "$new"
	[ ! -e "$names" ] || diff "$names" "$new" |
		sed -n 's/^< /# not there any more: /p; s/^> /# new: /p'
	[ "$rc" -eq 0 ] || { rm -f "$new"; return 1; }
	# The second line of times has the user and system time of the child processes.
	times >"$new.times"
	awk -v s="$SECONDS" 'NR == 2 {
		gsub(/[ms]/, " ")
		printf "%d %d\n", s, ($1 + $3) * 60 + $2 + $4
	}' "$new.times" >"$took/$1"
	rm "$new.times"
	mv "$new" "$names"
	return 0
}

if [ "${1:-}" = --job ]; then
	mkdir -p "$took/$(dirname "$2")"
	# run() opens descriptor 3 for the messages.
	{ true >&3; } 2>/dev/null || exec 3>&2
	tap "$2"
	exit
fi

# groups_of LIST KERNEL: prints the jobs of a list; if the list is missing, a job that fails
groups_of()
{
	{ scripts/nfs-test.sh --groups "$1" || echo none; } | sed "s|^|$2/|"
}

number JOBS "${JOBS:-0}"
all=(lint packages dissector uml-debug debian uml kernels kunit kunit-host fuzz canary long
	uml-debug-long smp dma races soak conformance boot install quick)
for suite in "$@"; do
	known suite "$suite" "${all[@]}"
done
suites=" ${*:-kunit-host lint packages dissector kernels kunit fuzz uml uml-debug debian} "
soak=(uml-debug/soak-{shortage,everything,losses} uml-debug/link-soak uml/backward-rpc-soak
	uml-debug/backward-rpc-chunks-soak)
mapfile -t -O "${#soak[@]}" soak < <(groups_of uml-soak uml)
mapfile -t long < <(for kernel in uml uml-debug debian; do
	groups_of "$kernel-long" "$kernel"
done)
long+=(canary)
read -ra boot <<<"${KERNELS:-debian-6.1 debian-6.12 debian-7.2 debian-7.3}"
read -ra install <<<"${DEBIAN:-12 13}"
work=$(mktemp -d)
touch "$work/begun"

# The end of this script, for any reason, also ends the processes that run() started.
stop()
{
	trap '' INT TERM HUP
	[ -z "${group:-}" ] || kill -TERM -- "-$group" 2>/dev/null
	wait 2>/dev/null
	rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

# run COMMAND...: runs the command in the background, in a process group of its own, so that
# a trap can run while it runs, and end the group
run()
{
	local rc

	set -m
	"$@" </dev/null 3>&2 &
	group=$!
	set +m
	wait "$group"
	rc=$?
	unset group
	return "$rc"
}

# wanted SUITE...: succeeds if one of these suites is selected
wanted()
{
	local suite

	for suite in "$@"; do
		[[ $suites != *" $suite "* ]] || return 0
	done
	return 1
}

# Fetches the kernels first, because a failed download is not a failed test, and then builds
# the parts that all groups of a kernel share.
prepare()
{
	local kernel groups

	if wanted kernels; then
		scripts/kernels.sh --roots &
		roots=$!
	fi
	! wanted uml lint long soak quick || scripts/vm/kernel.sh uml >/dev/null || exit 1
	! wanted uml-debug kunit canary long uml-debug-long soak quick ||
		scripts/vm/kernel.sh uml-debug >/dev/null || exit 1
	! wanted smp || scripts/vm/kernel.sh uml-smp >/dev/null || exit 1
	! wanted dma || scripts/vm/kernel.sh uml-dma >/dev/null || exit 1
	! wanted races || scripts/vm/kernel.sh kcsan >/dev/null || exit 1
	! wanted debian lint packages long || scripts/vm/kernel.sh debian >/dev/null || exit 1
	! wanted packages || scripts/dkms.sh --fetch || exit 1
	! wanted kernels || wait "$roots" || exit 1
	say "kernels are there, $SECONDS s since the start"
	for kernel in uml uml-debug uml-smp uml-dma kcsan debian "${boot[@]}"; do
		mapfile -t groups < <(list | sed -n "s|.* $kernel/||p")
		[ "${#groups[@]}" -eq 0 ] ||
			scripts/nfs-test.sh --build "$kernel" "${groups[@]}" || exit 1
	done
}

# Prints each job of the selected suites, behind its duration and processor time in the last
# run; for a new job the duration is a day.
list()
{
	local suite job kernel

	for suite in "${all[@]}"; do
		wanted "$suite" || continue
		case $suite in
		kunit-host) printf 'kunit-host-%s\n' i386 s390x 64k ;;
		kunit)	echo kunit/uml-debug ;;
		packages) printf '%s\n' packages dkms ;;
		kernels) scripts/kernels.sh --names | sed 's|^|kernels/|' ;;
		uml-debug-long)	groups_of "$suite" uml-debug ;;
		smp)	groups_of uml-smp uml-smp ;;
		dma)	groups_of uml-dma uml-dma; echo canary/uml-dma ;;
		races)	groups_of kcsan kcsan; echo canary/kcsan ;;
		conformance) printf '%s\n' "${KERNEL:-uml}"/conformance{,-client,-intree} ;;
		boot)	for kernel in "${boot[@]}"; do
				groups_of "$kernel" "$kernel"
			done ;;
		install) printf 'install/%s\n' "${install[@]}" ;;
		*uml*|debian) groups_of "$suite" "$suite" ;;
		soak)	printf '%s\n' "${soak[@]}" ;;
		long)	printf '%s\n' "${long[@]}" ;;
		quick)	printf '%s\n' lint-changed kunit/uml-debug uml/files uml/conformance ;;
		*)	echo "$suite" ;;
		esac
	done | while read -r job; do
		echo "$(cat "$took/$job" 2>/dev/null || echo 86400 0) $job"
	done
}

# results PATTERN: prints matching lines of all jobs' output
results()
{
	find "$work" -type f -exec cat {} + | grep -E "$1"
}

# run_queue JOB...: runs the jobs, JOBS at a time
run_queue()
{
	PERL_TEST_HARNESS_DUMP_TAP=$work run prove --jobs "${JOBS:-$((jobs + 2))}" \
		--exec "scripts/check.sh --job" \
		--formatter TAP::Formatter::File --merge --timer --failures \
		--comments "$@"
}

need_packages perl
rc=0
! wanted kunit-host quick || run_queue kunit-host || rc=1
run prepare || exit 1
mapfile -t queue < <(list | sort -s -k1,1nr | sed 's/.* //')
[ "${#queue[@]}" -eq 0 ] || run_queue "${queue[@]}" || rc=1

passed=$(results '^ok ' | grep -vc ' # SKIP ')
failed=$(results '^not ok ' | wc -l)
skipped=$(results '^ok .* # SKIP ' | wc -l)
results '^not ok | # SKIP '
# All verdicts without numbers: two runs of one commit have the same digest.
verdicts=${VERDICTS:-$work/verdicts}
results '^(not )?ok ' | sed -E 's/[0-9]+([.][0-9]+)?/N/g' | LC_ALL=C sort >"$verdicts"
for job in kunit-host ${queue[@]+"${queue[@]}"}; do
	[ ! "$took/$job" -nt "$work/begun" ] || echo "$(cat "$took/$job") $job"
done | sort -k2,2nr >"$work/took"
say "took $((SECONDS / 60)) min $((SECONDS % 60)) s, $(awk '{ s += $2 }
	END { print int(s / 60 + 0.5) }' "$work/took") min of a processor in the tests; most:"
awk 'NR <= 12 { printf "# %s: %d s, %d s of a processor\n", $3, $1, $2 }' "$work/took"
echo "# digest of all verdicts: $(sha256sum <"$verdicts" | cut -c 1-12)"
again=$(results '^# .*: once more, in another guest$' | wc -l)
[ "$again" -eq 0 ] || echo "# the emulator failed in $again guests, whose groups ran once more"
if [ "${CI:-}" = true ] && [ "$skipped" -gt 0 ]; then
	echo "# a skipped case fails this run, because CI=true"
	rc=1
fi
# A single repeated guest may be a fault of the emulator; two are a pattern.
if [ "${CI:-}" = true ] && [ "$again" -gt 1 ]; then
	echo "# more than one guest that ran once more fails this run, because CI=true"
	rc=1
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$rc" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
