# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced in both of two joined guests: the client asks, the server does. What
# they say to each other goes through a folder of the host, so that it passes
# whatever happens to the link. Every file is written once, under a name of its
# own, and appears complete: what guests cache cannot be out of date.

share=/run/share

# appear FILE: standard input, once it is all there
appear()
{
	cat >"$1.part"
	sync "$1.part"
	mv "$1.part" "$1"
}

# The server's part: commands in this shell, in order, until it is told to end
# or the client is no more.
serve()
{
	local n=1

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

# run_node COMMAND...: the client's part; the server's is to serve until that has ended
run_node()
{
	case $VM_NODE in
	server)	cd / && serve ;;
	client)	trap '[ "$BASHPID" -ne $$ ] || on_server end_service' EXIT
		"$@"
		exit "$failed" ;;
	esac
}

# delayed MILLISECONDS: what is sent from here arrives so much later.
delayed()
{
	tc qdisc replace dev "$netdev" root netem delay "${1}ms" limit 100000
}

# on_server COMMAND...: what it said, and its exit status. The count is in a
# file because this may run in a subshell.
on_server()
{
	local n said

	n=$(($(cat /tmp/asked 2>/dev/null || echo 0) + 1))
	echo "$n" >/tmp/asked
	appear "$share/$n.asked" <<<"$*"
	until [ -e "$share/$n.said" ]; do
		[ -e "$share/server.ended" ] && return 1
		sleep 0.05
	done
	said=$(cat "$share/$n.said")
	sed '$d' <<<"$said"
	return "$(tail -n 1 <<<"$said")"
}
