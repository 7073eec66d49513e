# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2015,SC2034,SC2153,SC2154
#
# Sourced by nfs-cases.sh: callbacks from in-tree's server or svcrdma2, in one kernel with
# the client. A recall is triggered by opening the file on the server's side, which blocks
# until the client has returned the delegation.

intree_port=20050
storm=${QUICK:+32}
storm=${storm:-64}

# Mount points of the test
folders=(/mnt)

# nfsd gives no delegation during lockd's grace period, which begins when nfsd starts.
grace_over()
{
	echo Y >/proc/fs/lockd/nlm_end_grace
}

# One server with a listener for each transport
server_for_callbacks()
{
	nfs_up rdma2 && load_modules rdma &&
		listen_on rdma "$intree_port" && grace_over
}

# mount_KIND VERSION: mounts that differ in the implementations at their ends. In-tree's
# server has the same problem with many large READs as its client; see common.
mount_intree()
{
	port=$intree_port mount_nfs rdma2 "$1" /mnt rsize=262144,wsize=262144
}

mount_from_intree()
{
	mount_nfs rdma "$1" /mnt rsize=262144,wsize=262144
}

# mount_rdma2 NFS-VERSION VERSION: mounts, and checks the protocol version
mount_rdma2()
{
	mount_nfs rdma2 "$1" /mnt &&
	grep " version=$2 " /proc/net/rpc/xprtrdma2 ||
		complain "not in version $2"
}

mount_two()
{
	mount_rdma2 "$1" 2
}

mount_one()
{
	pinned 1 mount_rdma2 "$1" 1
}

delegations()
{
	cat /proc/fs/nfsd/clients/*/states 2>/dev/null | grep -c 'type: deleg'
}

# through_mounts COMMAND...: runs the command for each client, with the names of all files
# below its mount
through_mounts()
{
	local folder names

	for folder in "${folders[@]}"; do
		names=("$export_dir"/d*)
		"$@" "${names[@]/#"$export_dir"/$folder}" || return
	done
}

# delegate COUNT: each client opens files until it has COUNT delegations. For a minute after
# a recall nfsd does not delegate the same file again. Its filter for this also matches more
# and more other files, half of them after 130 recalls; see forgets_recalls(). A client may
# also have stale attributes of a file that is replaced on the server, so no name is used
# twice.
delegate()
{
	local i n batch wanted=$(($1 * ${#folders[@]}))

	for n in 1 2 3 4 5 6 7 8; do
		batch=$(date +%s%N)
		for i in $(seq "$1"); do
			echo old >"$export_dir/d$batch.$i"
		done
		through_mounts cat >/dev/null || return 1
		[ "$(delegations)" -ge "$wanted" ] && return
	done
	complain "$(delegations) delegations for $((n * $1)) files"
}

# recall_by COMMAND...: runs the command, which recalls all delegations, and sets $took to the
# duration in ms. The trace then has the callbacks that nfsd has repeated.
recall_by()
{
	local start at=/sys/kernel/tracing

	echo 1 >"$at/events/nfsd/nfsd_cb_restart/enable"
	echo >"$at/trace"
	start=$(date +%s%N)
	"$@"
	took=$((($(date +%s%N) - start) / 1000000))
}

write_all()
{
	local f writers=()

	for f in "$export_dir"/d*; do
		(echo new >"$f") &
		writers+=($!)
	done
	wait "${writers[@]}"
}

# recall: recalls all delegations at once
recall()
{
	recall_by write_all
}

# recalled_in MS [LOAD]: fails if a callback of the last recall was lost, or the load has ended.
# nfsd repeats a lost callback, or, without a callback path, revokes the delegation, which takes
# twice the lease. The bound on the duration is for simulated time.
recalled_in()
{
	local again at=/sys/kernel/tracing

	[ -z "${2:-}" ] || kill -0 "$2" || return
	[ "$(<"$at/events/nfsd/nfsd_cb_restart/enable")" = 1 ] || return
	again=$(grep -c nfsd_cb_restart: "$at/trace")
	[ "$again" -eq 0 ] || complain "nfsd repeats $again callbacks" || return
	[ "$VM_CLOCK" = host ] || [ "$took" -lt "$1" ] || complain "in $took ms"
}

# all_new: checks that the clients read the new data after they lost their delegations
all_new()
{
	[ "$(through_mounts sort -u | sort -u)" = new ] ||
		complain "$(through_mounts cat | sort | uniq -c | tr '\n' ' ')"
}

# The Reply to a client's next renewal reports that the callback path is down.
callback_path_up()
{
	await callback_paths_up ||
		complain "$(grep state /proc/fs/nfsd/clients/*/info)"
}

