#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The first process of the debian guest: mounts the host's root read-only, with an overlay
# in memory, and changes to it.

export PATH=/bin

give_up()
{
	echo "initramfs: $1"
	poweroff -f
}

/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t devtmpfs none /dev
while read -r module; do
	insmod "/lib/$module" || echo "cannot load $module"
done </lib/order
mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=524288,cache=loose \
	hostroot /lower || give_up 'no host root'
# shellcheck disable=SC2154 # from the kernel's command line
mount -t tmpfs -o "size=$vm_tmpfs" none /top
mkdir /top/up /top/work /top/root
mount -t overlay -o lowerdir=/lower,upperdir=/top/up,workdir=/top/work \
	none /top/root || give_up 'no overlay'
mkdir -p /top/root/run/vm
mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288,cache=none \
	run /top/root/run/vm || give_up 'no /run/vm'
umount /proc
mount --move /dev /top/root/dev
# shellcheck disable=SC2154 # from the kernel's command line
exec switch_root /top/root "$vm_init"
