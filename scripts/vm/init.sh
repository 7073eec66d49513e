#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # vm.sh writes these variables to /run/vm/setup
#
# The first process of a guest, started on the host's root: creates a writable root that
# leaves the host's unchanged, runs the command, checks for leaks, writes the exit status to
# /run/vm, and powers the machine off.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root LANG=C.UTF-8

off()
{
	sync
	# The guest has no init that poweroff(8) could contact.
	perl -e 'syscall(169, 0xfee1dead, 672274793, 0x4321fedc, 0)'
	sleep 5
}

# User-Mode Linux runs this script on the host's root; in the debian guest the initramfs has
# already created the writable root.
own_root()
{
	# shellcheck disable=SC2154 # from the kernel's command line
	local run=$vm_run

	mount -t tmpfs none /tmp
	mkdir /tmp/up /tmp/work /tmp/root
	mount -t overlay -o lowerdir=/,upperdir=/tmp/up,workdir=/tmp/work \
		none /tmp/root || return 1
	mount -t devtmpfs none /tmp/root/dev
	mkdir -p /tmp/root/run/vm
	mount -t hostfs -o "$run" none /tmp/root/run/vm || return 1
	exec chroot /tmp/root "$0"
}

# Mounts a private tmpfs on each folder that guests write to, over the host's contents. The
# checkout and the cache (vm_keep) may be below one of these folders: they are bound again
# at their given paths and at the paths that symbolic links resolve to. If vm.sh was started
# in such a folder itself, the guest sees its private one there.
own_folders()
{
	local dir path real own=' '

	mkdir /.machine /.run
	mount --bind / /.machine
	mount --move /run/vm /.run
	for dir in /tmp /var/tmp /run /mnt* /export /src; do
		if [ ! -d "$dir" ]; then
			rm -f "$dir"
			mkdir -p "$dir"
		fi
		mount -t tmpfs -o mode=1777 none "$dir" || return 1
		own+="$(realpath "$dir") $dir "
	done
	mkdir /run/vm
	mount --move /.run /run/vm
	for path in "${vm_keep[@]}"; do
		real=$(chroot /.machine realpath "$path") || continue
		for dir in "$real" "$path"; do
			[ "$dir" -ef "/.machine$real" ] && continue
			[[ $own != *" $dir "* ]] || continue
			mkdir -p "$dir"
			mount --bind "/.machine$real" "$dir" || return 1
		done
	done
	umount /.machine
	rmdir /.machine /.run
}

complain()
{
	echo "init: BUG: $*" >/dev/kmsg
}

# Ends all processes after a day, and logs them before. With simulated time, processes that
# wait for each other spend a day within seconds.
end_hung()
{
	sleep 86400
	complain "the command has not ended within a day"
	ps -o pid,ppid,stat,args --ppid 2 -N | sed 's/^/init: /' >/dev/kmsg
	kill -KILL -1
}

if [ ! -e /run/vm/setup ]; then
	own_root
	echo "init: no root to work on"
	off
fi

mount -t proc none /proc
mount -t sysfs none /sys
mount -t debugfs none /sys/kernel/debug
mount -t tracefs none /sys/kernel/tracing
mkdir -p /dev/pts /dev/shm
mount -t devpts none /dev/pts
mount -t tmpfs none /dev/shm
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
[ -e /dev/stdin ] || ln -s fd/0 /dev/stdin
[ -e /dev/stdout ] || ln -s fd/1 /dev/stdout
[ -e /dev/stderr ] || ln -s fd/2 /dev/stderr

# shellcheck source=/dev/null
. /run/vm/setup
if ! own_folders; then
	echo "init: no folders of its own"
	off
fi

hostname "${vm_node:-$vm_kernel}"
ip link set lo up
if [ -n "$vm_share" ]; then
	mkdir -p /run/share
	case $vm_kernel in
	uml*)	mount -t hostfs -o "$vm_share" none /run/share ;;
	*)	mount -t 9p -o trans=virtio,version=9p2000.L,cache=none \
			share /run/share ;;
	esac
fi
mkdir -p "/usr/lib/modules/$vm_release"
[ -d "$vm_modules" ] &&
	mount --bind "$vm_modules" "/usr/lib/modules/$vm_release"
# The tools of server and client are unpacked in the cache but not installed on the host.
[ -d "$vm_tools" ] && cp -a --no-preserve=ownership "$vm_tools/." /
grep -q '^_rpc:' /etc/passwd || {
	echo '_rpc:x:120:65534::/run/rpcbind:/usr/sbin/nologin'
	echo 'statd:x:121:65534::/var/lib/nfs:/usr/sbin/nologin'
} >>/etc/passwd
# A task that is blocked for a minute of the guest's clock, or for four minutes of the
# host's, has hung. With a clock that counts instructions the detector is off, because this
# clock leaps while all tasks wait for the host.
hung=60
[ "$vm_clock" != host ] || hung=240
[ "$vm_icount" -eq 0 ] || hung=0
[ -w /proc/sys/kernel/hung_task_timeout_secs ] &&
	echo "$hung" >/proc/sys/kernel/hung_task_timeout_secs