callback_paths_up()
{
	[ "$(cat /proc/fs/nfsd/clients/*/info | grep -c 'callback state: UP')" -ge \
		"${#folders[@]}" ]
}

# delegate_again COUNT: like delegate, after a disconnect. nfsd gives no delegation while the
# callback path is down. It detects that late, so the path may go down after the first look.
delegate_again()
{
	callback_path_up || return
	delegate "$1" 2>/dev/null && return
	rm -f "$export_dir"/d*
	callback_path_up && delegate "$1"
}

# recalls LABEL COUNT: delegates and recalls COUNT files
recalls()
{
	# nfsd gives no delegation before its probe of the callback path has been answered.
	check "$1: $2 delegations" eval "callback_path_up && delegate $2" || return
	recall
	check "$1: all recalled concurrently: $took ms" recalled_in 9000
	check "$1: the client reads the new data" all_new
	rm -f "$export_dir"/d*
}

# expect_callbacks LABEL COUNT SIDE...: checks the backward Calls and Replies that the
# modules of these sides (c, s) have counted
expect_callbacks()
{
	local label=$1 count=$2 side

	for side in "${@:3}"; do
		expect "$label: a Call for each delegation ($side)" \
			"${side}_backward_calls > $count"
		expect "$label: a Reply for each Call ($side)" \
			"${side}_backward_replies == ${side}_backward_calls"
		case $side in
		c)	expect "$label: no Call was refused or dropped" \
				"c_backward_refused == 0 && c_backward_unanswered == 0" ;;
		s)	expect "$label: no Call failed, and no Reply was dropped" \
				"s_backward_errors == 0 && s_dropped_reply == 0" ;;
		esac
	done
}

# bindings: prints nfsd's count of operation 41, BIND_CONN_TO_SESSION. A client sends one
# each time the server reports a lost callback path.
bindings()
{
	awk '$1 == "proc4ops" { print $(3 + 41) }' /proc/net/rpc/nfsd
}

creations()
{
	local i before

	before=$(bindings)
	for i in $(seq 200); do
		: >"/mnt/created$i"
	done
	# Linux 7.3 delegates these files. A removal at the server would recall them all, and
	# fill nfsd's filter (see delegate).
	rm -f /mnt/created*
	[ "$(bindings)" -eq "$before" ] ||
		complain "$(($(bindings) - before)) times"
}

recalls_twice()
{
	recalls "$1" 1
	recalls "$1" "$2"
}

# callbacks_of LABEL MOUNT VERSION COUNT SIDE...: mounts, and recalls COUNT delegations;
# SIDE names the ends whose counters are checked
callbacks_of()
{
	local label="$1NFSv$3" mount=$2 version=$3 count=$4

	check "$label: mount" "$mount" "$version" || return
	check "$label: the callback path is up" callback_path_up
	check "$label: 200 new files and no BIND_CONN_TO_SESSION" creations
	counted recalls_twice "$label" "$count" 2>/dev/null
	expect_callbacks "$label" "$count" "${@:5}"
	check "$label: umount" umount_all
}

