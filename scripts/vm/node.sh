# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Both guests of a pair source this file. The client's guest sends commands to the server's
# guest through a shared folder of the host, which works while the link is down. Each file
# is written once, under a unique name, and becomes visible only when it is complete, so
# that no guest caches stale contents.

share=/run/share

# appear FILE: creates the file from standard input; the rename makes it visible as a whole
appear()
{
	cat >"$1.part"
	sync "$1.part"
	mv "$1.part" "$1"
}

# Runs the client's commands in this shell, in order, until end_service runs or the client's
# guest has ended. After a restart by restart_server it runs those that follow.
serve()
{
	local n

	n=$(cat "$share/next" 2>/dev/null || echo 1)
	serving=1
	while [ "$serving" -eq 1 ] && [ ! -e "$share/client.ended" ]; do
		if [ ! -e "$share/$n.asked" ]; then
			sleep 0.05
			continue
		fi
		eval "$(cat "$share/$n.asked")" >/tmp/said 2>&1
		echo $? >>/tmp/said
		appear "$share/$n.said" </tmp/said
		n=$((n + 1))
	done
}

end_service()
{
	serving=0
}

# run_node COMMAND...: runs the command in the client's guest, and serve() in the server's
# guest
run_node()
{
	case $VM_NODE in
	server)	cd / && serve ;;
	client)	trap '[ "$BASHPID" -ne $$ ] || on_server end_service' EXIT
		"$@"
		exit "$failed" ;;
	esac
}

# await_far COMMAND...: runs the command until it succeeds, or fails if the server's guest has
# ended. A pair has the host's clock, so there is no count.
await_far()
{
	until "$@"; do
		[ ! -e "$share/server.ended" ] || complain "the other guest has ended" || return
		pause 0.1
	done
}

# ask_server COMMAND...: has the server's guest run the command, and sets $n to its number. A
# file holds the count of commands because this function may run in a subshell.
ask_server()
{
	n=$(($(cat /tmp/asked 2>/dev/null || echo 0) + 1))
	echo "$n" >/tmp/asked
	appear "$share/$n.asked" <<<"$*"
}

restart='
import ctypes, os, sys, time
open(sys.argv[1] + ".restarts", "w").close()
while not os.path.exists(sys.argv[1] + ".restart"):
    time.sleep(0.001)
ctypes.CDLL(None).reboot(0x01234567)
'

# restart_server: the server's kernel restarts as it is: its processes get no signal, its clients
# no message, and no file system is unmounted. A guest under QEMU would end instead. No datagram
# reaches the server until it runs commands again: User-Mode Linux keeps the socket of the link,
# with signals on, and a signal while it restarts can end it or let it loop. The loss begins when
# the other guest is about to restart: before that its connections would end by it.
restart_server()
{
	local n

	echo $(($(cat /tmp/asked) + 2)) | appear "$share/next"
	ask_server "python3 -c '$restart' \"\$share/\$n\""
	await_far test -e "$share/$n.restarts" || return
	tc qdisc replace dev "$netdev" root netem loss 100% || complain "no loss" || return
	appear "$share/$n.restart" </dev/null
	on_server true || complain "the other guest runs no commands any longer" || return
	tc qdisc del dev "$netdev" root
}

# on_server COMMAND...: runs the command in the server's guest, prints its output, and
# returns its exit status.
on_server()
{
	local n said

	ask_server "$@"
	until [ -e "$share/$n.said" ]; do
		[ -e "$share/server.ended" ] && return 1
		sleep 0.05
	done
	said=$(cat "$share/$n.said")
	sed '$d' <<<"$said"
	return "$(tail -n 1 <<<"$said")"
}
