# shellcheck shell=bash disable=SC2013,SC2034
# SPDX-License-Identifier: GPL-2.0
#
# Sourced in a guest: what groups of tests have in common. One line a case,
# "ok NAME" or "FAIL NAME: why"; the exit status says whether one failed.
#
# What the kernel's log says about it all is vm.sh's business.

# shellcheck source=scripts/vm/nfs.sh
. "$(dirname "${BASH_SOURCE[0]}")/nfs.sh"

tools=$VM_BUILD/tools
failed=0

ok()
{
	echo "ok $*"
}

fail()
{
	echo "FAIL $*"
	failed=1
}

# check NAME COMMAND...: the command's output is shown when it fails.
check()
{
	local name=$1 out

	shift
	if out=$("$@" 2>&1); then
		ok "$name"
	else
		fail "$name: $(tail -n 3 <<<"$out" | tr '\n' ' ')"
		return 1
	fi
}

# Nothing of a test may be left behind for the next one.
umount_all()
{
	local i

	for i in /mnt /mnt2; do
		if grep -q " $i " /proc/mounts; then
			umount "$i" || { umount -f "$i"; umount -l "$i"; return 1; }
		fi
	done
}

# verdicts LABEL COMMAND...: of a program that has cases of its own.
verdicts()
{
	local label=$1

	shift
	"$@" | sed "s|^ok |&$label: |; s|^FAIL |&$label: |"
	[ "${PIPESTATUS[0]}" -eq 0 ] || failed=1
}

# unload TRANSPORT
unload()
{
	local i

	# The last transports go away in the background.
	for i in $(seq 50); do
		case $1 in
		rdma2)	rmmod svcrdma2 xprtrdma2 2>/dev/null
			lsmod | grep -qE '^(svc|xprt)rdma2 ' || return 0 ;;
		*)	rmmod rpcrdma 2>/dev/null
			lsmod | grep -q '^rpcrdma ' || return 0 ;;
		esac
		sleep 0.1
	done
	lsmod | grep rdma
	return 1
}

# counters: one "name value" a line, the client's prefixed c_, the server's s_.
counters()
{
	sed 's/^/c_/' /sys/kernel/debug/xprtrdma2/counters
	sed 's/^/s_/' /sys/kernel/debug/svcrdma2/counters
}

# risen BEFORE: by name, what the counters rose by since they were that.
declare -A rose
risen()
{
	local name value

	# Completions of the last RPC may still be on their way.
	sleep 0.2
	rose=()
	while read -r name value; do
		rose[$name]=$value
	done < <({ echo "$1"; echo ---; counters; } | awk '
		/^---/ { after = 1; next }
		!after { was[$1] = $2; next }
		{ print $1, $2 - was[$1] }')
}

# measure COMMAND...: what the counters rose by while it ran.
measure()
{
	local before

	before=$(counters)
	"$@" >/dev/null 2>&1
	risen "$before"
}

# expect NAME EXPRESSION: over what rose, by name.
expect()
{
	local name=$1 text=$2 expression=$2 word

	for word in $(grep -oE '[cs]_[a-z_]+' <<<"$text" | sort -ur); do
		if [ -z "${rose[$word]+set}" ]; then
			fail "$name: there is no counter $word"
			return
		fi
		expression=${expression//$word/${rose[$word]}}
	done
	if [ $((expression)) -ne 0 ]; then
		ok "$name"
	else
		fail "$name: not $text: $expression"
	fi
}

run_group()
{
	if ! declare -F "group_$1" >/dev/null; then
		echo "FAIL there is no group $1"
		exit 2
	fi
	"group_$1"
	exit "$failed"
}
