#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots a guest on a read-only view of this machine's root file system, runs a command in
# it, and returns the command's exit status. The run fails if the kernel's log has a report
# or if the guest returns no result, regardless of the command's exit status.
#
# Exit status: that of the command; 123 the emulator failed, and the guest's results are
# invalid; 124 the guest did not end; 125 the guest did not boot, or died; 126 the kernel's
# log has a report.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

usage()
{
	cat >&2 <<END
usage: $0 uml|uml-debug|uml-dma|uml-smp|kcsan|debian|debian-RELEASE [options] -- command [argument...]
	--mem MB	memory of the guest (default 2048)
	--cpus N	processors (debian, default 1; uml-smp and kcsan, default 4)
	--nvme MB	an empty NVMe disk, /dev/nvme0n1 once its driver is loaded (debian only)
	--icount	the guest's clock counts instructions, 1 ns each (debian only)
	--clock MODE	the guest's clock (uml, uml-debug, uml-dma): "host" (default); "skip",
			which skips idle time; "guest", which also stops while the guest
			computes, so that load of the host has no effect
	--timeout S	seconds of processor time, or of idleness, after which the guest is
			killed (default 600); load of the host brings neither closer
	--append ARGS	additional arguments of the kernel's command line
	--no-modules	use the last build of this checkout's modules
	--log FILE	file for the kernel's log (default: in the cache)
	--out DIR	a folder the guest writes to as /run/vm (default: in the cache)
	--interactive	the command gets this terminal
	--allow REGEX	ignore reports in the log that match
	--report REGEX	the log has to have one report with such a title; a second one is as
			bad as any other
	--node NAME	name of the guest, in VM_NODE
	--link FD	an inherited datagram socket becomes the guest's network
	--share DIR	a folder that several guests write to, as /run/share
DMA="bounce merge=1 fail=500" in the environment: the DMA addresses of soft-RoCE in
uml-dma, by default "strict merge=1", and "strict" if it names no mode; see testing.rst
END
	exit 2
}

mem=2048 cpus='' timeout=600 append='' modules=1 log='' out='' tty=0 allow='' report=''
node='' link='' share='' icount=0 clock=host nvme=''
[ $# -ge 1 ] || usage
kernel=$1
shift
while [ $# -gt 0 ]; do
	case $1 in
	--mem|--cpus|--timeout|--append|--log|--out|--allow|--report|--node|--link|--share|--nvme|--clock)
			[ $# -gt 1 ] || usage
			printf -v "${1#--}" %s "$2"; shift ;;
	--icount)	icount=1 ;;
	--no-modules)	modules=0 ;;
	--interactive)	tty=1 ;;
	--)		shift; break ;;
	*)		usage ;;
	esac
	shift
done
[ $# -ge 1 ] || usage
if [ "$kernel" = uml-dma ]; then
	dma='' mode=strict
	for word in ${DMA:-merge=1}; do
		case $word in
		off|iova|bounce|strict)	mode=$word ;;
		merge=[01]|fail=[0-9]*) dma+=" rdma_rxe.dma_$word" ;;
		*)	die "DMA=\"$DMA\": '$word' is not off, iova, bounce, strict, merge=0|1 or fail=N" ;;
		esac
	done
	append+=" rdma_rxe.dma=$mode$dma"
elif [ -n "${DMA:-}" ]; then
	die "DMA=\"$DMA\" is for uml-dma, not for $kernel"
fi
case "$kernel $clock" in
*" host"|"uml guest"|"uml skip"|uml-d*" guest"|uml-d*" skip") ;;
*)	die "$kernel has no clock '$clock'" ;;
esac

kdir=$("$vmdir/kernel.sh" "$kernel") || exit 125
if [ "$modules" -eq 1 ]; then
	bdir=$("$vmdir/modules.sh" "$kernel") || exit 125
else
	bdir=$(build_dir "$kernel") || exit 125
fi
# This lock keeps other checkouts from taking over the folder while the guest runs.
exec {in_use}<"$(dirname "$bdir")/checkout" && flock -s "$in_use" || exit 125
release=$(cat "$kdir/release")
tree=$bdir/root/lib/modules/$release
[ -d "$tree" ] || tree=$kdir/root/lib/modules/$release
tools=$(guest_tools) || exit 125

