# SPDX-License-Identifier: GPL-2.0
#
# Makes two tables of what guest.sh left: cells, a line each, and what every
# counter rose by in a cell, per operation. A counter that did not rise is left
# out.
#
#	awk -v cells=FILE -v counters=FILE -f cells.awk RAW
#
# Counters of a mount are nfs_NAME (RPCs of that name), xprt_NAME for in-tree's
# and bytes_NAME; those of other files have the module's or the driver's name in
# front. The exit status is 1 if an operation did not go to the server.

function value(name, n)
{
	if (side == "before")
		was[name] += n
	else
		is[name] += n
}

function mountstats(    i, op)
{
	if ($1 == "device") {
		here = $5 == "/mnt"
		return
	}
	if (!here)
		return
	if ($1 == "xprt:" && $2 == "rdma") {
		for (i = 13; i <= 28; i++)
			value("xprt_" field[i], $i)
		return
	}
	if ($1 !~ /^[A-Z_]+:$/ || NF < 9)
		return
	op = $1
	sub(":", "", op)
	value("nfs_" op, $2)
	value("trans_" op, $3)
	value("timeouts_" op, $4)
	value("bytes_sent", $5)
	value("bytes_received", $6)
}

function rose(name)
{
	return is[name] - was[name]
}

# What a row must have sent, once for each operation. TCP has READ_PLUS, which
# the client does not use over RDMA.
function wanted(row)
{
	if (row == "OPEN" || row == "CREATE")
		return rose("nfs_OPEN") + rose("nfs_OPEN_NOATTR")
	if (row == "READ")
		return rose("nfs_READ") + rose("nfs_READ_PLUS")
	if (row == "UNLINK")
		row = "REMOVE"
	return rose("nfs_" row)
}

function finish(    name, rpcs, d, key, n)
{
	key = cell["variant"] "," cell["nconnect"] "," cell["depth"] "," \
		cell["row"] "," cell["size"]
	rpcs = 0
	for (name in is) {
		d = is[name] - was[name]
		if (d == 0)
			continue
		if (name ~ /^nfs_/)
			rpcs += d
		printf "%s,%s,%s,%.4f\n", key, cell["pass"], name, \
			d / cell["ops"] >counters
	}
	if (cell["variant"] != "floor") {
		n = wanted(cell["row"])
		if (n != cell["ops"]) {
			printf "FAIL %s: %d operations, %d on the wire\n", \
				key, cell["ops"], n
			bad = 1
		}
	}
	# The clock leaps while all wait for the host; the processor's does not.
	n = cell["ns"] + 0 < cell["busy"] + 0 ? cell["ns"] : cell["busy"]
	printf "%s,%s,%d,%.1f,%.1f,%.2f\n", key, cell["pass"], cell["ops"], \
		n / cell["ops"], cell["ns"] / cell["ops"], rpcs / cell["ops"] >cells
}

function split_words(    i, w)
{
	for (i = 2; i <= NF; i++) {
		split($i, w, "=")
		cell[w[1]] = w[2]
	}
}

BEGIN {
	split("port bind connect connect_time idle sends recvs bad_xids req_u " \
		"bklog_u read_chunk write_chunk reply_chunk request_bytes " \
		"reply_bytes pullup fixup hardway failed_marshal bad_reply " \
		"nomsg mrs_recycled mrs_orphaned mrs_allocated " \
		"local_inv_needed empty_sendctx_q", names, " ")
	for (i in names)
		field[i + 2] = names[i]
	print "variant,nconnect,depth,row,size,pass,ops,instructions,ns,rpcs" >cells
	print "variant,nconnect,depth,row,size,pass,counter,per_op" >counters
}

/^@cell / {
	split("", cell)
	split("", was)
	split("", is)
	split_words()
	next
}
/^@before / || /^@after / {
	side = substr($1, 2)
	file = $2
	here = 0
	base = file
	sub(".*/", "", base)
	next
}
/^@result / {
	split_words()
	finish()
	next
}
base == "mountstats"	{ mountstats(); next }
NF == 0			{ next }
file ~ /hw_counters/	{ value("rxe_" base, $1); next }
file ~ /svc_rdma/	{ value("intree_" base, $1); next }
base == "counters" && NF == 2 {
	owner = file
	sub("/counters$", "", owner)
	sub(".*/", "", owner)
	value(owner "_" $1, $2)
}

END { exit bad }
