#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests the dissector for Wireshark (utils/rpcrdma2.lua) with messages that were written by
# hand, tester/rpcrdma2_test/vectors.txt: each word that is named there has to be a field
# with that value. The group link-capture of nfs-test.sh dissects a whole session.

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

cd "$top" || exit 1
need_packages tshark perl
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 suite=dissector
vectors=tester/rpcrdma2_test/vectors.txt
user0='uat:user_dlts:"User 0 (DLT=147)","rpcrdma2","0","","0",""'

# A capture of these messages, with a link type for private use
perl -e '
my ($name, %hex, @names, $t);

while (<>) {
	s/;.*|#.*//;
	if (/^(V\d+)/) {
		push(@names, $name = $1);
	} else {
		s/\s+//g;
		$hex{$name} .= $_ if $name;
	}
}
binmode STDOUT;
print pack("VvvVVVV", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 147);
for (@names) {
	my $bytes = pack("H*", $hex{$_});

	print pack("VVVV", ++$t, 0, (length $bytes) x 2), $bytes;
}' $vectors >"$work/vectors.pcap"

# The fields according to the comments, as "name value", in the order of the message
perl -ne '
BEGIN {
	%names = ("rdma_xid" => "xid", "rdma_vers" => "version", "rdma_credit" => "credit",
		"rdma_proc" => "procedure", "rdma_direction" => "direction",
		"rdma_optdir" => "direction", "rdma_inv_handle" => "inv_handle",
		"rdma_position" => "read.position", "rdma_handle" => "handle",
		"rdma_length" => "length", "rdma_offset" => "offset",
		"rdma_err" => "error", "rdma_vers_low" => "error.low",
		"rdma_vers_high" => "error.high", "rdma_max_chunks" => "error.chunks",
		"rdma_max_segments" => "error.segments",
		"rdma_chunk_index" => "error.index",
		"rdma_length_needed" => "error.needed", "rdma_opttype" => "opttype",
		"rdma_which" => "property", "Format" => "cm.format",
		"Send" => "cm.send", "Receive" => "cm.receive");
}
if (/^(V\d+)/) {
	$vector = $1;
} elsif (/^([0-9a-f ]+?)\s*; [0-9a-f]{3} (\w+)/ && $names{$2}) {
	my ($hex, $name) = ($1, $names{$2});

	$hex =~ s/ //g;
	$hex =~ s/^0+(?=.)//;
	print "$vector $name $hex\n";
}' $vectors >"$work/wanted"

# The fields according to tshark; in version 1 only the RPC message has a direction
fields=(xid version credit procedure direction inv_handle read.position error error.low
	error.high error.chunks error.segments error.index error.needed opttype property
	cm.format cm.send cm.receive)
for list in read write reply; do
	fields+=("$list.handle" "$list.length" "$list.offset")
done
dissect()
{
	tshark -X lua_script:utils/rpcrdma2.lua -o "$user0" -r "$work/vectors.pcap" "$@" \
		2>"$work/stderr"
}
for field in "${fields[@]}"; do
	dissect -T fields -e "rpcrdma2.$field" -E separator=' ' -E aggregator=' ' |
		field=$field perl -ne '
		$name = $ENV{field};
		$name =~ s/^(read|write|reply)\.(handle|length|offset)$/$2/;
		for my $value (split) {
			printf("V%02d %s %s\n", $., $name, $value =~ /^0x/ ?
				$value =~ s/^0x0*(?=.)//r : sprintf("%x", $value));
		}'
done >"$work/found"

mapfile -t names < <(grep -o '^V[0-9]*' $vectors)
for vector in "${names[@]}"; do
	diff <(grep "^$vector " "$work/wanted" | sort) \
		<(grep "^$vector " "$work/found" | sort) >"$work/said"
	result "$vector" $?
done

# The dissector reports faults of a message, and no others.
dissect -Y _ws.malformed -T fields -e frame.number | diff <(printf '27\n28\n') - \
	>"$work/said"
result "V27 and V28 are malformed, and no other" $?
dissect -Y 'rpc.msgtyp == 0' -T fields -e frame.number | tr '\n' ' ' >"$work/said"
[ "$(cat "$work/said")" = "1 2 4 7 32 " ]
result "Calls are the RPC dissector's" $?
dissect -Y 'rpc.msgtyp == 1' -T fields -e frame.number | tr '\n' ' ' >"$work/said"
[ "$(cat "$work/said")" = "5 8 " ]
result "Replies are the RPC dissector's" $?
exit "$failed"
