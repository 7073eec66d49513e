#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Everything that can be said about the sources without running them. A tool
# that is not there and cannot be installed makes its case skipped, not passed.
#
#	lint.sh [--changed]
#
# --changed looks at the files that differ from the commit BASE, HEAD without it, and
# at those of the last commit when none differs; nothing but them is compiled.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

cd "$top" || exit 1
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case ${1:-} in
'')		base='' ;;
--changed)	base=${BASE:-HEAD} ;;
*)		die "no option is called '$1'" ;;
esac

if [ "$(id -u)" -eq 0 ]; then
	need_packages sparse codespell shellcheck perl git python3 \
		pyflakes3 python3-docutils
fi

# report NAME FILE [STATUS]: no output, no fault; where the tool's exit status is given
# that is no fault either
report()
{
	[ "${3:-0}" -eq 0 ] || [ -s "$2" ] || echo "it ended with $3" >"$2"
	if [ -s "$2" ]; then
		echo "FAIL lint: $1"
		head -n 40 "$2" | sed 's/^/    /'
		failed=1
	else
		echo "ok lint: $1"
	fi
}

have()
{
	command -v "$1" >/dev/null 2>&1 && return 0
	echo "skip lint: $2 ($1 is not installed)"
	return 1
}

# Files that differ from a commit, or are new
changed_since()
{
	git diff --name-only "$1" -- || return
	git ls-files --others --exclude-standard
}

# Files of the tree, committed or about to be; with --changed those of them that differ
if [ -n "$base" ]; then
	changed_since "$base" >"$work/changed" || die "there is no commit $base"
	[ -s "$work/changed" ] || changed_since HEAD~1 >"$work/changed"
fi
files()
{
	git ls-files --cached --others --exclude-standard -- "$@" |
		{ if [ -z "$base" ]; then cat; else grep -Fxf "$work/changed"; fi; } |
		while read -r f; do [ -f "$f" ] && echo "$f"; done
}

mapfile -t code < <(files 'include/*.h' 'compat/*.[ch]' 'rpcrdma2/*.[ch]' 'xprtrdma2/*.[ch]' 'svcrdma2/*.[ch]' 'kunit/*.[ch]' 'bench/*.[ch]' 'faults/*.[ch]')
mapfile -t shell < <(files 'scripts/*.sh' 'scripts/vm/*.sh' 'scripts/fuzz/*.sh' 'scripts/bench/*.sh' 'kunit/host/*.sh' 'packaging/*.sh' packaging/dkms.conf 'debian/*.prerm' 'debian/*.postinst' .ci/run)

