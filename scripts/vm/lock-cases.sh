# shellcheck shell=bash disable=SC2015,SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: the locks of the modules that an RPC takes, counted by lockdep's
# tracepoint. Its events have a number for each lock, and the name of the lock's class: the
# expression that initialises the lock.

# Prints the names of the modules' locks, and "one" for those of a connection.
locks_of_modules()
{
	sed -nE -e 's/.*\<(raw_)?(spin_lock|mutex|rwlock)_init\((.*)\);.*/\3/p' \
		-e 's/.*\<init_rwsem\((.*)\);.*/\1/p' \
		-e 's/.*\<DEFINE_(SPINLOCK|MUTEX|RWLOCK)\((\w+)\).*/\2/p' \
		-e 's/.*\<DECLARE_RWSEM\((\w+)\).*/\1/p' \
		"$VM_TOP"/{rpcrdma2,include/rpcrdma2,xprtrdma2,svcrdma2}/*.[ch] |
		sed -E '/^&(sp|xp|ep|sq|rp|rg|sem)->/s/$/ one/'
}

# lock_rounds COMMAND...: sets rose[c_locks] and rose[s_locks] to the number of times that the
# command takes locks of each end, and $shared to those that other connections take, too. A lock
# of the core is the server's if a thread of nfsd takes it: no code of the client runs there.
lock_rounds()
{
	local event=/sys/kernel/tracing/events/lock/lock_acquire trace=/sys/kernel/tracing/trace

	locks_of_modules >/tmp/locks
	sed 's/\([^ ]*\).*/name == "\1"/' /tmp/locks | paste -sd '|' | sed 's/|/ || /g' \
		>"$event/filter"
	: >"$trace"
	echo 1 >"$event/enable"
	measure "$@"
	echo 0 >"$event/enable"
	grep ' lock_acquire: ' "$trace" >/tmp/rounds
	awk '
		NR == FNR { own[$1] = $2 == "one"; next }
		{
			taker = $1
			sub(/.* lock_acquire: /, "")
			name = $NF
			if (taker ~ /^nfsd-/ || name ~ /->(sp|ls|kp|se)_|^svc2_/)
				server[$1]
			rounds[$1]++
			names[$1] = name
			if (!own[name])
				others[name]
		}
		END {
			for (lock in rounds) {
				sum[lock in server] += rounds[lock]
				print "#", lock in server ? "server" : "client",
				      names[lock], rounds[lock]
			}
			for (name in others)
				shared = shared ", " name
			print sum[0] + 0, sum[1] + 0, shared
		}' /tmp/locks /tmp/rounds | sort -r >/tmp/sums
	grep '^#' /tmp/sums
	read -r "rose[c_locks]" "rose[s_locks]" shared <<<"$(grep -v '^#' /tmp/sums)"
}

group_locks()
{
	local shared

	nfs_up rdma2 && mount_nfs rdma2 4.2 /mnt noac || { fail "mount"; return; }
	dd if=/dev/urandom of=/mnt/file bs=1M count=16 status=none
	stats 4 >/dev/null
	lock_rounds stats 200
	expect "GETATTR: the client takes at most 3 locks" \
		"c_calls >= 200 && c_locks >= c_calls && c_locks <= 3 * c_calls"
	expect "GETATTR: the server takes at most 3 locks" \
		"s_calls >= 200 && s_locks >= s_calls && s_locks <= 3 * s_calls"
	without "GETATTR: no lock that other connections take" "$shared"

	exec 7<>/mnt/file
	lock_rounds dd bs=1M count=16 iflag=direct of=/dev/null <&7
	echo "# ${rose[c_calls]} Calls: ${rose[c_locks]} and ${rose[s_locks]} locks"
	expect "READ of 1 MiB: 16 have chunks" \
		"s_write_chunk_bytes == 16 * 1048576 && c_locks >= c_calls && s_locks >= s_calls"
	without "READ of 1 MiB: no lock that other connections take" "$shared"
	exec 7<>/mnt/file
	lock_rounds puts 16
	echo "# ${rose[c_calls]} Calls: ${rose[c_locks]} and ${rose[s_locks]} locks"
	expect "WRITE of 1 MiB: 16 have chunks" \
		"s_read_chunk_bytes == 16 * 1048576 && c_locks >= c_calls && s_locks >= s_calls"
	same "WRITE of 1 MiB: of locks that other connections take, only a processor's kept pages" \
		"$shared" ", &kept->kp_lock"
	exec 7>&-
}
