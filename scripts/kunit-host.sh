#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds the unit tests for user space with sanitizers and runs them. Prints one line for
# each case that fails, and with --cases also for each case that passes:
#
#	kunit-host.sh [--cases] [--arch i386|s390x|64k] [--suite NAME]...
#
# i386 has 32 bit, s390x is big endian, and 64k is the size of a page. kunit/host/skipped-ARCH
# has the names of the cases that this architecture skips; any other skipped case has failed.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

hidden='^(ok|skip) '
name=kunit-host arch='' sanitizers='address undefined'
suites=() build=() run=()
while [ $# -gt 0 ]; do
	case $1 in
	--cases)	hidden='^skip ' ;;
	--arch)		[ $# -gt 1 ] || die "--arch needs an architecture"
			arch=$2; shift ;;
	--suite)	[ $# -gt 1 ] || die "--suite needs the name of a suite"
			suites+=("$2"); shift ;;
	--help)		sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit ;;
	*)		die "unknown option '$1'" ;;
	esac
	shift
done

need_packages gcc libc6-dev make
out=$(host_dir)
# The sanitizers' libraries do not run under an emulator.
emulated='SANITIZE=-static -fsanitize=undefined -fsanitize-undefined-trap-on-error'
case $arch in
'')	;;
i386)	# 32 bit
	need_packages "lib32gcc-$(gcc -dumpversion)-dev" libc6-dev-i386
	cc="gcc -m32 -idirafter /usr/include/$(gcc -print-multiarch)"
	build=("CC=$cc")
	mkdir -p "$out-$arch"
	echo 'int main(void) { return 0; }' | $cc -x c -o "$out-$arch/probe" - ||
		die "gcc -m32 does not compile"
	if ! "$out-$arch/probe" 2>/dev/null; then
		# A kernel without IA32_EMULATION.
		need_packages qemu-user-static
		build+=("$emulated")
		sanitizers=undefined
		run=(qemu-i386-static)
	fi ;;
s390x)	# big endian
	need_cross_compiler "$name-$arch" gcc-s390x-linux-gnu libc6-dev-s390x-cross ||
		exit 0
	need_packages qemu-user-static
	build=(CC=s390x-linux-gnu-gcc "$emulated")
	sanitizers=undefined
	run=(qemu-s390x-static) ;;
64k)	# pages of 64 KiB
	build=(DEFINES=-DPAGE_SHIFT=16) ;;
*)	die "unknown architecture '$arch': i386, s390x or 64k" ;;
esac
[ -z "$arch" ] || { name+=-$arch; out+=-$arch; }
mkdir -p "$out"
cd "$top" || exit 1

if ! with_lock "$out.lock" make -s -j"$jobs" -f kunit/host/Makefile OUT="$out" \
		"${build[@]}" >"$out/make.log" 2>&1; then
	tail -n 40 "$out/make.log" >&2
	echo "FAIL $name: does not build"
	exit 1
fi
"${run[@]}" "$out/run" "${suites[@]}" >"$out/ktap" 2>"$out/errors"
rc=$?
[ -s "$out/ktap" ] || { cat "$out/errors" >&2; exit 1; }
awk -v group="$name" -f scripts/ktap.awk "$out/ktap" >"$out/cases"
grep '^ *# .*not true' "$out/ktap" >&2
cat "$out/errors" >&2
grep -vE "$hidden" "$out/cases"
sed -n "s/^skip $name \(.*\) # .*/\1/p" "$out/cases" >"$out/skipped"
listed=kunit/host/skipped-$arch
[ -e "$listed" ] || listed=/dev/null
{
	grep -vxFf "$listed" "$out/skipped" | sed "s|.*|FAIL $name &: skipped, not in $listed|"
	[ "${#suites[@]}" -gt 0 ] || grep -vxFf "$out/skipped" "$listed" |
		sed "s|.*|FAIL $name &: not skipped, but in $listed|"
} | tee "$out/other"
[ ! -s "$out/other" ] || [ "$rc" -ne 0 ] || rc=1
passed=$(grep -c '^ok ' "$out/cases")
echo "# $name: $passed cases passed, $(grep -c . "$out/skipped") skipped, sanitizers: $sanitizers; all are in $out/cases"

# A run that ends before the last suite, by a sanitizer or otherwise, has failed.
planned=$(sed -n 's/^1\.\.//p' "$out/ktap")
ended=$(grep -cE '^(not )?ok ' "$out/ktap")
if [ "$rc" -gt 1 ] || [ "$ended" -ne "${planned:-0}" ]; then
	echo "FAIL $name: ended with $rc after $ended of ${planned:-0} suites"
	exit 1
fi
# Each architecture has the cases of the plan, which counts this line, too.
cases=$(grep -c . "$out/cases")
planned=$(awk '$1 == "kunit-host" { print $2 - 1 }' scripts/plan)
if [ -n "$arch" ] && [ "${#suites[@]}" -eq 0 ] && [ "$cases" -ne "$planned" ]; then
	echo "FAIL $name: $cases cases, the plan has $planned"
	exit 1
fi
echo "ok $name: $ended suites ended, and the sanitizers reported nothing"
exit "$rc"
