# SPDX-License-Identifier: GPL-2.0
#
# Divides what an operation costs among the layers, by the samples that were seen in
# each, as a table for a person and one for programs.
#
#	awk -v csv=FILE -f layer.awk -f layers.awk cells.csv VARIANT-ROW-BYTES.folded...

function bytes(n)
{
	if (n == 0)
		return ""
	if (n < 1024)
		return n
	return n < 1048576 ? n / 1024 "K" : n / 1048576 "M"
}

# In thousands; with a sign, or without
function thousands(n)
{
	return sprintf(n > -1e6 && n < 1e6 ? "%.1f" : "%.0f", n / 1000)
}

BEGIN {
	nlayers = split("device transport RPC NFS system", layers, " ")
	nvariants = split("intree rdma2", variants, " ")
	title["intree"] = "in-tree"
	title["rdma2"] = "rdma2"
}

FILENAME ~ /\.csv$/ {
	split($0, c, ",")
	if (c[2] == 1 && c[3] == 1)
		cost[c[1] "," c[4] "," c[5]] = c[6]
	next
}

FNR == 1 {
	file = FILENAME
	sub(/.*\//, "", file)
	sub(/\.folded$/, "", file)
	split(file, part, "-")
	row = part[2] "," part[3]
	key = part[1] "," row
	if (!seen[row]++)
		rows[++nrows] = row
}

{
	count = $NF
	sub(/ [0-9]+$/, "")
	n = split($0, frames, ";")
	samples[key "," layer_of_stack(frames, n)] += count
	all[key] += count
}

END {
	if (!nrows)
		exit
	print "variant,row,size,layer,samples,instructions" >csv
	print "\nWhere they are; 1 connection, 1 in flight: thousands of instructions per operation\n"
	printf "%-12s %-8s", "", ""
	for (l = 1; l <= nlayers; l++)
		printf " %9s", layers[l]
	printf " %9s %9s\n", "-floor", "samples"
	for (r = 1; r <= nrows; r++) {
		split(rows[r], name, ",")
		for (v = 1; v <= nvariants; v++) {
			key = variants[v] "," rows[r]
			if (!all[key] || !cost[key])
				continue
			printf "%-7s %4s %-8s", name[1], bytes(name[2]), \
				title[variants[v]]
			for (l = 1; l <= nlayers; l++) {
				n = samples[key "," layers[l]] + 0
				printf " %9s", thousands(n * cost[key] / all[key])
				printf "%s,%s,%d,%.1f\n", key, layers[l], n, \
					n * cost[key] / all[key] >csv
			}
			printf " %9s %9d\n", thousands(cost[key] - \
				cost["floor," rows[r]]), all[key]
		}
	}
	print "\nA sample is the layer's whose function is the innermost: device: soft-RoCE."
	print "transport: xprtrdma2 and svcrdma2, or rpcrdma, with what they have the RDMA core"
	print "do. RPC: sunrpc. NFS: client, server and the file system below it. system: what"
	print "none of these called, so system call, scheduler, workqueues."
}
