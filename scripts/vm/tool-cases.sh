# shellcheck shell=bash disable=SC2015,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: the tool rdma2 (utils/rdma2): its output about connections, and
# the problems of a mount that its doctor has to find.

rdma2=$VM_TOP/utils/rdma2

# json END KEY: prints a value of the first connection from the tool's JSON output
json()
{
	# The output keeps the JSON type: a string has quotes, a number does not.
	"$rdma2" show --json | python3 -c '
import json, sys
print(json.dumps(json.load(sys.stdin)[sys.argv[1]][0][sys.argv[2]]))' "$1" "$2"
}

# finds GRADE TEXT [ADVICE]: a case that the doctor reports the problem, for a mount from
# this host
finds()
{
	local name="the doctor finds: $2${3:+, with the advice: $3}" why='' rc

	"$rdma2" doctor "$addr4" >/tmp/doctor 2>&1
	rc=$?
	grep -A 1 -- "^$1 *$2" /tmp/doctor >/tmp/found || why+=", not found"
	[ -z "${3:-}" ] || grep -q -- "-> .*$3" /tmp/found || why+=", no advice"
	[ "$1" != FAIL ] || [ $rc -eq 1 ] || why+=", ends with $rc"
	[ -z "$why" ] && ok "$name" ||
		fail "$name${why}: $(tr '\n' '|' </tmp/doctor)"
}

shows()
{
	local text

	text=$("$rdma2" show)
	grep -qE "^  $addr4:$port  up  version 2 \(CONNPROP\)  rxe0  credits 0/" \
		<<<"$text" && grep -q '^server: 1 connection$' <<<"$text" &&
		ok "show: both ends" || fail "show: $text"
	text=$("$rdma2" show -v)
	grep -qE '^ +peer limits: +rbsiz=20480 brs=INLINE$' <<<"$text" &&
		ok "show -v: the properties of the peer" || fail "show -v: $text"
	# Every word of the kernel's view appears in the output.
	same "show -v: every word of the view" "$(tr ' ' '\n' <<<"$text" |
		sed -n 's/^\([a-z_0-9]*\)=.*/\1/p' | sort -u)" \
		"$(cat "$client_view" "$server_view" | tr ' ' '\n' | sed 's/=.*//' |
			grep -vxE 'state|device|version|why' | sort -u)"
	same "show --json: a number" "$(json client version)" 2
	same "show --json: a string" "$(json server device)" '"rxe0"'
}

shows_the_past()
{
	rpc.nfsd 0
	await grep -q "^peer=$addr4:$port .* ended=peer" "$client_view"
	"$rdma2" show | grep -qE "^  $addr4:$port  .*ended [0-9]+ s ago: peer" &&
		ok "show: the reason for the end of the connection" || fail "show: $("$rdma2" show)"
	finds note "client: $addr4:$port ended [0-9]* s ago: peer"
	nfsd_up
}

# nfsd runs without a listener, for three reasons. nfs-utils ignores a last line without an end.
no_listener()
{
	local conf=/etc/nfs.conf.d

	rpc.nfsd 0
	rpc.nfsd "$nfsd_threads"
	mkdir -p $conf
	sed -i /^nfsrdma/d /etc/services
	finds FAIL "listener: nfsd runs, and does not" "rdma=y and rdma-port=20049"
	: >/etc/nfs.conf
	printf '[nfsd]\nrdma=y\n' >$conf/rdma.conf
	finds FAIL "listener: nfsd runs, and does not" "/etc/services has no nfsrdma"
	echo rdma-port=20049 >>$conf/rdma.conf
	finds FAIL "listener: nfsd runs, and does not" "systemctl restart nfs-server"
	printf '[nfsd]\nrdma-port=20049\nrdma=n' >$conf/rdma2.conf
	finds FAIL "listener: nfsd runs, and does not" "systemctl restart nfs-server"
	echo >>$conf/rdma2.conf
	finds FAIL "listener: nfsd runs, and does not" "rdma=y and rdma-port=20049"
	rm /etc/nfs.conf $conf/rdma*.conf
	listen_on rdma2
}