# build KERNEL [ARGUMENTS OF MAKE]: apart from all others, so that every file is
# compiled and every warning seen. What was built in $work/build stays. Modules,
# where no other target is named.
build()
{
	local kdir kernel=$1 arch=ARCH=um

	kdir=$(scripts/vm/kernel.sh "$kernel") || return 1
	[ "$kernel" = debian ] && arch=''
	shift
	[[ ${*: -1} == */* || ${*: -1} == *.o ]] || set -- "$@" modules
	# shellcheck disable=SC2086 # nothing or one word
	make -s -C "$kdir/build" M="$work/build" $arch W=1 -j"$jobs" \
		CONFIG_DEBUG_INFO_BTF_MODULES= KCFLAGS=-Werror "$@"
}

# copy: the sources into $work/build, without what was built of them
copy()
{
	rm -rf "$work/build"
	mkdir "$work/build"
	cp -a Kbuild include compat rpcrdma2 xprtrdma2 svcrdma2 kunit bench "$work/build" 2>/dev/null
	find "$work/build" \( -name '*.o' -o -name '*.cmd' -o -name '*.ko' -o \
		-name '*.mod*' -o -name 'features.h' \) -delete
}

# warnings KERNEL [ARGUMENTS OF MAKE]: from nothing
warnings()
{
	copy
	build "$@"
}

# sparse_check KERNEL FOLDERS [ARGUMENTS OF MAKE]: only what is said about these files,
# the kernel's have findings too. All are looked at, and those not compiled again
# that just have been.
sparse_check()
{
	local kernel=$1 folders=$2 rc

	shift 2
	# It does not follow a lock that a guard takes: lockdep does.
	build "$kernel" "$@" C=2 CF='-D__CHECK_ENDIAN__ -Wno-context' -k \
		>"$work/sparse.said" 2>&1
	rc=$?
	grep -E "$work/build/($folders)/.*(warning|error):" "$work/sparse.said" |
		sed "s|$work/build/||"
	# A sparse that ends in the middle has no findings either.
	[ "$rc" -eq 0 ] || { echo "sparse's run ended with $rc:"
		tail -n 20 "$work/sparse.said"; }
}

# compile_all: with every warning, and with sparse
compile_all()
{
	local kernel bench built

	# Those for uml are compiled below, with the unit tests.
	for kernel in ${LINT_KERNELS:-debian}; do
		# The benchmark's modules are for debian alone.
		bench=''
		[ "$kernel" != debian ] || bench=BENCH=1
		warnings "$kernel" $bench >"$work/w1" 2>&1
		report "W=1 -Werror against the $kernel kernel" "$work/w1" $?
	done
	: >"$work/sparse"
	if have sparse "sparse with endian checks"; then
		[ -z "$bench" ] ||
			sparse_check debian bench BENCH=1 >>"$work/sparse"
		warnings uml KUNIT=1 >"$work/w1" 2>&1
		built=$?
		sparse_check uml 'include|rpcrdma2|xprtrdma2|svcrdma2|kunit' KUNIT=1 \
			>>"$work/sparse"
		report "sparse with endian checks" "$work/sparse"
	else
		warnings uml KUNIT=1 >"$work/w1" 2>&1
		built=$?
	fi
	report "W=1 -Werror with the unit tests" "$work/w1" "$built"
}

# compile_changed: objects of the modules and their tests, in a tree of their own
compile_changed()
{
	local objects

	mapfile -t objects < <(files 'rpcrdma2/*.c' 'xprtrdma2/*.c' 'svcrdma2/*.c' \
		'kunit/*.c' | grep -v '^kunit/host/' | sed 's/c$/o/')
	[ "${#objects[@]}" -gt 0 ] || return
	have sparse "sparse with endian checks" || return
	copy
	build uml KUNIT=1 compat/ >"$work/w1" 2>&1 &&
		build uml KUNIT=1 C=1 CF='-D__CHECK_ENDIAN__ -Wno-context' \
			"${objects[@]}" >"$work/w1" 2>&1
	report "W=1 -Werror and sparse, ${#objects[@]} files" "$work/w1" $?
}

if [ -z "$base" ]; then
	compile_all
else
	compile_changed
fi

source_tree=$(readlink -e "$(kernel_dir uml)/build/source")
# checkpatch IGNORED FILE...: its findings; it ends with 1 when it has some. What
# it says of itself is one too, but for a table that is not beside it.
checkpatch()
{
	local ignored=$1 rc

	shift
	[ $# -gt 0 ] || return
	perl "$source_tree/scripts/checkpatch.pl" --no-tree \
		--strict --terse --no-summary --show-types --color=never \
		--ignore "$ignored" -f "$@" 2>"$work/checkpatch.said"
	rc=$?
	grep -v '^No structs that should be const will be found' \
		"$work/checkpatch.said"
	[ "$rc" -le 1 ] || echo "checkpatch ended with $rc"
}

if [ -n "$source_tree" ] && have perl checkpatch; then
	# Kinds that say something about a patch to the kernel, and X-macros.
	ignored=FILE_PATH_CHANGES,LINUX_VERSION_CODE
	ignored+=,MACRO_ARG_REUSE,MACRO_ARG_UNUSED,COMPLEX_MACRO
	# What stands in for headers of the kernel defines what is known by name.
	mapfile -t plain < <(printf '%s\n' "${code[@]}" |
		grep . | grep -vE '/trace\.h$|^kunit/host/(kunit|shim)\.h$')
	mapfile -t traces < <(printf '%s\n' "${code[@]}" | grep '/trace\.h$')
	checkpatch "$ignored" "${plain[@]}" >"$work/checkpatch"
	# Trace events are laid out like tables everywhere in the kernel.
	ignored+=,PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE,TRAILING_SEMICOLON
	ignored+=,SPACING,LONG_LINE
	checkpatch "$ignored" "${traces[@]}" >>"$work/checkpatch"
	report "checkpatch --strict" "$work/checkpatch"
	printf '%s\n' "${code[@]}" | xargs -r perl \
		"$source_tree/scripts/kernel-doc" -none -Werror \
		>"$work/kdoc" 2>&1
	report "kernel-doc" "$work/kdoc" $?
else
	echo "skip lint: checkpatch and kernel-doc (no kernel source in the cache)"
fi

if have codespell "spelling"; then
	files | grep -vE '^COPYING$|\.(config|patch)$' |
		xargs -r codespell -q 3 -L 'inout,parms,ser,rin,fo,te,statics,nd' \
		>"$work/spell" 2>&1
	report "spelling" "$work/spell" $?
fi

if [ "${#shell[@]}" -gt 0 ] && have shellcheck "shellcheck"; then
	shellcheck -x "${shell[@]}" >"$work/shell" 2>&1
	report "shellcheck" "$work/shell" $?
fi

files | grep -E '\.([chS]|sh|lua|py)$' | xargs -r wc -l |
	awk '$2 != "total" && $1 > 700 { print $2 ": " $1 " lines" }' >"$work/long"
report "no file above 700 lines" "$work/long"

grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION' /dev/null "${code[@]}" >"$work/version"
report "no kernel versions in the code" "$work/version"

if have pyflakes3 "pyflakes"; then
	files '*.py' | xargs -r pyflakes3 >"$work/python" 2>&1
	report "pyflakes" "$work/python" $?
fi

if have rst2pseudoxml "documents are well-formed"; then
	for f in Documentation/*.rst Documentation/man/*.rst; do
		rst2pseudoxml --report=2 --halt=5 "$f" /dev/null 2>&1
	done >"$work/documents"
	report "documents are well-formed" "$work/documents"
fi

perl scripts/guide.pl readme README >"$work/readme" 2>&1
report "what README says to type is in the guide" "$work/readme" $?

if have python3 "protocol.rst against the sources"; then
	scripts/lint-protocol.py >"$work/protocol" 2>&1
	report "protocol.rst against the sources" "$work/protocol" $?
fi

if [ -z "$base" ] || [ -n "$(files 'compat/*')" ]; then
	scripts/lint-kernels.sh "$(scripts/vm/kernel.sh uml)/build" >"$work/kernels" 2>&1
	report "what is found out about kernels" "$work/kernels" $?
fi

files '*.[ch]' '*.sh' '*.py' '*.awk' Makefile Kbuild '*/Kbuild' |
	xargs -r grep -L 'SPDX-License-Identifier: GPL-2.0' >"$work/spdx"
report "SPDX lines" "$work/spdx"

files | grep -vE '^COPYING$|\.patch$' | xargs -r grep -nIE '[[:space:]]+$' >"$work/space"
report "no blanks at the end of a line" "$work/space"

exit "$failed"
