# SPDX-License-Identifier: GPL-2.0
#
# What was counted, as a table for a person: a line for each row and variant.
#
#	awk -F, -f names.awk -f counts.awk counters.csv

function number(row, variant, name)
{
	return n[row "," variant "," name] + 0
}

# As few digits as say it
function short(x)
{
	return x == int(x) ? sprintf("%d", x) : sprintf("%.2f", x)
}

BEGIN {
	nvariants = split("intree tuned base rdma2 floor", variants, " ")
	split("in-tree,tuned,base,rdma2,floor", titles, ",")
	ncolumns = split("send send_inv rdma_read rdma_write reg_mr local_inv " \
		"doorbells recv_doorbells send_completions recv_completions " \
		"cq_runs packets", columns, " ")
	split("Send,+Inv,Read,Write,REG,LINV,bells,Rbells,Scqe,Rcqe,polls,packets", \
		heads, ",")
}

FNR == 1 || $6 != "count" { next }
{
	sub("^rpcrdma2_count_", "", $7)
	sub("^rxe_sent_pkts$", "packets", $7)
	row = $4 "," $5
	n[row "," $1 "," $7] = $8
	have[row "," $1]
	if (!seen[row]++)
		rows[++nrows] = row
}

END {
	if (!nrows)
		exit
	printf "\nPer operation, both ends together; 1 connection, 1 in flight\n\n"
	printf "%-12s %-8s", "", ""
	for (c = 1; c <= ncolumns; c++)
		printf " %7s", heads[c]
	print ""
	for (r = 1; r <= nrows; r++) {
		split(rows[r], name, ",")
		for (v = 1; v <= nvariants; v++) {
			if (!((rows[r] "," variants[v]) in have))
				continue
			printf "%-7s %4s %-8s", name[1], bytes(name[2]), titles[v]
			for (c = 1; c <= ncolumns; c++)
				printf " %7s", short(number(rows[r], \
					variants[v], columns[c]))
			print ""
		}
	}
	print "\nSend, +Inv, Read, Write, REG, LINV: work requests: Send, Send With Invalidate,"
	print "RDMA Read, RDMA Write, REG_MR, LOCAL_INV. bells, Rbells: calls of ib_post_send(),"
	print "ib_post_recv(). Scqe, Rcqe: entries of Completion Queues. polls: times that a"
	print "worker runs for a Completion Queue. packets: as soft-RoCE counts them."
}