case $vm_kernel in
uml*)	terminal=/dev/tty1 ;;
*)	terminal=/dev/hvc0 ;;
esac

export TERM=$vm_term VM_KERNEL=$vm_kernel VM_CLOCK=$vm_clock
[ "$vm_icount" -eq 0 ] || VM_CLOCK=instructions
export VM_BUILD=$vm_build VM_TOP=$vm_top VM_NODE=$vm_node
# Discards leaks of the boot; only those of the command count.
echo clear 2>/dev/null >/sys/kernel/debug/kmemleak
# This kernel's clock has ticks of 10 ms, in which a trace would sort the events of several
# processors by processor.
[ "$vm_kernel" != uml-smp ] || echo counter >/sys/kernel/tracing/trace_clock
# KCSAN is off during the boot, whose races do not count; this also makes the boot faster.
[ "$vm_kernel" != kcsan ] || echo on >/sys/kernel/debug/kcsan
touch /run/vm/started
[ "$vm_clock" = host ] || end_hung &
cd "$vm_cwd" || cd /
if [ "$vm_tty" -eq 1 ]; then
	# shellcheck disable=SC2086,SC2154 # two numbers
	set -- ${vm_size:-24 80}
	stty -F "$terminal" sane rows "$1" cols "$2"
	setsid -c "${vm_command[@]}" <>"$terminal" >&0 2>&1
else
	stty -F "$terminal" -opost -echo
	setsid "${vm_command[@]}" </dev/null >"$terminal" 2>&1
fi
rc=$?

# Deleting a device with DMA addresses of its own makes it report leaked mappings.
if grep -q ' rdma_rxe\.dma=' /proc/cmdline; then
	for device in /sys/class/infiniband/rxe*; do
		[ ! -e "$device" ] || rdma link del "${device##*/}"
	done
fi

# Prints the tasks in state D, each with its number of voluntary context switches. The
# kernel's hung-task detector ignores killable tasks.
asleep()
{
	cat /proc/[0-9]*/task/[0-9]*/status 2>/dev/null | awk '
	/^Name:/ { name = $2 }
	/^State:/ { state = $2 }
	/^Pid:/ { pid = $2 }
	/^voluntary_ctxt_switches:/ && state == "D" { print pid, name, $2 }'
}

# A task hangs if it is still in the same sleep in state D after five seconds.
sleepers=$(asleep)
left=25
while [ -n "$sleepers" ] && [ "$left" -gt 0 ]; do
	sleep 0.2
	sleepers=$(asleep | grep -Fx "$sleepers")
	left=$((left - 1))
done
[ -z "$sleepers" ] || while read -r pid name _; do
	complain "task $name:$pid blocked for more than 5 seconds:" \
		"$(paste -sd' ' "/proc/$pid/stack")"
done <<<"$sleepers"

# kmemleak reports an object only if it is older than five seconds and unreferenced in two
# scans. The scan fails if kmemleak has disabled itself, after an error or a failed
# allocation.
leaks=/sys/kernel/debug/kmemleak
if [ -e "$leaks" ]; then
	sleep "$(awk -v left="$left" 'BEGIN { print 5.2 - (25 - left) * 0.2 }')"
	if ! echo scan >"$leaks" || ! sleep 1 || ! echo scan >"$leaks"; then
		complain "kmemleak is off"
	fi
	cat "$leaks" >/run/vm/kmemleak
	# The kernel prints no line of its own for a second scan.
	[ -s /run/vm/kmemleak ] &&
		complain "unreferenced object: see the file kmemleak"
	sync /run/vm/kmemleak
fi
# lockdep disables itself after its first report, and when its tables are full.
if [ -e /proc/lockdep_stats ]; then
	grep -q 'debug_locks: *1$' /proc/lockdep_stats ||
		complain "lockdep is off"
fi
case $vm_kernel in
uml-debug|uml-smp)
	[ -e "$leaks" ] || complain "no kmemleak"
	[ -e /proc/lockdep_stats ] || complain "no lockdep" ;;
kcsan)	grep -q 'enabled: *1$' /sys/kernel/debug/kcsan || complain "KCSAN is off" ;;
esac
case "$vm_kernel $(uname -v)" in
*PREEMPT*) ;;
uml-smp*|kcsan*)	complain "the kernel is not preemptible" ;;
esac
# The functions of the modules that were entered, for coverage.sh
entered=/sys/kernel/debug/rpcrdma2_entered
[ ! -e "$entered" ] || cat "$entered" >/run/vm/entered
echo "$rc" >/run/vm/rc.tmp
sync /run/vm/rc.tmp
mv /run/vm/rc.tmp /run/vm/rc
off
