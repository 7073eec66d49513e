# shellcheck shell=bash disable=SC2015,SC2034,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: obstacles to a mount, and the names under which the modules are
# found, also beside the kernel's own rpcrdma.

rdma_param=/sys/module/svcrdma2/parameters/rdma

# users MODULE: prints the module's reference count
users()
{
	awk -v m="$1" '$1 == m { print $3 }' /proc/modules
}

# only_user MODULE OTHER: only the first of these modules, which are both loaded, is in use
only_user()
{
	[ "$(users "$1")" -gt 0 ] && [ "$(users "$2")" -eq 0 ]
}

# set_listeners NAME PORT...: sets nfsd's listeners as nfsdctl does, with netlink, for IPv4
# on all addresses or on $LISTEN
set_listeners()
{
	python3 -IS -c '
import os, re, socket, struct, sys

def attr(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)

def ask(family, command, attrs):
    answer = b""
    s.send(struct.pack("=IHHIIBBH", 20 + len(attrs), family, 5, 1, 0, command, 1, 0) + attrs)
    for got in iter(lambda: s.recv(65536), b""):
        if got[4:6] == struct.pack("=H", 2):            # the error, or 0
            error = -struct.unpack_from("=i", got, 16)[0]
            return sys.exit(f"netlink: {os.strerror(error)}") if error else answer
        answer = got

s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
family = re.search(b"\x06\0\x01\0(..)", ask(16, 3, attr(2, b"nfsd\0")), re.S)
wish, sockets = iter(sys.argv[1:]), b""
host = socket.inet_aton(os.environ.get("LISTEN", "0.0.0.0"))
for name, port in zip(wish, wish):
    # NFSD_A_SERVER_SOCK_ADDR: address, name
    address = struct.pack("=H", socket.AF_INET) + struct.pack(">H", int(port)) + host
    sockets += attr(0x8001, attr(1, address.ljust(128, b"\0")) + attr(2, name.encode() + b"\0"))
ask(struct.unpack("=H", family[1])[0], 6, sockets)' "$@"
}

# listens_on NAME PORT: checks nfsd's list of listeners
listens_on()
{
	grep -q "^$1 $2\$" /proc/fs/nfsd/portlist ||
		complain "portlist: $(tr '\n' ',' </proc/fs/nfsd/portlist)"
}

# reached NAME: checks that svcrdma2 serves connections to a listener that was opened this
# way
reached()
{
	local name=$1 before

	before=$(counters)
	check "$name: mount" mount_nfs rdma2 4.2 /mnt || return
	check "$name: a file" dd if=/dev/zero of=/mnt/name bs=64k count=1 \
		status=none
	check "$name: umount" umount_all
	risen "$before"
	expect "$name: svcrdma2 served the mount" "s_accepts >= 1 && s_calls >= 3"
}

nfsd_conf()
{
	printf '[nfsd]\n%s\n' "$@" >/etc/nfs.conf
}

# To remove one listener nfsd closes all of them and opens the others again. It can open
# only some names, and rejects a list with another name without a change. See
# install.rst.
edits_listeners()
{
	local two=$((port + 1))

	check "netlink: two listeners are set" set_listeners tcp 2049 rdma "$port" &&
		check "netlink: one is removed" set_listeners rdma "$port" &&
		check "netlink: rdma still listens" listens_on rdma "$port"
	grep -q '^tcp 2049$' /proc/fs/nfsd/portlist && fail "netlink: tcp still listens"
	check "netlink: one is added" set_listeners rdma "$port" tcp 2049
	check "the portlist accepts a third listener rdma2" listen_on rdma2 "$two"
	set_listeners rdma "$port" rdma2 "$two" 2>/tmp/said &&
		fail "netlink: a list with rdma2 is accepted, contrary to install.rst" ||
		ok "netlink: a list with rdma2 is refused: $(cat /tmp/said)"
	check "netlink: tcp still listens after that" listens_on tcp 2049
	check "netlink: rdma still listens after that" listens_on rdma "$port"
	check "netlink: rdma2 still listens after that" listens_on rdma2 "$two"
	check "netlink: a list without rdma2" set_listeners rdma "$port"
	check "netlink: rdma still listens after this list" listens_on rdma "$port"
	grep -q '^rdma2 ' /proc/fs/nfsd/portlist && fail "netlink: rdma2 still listens" ||
		ok "netlink: rdma2 is gone"
	rpc.nfsd "$nfsd_threads" && end_grace && reached "netlink, a changed list"
	rpc.nfsd 0
}

