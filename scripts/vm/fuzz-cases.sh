# shellcheck shell=bash disable=SC2015,SC2034,SC2086,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: the tester's fuzzing mode against either end. MESSAGES,
# CONNECTIONS, SEED, JOBS, RATE and REPLAY come from the environment; by default a run is
# short.

# A client that mounts from the fuzzing server again and again; the port identifies the
# mount.
step_fuzz-run()
{
	local dir=/mnt.$PORT

	mkdir -p "$dir"
	trap 'kill $! 2>/dev/null; umount -f -l "$dir"; exit 1' TERM
	timeout --foreground -s KILL 30 mount -t nfs -o \
		"vers=3,proto=$proto,nolock,soft,timeo=10,retrans=1,noac,port=$PORT" \
		"$addr4:$export_dir" "$dir" || exit 1
	python3 "$VM_TOP/scripts/fuzz/use.py" "$dir/fuzz" &
	wait $!
	umount -f -l "$dir"
}

# Checks the kernel's log for reports since the last check.
step_fuzz-check()
{
	! dmesg -c | grep -vE 'traps: ' | grep -qE \
		'BUG|WARNING|KASAN|UBSAN|Oops|Call Trace|DMA-API|INFO: |refcount_t|lockdep'
	exit
}

# data_are_correct: writes and reads blocks of 4 KiB until the tester has ended
data_are_correct()
{
	while
		head -c 262144 /dev/urandom >/tmp/data
		dd if=/tmp/data of=/mnt/data bs=4k oflag=direct status=none &&
			dd if=/mnt/data of=/tmp/back bs=4k iflag=direct status=none &&
			cmp /tmp/data /tmp/back || return
		! have_ended "$group"
	do
		pause 2
	done
}

# fuzz VIEW ARGUMENT...: runs the tester, which has begun when the view has more connections than
# those of two mounts, and which leaves the processor to others. The mounts have to work
# throughout, and the RPCs of one take their turn: of each job its connection and one that ends
# may be ahead, and the listener.
fuzz()
{
	local group before log=/run/vm/fuzz.log view=$1

	shift
	before=$(counters)
	setsid nice -n 19 \
		"$VM_TOP/tester/rpcrdma2-test" --fuzz --seed "${SEED:-1}" \
		--messages "$messages" --connections "$connections" \
		${RATE:+--rate "$RATE"} ${REPLAY:+--replay "$REPLAY"} \
		--check "$VM_TOP/scripts/vm/nfs-cases.sh fuzz-check" "$@" \
		>"$log" 2>&1 &
	group=$!
	if [ -z "${REPLAY:-}" ]; then
		until [ "$(grep -c ' state=up ' "$view")" -gt 2 ] || have_ended "$group"; do
			pause 1
		done
		served "beside $name" "[$addr6]" $((2 * jobs + 1)) crowd_operations /mnt2 100 20
		check "$name goes on meanwhile" kill -0 "$group"
		check "beside $name: all data are correct" data_are_correct
	fi
	wait "$group" && ok "$name" ||
		fail "$name: $(grep -v '^#' "$log" | tail -n 3 | tr '\n' ' ')"
	grep '^#' "$log"
	risen "$before"
}

fuzz_up()
{
	dmesg -c >/dev/null
	echo 16384 >/sys/kernel/tracing/buffer_size_kb
	nfs_up rdma2 && mount_nfs rdma2 4.2 /mnt && mount_nfs rdma26 3 /mnt2 noac,nolock ||
		{ fail "server"; return 1; }
	mkdir "$export_dir/fuzz"
	head -c 65536 /dev/urandom >"$export_dir/fuzz/data"
	ln -s "$(printf '%0900d' 0)" "$export_dir/fuzz/link"
}

# The tester is the client.
group_fuzz-server()
{
	local name=fuzz.client messages=${MESSAGES:-4000} connections=${CONNECTIONS:-50}
	local jobs=${JOBS:-4}

	fuzz_up || return
	fuzz "$server_view" --jobs "$jobs" --export "$export_dir" "$addr4" "$port"
	expect "$name: chunks of every kind were transferred" \
		"s_read_chunk_bytes > 0 && s_long_calls > 0 && s_write_chunk_bytes > 0 && s_reply_chunk_bytes > 0"
	expect "$name: messages were refused and dropped" \
		"s_errors_bad_xdr > 0 && s_dropped_reply > 0 && s_dropped_error > 0"
	expect "$name: connections have ended, and the reasons are counted" \
		"s_ended_PEER >= $connections / 2 && c_ended_PEER == 0"
}

# The tester is the server.
group_fuzz-client()
{
	local name=fuzz.server messages=${MESSAGES:-4000} connections=${CONNECTIONS:-50}
	local jobs=${JOBS:-12}

	[ -n "${MESSAGES:-}" ] || jobs=4
	fuzz_up || return
	fuzz "$client_view" --jobs "$jobs" --server --trigger \
		"exec $VM_TOP/scripts/vm/nfs-cases.sh fuzz-run rdma2" "$addr4" 21000
	expect "$name: chunks were transferred" \
		"c_read_chunk_bytes > 0 && c_write_chunk_bytes > 0 && c_reply_chunks > 0"
	expect "$name: Replies were refused and unknown" \
		"c_replies_bad > 0 && c_replies_unknown > 0 && c_errors_received > 0"
	expect "$name: connections have ended, and the reasons are counted" \
		"c_ended_PEER >= $connections / 2"
	umount -a -f -l -t nfs
}

