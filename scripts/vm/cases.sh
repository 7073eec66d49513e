# shellcheck shell=bash disable=SC2013,SC2015,SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced in a guest: what groups of tests have in common. One line a case,
# "ok NAME" or "FAIL NAME: why"; the exit status says whether one failed.
#
# What the kernel's log says about it all is vm.sh's business.

# shellcheck source=scripts/vm/nfs.sh
. "$(dirname "${BASH_SOURCE[0]}")/nfs.sh" || exit 2

tools=${VM_BUILD%-kunit}/tools
load_sh=$VM_TOP/scripts/load.sh
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

# can_fail FILE NAME: has this kernel the fault injection FILE? uml-debug and
# uml-smp have to.
can_fail()
{
	[ ! -e "$1" ] || return 0
	if [[ $VM_KERNEL == uml-debug || $VM_KERNEL == uml-smp ]]; then
		fail "$2: there is no $1"
	else
		echo "# $2: not in this kernel, there is no ${1##*/}"
	fi
	return 1
}

# settings FOLDER FILE=VALUE...: of fault injection, one after the other
settings()
{
	local pair

	for pair in "${@:2}"; do
		echo "${pair#*=}" >"$1/${pair%%=*}"
	done
}

# refuses FILE VALUE: a parameter that is there does not take a value, and keeps its own
refuses()
{
	local was

	if [ ! -w "$1" ]; then
		fail "there is no $1"
		return
	fi
	was=$(cat "$1")
	if (echo "$2" >"$1") 2>/dev/null; then
		fail "$1 takes $2"
	elif [ -z "$was" ] || [ "$(cat "$1")" != "$was" ]; then
		fail "$1 was '$was' and is '$(cat "$1")', after $2"
	fi
}

# at_work: waits until the load, process $load, that speaks to /tmp/load is
at_work()
{
	while kill -0 "$load" 2>/dev/null && ! grep -qs '^# begins' /tmp/load; do
		sleep 0.2
	done
}

# load_sums FILE: what loads that have spoken to it have verified
load_sums()
{
	sed -n 's/^# \(.* verified\)/\1/p' "$1" | paste -sd ';'
}

# has_verified NAME PROCESS FILE: a load has, in the end; the file is what it has said
has_verified()
{
	wait "$2" && ok "$1 verified ($(load_sums "$3"))" ||
		fail "$1: $(tr '\n' ' ' <"$3")"
}

# Nothing of a test may be left behind for the next one. Below the mounts are
# folders of the guest's own, which stay.
umount_all()
{
	local i

	for i in /mnt /mnt2; do
		if grep -q " $i nfs" /proc/mounts; then
			umount "$i" || { umount -f "$i"; umount -l "$i"; return 1; }
		fi
	done
}

# verdicts LABEL COMMAND...: of a program that has cases of its own.
verdicts()
{
	local label=$1 rc

	shift
	"$@" | sed "s|^ok |&$label: |; s|^FAIL |&$label: |"
	rc=${PIPESTATUS[0]}
	case $rc in
	0)	;;
	1)	failed=1 ;;
	*)	fail "$label: ${1##*/} ends with $rc" ;;
	esac
}

# unload TRANSPORT
unload()
{
	local i

	# The last transports go away in the background. Whether they do is the verdict,
	# not how soon: a busy machine took more than 5 s once.
	for i in $(seq 600); do
		case $1 in
		rdma2)	rmmod svcrdma2 xprtrdma2 rpcrdma2 2>/dev/null
			lsmod | grep -qE '^(svc|xprt|rpc)rdma2 ' || return 0 ;;
		*)	rmmod rpcrdma 2>/dev/null
			lsmod | grep -q '^rpcrdma ' || return 0 ;;
		esac
		sleep 0.1
	done
	lsmod | grep rdma
	return 1
}