# The ways in which distributions open listeners
openers()
{
	local i

	check "rpc.nfsd --rdma" rpc.nfsd --rdma="$port" "$nfsd_threads" &&
		check "rpc.nfsd --rdma: it listens" listens_on rdma "$port" &&
		end_grace && reached "rpc.nfsd --rdma"
	nfsd_conf rdma=y "rdma-port=$port"
	for i in 1 2; do
		rpc.nfsd 0
		rpc.nfsd "$nfsd_threads"
		check "rdma=y in nfs.conf, start $i: it listens" \
			listens_on rdma "$port"
	done
	end_grace
	reached "rdma=y in nfs.conf"
	nfsd_conf
	rpc.nfsd 0
	edits_listeners
	check "netlink: the listener is set" set_listeners rdma "$port" &&
		check "netlink: it listens" listens_on rdma "$port" &&
		rpc.nfsd "$nfsd_threads" && end_grace && reached "netlink"
	rpc.nfsd 0
}

listens_at()
{
	rdma resource show cm_id | grep 'state LISTEN' | grep -q "src-addr $1:$port " ||
		complain "$(rdma resource show cm_id | tr '\n' ';')"
}

# A listener on one address is lost with its device and is opened again when the address has
# a device, even after failed attempts.
one_address()
{
	local event=/sys/kernel/tracing/events/svcrdma2/svc2_event/enable i said=''

	LISTEN=$addr4 check "one address: the listener is set" \
		set_listeners rdma "$port" || return
	rpc.nfsd "$nfsd_threads"
	end_grace
	check "one address: it listens there" listens_at "$addr4" || return
	check "one address: mount" mount_nfs rdma2 4.2 /mnt || return
	for i in /sys/kernel/sunrpc/xprt-switches/switch-*/xprt-*rdma*/; do
		said+="$(cat "$i/srcaddr") $(sed -n 's/^src_port=//p' "$i/xprt_info") "
	done
	[[ " $said" == *" $addr4 "[1-9]* ]] &&
		ok "one address: sysfs has the client's source address" ||
		fail "one address: sysfs has $said"
	echo 1 >"$event"
	device_down
	check "one address: attempts to listen again fail" await eval \
		"[ \$(grep -c 'svc2_event.*listen.*-[1-9]' /sys/kernel/tracing/trace) -ge 2 ]"
	device_up
	check "one address: the mount continues with the new device" stat /mnt/.
	check "one address: it listens there again" listens_at "$addr4"
	echo 0 >"$event"
	check "one address: umount" umount_all
	# The state manager may still bind the new connection to the session, and would wait
	# for a server that has stopped.
	check "one address: the client's transports are gone" await no_transport
	rpc.nfsd 0
}

no_transport()
{
	! grep -q '^peer=' "$client_view"
}

# Both orders of loading, and the name "rdma" becoming free when either module is unloaded
orders()
{
	local said

	check "the name is released with the module" unload rdma2 || return
	check "rpcrdma first" modprobe rpcrdma
	dmesg -C
	check "then svcrdma2" modprobe svcrdma2
	same "rpcrdma keeps the name" "$(cat "$rdma_param")" N
	said=$(dmesg | grep -c "svcrdma2: .*rmmod rpcrdma.*echo Y >$rdma_param")
	[ "$said" -eq 1 ] && ok "the log has the remedy" ||
		fail "rpcrdma first: the log has $(dmesg | grep svcrdma2)"
	echo Y 2>/dev/null >"$rdma_param" && fail "the name can be registered twice" ||
		ok "the name cannot be registered twice"
	rpc.nfsd "$nfsd_threads"
	listen_on rdma 20050
	check "listeners named rdma belong to rpcrdma" only_user rpcrdma svcrdma2
	rpc.nfsd 0
	check "rpcrdma is unloaded" rmmod rpcrdma
	echo Y >"$rdma_param"
	same "svcrdma2 registers the name" "$(cat "$rdma_param")" Y

	check "svcrdma2 first, then rpcrdma" modprobe rpcrdma
	rpc.nfsd "$nfsd_threads"
	listen_on rdma 20050
	check "listeners named rdma belong to svcrdma2" only_user svcrdma2 rpcrdma
	rpc.nfsd 0
	check "rpcrdma is unloaded again" rmmod rpcrdma
	echo N >"$rdma_param"
	modprobe rpcrdma
	rpc.nfsd "$nfsd_threads"
	listen_on rdma 20050
	bounded "the name can be released" "$(users rpcrdma)" 1
	rpc.nfsd 0
	rmmod rpcrdma
	echo Y >"$rdma_param"
	modprobe xprtrdma2
}

# no_way NAME ERROR ADDRESS: a case that mount.nfs fails with this error
no_way()
{
	local name=$1 want=$2 addr=$3 said

	said=$(timeout 60 mount -v -t nfs -o \
		"vers=4.2,proto=rdma2,port=$port,retry=0,soft,timeo=20,retrans=1" \
		"$addr:/" /mnt 2>&1) && { umount /mnt; said="the mount succeeds"; }
	grep -q "$want" <<<"$said" && ok "$name" ||
		fail "$name: $(tail -n 2 <<<"$said")"
}

