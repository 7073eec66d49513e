#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest that boots with systemd like a user's machine: runs the steps that are listed
# in the file steps, which is kept across reboots. A unit starts it after the boot, and
# check-install.sh parses its output.

set -u
here=/var/lib/guest-test
release=$(uname -r)

# result NAME STATUS: prints a case, with the output if it failed
result()
{
	if [ "$2" -eq 0 ]; then
		echo "ok $release: $1"
	else
		echo "FAIL $release: $1"
		tail -n 30 "$here/said"
		journalctl -b -q --no-pager -p notice | tail -n 15
	fi
}

# expect NAME COMMAND...: a case that the command succeeds
expect()
{
	"${@:2}" >"$here/said" 2>&1
	result "$1" $?
}

loaded()
{
	local m

	for m in "$@"; do
		[ -e "/sys/module/$m" ] || { echo "$m is not loaded"; return 1; }
	done
}

not_loaded()
{
	local m

	for m in "$@"; do
		[ ! -e "/sys/module/$m" ] || { echo "$m is loaded"; return 1; }
	done
}

listens()
{
	cat /proc/fs/nfsd/portlist
	grep -qx "rdma 20049" /proc/fs/nfsd/portlist
}

# Uses the mount of /etc/fstab with a new file.
mounted()
{
	findmnt -n -t nfs4 /mnt && echo "$release $1" >"/mnt/$1" && sync "/mnt/$1" &&
		echo 3 >/proc/sys/vm/drop_caches &&
		grep -x "$release $1" "/mnt/$1" "/srv/export/$1"
}

version_2()
{
	cat /proc/net/rpc/xprtrdma2
	grep -q 'state=up .*version=2' /proc/net/rpc/xprtrdma2
}

# Runs the tool; its doctor has to find no problem.
tool()
{
	rdma2 show && rdma2 doctor 10.0.0.1 &&
		rdma2 show | grep -qE '^  10[.]0[.]0[.]1:20049  up  version 2 '
}

# Each step is a function; later steps depend on the state that earlier ones leave.
step_boot()
{
	expect "xprtrdma2 and svcrdma2 are loaded at boot" loaded xprtrdma2 svcrdma2
	expect "rpcrdma is not loaded" not_loaded rpcrdma
	expect "nfs-server listens on rdma 20049" listens
	expect "the mount of fstab is active" mounted boot
	expect "its options have proto=rdma" findmnt -n -t nfs4 -O proto=rdma /mnt
	expect "its connection has version 2" version_2
	expect "rdma2 shows the connection, and its doctor finds no fault" tool
}

step_restart()
{
	expect "nfs-server restarts" systemctl restart nfs-server
	expect "nfs-server listens after the restart" listens
	expect "the mount works after the restart" mounted restart
	expect "its connection has version 2 after the restart" version_2
}

# Checks that netlink and the portlist both have these listeners.
listeners()
{
	local name

	nfsdctl listener
	cat /proc/fs/nfsd/portlist
	for name in "$@"; do
		if ! nfsdctl listener | grep -q "^${name%:*}:.*:${name#*:}$" ||
				! grep -qx "${name/:/ }" /proc/fs/nfsd/portlist; then
			echo "no $name"
			return 1
		fi
	done
}

no_listener()
{
	! grep -x "${1/:/ }" /proc/fs/nfsd/portlist
}

# nfsdctl sends a changed list of listeners, and nfsd opens all listeners in it again, see
# install.rst. nfs-utils has nfsdctl from 2.8 on.
step_nfsdctl()
{
	command -v nfsdctl >/dev/null || return
	expect "nfsdctl lists the listeners of nfs-server" listeners rdma:20049
	expect "/mnt is unmounted" umount /mnt
	expect "nfsdctl ends nfsd" nfsdctl threads 0
	expect "nfsdctl creates listeners" nfsdctl listener +tcp::2049 +rdma::20049
	expect "nfsdctl lists them" listeners tcp:2049 rdma:20049
	expect "nfsdctl removes tcp" nfsdctl listener -tcp::2049
	expect "tcp is gone" no_listener tcp:2049
	expect "rdma still listens" listeners rdma:20049
	expect "nfsdctl adds tcp" nfsdctl listener +tcp::2049
	expect "both listen" listeners tcp:2049 rdma:20049
	expect "the portlist accepts rdma2" sh -c 'echo rdma2 20050 >/proc/fs/nfsd/portlist'
	expect "nfsdctl lists rdma2" listeners tcp:2049 rdma:20049 rdma2:20050
	expect "with a listener rdma2 nfsdctl changes nothing" \
		sh -c '! nfsdctl listener -tcp::2049'
	expect "all listen" listeners tcp:2049 rdma:20049 rdma2:20050
	expect "nfsdctl removes rdma2" nfsdctl listener -rdma2::20050
	expect "rdma2 is gone" no_listener rdma2:20050
	expect "the others listen" listeners tcp:2049 rdma:20049
	expect "nfsdctl starts nfsd" nfsdctl threads 4
	expect "/mnt is mounted" mount /mnt
	expect "the mount works with that listener" mounted nfsdctl
	expect "its connection has version 2 with nfsdctl" version_2
}