# Checksums of the modules that the guest loads
module_checksums()
{
	(cd "$bdir/src" && sha256sum {rpcrdma2,xprtrdma2,svcrdma2}/*rdma2.ko) 2>/dev/null
}
checksums=''
[ -z "${COVERAGE:-}" ] || checksums=$(module_checksums)

# Each guest has a private folder for its output. Folders older than a day are deleted.
mkdir -p "$cache/run"
find "$cache/run" -mindepth 1 -maxdepth 1 -mtime +0 -exec rm -rf {} +
run=${out:-$(mktemp -d "$cache/run/$kernel-$(date +%H%M%S)-XXXXXX")}
mkdir -p "$run"
run=$(cd "$run" && pwd)
log=${log:-$run/console.log}
rm -f "$run/rc" "$run/started" "$run/killed" "$run/nvme" "$run/entered" \
	"$run/ends"
[ -z "$nvme" ] || truncate -s "${nvme}M" "$run/nvme" || exit 125

{
	for name in kernel clock icount share release tools top tty; do
		printf 'vm_%s=%q\n' "$name" "${!name}"
	done
	printf 'vm_node=%q\nvm_modules=%q\nvm_build=%q\nvm_cwd=%q\n' "$node" "$tree" "$bdir" "$PWD"
	printf 'vm_keep=(%s)\n' "$(printf '%q ' "$top" "$PWD" "$cache" "$kdir" \
		"$bdir" "$tools")"
	[ "$tty" -eq 1 ] && printf 'vm_size=%q\n' "$(stty size 2>/dev/null)"
	printf 'vm_term=%q\n' "${TERM:-dumb}"
	printf 'vm_command=(%s)\n' "$(printf '%q ' "$@")"
} >"$run/setup"

# User-Mode Linux keeps its memory in a file, and the file's folder needs enough space.
memory_folder()
{
	local room

	room=$(df --output=avail -m /dev/shm 2>/dev/null | tail -n 1)
	if [ "${room:-0}" -gt $((mem * 2)) ]; then
		echo /dev/shm
	else
		echo "$run"
	fi
}

# A guest of User-Mode Linux has one processor and spends much of its time on changes of
# memory maps, which are cheaper if the maps have been used on few processors. Each guest is
# therefore pinned to one of the host's: the number of the first lock that no other guest
# holds, modulo the number of processors.
take_processor()
{
	local fd i

	mkdir -p "$cache/processors" || exit 125
	for ((i = 0; ; i++)); do
		exec {fd}>"$cache/processors/$i" || exit 125
		! flock -n "$fd" || break
		exec {fd}>&-
	done
	i=$((i % jobs))
	! taskset -c "$i" true 2>/dev/null || guest=(taskset -c "$i" "${guest[@]}")
}

uml_command()
{
	guest=("$kdir/boot" "mem=${mem}M" rootfstype=hostfs rootflags=/ ro
		"init=$vmdir/init.sh" "vm_run=$run" "uml_dir=$run" umid=guest
		kunit.enable=1 con=null ssl=null "con0=null,fd:2" loglevel=8 panic=-1)
	[ "$kernel" != uml-smp ] ||
		guest+=(seccomp=on "ncpus=${cpus:-4}" kunit.autorun=1)
	[ "$kernel" = uml-smp ] || take_processor
	# In a pair each guest would skip the time in which the other one computes.
	[ "$clock" = host ] || [ -z "$link" ] || die "two guests need the host's clock"
	case $clock in
	skip)	guest+=(time-travel "time-travel-start=$(date +%s)000000000") ;;
	guest)	guest+=(time-travel=inf-cpu "time-travel-start=$(date +%s)000000000") ;;
	esac
	[ -z "$link" ] ||
		guest+=("vec0:transport=fd,fd=$link,mtu=9000,mac=$mac")
	if [ "$tty" -eq 1 ]; then
		guest+=("con1=fd:0,fd:1")
	else
		guest+=("con1=null,fd:1")
	fi
}

debian_command()
{
	# An emulated "rep movsb" copies one byte at a time. Without this feature the kernel
	# copies words.
	local accel=(-accel "tcg,thread=multi" -cpu "max,-erms")

	[ "$kernel" != kcsan ] || cpus=${cpus:-4}
	need_packages qemu-system-x86
	# One thread runs the guest. A guest that waits for a timer advances at once to its
	# expiry, so load of the host has no effect. Random numbers are fixed as far as
	# possible.
	if [ "$icount" -eq 1 ]; then
		accel=(-accel "tcg,thread=single" -icount "shift=0,sleep=off" -cpu max
			-seed 1 -rtc "base=2026-01-01,clock=vm")
		append+=" norandmaps randomize_kstack_offset=off"
	fi
	guest=(qemu-system-x86_64 "${accel[@]}"
		-m "$mem" -smp "${cpus:-1}" -nodefaults -no-user-config -no-reboot
		-display none -kernel "$kdir/boot" -initrd "$kdir/initramfs"
		-chardev "file,id=log,path=$log" -serial chardev:log
		-chardev "stdio,id=out,signal=off" -device virtio-serial-pci
		-device "virtconsole,chardev=out"
		-virtfs "local,path=/,mount_tag=hostroot,security_model=none,readonly=on,multidevs=remap"
		-virtfs "local,path=$run,mount_tag=run,security_model=none,multidevs=remap"
		-append "console=ttyS0 loglevel=7 panic=-1 nokaslr mitigations=off vm_tmpfs=$((mem * 3 / 4))m vm_init=$vmdir/init.sh $append")
	[ -z "$link" ] ||
		guest+=(-netdev "dgram,id=link,local.type=fd,local.str=$link"
			-device "virtio-net-pci,netdev=link,mac=$mac")
	[ -z "$nvme" ] ||
		guest+=(-drive "file=$run/nvme,format=raw,if=none,cache=unsafe,id=disk"
			-device "nvme,drive=disk,serial=scratch")
	[ -z "$share" ] ||
		guest+=(-virtfs "local,path=$share,mount_tag=share,security_model=none,multidevs=remap")
}

# The file descriptor number makes the addresses of the two guests differ.
mac=52:54:00:00:00:$(printf %02x "${link:-0}")

case $kernel in
uml*)	uml_command; guest+=(${append:+$append}) ;;
kcsan|debian*) debian_command ;;
esac

# Lines of the log that make a run fail, those with "cut here" last. Reports that every kernel
# of this kind makes on this kind of host are cut out first, as a whole.
other='BUG|KASAN|UBSAN|kmemleak: [0-9]|Oops|Kernel panic'
other+='|possible (circular|recursive|irq lock|deadlock)|inconsistent lock state'
other+='|suspicious RCU|lock held when returning|held lock freed|bad unlock balance'
other+='|unsafe lock order|INFO: task .* blocked|blocked for more than|hung task'
other+='|rcu.*stall|soft lockup|workqueue lockup|DMA-API: .*(device driver|out of memory)|refcount_t|ODEBUG'
other+='|general protection|unable to handle|Segfault|list_(add|del) corruption'
other+='|scheduling while atomic|sleeping function called|unreferenced object'
other+='|Unknown symbol|disagrees about version'
bad="$other|WARNING|Call Trace|Modules linked in"
# The death of a process
process_died='(traps: .* general protection fault|[]]: segfault at [0-9a-f]+) ip[: ][0-9a-f]+ sp[: ]'

# Of a data race the title names the functions of both accesses, or one function where the
# other access is not known. Where neither is of a module of this checkout, the race is the
# kernel's own, and "races" in the guest's folder has a line on it: "below" where a function
# of this checkout is in one of the two stacks, "kernel" where none is.
#
# A block from "cut here" to its end is left out if its title is known, and if no other report is
# in it.
log_reports()
{
	report=$report other=$other died=$process_died awk -v races="$run/races" '
	function flush() {
		if (!known || others) printf "%s", held
		held = ""; known = inside = titles = others = 0
	}
	function ours(line) { return line ~ /\[([a-z]*rdma2[a-z_]*|canary)\]/ }
	# A truncated report counts, too.
	function flush_race() {
		if (title != "") {
			if (!whole || ours(title)) print title
			else print (below ? "below" : "kernel"), title >races
		}
		printf "%s", race
		race = title = ""; below = whole = 0
	}
	BEGIN { printf "" >races; report = ENVIRON["report"]; other = ENVIRON["other"]; died = ENVIRON["died"] }
	/BUG: KCSAN: / { flush_race(); title = $0; next }
	title != "" {
		race = race $0 "\n"
		if (ours($0)) below = 1
		if (/Reported by Kernel Concurrency Sanitizer/) whole = 1
		if (/==========/) flush_race()
		next
	}
	/\[ cut here \]/ { known = 0; flush(); inside = 1 }
	inside {
		held = held $0 "\n"
		# User-Mode Linux has DMA only through a PCI bus that is not there.
		if (/No virtio device ID configured for PCI/) known = 1
		if (/WARNING:/ && !titles++ && report != "" && $0 ~ report && !reported++)
			known = 1
		if (titles > 1 || ($0 ~ other && $0 !~ died)) others = 1
		if (/---\[ end trace/) flush()
		next
	}
	{ print }
	END {
		known = 0
		flush()
		flush_race()
		if (report != "" && !reported) print "WARNING: lacks a report: " report
	}' "$log" |
		grep -aEv -- "$process_died${allow:+|$allow}" |
		grep -aE "$bad"
}

# emulator_failed REPORTS: QEMU's emulation sometimes returns from an interrupt with the bytes of
# another register as flags, and the guest then dies of a double fault. Succeeds if the log has
# this death and no other report. Its flags end with the same 16 bits as another register, and have
# bits that no processor has in 64-bit mode: bit 17, or one above 21.
emulator_failed()
{
	local own='Oops: double fault: .*\[#1\]|Call Trace:|Modules linked in:' death flags

	own+='|Kernel panic - not syncing: (Fatal exception|Machine halted)'
	[[ $kernel != uml* ]] && ! grep -qvE "$own" <<<"$1" || return 1
	death=$(sed -n '/Oops: double fault: /,/Call Trace:/p' "$log")
	flags=$(grep -aoP -m 1 'RSP: .* EFLAGS: \K[0-9a-f]{8}\b' <<<"$death") || return 1
	(((0x$flags & ~0x3dffff) != 0)) &&
		grep -qE "\<R[A-Z0-9]{2}: ([0-9a-f]{4}:)?[0-9a-f]{12}${flags:4}\>" <<<"$death" &&
		say "$kernel: the emulator failed, no processor has EFLAGS: $flags"
}

finish()
{
	local rc=125 what died

	if [ -s "$run/killed" ]; then
		say "$kernel: no end after $(cat "$run/killed"), log: $log"
		tail -n 15 "$log" >&2
		return 124
	elif [ -s "$run/rc" ]; then
		rc=$(cat "$run/rc")
	else
		say "$kernel: the guest gave no result (status $1), log: $log"
		tail -n 15 "$log" >&2
	fi
	what=$(log_reports)
	# Under QEMU's emulation a process sometimes crashes in its dynamic linker. This is printed,
	# and the command's exit status decides.
	died=$(grep -aE "$process_died" "$log" | head -n 5)
	if [ -n "$died" ]; then
		say "$kernel: a process died: $died"
		[[ $kernel != uml* ]] || rc=126
	fi
	[ ! -s "$run/races" ] || say "$kernel: data races of the kernel's own:" \
		"$(grep -c . "$run/races"), below functions of this checkout:" \
		"$(grep -c ^below "$run/races"), see $run/races"
	if [ -n "$what" ]; then
		say "$kernel: reports in the kernel's log, $log:"
		head -n 20 <<<"$what" >&2
		[ -s "$run/kmemleak" ] && head -n 40 "$run/kmemleak" >&2
		rc=126
		! emulator_failed "$what" || rc=123
	fi
	# QEMU's emulation of two processors loses a race with the kernel's patching of its own
	# text once in hundreds of boots. The modules are not loaded by then.
	if [[ $kernel != uml* && ! -e $run/started ]]; then
		say "$kernel: the emulator failed, the guest did not boot"
		rc=123
	fi
	return "$rc"
}

# bound PID: kills the guest, which is the session of PID, as soon as it has used $timeout
# seconds of a processor or has been idle for $timeout seconds. A second of a processor ends
# ten seconds of idleness: a guest that waits in vain has some work, too. A guest that waits
# for a processor of the host is not idle. A guest that has written its result gets 60 seconds
# of a processor to power off. A hang in this part of the kernel does not change the result,
# unless the command has made the file /run/vm/ends: then the run fails.
bound()
{
	local hz used runnable spent before=0 idle=0 why='' limit=$timeout

	hz=$(getconf CLK_TCK)
	# The pause has this script's locks, too.
	trap 'kill "$!"; wait "$!"; exit' TERM
	while { sleep 5 & wait "$!"; } && kill -0 "$1"; do
		# proc(5): state, session, utime, stime, cutime, cstime; first of processes,
		# then of threads: each thread of an emulator may wait for a processor
		read -r used runnable < <(
			{ cat /proc/[0-9]*/stat; echo; cat /proc/[0-9]*/task/[0-9]*/stat; } |
				awk -v session="$1" '
			!NF { threads = 1 }
			{ sub(/^[0-9]+ \(.*\) /, "") }
			$4 != session { next }
			threads { runnable += $1 ~ /[RD]/; next }
			{ used += $12 + $13 + $14 + $15 }
			END { print used + 0, runnable + 0 }')
		spent=$((used > before ? used - before : 0))
		before=$used
		idle=$((idle + (runnable ? 0 : 5 * hz) - 10 * spent))
		[ "$idle" -ge 0 ] || idle=0
		if [ -s "$run/rc" ] && [ "$limit" = "$timeout" ]; then
			limit=$((used / hz + 60))
		fi
		[ "$used" -lt $((limit * hz)) ] || why="$limit s of a processor"
		[ "$idle" -lt $((timeout * hz)) ] || why="$timeout s without work"
		[ -n "$why" ] || continue
		[ ! -s "$run/rc" ] || why+=", not switched off behind its result"
		# SIGTERM makes the kernel print warnings.
		if [ ! -s "$run/rc" ] || [ -e "$run/ends" ]; then
			echo "$why" >"$run/killed"
			kill -TERM -- "-$1"
			sleep 5
		fi
		kill -KILL -- "-$1"
		break
	done
}