# users_of_sunrpc: clients, transports and RPCs that are left, and where threads wait that
# may use them
users_of_sunrpc()
{
	local i

	grep -H . /sys/kernel/debug/sunrpc/rpc_{clnt,xprt}/*/* 2>/dev/null
	grep nfs /proc/mounts
	for i in /proc/[0-9]*; do
		grep -qE 'nfs|lockd|manager|:20049|rpciod|rdma2' "$i/comm" 2>/dev/null || continue
		echo "$(<"$i/comm"): $(tr '\n' ' ' <"$i/stack")"
	done
}

# sums FOLDER: of all files
sums()
{
	(cd "$1" && find . -type f -print0 | sort -z | xargs -0 b2sum)
}

# counters: one "name value" a line, the client's prefixed c_, the server's s_. And
# how often the mount on /mnt has sent which operation, o_
counters()
{
	sed 's/^/c_/' /sys/kernel/debug/xprtrdma2/counters
	sed 's/^/s_/' /sys/kernel/debug/svcrdma2/counters
	figures /mnt 2>/dev/null |
		awk '$1 == "op" { print "o_" tolower($2), $4 }'
}

# rise BEFORE AFTER: by name, what the counters rose by from one file to the other
declare -A rose
rise()
{
	local name value

	rose=()
	while read -r name value; do
		rose[$name]=$value
	done < <(awk 'NR == FNR { was[$1] = $2; next } { print $1, $2 - was[$1] }' \
		"$1" "$2")
}

# risen BEFORE: what they rose by since they were that
risen()
{
	# Completions of the last RPC may still be on their way.
	sleep 0.2
	rise <(echo "$1") <(counters)
}

# client_counter NAME: what it is, in $counter. No process is started, which takes long on
# a busy machine: while a peer has no Receives, soft-RoCE repeats a Send for 4 s. It
# takes the time to each ACK that lacks for a timeout, and the client allows 6.
client_counter()
{
	local name

	while read -r name counter; do
		[ "$name" != "$1" ] || return 0
	done </sys/kernel/debug/xprtrdma2/counters
	return 1
}

# is_past NAME NUMBER
is_past()
{
	client_counter "$1"
	[ "$counter" -gt "$2" ]
}

# tries NUMBER PAUSE COMMAND...: until it succeeds, so often at most, with so many seconds
# in between
tries()
{
	local try

	for ((try = 0; try < $1; try++)); do
		"${@:3}" && return
		sleep "$2"
	done
	return 1
}

# await COMMAND...: until it succeeds. The bound is for what never does.
await()
{
	tries 600 0.1 "$@"
}

# have_ended PROCESS...: none of them is there
have_ended()
{
	! kill -0 "$@" 2>/dev/null
}

# has_risen COUNTER NUMBER: since $before
has_risen()
{
	rise <(echo "$before") <(counters)
	[ "${rose[$1]}" -eq "$2" ]
}

# counted COMMAND...: what the counters rose by while it ran; its exit status
counted()
{
	local before status

	before=$(counters)
	"$@"
	status=$?
	risen "$before"
	return "$status"
}

# measure COMMAND...: the same without its output
measure()
{
	local before

	before=$(counters)
	"$@" >/dev/null 2>&1
	risen "$before"
}

# reasons: for which the client's connections have ended, as often as it has risen
reasons()
{
	local name

	for name in "${!rose[@]}"; do
		[[ $name != c_ended_* || ${rose[$name]} -eq 0 ]] ||
			echo -n " ${name#c_ended_} ${rose[$name]}"
	done
}

# expect NAME EXPRESSION: over what rose, by name.
expect()
{
	local name=$1 text=$2 expression=$2 word

	for word in $(grep -oE '\<[cso]_[A-Za-z_]+' <<<"$text" | sort -ur); do
		if [ -z "${rose[$word]+set}" ]; then
			fail "$name: there is no counter $word"
			return
		fi
		expression=${expression//$word/${rose[$word]}}
	done
	[ $((expression)) -ne 0 ] && ok "$name" ||
		fail "$name: not $text: $expression, ended:$(reasons)"
}

# figures FOLDER: /proc/self/mountstats of a mount, read as strictly as its
# strictest readers do: format 1.1, 27 numbers of a transport that is called
# rdma, 9 of an operation. Prints "xprt NAME VALUE" for each connection's and
# "op NAME CALLS SENT TIMEOUTS BYTES-SENT BYTES-RECEIVED".
figures()
{
	perl -e '
	my ($dir, $here, $ops, $xprts, $per_op) = (shift, 0, 0, 0, 0);
	my @name = qw(port binds connects connect_time idle sends recvs
		bad_xids req_u bklog_u read_chunks write_chunks reply_chunks
		request_bytes reply_bytes pullup_bytes fixup_bytes hardway
		failed_marshal bad_replies nomsg_calls mrs_recycled
		mrs_orphaned mrs_allocated local_inv no_sq reply_waits);

	sub numbers {
		my ($what, $n, @field) = @_;

		@field == $n or die "$what has @{[scalar @field]} numbers, not $n\n";
		/^\d{1,20}$/ or die "$what has \"$_\"\n" for @field;
	}

	open(my $in, "<", "/proc/self/mountstats") or die "mountstats: $!\n";
	while (<$in>) {
		if (/^device \S+ mounted on (\S+) with fstype (\S+)(.*)/) {
			my ($at, $type, $vers) = ($1, $2, $3);

			($here, $ops) = ($at eq $dir && $type =~ /^nfs4?$/, 0);
			!$here || $vers eq " statvers=1.1" or die "$_";
		} elsif ($here && /^\txprt:\t(.*)/) {
			my ($protocol, @field) = split(/ /, $1, -1);

			$protocol eq "rdma" or die "a transport $protocol\n";
			numbers("xprt", 27, @field);
			print "xprt $name[$_] $field[$_]\n" for 0 .. $#field;
			$xprts++;
		} elsif ($here && /^\tper-op statistics/) {
			$ops = 1;
		} elsif ($ops && /^\t *([A-Z0-9_]+): (.*)/) {
			my @field = split(/ /, $2, -1);

			numbers($1, 9, @field);
			print "op $1 @field[0 .. 4]\n";
			$per_op++;
		}
	}
	$xprts && $per_op or die "nothing about $dir\n";' "$1"
}

# figure FOLDER WORDS: the next word of the line that begins with these
figure()
{
	figures "$1" | sed -n "s/^$2 \([^ ]*\).*/\1/p"
}

# connection KEY: of the client's one connection to the server that mount_nfs
# uses
connection()
{
	sed -n "s/^peer=[^ ]*:$port \(.* \)\?$1=\([^ ]*\).*/\2/p" \
		/proc/net/rpc/xprtrdma2 | head -n 1
}

run_group()
{
	if ! declare -F "group_$1" >/dev/null; then
		echo "FAIL there is no group $1"
		exit 2
	fi
	# A mount may cover the folder in which the run began.
	cd / || exit 2
	"group_$1"
	exit "$failed"
}