# A kernel without modules of rdma2
step_fallback()
{
	expect "rpcrdma is loaded at boot" loaded rpcrdma
	expect "xprtrdma2 and svcrdma2 are not loaded" not_loaded xprtrdma2 svcrdma2 rpcrdma2
	expect "nfs-server listens on rdma 20049 by rpcrdma" listens
	expect "the mount of fstab is active by rpcrdma" mounted fallback
	expect "its options have proto=rdma" findmnt -n -t nfs4 -O proto=rdma /mnt
	expect "the log has the reason" \
		journalctl -b -q --no-pager -g '(xprt|svc)rdma2 cannot be loaded on Linux'
	expect "rdma2 doctor reports it" sh -c \
		'rdma2 doctor | tee /dev/stderr | grep "^FAIL module: there is no xprtrdma2"'
}

# Runs the commands of the administrator's guide literally, from the creation of the device
# on. The first line of a block names its case.
step_guide()
{
	local line block=''

	expect "/mnt is unmounted" umount /mnt
	expect "nfs-server stops" systemctl stop nfs-server
	dd if=/dev/zero of=/srv/export/guide bs=64k count=16 status=none
	rdma link del rxe0
	while IFS= read -r line <&3; do
		if [ "$line" != %% ]; then
			block+=$line$'\n'
			continue
		fi
		expect "guide: ${block%%$'\n'*}" bash -e -o pipefail -c "$block"
		block=''
	done 3<guide
	expect "the settings of local.conf are in force" \
		grep -x 128 /sys/module/svcrdma2/parameters/credits
	expect "after the commands of the guide a mount uses version 2" version_2
}

nothing_left()
{
	local left

	left=$(find / -xdev -iname '*rdma2*' ! -path '/var/log/*')
	echo "$left"
	[ -z "$left" ] && ! dpkg-query -W -f '${Package} ${Status}\n' 'rdma2*' |
		grep -v 'unknown ok not-installed'
}

step_purge()
{
	expect "/mnt is unmounted" umount /mnt
	expect "nfs-server stops" systemctl stop nfs-server
	expect "apt purges the packages" \
		apt-get -q -y purge rdma2-utils rdma2-dkms
	expect "no module of the packages is loaded" not_loaded xprtrdma2 svcrdma2 rpcrdma2
	expect "all files of the packages are removed" nothing_left
	expect "rpcrdma can be loaded" modprobe rpcrdma
	expect "rpcrdma is loaded" loaded rpcrdma
}

step_in_tree()
{
	expect "rpcrdma is loaded at boot" loaded rpcrdma
	expect "nfs-server listens on rdma 20049, in-tree" listens
	expect "the mount of fstab is active, in-tree" mounted in-tree
}

# Secure Boot rejects the modules in the same way; the kernel does not have their key.
key_rejected()
{
	! modprobe xprtrdma2 2>"$here/modprobe" || return 1
	cat "$here/modprobe"
	grep -q "could not insert 'xprtrdma2': Key was rejected by service" "$here/modprobe"
}

step_enforce()
{
	expect "/mnt is unmounted" umount /mnt
	expect "nfs-server stops" systemctl stop nfs-server
	expect "the modules are unloaded" rmmod xprtrdma2 svcrdma2 rpcrdma2
	echo Y >/sys/module/module/parameters/sig_enforce
	expect "a kernel that requires a known key reports it" key_rejected
}

step_reboot()
{
	systemctl reboot
}

step_off()
{
	echo "end of steps"
	systemctl poweroff
}

cd "$here" || exit 1
while read -r step; do
	sed -i 1d steps
	sync
	"step_$step" </dev/null
	case $step in
	reboot|off)	exit ;;
	esac
done < <(cat steps)
