# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0
#
# Guests source this file for a software RDMA device, an NFS server on a tmpfs, and mounts.
# The server runs in the same kernel or, in a pair of guests (pair.sh), in the other guest.

addr4=10.0.0.1
addr6=fd00::1
export_dir=/export
export_device=''	# the device of the export; a tmpfs if empty
port=20049
nfsd_threads=8
nfs_is_up=''

# Prints a one-line error and fails; the caller decides whether to continue.
complain()
{
	printf '%s\n' "$*" >&2
	return 1
}

# modprobe finds this project's modules like those of the kernel. In a pair, each guest
# loads the modules of its side. If svcrdma2 is loaded, it releases the listener name "rdma"
# to rpcrdma.
load_modules()
{
	local size=(${RECEIVE_SIZE:+"receive_size=$RECEIVE_SIZE"})
	local name=/sys/module/svcrdma2/parameters/rdma

	case $1-${VM_NODE:-} in
	rdma2*-server)	modprobe svcrdma2 "${size[@]}" ;;
	rdma2*-client)	modprobe xprtrdma2 "${size[@]}" ;;
	rdma2*-)	modprobe xprtrdma2 "${size[@]}" && modprobe svcrdma2 "${size[@]}" ;;
	rdma*)		[ ! -e $name ] || echo N >$name || return
			modprobe rpcrdma ;;
	esac
}

# Sets up the network device: the link to the other guest, or a dummy device in a single
# guest. Soft-RoCE uses its largest packets if the MTU is above 4096.
net_up()
{
	local own4=$addr4 own6=$addr6

	if [ -z "${VM_NODE:-}" ]; then
		netdev=d0
		[ -e /sys/class/net/d0 ] && return 0
		modprobe -q dummy
		ip link add d0 type dummy || return 1
	else
		modprobe -q virtio_net
		for netdev in vec0 eth0; do
			[ -e "/sys/class/net/$netdev" ] && break
		done
	fi
	[ "${VM_NODE:-}" = client ] && own4=10.0.0.2 own6=fd00::2
	ip addr show dev "$netdev" | grep -q "$own4/" && return 0
	ip link set "$netdev" mtu "${MTU:-9000}" up || return 1
	ip addr add "$own4/24" dev "$netdev"
	ip -6 addr add "$own6/64" dev "$netdev" nodad
}

# device_up [rxe|siw]: adds the RDMA device of this type, by default the type that DEVICE names
device_up()
{
	local type=${1:-${DEVICE:-rxe}}

	net_up || complain "no network" || return 1
	# The default backlog is smaller than a burst of RDMA Reads, and soft-RoCE recovers
	# slowly from a lost packet.
	echo 65536 >/proc/sys/net/core/netdev_max_backlog
	modprobe -q "rdma_$type" || modprobe -q "$type"
	rdma link show "${type}0/1" >/dev/null 2>&1 && return 0
	rdma link add "${type}0" type "$type" netdev "$netdev" ||
		complain "no RDMA device of type $type"
}

device_down()
{
	rdma link del "${DEVICE:-rxe}0"
}

# device_again: removes the device and adds it
device_again()
{
	device_down && device_up
}

# beside_rdma COMMAND...: runs the command while 10.9.9.1 is the address of an interface
# without an RDMA device
beside_rdma()
{
	ip link add plain0 type dummy
	ip addr add 10.9.9.1/24 dev plain0
	ip link set plain0 up
	"$@"
	ip link del plain0
}

# mount.nfs looks up the transport in /etc/netconfig, and the protocol of that entry in
# /etc/protocols. 3939 is its number for RDMA, for which it does not probe ports. Both files
# are the guest's copies.
teach_netconfig()
{
	grep -q '^rdma2 ' /etc/netconfig || cat >>/etc/netconfig <<-END
	rdma2      tpi_cots_ord  -     inet     rdma    -       -
	rdma26     tpi_cots_ord  -     inet6    rdma    -       -
	END
	grep -q '^rdma[[:space:]]' /etc/protocols ||
		printf 'rdma\t3939\tRDMA\n' >>/etc/protocols
}

# listen_on TRANSPORT [PORT]: adds a listener, also after a restart of the server
listen_on()
{
	echo "$1 ${2:-$port}" >/proc/fs/nfsd/portlist ||
		complain "nfsd does not listen on $1 ${2:-$port}"
}