# The modules are in modprobe's tables but not built for this kernel.
falls_back()
{
	local updates

	updates=/lib/modules/$(uname -r)/updates
	mount -t tmpfs none "$updates"
	for name in svcrdma rpcrdma6 xprtrdma rpcrdma; do
		dmesg -C
		check "$name leads to rpcrdma where xprtrdma2 cannot be loaded" \
			modprobe -q "$name"
		[ -e /sys/module/rpcrdma ] || fail "$name: rpcrdma is not loaded"
		dmesg | grep -q "rdma2: .*rdma2 cannot be loaded on Linux $(uname -r)" &&
			ok "$name: the log has the reason" || fail "$name: $(dmesg)"
		rmmod rpcrdma
	done
	modprobe -q rpcrdma26 && fail "rpcrdma26 loads a module" ||
		ok "rpcrdma26 loads no module there"
	umount "$updates"
}

no_module()
{
	check "unload" unload rdma2
	falls_back
	finds ok "module: xprtrdma2 is installed, and not loaded"
	"$rdma2" show >/tmp/found && fail "show without modules succeeds" ||
		same "show: no module" "$(head -n 1 /tmp/found)" \
			"client: xprtrdma2 is not loaded"
	rm /etc/modprobe.d/rdma2.conf
	finds FAIL "module: proto=rdma would load the kernel's own" "install rdma2-utils"
	modprobe -C /dev/null rpcrdma
	finds FAIL "module: the kernel's own rpcrdma is loaded instead" "rmmod rpcrdma"
	rmmod rpcrdma
	mount -t tmpfs none "/lib/modules/$(uname -r)"
	finds FAIL "module: there is no xprtrdma2" "linux-headers-$(uname -r)"
	mkdir -p "/lib/modules/$(uname -r)/updates/dkms"
	: >"/lib/modules/$(uname -r)/updates/dkms/mlx_compat.ko"
	finds FAIL "Linux .* has the RDMA modules of a vendor: .*/mlx_compat.ko"
	umount "/lib/modules/$(uname -r)"
}

no_device()
{
	addr4=10.9.9.2 beside_rdma finds FAIL \
		"route: 10.9.9.2 by plain0, which has no RDMA device" "netdev plain0"
	addr4=192.0.2.77 finds FAIL "route: none to 192.0.2.77"
	addr4=nowhere.invalid finds FAIL "route: nowhere.invalid: "
	ip link set "$netdev" down
	finds note "device: rxe0, DOWN, on $netdev" "ip link set $netdev up"
	ip link set "$netdev" up
	rdma link del rxe0
	finds FAIL "device: there is no RDMA device" "rdma link add"
	rdma link add rxe0 type rxe netdev "$netdev"
}

group_tool()
{
	mkdir -p /etc/modprobe.d
	cp "$VM_TOP/packaging/modprobe.conf" /etc/modprobe.d/rdma2.conf
	nfs_up rdma2 && mount_nfs rdma2 4.2 /mnt || { fail "mount"; return; }
	"$rdma2" doctor "$addr4" >/tmp/doctor && ! grep -E '^(FAIL|note)' /tmp/doctor &&
		ok "the doctor has no findings" || fail "doctor: $(cat /tmp/doctor)"
	finds ok "route: $addr4 by $netdev, which has an RDMA device"
	shows
	shows_the_past
	# The client then has a new session, and umount finds no RPC outstanding.
	check "the mount continues" stat -f /mnt
	check "umount" umount_all
	sed -i /^rdma2/d /etc/netconfig
	finds note "netconfig: proto=rdma works" "xprtrdma2(4)"
	no_listener
	rpc.nfsd 0
	no_device
	no_module
	modprobe xprtrdma2 && modprobe svcrdma2
}
