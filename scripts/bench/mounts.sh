# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced in the benchmark's guests: many connections to one server. A mount has up to 16
# connections, to a server address of its own.

most_per_mount=16

# allow_mounts: adds the addresses of the mounts, and raises the limit of nfsd, which has to
# be stopped
allow_mounts()
{
	local i

	[[ $(ip -4 addr show dev "$netdev") != *" 10.0.1.1/32 "* ]] || return 0
	# The default in Linux 6.12 is 64 connections without a file handle.
	[ ! -e /proc/fs/nfsd/max_connections ] || echo 4096 >/proc/fs/nfsd/max_connections
	for ((i = 1; i <= 64; i++)); do
		ip addr add "10.0.1.$i/32" dev "$netdev" || return 1
	done
}

# allow_connections: raises the limits of svcrdma2, if it is loaded: by default an address has
# 128 connections at most
allow_connections()
{
	local limit=/sys/module/svcrdma2/parameters/connections

	[ ! -e "$limit" ] || echo 4096:2048 >"$limit"
}

# connections REQUESTS: prints the number of connections that have carried at least this
# many requests
connections()
{
	awk -v least="$1" '$1 == "xprt:" && $5 > 0 && $8 >= least { n++ }
		END { print n + 0 }' /proc/self/mountstats
}

# connections_served: prints the number of the server's connections
connections_served()
{
	if [ "$transport" = tcp ]; then
		# State 01 is established; 0801 is port 2049.
		cat /proc/net/tcp /proc/net/tcp6 |
			awk '$2 ~ /:0801$/ && $4 == "01" { n++ } END { print n + 0 }'
	else
		# Queue pair 1 belongs to the device.
		rdma resource show qp | awk '/lqpn/ && !/lqpn 1 / { n++ }
			END { print n + 0 }'
	fi
}

# mounts connect NUMBER PER-MOUNT: makes mounts with this many connections on /mnt.1 and so
# on. A connection of a mount is established when it is first used.
# mounts disconnect: unmounts all of them
#
# A single Perl process does this, because starting a process takes a guest as long as a
# mount.
mounts()
{
	perl -e '
	my ($what, $transport, $port, $left, $most) = @ARGV;
	my ($mount, $umount2, $type) = (165, 166, "nfs");

	sub identity {
		open(my $out, ">", "/sys/module/nfs/parameters/nfs4_unique_id");
		print $out "$$-@_\n";
		close($out) or die "identity: $!\n";
	}

	for (my $i = 1; $what eq "connect" && $left > 0; $i++) {
		my ($dir, $host) = ("/mnt.$i", "10.0.1.$i");
		my $source = "$host:/";
		my $n = $left < $most ? $left : $most;
		my $options = "vers=4.2,proto=$transport,port=$port,noac," .
			"noresvport,nconnect=$n,addr=$host,clientaddr=10.0.0.2";

		identity($i);
		mkdir($dir);
		syscall($mount, $source, $dir, $type, 0, $options) == 0
			or die "mount of $host: $!\n";
		lstat($dir) or die "$dir: $!\n" for 0 .. $n * 2;
		$left -= $n;
	}
	for my $dir ($what eq "disconnect" ? glob("/mnt.*") : ()) {
		syscall($umount2, $dir, 0) == 0 or die "umount $dir: $!\n";
		rmdir($dir);
	}' "$1" "$transport" "$port" "${@:2}"
}