# busy_all SECONDS WORKERS: like busy, in a separate folder on each mount; stop_loads ends the
# load early.
busy_all()
{
	local folder name pid loads=()

	{
		for folder in "${folders[@]}"; do
			name=load-${folder#/}
			mkdir -m 777 "$export_dir/$name"
			"$load_sh" "$folder/$name" "$export_dir/$name" "$@" &
			loads+=($!)
		done
		for pid in "${loads[@]}"; do
			wait "$pid" || exit
		done
	} >/tmp/load 2>&1 &
	load=$!
	at_work
}

stop_loads()
{
	pkill -TERM -f "^[^ ]*bash $load_sh"
}

# on_mount LABEL MOUNT VERSION COMMAND...: runs the command on a new mount. The next one finds
# neither this mount nor its files, also if one of two clients has not mounted.
on_mount()
{
	local label=$1

	if check "$label: mount" "$2" "$3"; then
		"${@:4}"
		check "$label: umount" umount_all
	else
		umount_all
	fi
	rm -rf "${export_dir:?}"/*
}

recalls_without_credits()
{
	local i

	busy_all 600 2
	for i in 1 2; do
		recalls "B-04 B-17 4 credits, all in use, round $i" 8
	done
	stop_loads
	end_busy "4 credits, with callbacks"
}

# Calls wait for credits all the time, and Replies must not wait (B-04, B-17).
callbacks_without_credits()
{
	echo 4 >/sys/module/xprtrdma2/parameters/slots
	echo 4 >/sys/module/svcrdma2/parameters/credits
	on_mount "4 credits" "$1" 4.2 recalls_without_credits
	echo 64 >/sys/module/xprtrdma2/parameters/slots
	echo 64 >/sys/module/svcrdma2/parameters/credits
}

# Prints the number of callbacks from the end that has counted more, because in-tree's ends
# count none.
called_back()
{
	awk '$1 == "backward_calls" && $2 > n { n = $2 } END { print n + 0 }' \
		/sys/kernel/debug/[sx]*rdma2/counters
}

# recalling N: begins a recall, as $recaller, and waits until N callbacks have arrived; fails
# if none is outstanding then
recalling()
{
	local before

	before=$(called_back)
	recall &
	recaller=$!
	while kill -0 "$recaller" 2>/dev/null &&
			[ $(($(called_back) - before)) -lt "$1" ]; do
		sleep 0.001
	done
	kill -0 "$recaller" 2>/dev/null
}

# while_recalling N COMMAND...: runs the command after N callbacks have arrived, while
# others are outstanding. On a busy machine all may be over when this task looks: then they
# are recalled once more, because the command has not run yet. The command does not run if nothing
# can be recalled. A case fails then, or if the command does.
while_recalling()
{
	local recaller

	until recalling "$1"; do
		wait "$recaller"
		rm -f "$export_dir"/d*
		delegate_again 20 || { fail "$2: no delegations"; return 1; }
	done
	"${@:2}" || fail "while callbacks are outstanding: ${*:2}"
	wait "$recaller"
	rm -f "$export_dir"/d*
}

# recovered LABEL: after a lost Reply the server assumes that the Call was never made and
# reuses its sequence number. The first callback detects this; only later ones can succeed.
recovered()
{
	check "$1: the callback path is up again" delegate_again 1
	recall
	rm -f "$export_dir"/d*
	check "$1: the callback path stays up" callback_path_up
	recalls "$1" 8
}

recalls_cut_off()
{
	local i before

	before=$(counters)
	for i in $(seq "$1"); do
		check "cut off, round $i: delegations" delegate_again 20
		while_recalling "$i" outage device_down device_up || return
	done
	risen "$before"
	# If the server detects the removal first, the client sees a disconnect by its peer.
	expect "cut off: each round ended a connection" "c_ended_DEVICE + c_ended_PEER >= $1"
	recovered "after that"
}

# callbacks_cut_off MOUNT ROUNDS: removes the device while callbacks are outstanding, in a
# different state each time. nfsd gives up a recall without a callback path and revokes the
# delegation; the data that its client then reads is not checked.
callbacks_cut_off()
{
	on_mount "cut off" "$1" 4.2 recalls_cut_off "$2"
}

restart_and_recover()
{
	local folder

	server_restart rdma2 || return
	for folder in "${folders[@]}"; do
		stat "$folder/." >/dev/null || return
	done
}

recalls_at_restart()
{
	local before

	check "restart: delegations" delegate_again 20
	before=$(counters)
	while_recalling 4 restart_and_recover || return
	ended_for "restart" "$client_view" peer
	grace_over
	recovered "after that"
}

unused()
{
	await grep -qx 0 /sys/module/xprtrdma2/refcnt
}

# umounts_begin: succeeds if each umount has ended, or taken its mount away
umounts_begin()
{
	local i

	for i in "${!folders[@]}"; do
		! grep -q " ${folders[i]} nfs" /proc/mounts || have_ended "${umounts[i]}" || return
	done
}

umount_cut_off()
{
	local folder umounts=()

	device_down || fail "umount: device removed"
	for folder in "${folders[@]}"; do
		umount -f "$folder" 2>/dev/null &
		umounts+=($!)
	done
	await umounts_begin || fail "umount: not begun without the device"
	device_up || fail "umount: device back"
	wait "${umounts[@]}"
	umount_all || fail "umount"
}

# callbacks_at_umount MOUNT ROUNDS: checks that no callback keeps a reference to the
# transport, and thereby to the module, after the unmount. The connection ends before the
# unmount. Otherwise a thread that processes a callback could do the unmounting itself and
# then wait for its own end, with any transport.
callbacks_at_umount()
{
	local i versions=(4.1 4.2)

	for i in $(seq "$2"); do
		"$1" "${versions[i % 2]}" || { fail "umount: mount"; break; }
		check "umount, round $i: delegations" delegate_again 20
		while_recalling "$((i - 1))" umount_cut_off || break
		check "umount, round $i: all connections are closed" unused
	done
	# A round that has failed leaves its mount and files.
	umount_all
	rm -rf "${export_dir:?}"/*
}

# The tester's trigger: it mounts from the tester, which forwards Calls of nfsd in version
# 2.
step_recall-run()
{
	local port=$PORT label="version 2, NFSv$VERS"

	trap 'umount -f -l /mnt; exit 1' TERM
	{
		check "$label: mount" mount_nfs rdma2 "$VERS" /mnt && {
			recalls "$label" 12
			check "$label: umount" umount_all
		}
	} >/tmp/recalls
	exit "$failed"
}

callback_group()
{
	server_for_callbacks || { fail "server"; return 1; }
	"$@"
}

# Calls from the tester to NFSv3 mounts, which expect none, and forwarded Calls of nfsd. The
# tester's implementation is independent and follows the drafts.
group_callbacks-two()
{
	local v

	callback_group || return
	tester_of_clients 20061 client_recalls.calls_for_nobody
	tester_of_clients 20062 client_recalls.calls_with_the_xids_of_rpcs
	for v in 4.1 4.2; do
		VERS=$v tester "" --server --actions --trigger \
			"$VM_TOP/scripts/vm/nfs-cases.sh recall-run rdma2" \
			"$addr4" "2007${v#4.}" client_recalls.recalled || failed=1
		cat /tmp/recalls
		rm -f /tmp/recalls
	done
}

group_callbacks-intree()
{
	local v

	callback_group || return
	for v in 4.1 4.2; do
		callbacks_of "" mount_intree "$v" "$storm" c
	done
}

group_callbacks-busy()
{
	callback_group callbacks_without_credits mount_intree
}

group_callbacks-cut()
{
	callback_group callbacks_cut_off mount_intree 4
}

group_callbacks-umount()
{
	callback_group callbacks_at_umount mount_intree 4
}

group_callbacks-rdma2()
{
	local v

	callback_group || return
	callbacks_of "version 2, " mount_two 4.2 "$storm" c s
	callbacks_of "version 2, " mount_two 4.1 12 c s
	callbacks_of "version 1, " mount_one 4.2 12 c s
	for v in 4.1 4.2; do
		callbacks_of "in-tree client, " mount_from_intree "$v" 12 s
	done
}

# recall_16: recalls every delegation with 16 opens at a time. nfsd uses one slot of a
# session for callbacks, so the callbacks are sequential.
recall_16()
{
	echo new >/tmp/new
	printf '%s\n' "$export_dir"/d* |
		xargs -P 16 -I{} dd if=/tmp/new of={} conv=notrunc status=none
}

# forgets_recalls: empties nfsd's filter of recalled files. It has two halves; an OPEN empties
# the older one if the other one is older than 30 s.
forgets_recalls()
{
	local i

	for i in 1 2; do
		sleep 31
		echo old >"$export_dir/forgets$i"
		cat "/mnt/forgets$i"
	done
}

# callbacks_many VERSION COUNT: recalls COUNT delegations while a load with transfers of 1
# MiB uses all credits of the forward direction. The long lease keeps the client from
# returning unused delegations.
callbacks_many()
{
	local label="$2 delegations, NFSv$1" count=$2

	echo 8 >/sys/module/svcrdma2/parameters/credits
	check "$label: mount" mount_two "$1" || return
	forgets_recalls >/dev/null
	check "$label: given" delegate "$count" || return
	busy_all 240 2
	measure recall_by recall_16
	check "$label: recalled in $took ms, under load" recalled_in 30000 "$load"
	stop_loads
	expect_callbacks "$label" "$((count - 1))" c s
	expect "$label: on one connection" \
		"c_connects + c_disconnects + s_disconnects == 0"
	expect "$label: with I/O in chunks at the same time" \
		"c_remote_invalidations > 100 && c_credit_waits > 0"
	end_busy "$label"
	check "$label: the client reads the new data" all_new
	check "$label: umount" umount_all
	rm -rf "${export_dir:?}"/*
}

group_callbacks-many()
{
	LEASE=300 callback_group || return
	callbacks_many 4.1 1000
	callbacks_many 4.2 1000
}

# Both kinds of clients at once
group_callbacks-rdma2-cut()
{
	callback_group || return
	folders=(/mnt /mnt2)
	callbacks_without_credits mount_both
	callbacks_cut_off mount_both 2
	on_mount "restart" mount_both 4.1 recalls_at_restart
	callbacks_at_umount mount_both 2
	check "in-tree's client unloads" unload rdma
}

group_callbacks-siw()
{
	DEVICE=siw callback_group || return
	callbacks_of "in-tree server, " mount_intree 4.2 12 c
	callbacks_of "version 2, " mount_two 4.2 12 c s
	callbacks_of "in-tree client, " mount_from_intree 4.2 12 s
}

# The file tests against in-tree's server
group_intree()
{
	local v

	server_for_callbacks || { fail "server"; return; }
	port=$intree_port
	common=rsize=262144,wsize=262144
	for v in ${VERSIONS:-3 4.0 4.1 4.2}; do
		exercise "in-tree server, NFSv$v" rdma2 "$v"
	done
}

# The tester's client opens a file in an NFSv4.1 session and gets a delegation; its NFSv3
# WRITE then makes nfsd recall it.

# converses NAME EXPRESSION CASE: runs a case of the tester and checks the rise of the
# server's counters
converses()
{
	counted tester "" --export "$export_dir" --set "$server_set" \
		"$addr4" "$port" "$3" || failed=1
	expect "$1" "$2"
}

# The client accepted Calls before. nfsd repeats a callback that fails immediately, without
# a pause, as long as the client exists.
calls_no_more()
{
	local at=/sys/kernel/tracing n

	echo >"$at/trace"
	echo 1 >"$at/events/nfsd/nfsd_cb_restart/enable"
	converses "C-035 S15: no Call to a client that changed its BRS to NONE" \
		"s_backward_calls == 0" callback_answers.no_calls_after_brs_none
	echo 0 >"$at/events/nfsd/nfsd_cb_restart/enable"
	n=$(grep -c nfsd_cb_restart: "$at/trace")
	[ "$n" -lt 4 ] && ok "C-035 S15: nfsd does not retry forever" ||
		fail "C-035 S15: nfsd tries $n times"
}

group_backward()
{
	local v

	LEASE=90 nfs_up rdma2 || { fail "server"; return; }
	grace_over
	! set_parameter backward sometimes 2>/dev/null &&
		ok "C-035 backward=sometimes is refused" ||
		fail "C-035 backward=sometimes is accepted"
	for v in "" _in_version_one; do
		converses "B-01 a valid Reply${v//_/ }" \
			"s_backward_calls == 1 && s_backward_replies == 1" \
			"callbacks.form_of_a_call$v"
		converses "B-13 S21 one Call, after the session is ready${v//_/ }" \
			"s_backward_calls == 1 && s_backward_replies == 1" \
			"callback_paths.no_call_before_consent$v"
		converses "B-05 an abandoned Call keeps its credit${v//_/ }" \
			"s_backward_given_up == 1 && s_backward_calls == 2 && s_backward_replies == 1" \
			"callback_paths.a_call_that_is_given_up_keeps_its_credit$v"
		converses "a Reply to an abandoned callback${v//_/ }" \
			"s_dropped_reply == 1 && s_backward_replies == 1" \
			"callback_paths.an_answer_that_comes_late$v"
	done
	converses "C-035 S20: no Call to a client with BRS NONE" \
		"s_backward_calls == 0" callback_paths.a_client_that_takes_none
	converses "C-035: no Call from a server with backward=none" \
		"s_backward_calls == 0" callback_paths.a_server_that_is_to_make_none
	calls_no_more
}
