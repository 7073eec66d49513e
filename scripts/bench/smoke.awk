# SPDX-License-Identifier: GPL-2.0
#
# Whether what was measured can be true: a case for each row. The floor is below
# all that does more, and this transport is not above in-tree.
#
#	awk -F, -f smoke.awk cells.csv

FNR == 1 { next }
{
	row = $4 "," $5
	cost[$1, row] = $6
	if (!seen[row]++)
		rows[++nrows] = row
}

END {
	for (r = 1; r <= nrows; r++) {
		row = rows[r]
		rdma2 = cost["rdma2", row]
		intree = cost["intree", row]
		floor = cost["floor", row]
		what = sprintf("%s: floor %d, rdma2 %d, in-tree %d", \
			row, floor, rdma2, intree)
		if (floor > 0 && floor < rdma2 && floor < intree && \
		    rdma2 < intree * 1.05) {
			print "ok " what
		} else {
			print "FAIL " what
			bad = 1
		}
	}
	exit bad || !nrows
}
