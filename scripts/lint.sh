#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Static checks of the sources. If a tool is missing and cannot be installed, its case is
# skipped.
#
#	lint.sh [--changed]
#
# --changed checks only files that differ from the commit BASE (default HEAD), or, if none
# differs, the files of the last commit, and compiles nothing else. It also checks the commits
# since BASE.

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
*)		die "unknown option '$1'" ;;
esac

if [ "$(id -u)" -eq 0 ]; then
	need_packages rsync sparse codespell shellcheck perl git python3 \
		pyflakes3 python3-docutils universal-ctags
fi

# report NAME FILE [STATUS]: a case that passes if the file, a tool's output, is empty, and
# if the tool's exit status, where it is given, is 0
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
	echo "skip lint: $2 # $1 is not installed"
	return 1
}

# changed_since COMMIT: prints the files that differ from the commit, and new files
changed_since()
{
	git diff --name-only "$1" -- || return
	git ls-files --others --exclude-standard
}

# files PATTERN...: prints the files of the tree, including new ones; with --changed only
# those that differ
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
[ -n "$base" ] || { [ ${#code[@]} -gt 0 ] && [ ${#shell[@]} -gt 0 ]; } || die "git lists no files"

# The sources are compiled in a separate tree. It keeps the objects of runs without
# findings, and make rebuilds them when the source or the command has changed.
tree=$(own_dir "$top")/lint || exit 1
mkdir -p "$tree"
exec 8>"$tree.lock"
flock 8

# compile KERNEL [ARGUMENTS OF MAKE]: compiles with W=1, -Werror and sparse. Prints every
# warning of the compiler and of modpost, and sparse's findings in this project's files, but
# not those in kernel headers. A run that fails or is interrupted leaves no stamp, and the
# next run then starts with an empty tree.
compile()
{
	local kernel=$1 arch=ARCH=um said=$work/compile kdir rc key
	local flags='-D__CHECK_ENDIAN__ -Wno-context'

	kdir=$(scripts/vm/kernel.sh "$kernel") || return 1
	# kbuild does not rebuild objects when sparse changes, and sparse's findings do not
	# fail a build; the stamp has the version of sparse in the last run without
	# findings.
	key="$kdir $flags $(sparse --version)"
	[ "$(cat "$tree/$kernel.passed" 2>/dev/null)" = "$key" ] ||
		rm -rf "${tree:?}/$kernel"
	rm -f "$tree/$kernel.passed"
	[ "$kernel" = debian ] && arch=''
	shift
	sync_sources "$tree/$kernel" Kbuild include compat rpcrdma2 xprtrdma2 svcrdma2 \
		kunit bench || return
	# sparse cannot follow a lock that a guard takes; -Wno-context leaves this check to
	# lockdep.
	# shellcheck disable=SC2086 # nothing or one word
	make -s -C "$kdir/build" M="$tree/$kernel" $arch W=1 -j"$jobs" \
		CONFIG_DEBUG_INFO_BTF_MODULES= KCFLAGS=-Werror \
		C=1 CF="$flags" "$@" >"$said" 2>&1
	rc=$?
	if [ "$rc" -ne 0 ]; then
		cat "$said"
	else
		grep -E "$tree/$kernel/.*(warning|error):|^(WARNING|ERROR)" "$said" |
			sed "s|$tree/$kernel/||" | tee "$said.ours"
		[ ! -s "$said.ours" ] || rc=1
	fi
	[ "$rc" -ne 0 ] || echo "$key" >"$tree/$kernel.passed"
	return "$rc"
}

mapfile -t objects < <(files 'rpcrdma2/*.c' 'xprtrdma2/*.c' 'svcrdma2/*.c' \
	'kunit/*.c' | grep -v '^kunit/host/' | sed 's/c$/o/')
if [ "${#objects[@]}" -gt 0 ] && have sparse "W=1 -Werror and sparse"; then
	if [ -n "$base" ]; then
		compile uml KUNIT=1 compat/ >"$work/w1" &&
			compile uml KUNIT=1 "${objects[@]}" >"$work/w1"
	else
		compile uml KUNIT=1 modules >"$work/w1"
	fi
	report "W=1 -Werror and sparse" "$work/w1" $?
	# The benchmark's modules are for Debian's kernels; kernels.sh does not run sparse.
	if [ -z "$base" ]; then
		compile debian BENCH=1 compat/ >"$work/w1" &&
			compile debian BENCH=1 bench/ >"$work/w1"
		report "W=1 -Werror and sparse of the benchmark" "$work/w1" $?
	fi
fi

source_tree=$(readlink -e "$(kernel_dir uml)/build/source")
# passed_before KEY FILE...: succeeds if a tool had no findings in these contents before, in
# any checkout. KEY has everything else that the result depends on. If the tool has no
# findings now, the caller calls passed_now.
passed_before()
{
	local key=$1

	shift
	seen=$({ echo "$key"; sha1sum "$@"; } | sha1sum)
	grep -qsxF "$seen" "$cache/lint-passed"
}

passed_now()
{
	echo "$seen" >>"$cache/lint-passed"
}

# checkpatch IGNORED FILE...: prints the findings. Messages of checkpatch about itself are
# findings too, except the one about its missing table of const structures.
checkpatch()
{
	local ignored=$1 file rc seen

	shift
	for file; do
		passed_before "$checkpatch_key $ignored" "$file" && continue
		perl "$source_tree/scripts/checkpatch.pl" --no-tree \
			--strict --terse --no-summary --show-types --color=never \
			--ignore "$ignored" -f "$file" 2>"$work/checkpatch.said"
		rc=$?
		grep -v '^No structs that should be const will be found' \
			"$work/checkpatch.said" && continue
		[ "$rc" -ne 0 ] || passed_now
		[ "$rc" -le 1 ] || echo "checkpatch ended with $rc: $file"
	done
}

if [ -n "$source_tree" ] && have perl checkpatch; then
	checkpatch_key=$(sha1sum <"$source_tree/scripts/checkpatch.pl")
	# These types concern patches to the kernel, or X-macros.
	ignored=FILE_PATH_CHANGES,LINUX_VERSION_CODE
	ignored+=,MACRO_ARG_REUSE,MACRO_ARG_UNUSED,COMPLEX_MACRO
	# Substitutes for kernel headers have to define the kernel's own names.
	mapfile -t plain < <(printf '%s\n' "${code[@]}" |
		grep . | grep -vE '/trace\.h$|^kunit/host/(kunit|shim|sunrpc|system|verbs)\.h$')
	mapfile -t traces < <(printf '%s\n' "${code[@]}" | grep '/trace\.h$')
	checkpatch "$ignored" "${plain[@]}" >"$work/checkpatch"
	# As everywhere in the kernel, trace events are laid out as tables.
	ignored+=,PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE,TRAILING_SEMICOLON
	ignored+=,SPACING,LONG_LINE
	checkpatch "$ignored" "${traces[@]}" >>"$work/checkpatch"
	report "checkpatch --strict" "$work/checkpatch"
	printf '%s\n' "${code[@]}" | xargs -r perl \
		"$source_tree/scripts/kernel-doc" -none -Werror \
		>"$work/kdoc" 2>&1
	report "kernel-doc" "$work/kdoc" $?
else
	echo "skip lint: checkpatch and kernel-doc # no kernel source in the cache"
fi

if have codespell "spelling"; then
	files | grep -vE '^COPYING$|\.(config|patch)$' |
		xargs -r codespell -q 3 -L 'inout,parms,ser,rin,fo,te,statics,nd' \
		>"$work/spell" 2>&1
	report "spelling" "$work/spell" $?
fi

# The tool follows sourced files, so a change of one script checks all of them.
if [ "${#shell[@]}" -gt 0 ] && have shellcheck "shellcheck"; then
	rc=0
	: >"$work/shell"
	passed_before "$(shellcheck --version)" "${shell[@]}" ||
		{ shellcheck -x "${shell[@]}" >"$work/shell" 2>&1 && passed_now; } || rc=$?
	report "shellcheck" "$work/shell" "$rc"
fi

files | grep -E '\.([chS]|sh|lua|py)$' | xargs -r wc -l |
	awk '$2 != "total" && $1 > 1500 { print $2 ": " $1 " lines" }' >"$work/long"
report "no file above 1500 lines" "$work/long"

grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION' /dev/null "${code[@]}" >"$work/version"
report "no kernel versions in the code" "$work/version"

if have pyflakes3 "pyflakes"; then
	files '*.py' | xargs -r pyflakes3 >"$work/python" 2>&1
	report "pyflakes" "$work/python" $?
fi

if have ctags "names of functions, circles, faults/unreached"; then
	{ scripts/lint-structure.py && scripts/lint-structure.py --canary; } \
		>"$work/structure" 2>&1
	report "names of functions, circles of files, names in faults/unreached" \
		"$work/structure" $?
fi

if have rst2pseudoxml "documents are well-formed"; then
	for f in Documentation/*.rst Documentation/man/*.rst; do
		rst2pseudoxml --report=2 --halt=5 "$f" /dev/null 2>&1
	done >"$work/documents"
	report "documents are well-formed" "$work/documents"
fi

if have python3 "README against the guide, protocol.rst against the sources"; then
	scripts/guide.py readme README >"$work/readme" 2>&1
	report "the commands of README are in the guide" "$work/readme" $?
	scripts/lint-protocol.py >"$work/protocol" 2>&1
	report "protocol.rst against the sources" "$work/protocol" $?
	if [ -z "$base" ] || [ -n "$(files 'scripts/lint-protocol.py')" ]; then
		scripts/lint-protocol.py --canary >"$work/canary" 2>&1
		report "the check of protocol.rst detects errors" "$work/canary" $?
	fi
fi

if [ -z "$base" ] || [ -n "$(files 'compat/*')" ]; then
	scripts/lint-kernels.sh "$(scripts/vm/kernel.sh uml)/build" >"$work/kernels" 2>&1
	report "detection of features of kernels" "$work/kernels" $?
fi

if [ -n "$base" ] && have python3 "each removed assertion has a reason"; then
	scripts/assertions.py "$(git merge-base "$base" HEAD)" >"$work/removed" 2>&1
	rc=$?
	[ "$rc" -ne 0 ] || : >"$work/removed"
	report "each removed assertion has a reason" "$work/removed" "$rc"
fi

files '*.[ch]' '*.sh' '*.py' '*.awk' Makefile Kbuild '*/Kbuild' |
	xargs -r grep -L 'SPDX-License-Identifier: GPL-2.0' >"$work/spdx"
report "SPDX lines" "$work/spdx"

files | grep -vE '^COPYING$|\.patch$' | xargs -r grep -nIE '[[:space:]]+$' >"$work/space"
report "no blanks at the end of a line" "$work/space"

exit "$failed"
