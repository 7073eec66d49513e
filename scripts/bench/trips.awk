# SPDX-License-Identifier: GPL-2.0
#
# Round trips as a table for a person.
#
#	awk -F, -f names.awk -f trips.awk trips.csv

FNR == 1 { next }
{
	row = $2 "," $3
	trips[$1 "," row] = $4
	if (!seen[row]++)
		rows[++nrows] = row
}

END {
	printf "\nThe quickest operation in units of the round trip of 10 ms, two guests\n\n"
	printf "%-12s %8s %8s %8s %8s\n", "", "in-tree", "tuned", "TCP", "rdma2"
	for (r = 1; r <= nrows; r++) {
		split(rows[r], name, ",")
		printf "%-7s %4s %8s %8s %8s %8s\n", name[1], bytes(name[2]), \
			trips["intree," rows[r]], trips["tuned," rows[r]], \
			trips["tcp," rows[r]], trips["rdma2," rows[r]]
	}
}