# Starts the daemons for NFSv3 locks; both sides need them.
locking_up()
{
	mkdir -p /run/rpcbind /run/sendsigs.omit.d /var/lib/nfs
	mount -t tmpfs none /var/lib/nfs
	mkdir -p /var/lib/nfs/{v4recovery,nfsdcltrack,rpc_pipefs,sm,sm.bak}
	touch /var/lib/nfs/{etab,rmtab,state}
	chown -R statd /var/lib/nfs/sm /var/lib/nfs/sm.bak /var/lib/nfs/state
	modprobe -q lockd
	echo 3 >/proc/sys/fs/nfs/nlm_timeout
	echo 1 >/proc/sys/fs/nfs/nlm_grace_period
	rpcbind -w 2>/dev/null || rpcbind || complain "no rpcbind" || return 1
	rpc.statd --no-notify
}

# No client has state to reclaim. nfsd may have ended the grace period itself; the write
# then fails with EBUSY.
end_grace()
{
	echo Y 2>/dev/null >/proc/fs/nfsd/v4_end_grace || true
}

# server_up TRANSPORT [PORT]: mounts and exports $export_dir and starts nfsd with one
# listener
server_up()
{
	mkdir -p "$export_dir"
	if [ -n "$export_device" ]; then
		mount "$export_device" "$export_dir" || return 1
	else
		mount -t tmpfs -o "size=75%,mode=1777" none "$export_dir"
	fi
	locking_up || return 1
	# The NFSv4 root is the export: the guest's root is an overlay, which nfsd cannot
	# export.
	echo "$export_dir *(rw,no_root_squash,insecure,no_subtree_check,fsid=0${EXPORT_OPTIONS:+,$EXPORT_OPTIONS})" \
		>/etc/exports

	modprobe -q nfsd
	mount -t nfsd nfsd /proc/fs/nfsd || return 1
	# The default depends on the size of the memory.
	echo 1048576 >/proc/fs/nfsd/max_block_size
	# The lease and the grace period bound the time that clients wait after a restart.
	echo "${LEASE:-10}" >/proc/fs/nfsd/nfsv4leasetime
	echo 10 >/proc/fs/nfsd/nfsv4gracetime
	exportfs -ra || return 1
	rpc.mountd || return 1
	rpc.nfsd "$nfsd_threads" || complain "no nfsd" || return 1
	end_grace
	listen_on "$1" "${2:-$port}"
}

# nfsd_up [TRANSPORT]: starts nfsd again after "rpc.nfsd 0"
nfsd_up()
{
	rpc.nfsd "$nfsd_threads"
	listen_on "${1:-rdma2}"
	end_grace
}

# The daemons have ended when it returns: a second rpcbind does not start beside the first.
server_down()
{
	local daemons='^(rpc\.mountd|rpc\.statd|rpcbind)$'

	nfs_is_up=''
	rpc.nfsd 0
	exportfs -ua
	# Their handlers for SIGTERM take locks of the C library. One of rpc.mountd waited for
	# ever, because the signal had interrupted the holder of such a lock.
	pkill -KILL "$daemons"
	# The limit of the guest is the limit of this wait: on a busy host the daemons of an
	# emulated guest take longer than any number of seconds. If all have ended already,
	# pidwait mentions the length of the pattern.
	pidwait "$daemons" 2> >(grep -vE 'zero matches$|^Try .pidwait -f' >&2)
	umount /proc/fs/nfsd
	umount "$export_dir"
}

# mount_nfs TRANSPORT VERSION FOLDER [OPTIONS]: mounts the export
mount_nfs()
{
	local proto=$1 vers=$2 dir=$3 more=${4:-} host=${nfs_host:-$addr4} path=/

	[ "$vers" = 3 ] && path=$export_dir
	case $proto in
	*6)	host=${nfs_host:-"[$addr6]"} ;;
	esac
	mkdir -p "$dir"
	mount -t nfs -o "vers=$vers,proto=$proto,port=$port${more:+,$more}" \
		"$host:$path" "$dir" ||
		complain "no mount over $proto, vers=$vers${more:+,$more}"
}

# nfs_identity NAME: sets the identity of future clients. To an NFSv4.1 server, mounts of
# one identity are one client, and they share the first mount's connection even if a later
# mount names another transport.
nfs_identity()
{
	modprobe -q nfs
	echo "$1" >/sys/module/nfs/parameters/nfs4_unique_id
}

# nfs_up TRANSPORT [rxe|siw]: sets up client and server in one guest, without a mount
nfs_up()
{
	client_up "$@" && server_up "${1%6}" && nfs_is_up=1
}

# client_up TRANSPORT [rxe|siw]: sets up a client of another guest's server, without the
# daemons for NFSv3 locks
client_up()
{
	load_modules "$1" || return 1
	device_up "${2:-}" || return 1
	teach_netconfig
}
