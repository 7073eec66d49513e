# SPDX-License-Identifier: GPL-2.0
#
# The cells as tables for a person: one for each number of connections and of
# operations in flight.
#
#	awk -F, -f names.awk -f table.awk cells.csv

# In thousands, with as many digits as say something
function thousands(n)
{
	if (n == "")
		return "-"
	n /= 1000
	return sprintf(n < 1000 ? "%.1f" : "%.0f", n)
}

function ratio(a, b)
{
	return a == "" || b == "" || b == 0 ? "-" : sprintf("%.3f", a / b)
}

function table(connections, depth,    i, r, v, key, line, rdma2, any)
{
	printf "\n%s, %s in flight: thousands of instructions per operation\n\n", \
		connections == 1 ? "1 connection" : connections " connections", depth
	line = sprintf("%-12s %5s", "", "RPCs")
	for (v = 1; v <= nvariants; v++)
		if (variants[v] in have)
			line = line sprintf(" %9s", title[variants[v]])
	for (v = 1; v <= nvariants; v++)
		if ((variants[v] in have) && variants[v] != "rdma2")
			line = line sprintf(" %9s", "/" title[variants[v]])
	if ("floor" in have)
		line = line sprintf(" %9s", "-floor")
	print line
	for (r = 1; r <= nrows; r++) {
		key = connections "," depth "," rows[r]
		if (!(key in measured))
			continue
		split(rows[r], name, ",")
		line = sprintf("%-7s %4s %5s", name[1], bytes(name[2]), \
			rpcs["rdma2," key])
		rdma2 = cost["rdma2," key]
		for (v = 1; v <= nvariants; v++)
			if (variants[v] in have)
				line = line sprintf(" %9s", \
					thousands(cost[variants[v] "," key]))
		for (v = 1; v <= nvariants; v++)
			if ((variants[v] in have) && variants[v] != "rdma2")
				line = line sprintf(" %9s", \
					ratio(rdma2, cost[variants[v] "," key]))
		if ("floor" in have)
			line = line sprintf(" %9s", cost["floor," key] == "" ? \
				"-" : thousands(rdma2 - cost["floor," key]))
		print line
	}
}

BEGIN {
	nvariants = split("intree tuned tcp floor base rdma2", variants, " ")
}

FNR == 1 { next }
{
	have[$1]
	key = $2 "," $3 "," $4 "," $5
	cost[$1 "," key] = $6
	rpcs[$1 "," key] = $9 + 0
	measured[key]
	if (!seen[$4 "," $5]++)
		rows[++nrows] = $4 "," $5
	if (!seen["table" $2 "," $3]++)
		tables[++ntables] = $2 "," $3
}

END {
	for (i = 1; i <= ntables; i++) {
		split(tables[i], t, ",")
		table(t[1], t[2])
	}
}
