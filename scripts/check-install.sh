#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Installs rdma2 on Debian 12 and 13 with systemd as a user does: packages by apt, rdma=y in
# nfs.conf, a mount with proto=rdma in fstab. Each system boots, restarts its server, and
# boots again; gets a later kernel that rdma2 is not built for, and boots it with the
# kernel's own rpcrdma; lets DKMS build the modules for that kernel on request; boots again,
# and purges the packages. apt and DKMS run in a chroot of the same root, because DKMS's
# builds are slow under QEMU's emulation.
#
#	check-install.sh [12] [13]

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

cd "$top" || exit 1
failed=0 suite=install
work=$(mktemp -d "$cache/install.XXXXXX")

in_root()
{
	DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"
}

proc_up()
{
	mount -t proc none "$root/proc" && mount -t sysfs none "$root/sys"
}

proc_down()
{
	umount "$root/proc" "$root/sys" 2>/dev/null
}

cleanup()
{
	root=${root:-none} proc_down
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

# has_modules RELEASE: succeeds if DKMS has built and signed the modules for this kernel
has_modules()
{
	local m

	for m in rpcrdma2 xprtrdma2 svcrdma2; do
		modinfo -b "$root" -k "$1" -F signer "$m" | grep . || return 1
		modinfo -b "$root" -k "$1" -F filename "$m" | grep /updates/dkms/ ||
			return 1
	done
}

# Succeeds if apt has configured all packages.
is_configured()
{
	# shellcheck disable=SC2016 # dpkg's
	! in_root dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' | grep -v '^ii ' &&
		! in_root dpkg --audit | grep .
}

# series RELEASE: prints the release's first two numbers
series()
{
	cut -d . -f 1,2 <<<"${1%%[-+]*}"
}

# from_sources TARGET: runs make for the first kernel, as on a machine without the packages
from_sources()
{
	in_root make -s -C /tmp/rdma2 "$1" KDIR="/lib/modules/$first/build"
}

# Succeeds if the root has no file of rdma2, besides the sources and logs.
nothing_left()
{
	! find "$root" -xdev -iname '*rdma2*' ! -path "$root/tmp/*" \
		! -path "$root/var/log/*" | grep .
}

# Installation without packages, with DKMS and for one kernel, and its removal. At the end the
# modules of "make install" are there once more.
without_packages()
{
	local header=include/rpcrdma2/release.h

	mkdir "$root/tmp/rdma2"
	git ls-files -z --cached --others --exclude-standard -- . ':!deb' |
		xargs -0 cp --parents -t "$root/tmp/rdma2"
	proc_up
	expect "make dkms-install" from_sources dkms-install &&
		expect "DKMS built the modules" has_modules "$first"
	# shellcheck disable=SC2016 # the last line, for sed
	sed -i '$a MODULE_INFO(changed, "yes");' "$root/tmp/rdma2/rpcrdma2/module.c"
	expect "make dkms-install with changed sources" from_sources dkms-install &&
		expect "DKMS built the changed modules" eval \
			"has_modules '$first' && modinfo -b '$root' -k '$first' -F changed rpcrdma2 | grep yes"
	sed -i '/RPCRDMA2_RELEASE/s/".*"/"0.0.1"/' "$root/tmp/rdma2/$header"
	expect "make dkms-install of an older version" from_sources dkms-install &&
		expect "DKMS has only the older modules" eval \
			"has_modules '$first' && ! in_root dkms status | grep -v '^rdma2/0.0.1,' &&
			modinfo -b '$root' -k '$first' -F version rpcrdma2 | grep -Fx 0.0.1"
	cp "$header" "$root/tmp/rdma2/$header"
	expect "make dkms-uninstall" from_sources dkms-uninstall
	expect "make dkms-uninstall removes all files" nothing_left
	expect "make" from_sources all && expect "make install" from_sources install &&
		expect "modprobe finds the modules" in_root modinfo -k "$first" \
			rpcrdma2 xprtrdma2 svcrdma2
	expect "make uninstall" from_sources uninstall
	expect "make uninstall removes all files" nothing_left
	expect "make install, without make uninstall" from_sources install
	proc_down
	rm -r "$root/tmp/rdma2"
}

# The administrator's configuration, and the hardware that the guest lacks
configure()
{
	local file

	mkdir -p "$root/srv/export" "$root/etc/nfs.conf.d" "$root/var/lib/guest-test"
	for file in /etc/nfs.conf.d/rdma.conf /etc/exports /etc/modprobe.d/local.conf; do
		scripts/guide.py file "$file" >"$root$file" || exit 1
	done
	scripts/guide.py commands >"$root/var/lib/guest-test/guide"
	echo '10.0.0.1 server' >>"$root/etc/hosts"
	cat >"$root/etc/fstab" <<-END
	/dev/vda / ext4 defaults 0 1
	10.0.0.1:/srv/export /mnt nfs vers=4.2,proto=rdma,_netdev,x-systemd.after=nfs-server.service 0 0
	END
	cat >"$root/etc/systemd/system/guest-device.service" <<-END
	[Unit]
	Description=An RDMA device in software
	DefaultDependencies=no
	After=systemd-modules-load.service
	Before=network.target nfs-server.service remote-fs-pre.target
	[Service]
	Type=oneshot
	RemainAfterExit=yes
	ExecStart=/sbin/ip link add eth0 type dummy
	ExecStart=/sbin/ip link set eth0 mtu 9000 up
	ExecStart=/sbin/ip addr add 10.0.0.1/24 dev eth0
	ExecStart=/usr/bin/rdma link add rxe0 type rxe netdev eth0
	[Install]
	WantedBy=sysinit.target
	END
	cat >"$root/etc/systemd/system/guest-test.service" <<-END
	[Unit]
	Description=What is tested
	After=remote-fs.target nfs-server.service
	[Service]
	Type=oneshot
	ExecStart=/var/lib/guest-test/installed.sh
	StandardOutput=tty
	StandardError=inherit
	TTYPath=/dev/ttyS1
	[Install]
	WantedBy=multi-user.target
	END
	cp "$vmdir/installed.sh" "$root/var/lib/guest-test/"
	in_root systemctl enable -q guest-device guest-test
}

# boot NAME RELEASE STEP...: boots the root and waits until the guest powers off
boot()
{
	local name=$1 release=$2 log=$work/$1.log image=$work/$1.img

	shift 2
	printf '%s\n' "$@" >"$root/var/lib/guest-test/steps"
	rm -f "$image"
	mkfs.ext4 -q -F -E lazy_itable_init=1 -d "$root" "$image" 4G >"$log" 2>&1 ||
		{ result "$name: an image" 1 "$log"; return; }
	say "$name: $*; log: $log"
	timeout -k 5 1500 qemu-system-x86_64 -accel tcg,thread=multi \
		-cpu max -m 1536 -smp 1 -nodefaults -no-user-config -display none \
		-kernel "$root/boot/vmlinuz-$release" \
		-initrd "$root/boot/initrd.img-$release" \
		-drive "file=$image,format=raw,if=virtio,cache=unsafe" \
		-serial "file:$log" -serial "file:$log.said" \
		-append "root=/dev/vda rw console=ttyS0 mitigations=off nokaslr panic=-1 systemd.default_timeout_start_sec=600 systemd.getty_auto=no" \
		</dev/null >"$log.qemu" 2>&1
	tr -d '\r' <"$log.said" | sed "s/^\(ok\|FAIL\) /\1 install: Debian $debian /" |
		tee "$work/said" | grep -v '^end of steps$'
	! grep -q '^FAIL ' "$work/said" || failed=1
	grep -q '^end of steps$' "$work/said"
	result "$name: all steps are done" $? "$log"
	! grep -E 'BUG|WARNING|Oops|Call Trace|blocked for more' "$log" >"$work/bad"
	result "$name: no report in the kernel's log" $? "$work/bad"
	rm -f "$image"
}

# install NAME COMMAND...: runs the command as root of that system, without a network of its
# own
install()
{
	local name="$system: $1" rc

	shift
	proc_up
	in_root "$@" >"$work/apt.log" 2>&1
	rc=$?
	proc_down
	result "$name" "$rc" "$work/apt.log"
	return "$rc"
}

check_debian()
{
	local dir first later

	debian=$1 system="Debian $1"
	dir=$(scripts/vm/root.sh "$debian") || exit 1
	root=$work/debian-$debian
	first=$(cat "$dir/first")
	cp -a --reflink=auto "$dir/root" "$root" && cp -r "$work/debs" "$root/tmp/" ||
		exit 1
	without_packages
	configure
	install "apt installs the packages" sh -c \
		'apt-get -q -y install --no-install-recommends /tmp/debs/*.deb' || return
	rm -r "$root/tmp/debs"
	expect "DKMS built and signed the modules for $first" has_modules "$first"
	expect "the modules of make install are replaced" \
		eval "! find '$root/lib/modules' -path '*/updates/rdma2*' | grep ."
	boot "debian-$debian" "$first" boot restart nfsdctl guide reboot boot enforce off
	# The sources no longer list the later kernel as tested.
	sed -i "s/^tested=.*/tested='$(series "$first")'/" \
		"$root"/usr/src/rdma2-*/packaging/supported.sh
	# shellcheck disable=SC2046 # a list of words
	install "apt installs a kernel that rdma2 does not support" apt-get -q -y install \
		--no-install-recommends --no-download $(cat "$dir/later") || return
	later=$(find "$root/lib/modules" -mindepth 1 -maxdepth 1 ! -name "$first" -printf '%f')
	expect "the output of apt has the reason" \
		grep "rdma2: not tested with Linux $later" "$work/apt.log"
	expect "no package is left unconfigured" is_configured
	expect "no module was built for $later" \
		eval "! find '$root/lib/modules/$later' -name '*rdma2*' | grep ."
	boot "debian-$debian-in-tree" "$later" fallback off
	echo "RDMA2_LINUX=$(series "$later")" >"$root/etc/default/rdma2"
	install "DKMS builds for it with RDMA2_LINUX" dkms autoinstall -k "$later" ||
		return
	rm "$root/etc/default/rdma2"
	expect "DKMS built and signed the modules for $later" has_modules "$later"
	boot "debian-$debian-later" "$later" boot purge reboot in_tree off
	rm -rf "$root"
}

[ "$(id -u)" -eq 0 ] || die "needs root, for apt in a root of its own"
need_packages qemu-system-x86 kmod e2fsprogs python3
packaging/deb.sh "$work/debs" >"$work/said" 2>&1
result "the packages are built" $?
[ "$failed" -eq 0 ] || exit 1
[ $# -gt 0 ] || set -- 12 13
for d in "$@"; do
	check_debian "$d"
done
exit "$failed"