unreachable()
{
	beside_rdma no_way "an interface without RDMA: EPROTO" 'Protocol error' 10.9.9.2
	no_way "a port without a listener: ECONNREFUSED" \
		'Connection refused' "$addr4"
}

# named NAME FOLDER ARGUMENTS...: mounts with these names and options, and checks
# /proc/mounts, remount and umount
named()
{
	local name=$1 dir=$2 proto=$3 host=$4 what
	local opts=$5

	what="$name, $opts"
	check "$what: mount" mount -t nfs -o "$opts" "$host" "$dir" || return
	grep -q " $dir .*proto=$proto,.*port=20049" /proc/mounts &&
		ok "$what: /proc/mounts has $proto" ||
		fail "$what: $(grep " $dir nfs" /proc/mounts)"
	check "$what: remount" mount -o remount,noatime "$dir"
	grep -q " $dir nfs.*noatime" /proc/mounts || fail "$what: not remounted"
	check "$what: umount" umount "$dir"
}

# The names on a kernel with one ident for RDMA, without a port. mount.nfs does not accept
# the name rdma2 without a line in /etc/netconfig.
netids()
{
	local name="without a line in netconfig"

	cp /etc/netconfig /tmp/netconfig
	sed -i /^rdma2/d /etc/netconfig
	named "$name" /mnt rdma "$addr4:/" vers=4.2,proto=rdma
	named "$name" /mnt rdma "$addr4:$export_dir" vers=3,proto=rdma
	named "$name" /mnt rdma6 "[$addr6]:$export_dir" vers=3,proto=rdma6
	named "$name" /mnt rdma "$addr4:/" vers=4.2,rdma
	cp /tmp/netconfig /etc/netconfig
	name="with one"
	named "$name" /mnt rdma2 "$addr4:/" vers=4.2,proto=rdma2,nconnect=2
	named "$name" /mnt rdma2 "$addr4:$export_dir" vers=3,proto=rdma2
	named "$name" /mnt rdma26 "[$addr6]:/" vers=4.2,proto=rdma26
	named "$name" /mnt rdma "$addr4:/" vers=4.2,proto=rdma
}

# A link-local address is ambiguous without its scope, also for remount and umount.
link_local()
{
	local name="a link-local address" addr

	addr=$(ip -6 -o addr show dev "$netdev" scope link |
		sed -n 's|.* inet6 \([^ /]*\)/.*|\1|p')
	check "$name: mount" mount -t nfs -o vers=3,proto=rdma26,nolock,port="$port" \
		"[$addr%$netdev]:$export_dir" /mnt || return
	check "$name: /proc/mounts has its scope" \
		grep -q " /mnt nfs .*,addr=$addr%$(cat "/sys/class/net/$netdev/ifindex")" \
		/proc/mounts
	check "$name: remount" mount -o remount,noatime /mnt
	check "$name: umount" umount /mnt
}

# If a mount has port=0, the client asks rpcbind, which has the port of TCP.
port_of_rpcbind()
{
	local name="a port that is registered with rpcbind"

	check "$name: nfsd listens there, too" listen_on rdma2 2049
	check "$name: mount" timeout -s KILL 30 mount -t nfs -o \
		vers=3,proto=rdma2,nolock,port=0 "$addr4:$export_dir" /mnt || return
	check "$name: the connection has it" \
		grep -q "^peer=$addr4:2049 state=up " "$client_view"
	check "$name: umount" umount /mnt
}

# nfsd closes the connections of an address that is removed; this is the only caller of
# ->xpo_kill_temp_xprt. The mount continues when the address is back on a new device: on its
# old device soft-RoCE leaves connection requests unanswered after the removal.
address_goes()
{
	local name="the server's address is removed" before

	check "$name: mount" mount_nfs rdma2 4.2 /mnt || return
	dd if=/dev/urandom of=/tmp/data bs=64k count=4 status=none
	check "$name: a file" cp /tmp/data /mnt/data
	before=$(counters)
	check "$name: the address is removed" ip addr del "$addr4/24" dev "$netdev"
	check "$name: nfsd ends the connection" await has_risen s_ended_ENDED -eq 1
	check "$name: the address is added again" ip addr add "$addr4/24" dev "$netdev"
	check "$name: with a new device" device_again
	check "$name: the mount continues" timeout -s KILL 120 stat /mnt/data
	echo 3 >/proc/sys/vm/drop_caches
	check "$name: the data are correct" cmp /tmp/data /mnt/data
	risen "$before"
	expect "$name: over another connection" \
		"c_connects >= 1 && s_accepts >= 1 && s_disconnects >= 1"
	check "$name: umount" umount_all
}

group_names()
{
	nfs_up rdma2 || { fail "server"; return; }
	link_local
	port_of_rpcbind
	address_goes
	await no_transport
	rpc.nfsd 0
	unreachable
	openers
	one_address
	orders
	rpc.nfsd "$nfsd_threads"
	listen_on rdma2
}
