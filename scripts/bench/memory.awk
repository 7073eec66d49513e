# SPDX-License-Identifier: GPL-2.0
#
# Memory of connections as a table for a person.
#
#	awk -F, -f memory.awk memory.csv

BEGIN {
	title["intree"] = "in-tree"
	title["tuned"] = "tuned"
	title["tcp"] = "TCP"
	title["rdma2"] = "rdma2"
	printf "\nKiB per connection, both ends together\n\n"
	printf "%-8s %12s %8s %8s\n", "", "connections", "idle", "used"
}

FNR == 1 || !($1 in title) { next }
{ printf "%-8s %12d %8d %8d\n", title[$1], $2, $3, $4 }
