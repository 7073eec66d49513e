# SPDX-License-Identifier: GPL-2.0
#
# What is known of in-tree's costs by reading it, at its defaults on soft-RoCE. A
# harness that counts anything else does not measure what it says. One line a
# case; those of rows that were not run are left out. With some=1 it is a failure
# when that leaves none.
#
#	awk -F, -v some=1 -f intree.awk counters.csv

function expect(row, counter, least, most,    key, got, what)
{
	if (!(row in ran))
		return
	checked++
	key = row "," counter
	got = n[key] + 0
	what = "in-tree, " row ": " counter
	if (got < least - 0.05 || got > most + 0.05) {
		printf "FAIL %s is %s, not %s to %s\n", what, got, least, most
		bad = 1
	} else {
		printf "ok %s is %s\n", what, got
	}
}

FNR == 1 || $1 != "intree" || $6 != "count" { next }
{
	ran[$4 "," $5]
	n[$4 "," $5 "," $7] = $8
}

END {
	expect("GETATTR,0", "xprt_read_chunk", 0, 0)
	expect("GETATTR,0", "xprt_write_chunk", 0, 0)
	expect("GETATTR,0", "xprt_reply_chunk", 0, 0)
	expect("GETATTR,0", "rpcrdma2_count_reg_mr", 0, 0)
	expect("GETATTR,0", "rpcrdma2_count_doorbells", 2, 2)
	expect("OPEN,0", "xprt_reply_chunk", 1, 1)
	expect("OPEN,0", "intree_rdma_stat_write", 1, 1)
	expect("READDIR,0", "xprt_reply_chunk", 2, 3)
	expect("READDIR,0", "xprt_local_inv_needed", 2, 3)
	expect("READ,4096", "xprt_write_chunk", 1, 1)
	expect("READ,4096", "xprt_local_inv_needed", 0, 0)
	expect("READ,4096", "intree_rdma_stat_write", 1, 1)
	expect("READ,4096", "rpcrdma2_count_reg_mr", 1, 1)
	expect("READ,4096", "rpcrdma2_count_send_inv", 1, 1)
	expect("READ,65536", "rpcrdma2_count_rdma_write", 4, 4)
	expect("WRITE,4096", "rpcrdma2_count_rdma_read", 1, 1)
	expect("WRITE,4096", "rpcrdma2_count_doorbells", 3, 3)
	expect("WRITE,65536", "rpcrdma2_count_rdma_read", 4, 4)
	expect("READ,1048576", "xprt_write_chunk", 8, 8)
	expect("READ,1048576", "xprt_local_inv_needed", 8, 8)
	expect("READ,1048576", "intree_rdma_stat_write", 8, 8)
	expect("READ,1048576", "rpcrdma2_count_rdma_write", 56, 56)
	expect("READ,1048576", "rpcrdma2_count_reg_mr", 8, 8)
	expect("READ,1048576", "rpcrdma2_count_local_inv", 8, 8)
	expect("WRITE,1048576", "xprt_read_chunk", 8, 8)
	expect("WRITE,1048576", "intree_rdma_stat_read", 8, 8)
	expect("WRITE,1048576", "xprt_local_inv_needed", 8, 8)
	expect("WRITE,1048576", "rpcrdma2_count_rdma_read", 56, 56)
	if (some && !checked) {
		print "FAIL in-tree: no row of it was checked"
		bad = 1
	}
	exit bad
}