# listens PORT: succeeds if the device has a listener on this port
listens()
{
	rdma resource show cm_id | grep -q "LISTEN .*src-addr $addr4:$1 "
}

# flawed CASE FAULT REPORT [OPTION...]: the fuzzer has to detect a server with a fault, and
# to reduce its cause to one message and one mutation
flawed()
{
	local name="fuzzing finds $1" fault=$2 report=$3 peer said tester

	shift 3
	tester=$VM_TOP/tester/rpcrdma2-test
	flawed_port=$((${flawed_port:-21900} + 1))
	"$tester" "$addr4" "$flawed_port" \
		--flawed $fault >/tmp/flawed.log 2>&1 &
	peer=$!
	await eval "listens $flawed_port || have_ended $peer"
	if ! listens "$flawed_port"; then
		fail "$name: the server does not listen: $(tail -n 1 /tmp/flawed.log)"
		kill "$peer" 2>/dev/null
		wait "$peer"
		return
	fi
	said=$(timeout 120 "$tester" --fuzz \
		--seed 7 --jobs 1 --export "$export_dir" "$@" "$addr4" "$flawed_port" 2>&1)
	[ $? -eq 1 ] && grep -q "FAILED: $report" <<<"$said" &&
		ok "$name" || fail "$name: $(tail -n 4 <<<"$said" | tr '\n' ' ')"
	said=$(sed -n 's/^# minimised to //p' <<<"$said")
	case $said in
	"1 messages and 1 mutations: "*|"1 messages and 0 mutations: "*)
		ok "$name: in ${said%: *}" ;;
	*)	fail "$name: in \"${said%: *}\"" ;;
	esac
	kill "$peer" || fail "$name: the server has ended: $(tail -n 1 /tmp/flawed.log)"
	wait "$peer"
}

# ends_with STATUS REGEX COMMAND...: succeeds if the command ends with this status, and its output
# matches
ends_with()
{
	local said status

	said=$("${@:3}" 2>&1)
	status=$?
	[ "$status" -eq "$1" ] && grep -qE "$2" <<<"$said" ||
		complain "${*:3}: ends with $status: $said"
}

# A program that did nothing must not pass.
idle_programs()
{
	ends_with 2 '^FAIL no case of NFSv4.2 is called "none": ' \
		env CASES=none "$VM_TOP/scripts/fs-exercise.py" 4.2 /mnt "$export_dir" &&
	ends_with 2 '^usage: .*, at least one of each$' "$load_sh" /mnt "$export_dir" 5 0 &&
	ends_with 2 '^usage: .*, at least one of each$' "$load_sh" /mnt "$export_dir" 0 1
}

# is_past_time HUNDREDTHS: succeeds from this time of the guest on
is_past_time()
{
	local now

	uptime
	[ "$now" -ge "$1" ]
}

# The bounds of other cases: an event in time, one that is late, and one that never happens
time_is_bounded()
{
	local now

	uptime
	happens_in 2 is_past_time $((now + 150 * patience)) || complain "an event in time" || return
	uptime
	! happens_in 2 is_past_time $((now + 280 * patience)) || complain "a late event" || return
	! is_past_time $((now + 280 * patience)) || complain "the end of a bound is late" || return
	! await false
}

# Corrupts the server's file, in the header of a block or in the middle of one; the load has
# to detect it.
wrong_bytes()
{
	local at

	mkdir "$export_dir/wrong"
	for at in 0 1500000; do
		"$load_sh" "$export_dir/wrong" "$export_dir/wrong" 1 1 || return
		dd of="$export_dir/wrong/large.0.0" bs=1 seek="$at" \
			conv=notrunc status=none <<<wrong
		# EILSEQ is fio's error of a verification.
		ends_with 1 '^large: error 84; fio read .*: an error$' \
			"$load_sh" verify "$export_dir/wrong" 1 || return
	done
}

# Tests the tests. Each case of the tester has to pass with its own server, and to fail with
# each fault that the case is about; CASES selects faults. A file stands in for a report in
# the kernel's log. The programs of the file tests are the same in all kernels, so this group
# alone has their cases.
group_flawed()
{
	nfs_up rdma2 || { fail "server"; return; }
	tester "" --faults --export "$export_dir" "$addr4" 21900 ${CASES:-} || failed=1
	[ -z "${CASES:-}" ] || return 0
	flawed "an answer that grants no credits" "" "a malformed answer"
	flawed "a message that causes a report" /tmp/flaw "the peer has a problem" \
		--check '! rm /tmp/flaw 2>/dev/null'
	check "programs without an effect fail" idle_programs
	check "the load detects wrong bytes" wrong_bytes
	check "an event that is late, or never happens, fails" time_is_bounded
}