# A signal that ends this script also ends the guest.
bounds=''
trap '{ kill -- "-$pid" "$pid" ${bounds:+"$bounds"}; sleep 1; kill -9 -- "-$pid" "$pid"; } 2>/dev/null
	exit 130' INT TERM HUP
if [ "$tty" -eq 1 ]; then
	state=$(stty -g 2>/dev/null)
	TMPDIR=$(memory_folder) "${guest[@]}" <&0 2>>"$log" &
	pid=$!
	wait "$pid"
	status=$?
	[ -n "$state" ] && stty "$state"
else
	TMPDIR=$(memory_folder) setsid "${guest[@]}" </dev/null 2>>"$log" &
	pid=$!
	bound "$pid" >/dev/null 2>&1 &
	bounds=$!
	wait "$pid"
	status=$?
	[ -s "$run/killed" ] || kill "$bounds" 2>/dev/null
	wait "$bounds"
fi
# Adds the entered functions to coverage.sh's folder, $COVERAGE, with the checksums of the
# modules. If the modules were rebuilt while the guest ran, the file is marked as belonging
# to no build.
if [ -n "${COVERAGE:-}" ] && [ "$kernel" = uml-debug ] && [ -s "$run/entered" ]; then
	[ "$checksums" = "$(module_checksums)" ] || checksums="built again"
	{ echo "$checksums"; cat "$run/entered"; } >"$(mktemp "$COVERAGE/XXXXXX")"
fi
finish "$status"
