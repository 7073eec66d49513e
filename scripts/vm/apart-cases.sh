# shellcheck shell=bash disable=SC2015,SC2034,SC2153,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by link-cases.sh: Kerberos with the client apart from the server, whose guest is
# the KDC too. Each has its own keytab, rpc.gssd and gssproxy.

# shellcheck source=scripts/vm/realm.sh
. "$(dirname "$0")/realm.sh" || exit 2

apart_up()
{
	nfs_host=$realm_server
	make_tree /tmp/tree
	net_up
	check "the server's node, and the KDC" on_server "net_up && realm_up &&
		EXPORT_OPTIONS=sec=sys:krb5:krb5i:krb5p nfs_up rdma2 && realm_daemons gssproxy" &&
	check "the client's node" client_up rdma2 &&
	check "the client's locks" locking_up &&
	check "the client's keytab" realm_join &&
	{ realm_daemons gssproxy || ! fail "the client's daemons"; }
}

apart_down()
{
	finish rdma2 rdma2
	realm_down
	on_server realm_down
}

# apart_files VERSION FLAVOR
apart_files()
{
	local name="NFSv$1, $2" before

	counted_anew "$name"
	check "$name: mount" mount_nfs rdma2 "$1" /mnt "$patient,sec=$2" || return
	check "$name: a tree in each direction, checksums of both sides" trees
	check "$name: a user" as_user alice touch /mnt/alice
	check "$name: the file is the user's" on_server \
		"[ \"\$(stat -c %U $export_dir/alice)\" = alice ]"
	risen "$before"
	expect "$name: one connection" "c_connects == 1 && c_disconnects == 0"
	check "$name: umount" umount_all
	on_server "rm -rf ${export_dir:?}/*"
}

# apart_is_delegated VERSION: a file that the client has not seen
apart_is_delegated()
{
	apart_file=delegated.$1.$RANDOM
	on_server "echo old >$export_dir/$apart_file"
	[ "$(cat "/mnt/$apart_file")" = old ] &&
		on_server "grep -qs 'type: deleg' /proc/fs/nfsd/clients/*/states"
}

# apart_recall VERSION FLAVOR: by the session, whose callbacks have AUTH_SYS
apart_recall()
{
	local name="NFSv$1, $2" apart_file before

	check "$name: mount" mount_nfs rdma2 "$1" /mnt "$patient,sec=$2" || return
	# Not by check, whose subshell would keep the file's name
	await apart_is_delegated "$1" && ok "$name: a delegation" ||
		fail "$name: no delegation"
	before=$(counters)
	check "$name: the server writes the file" on_server "echo new | tee $export_dir/$apart_file"
	risen "$before"
	expect "$name: the delegation is recalled" "s_backward_calls >= 1 && s_backward_replies >= 1"
	same "$name: the client returns it" "$(figure /mnt "op DELEGRETURN")" 1
	check "$name: the client reads the new data" grep -qx new "/mnt/$apart_file"
	check "$name: umount" umount_all
}

group_kerberos()
{
	local v sec

	apart_up || return
	check "kinit" ticket alice alice
	for v in ${VERSIONS:-4.2 3}; do
		for sec in krb5 krb5i krb5p; do
			apart_files "$v" "$sec"
		done
	done
	for v in 4.1 4.2; do
		apart_recall "$v" krb5
		apart_recall "$v" krb5p
	done
	apart_down
}

# Each end of the link is a client: loads of each flavor, and of a user.
apart_seconds=600
apart_flavors=(krb5 krb5i krb5p)

# apart_load VERSION: of this node, in the background
apart_load()
{
	local sec

	contexts_begin
	for sec in "${apart_flavors[@]}"; do
		mount_nfs rdma2 "$1" "/mnt/$sec" "$patient,sec=$sec" &&
			mkdir "/mnt/$sec/$VM_NODE.$sec" || return
	done
	for sec in "${apart_flavors[@]}"; do
		"$load_sh" "/mnt/$sec/$VM_NODE.$sec" - "$apart_seconds" 1 \
			>"/tmp/load.$sec" 2>&1 &
		apart_loads+=($!)
	done
}

# apart_user: gets a ticket and works, as a user of k5start does, each time that this node
# has got a context; standard input has a line for each. Prints how often.
apart_user()
{
	local dir=/mnt/krb5p/$VM_NODE.alice n=0

	while read -r _; do
		ticket alice alice || return
		as_user alice sh -c "cp /tmp/tree/100003 $dir/file &&
			dd if=$dir/file iflag=direct bs=64k status=none | cmp - /tmp/tree/100003" ||
			return
		n=$((n + 1))
	done
	echo "$n times"
	[ "$n" -ge $((apart_seconds / 20)) ]
}

# apart_verified NAME
apart_verified()
{
	local i n sec

	for i in 0 1 2; do
		sec=${apart_flavors[i]}
		has_verified "$1, $sec: all data are correct" "${apart_loads[i]}" "/tmp/load.$sec"
	done
	n=$(contexts)
	bounded "$1: they have expired ($n contexts)" "$n" $((apart_seconds / 20))
}

# apart_umount NAME: returns whether a case of this node has failed
apart_umount()
{
	local sec

	for sec in "${apart_flavors[@]}"; do
		check "$1, $sec: umount" umount "/mnt/$sec"
	done
	return "$failed"
}

group_kerberos-load()
{
	local before sec user follower contexts node name apart_loads=()

	apart_up || return
	exec {contexts}< <(contexts_follow)
	follower=$!
	# Contexts of a minute, of tickets that live longer: with tickets of a minute a WRITE
	# failed with EKEYEXPIRED over NFSv3, and with EACCES over NFSv4.2.
	gssd_seconds=60
	gssd_again && apart_load 4.2 || { fail "the client's load"; return; }
	check "the load of the server's node" on_server \
		"apart_loads=() gssd_seconds=60; gssd_again && modprobe xprtrdma2 && apart_load 3" ||
		return
	on_server "install -d -o alice $export_dir/$VM_NODE.alice"
	before=$(counters)
	apart_user <&"$contexts" >/tmp/user 2>&1 &
	user=$!
	name="10 minutes, the client's node"
	apart_verified "$name"
	kill "$follower"
	wait "$user" && ok "$name: a user, $(cat /tmp/user)" ||
		fail "$name: a user: $(tr '\n' ' ' </tmp/user)"
	risen "$before"
	expect "$name: no connection lost" "c_connects == 0 && c_disconnects == 0 && s_disconnects == 0"
	apart_umount "$name"
	name="10 minutes, the server's node"
	on_server "apart_verified \"$name\"; apart_umount \"$name\"" | tee /tmp/said
	[ "${PIPESTATUS[0]}" -eq 0 ] || failed=1
	for node in client server; do
		for sec in "${apart_flavors[@]}"; do
			check "$node, $sec: the server has the written data" \
				on_server "$load_sh verify $export_dir/$node.$sec 1"
		done
	done
	apart_down
}
