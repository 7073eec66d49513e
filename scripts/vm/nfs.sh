# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Sourced in a guest: an RDMA device in software, an NFS server on a tmpfs, and
# mounts of it from the same kernel.

addr4=10.0.0.1
addr6=fd00::1
export_dir=/export
port=20049

# One line on what went wrong; the caller decides whether it can go on.
complain()
{
	printf '%s\n' "$*" >&2
	return 1
}

# Modules of this project are in modprobe's path like the kernel's own.
load_modules()
{
	case $1 in
	rdma2*)	modprobe -a xprtrdma2 svcrdma2 ;;
	rdma*)	modprobe rpcrdma ;;
	esac
}

# device_up rxe|siw: an MTU above 4096 gives soft-RoCE its largest packets.
device_up()
{
	local type=${1:-rxe}

	if [ ! -e /sys/class/net/d0 ]; then
		modprobe -q dummy
		ip link add d0 type dummy || return 1
		ip link set d0 mtu 9000 up
		ip addr add "$addr4/24" dev d0
		ip -6 addr add "$addr6/64" dev d0 nodad
	fi
	# A burst of Reads is more packets than the default lets through, and
	# soft-RoCE pays dearly for each one lost.
	echo 65536 >/proc/sys/net/core/netdev_max_backlog
	modprobe -q "rdma_$type" || modprobe -q "$type"
	rdma link show "${type}0/1" >/dev/null 2>&1 && return 0
	rdma link add "${type}0" type "$type" netdev d0 ||
		complain "no RDMA device of type $type"
}

device_down()
{
	rdma link del "${1:-rxe}0"
}

# mount.nfs looks the name of a transport up in /etc/netconfig, and the protocol
# it finds there in /etc/protocols. 3939 is the number by which it knows RDMA,
# over which it does not probe ports. The files are the guest's own copies.
teach_netconfig()
{
	grep -q '^rdma2 ' /etc/netconfig || cat >>/etc/netconfig <<-END
	rdma2      tpi_cots_ord  -     inet     rdma    -       -
	rdma26     tpi_cots_ord  -     inet6    rdma    -       -
	END
	grep -q '^rdma[[:space:]]' /etc/protocols ||
		printf 'rdma\t3939\tRDMA\n' >>/etc/protocols
}

# listen_on TRANSPORT [PORT]: also after the server was stopped and started.
listen_on()
{
	echo "$1 ${2:-$port}" >/proc/fs/nfsd/portlist ||
		complain "nfsd does not listen on $1 ${2:-$port}"
}

# server_up TRANSPORT [PORT]
server_up()
{
	mkdir -p "$export_dir" /run/rpcbind /run/sendsigs.omit.d /var/lib/nfs
	mount -t tmpfs -o "size=75%,mode=1777" none "$export_dir"
	mount -t tmpfs none /var/lib/nfs
	mkdir -p /var/lib/nfs/{v4recovery,nfsdcltrack,rpc_pipefs,sm,sm.bak}
	touch /var/lib/nfs/{etab,rmtab,state}
	chown -R statd /var/lib/nfs/sm /var/lib/nfs/sm.bak /var/lib/nfs/state
	# The root of NFSv4 is the export itself: the guest's own root, on an
	# overlay, is nothing that nfsd could export.
	echo "$export_dir *(rw,no_root_squash,insecure,no_subtree_check,fsid=0)" \
		>/etc/exports

	modprobe -q nfsd
	mount -t nfsd nfsd /proc/fs/nfsd || return 1
	# By default it goes by the size of the memory.
	echo 1048576 >/proc/fs/nfsd/max_block_size
	modprobe -q lockd
	echo 3 >/proc/sys/fs/nfs/nlm_timeout
	echo 3 >/proc/sys/fs/nfs/nlm_grace_period
	# A server that comes back makes its clients wait for no longer than this.
	echo 10 >/proc/fs/nfsd/nfsv4leasetime
	echo 10 >/proc/fs/nfsd/nfsv4gracetime
	rpcbind -w 2>/dev/null || rpcbind || complain "no rpcbind" || return 1
	exportfs -ra || return 1
	rpc.mountd || return 1
	rpc.statd --no-notify || return 1
	rpc.nfsd "${NFSD_THREADS:-8}" || complain "no nfsd" || return 1
	# Nobody has anything to reclaim yet.
	echo Y >/proc/fs/nfsd/v4_end_grace
	listen_on "$1" "${2:-$port}"
}

server_restart()
{
	local transport=$1

	rpc.nfsd 0
	sleep "${2:-1}"
	rpc.nfsd "${NFSD_THREADS:-8}"
	listen_on "$transport"
}

server_down()
{
	rpc.nfsd 0
	exportfs -ua
	pkill rpc.mountd
	pkill rpc.statd
	pkill rpcbind
	umount /proc/fs/nfsd
	umount "$export_dir"
}

# mount_nfs TRANSPORT VERSION FOLDER [OPTIONS]
mount_nfs()
{
	local proto=$1 vers=$2 dir=$3 more=${4:-} host=$addr4 path=/

	[ "$vers" = 3 ] && path=$export_dir
	case $proto in
	*6)	host="[$addr6]" ;;
	esac
	mkdir -p "$dir"
	mount -t nfs -o "vers=$vers,proto=$proto,port=$port${more:+,$more}" \
		"$host:$path" "$dir" ||
		complain "no mount over $proto, vers=$vers${more:+,$more}"
}

# nfs_up TRANSPORT [rxe|siw]: everything but the mount.
nfs_up()
{
	load_modules "$1" || return 1
	device_up "${2:-rxe}" || return 1
	teach_netconfig
	server_up "${1%6}"
}
