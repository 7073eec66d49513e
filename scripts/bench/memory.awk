# SPDX-License-Identifier: GPL-2.0
#
# Of what memory.sh left: memory of one connection, as a table for a person and as
# one for programs.
#
#	awk -F, -v each=FILE -v kernel=RELEASE -f names.awk -f memory.awk memory-samples.csv
#
# What a mount takes is TCP's difference between 16 connections of as many mounts
# and 16 of one; it is taken off as often as there are mounts.

function abs(x)
{
	return x < 0 ? -x : x
}

# of_one SAMPLE FIELD: KiB of one connection
function of_one(s, f,    rest)
{
	rest = kib[s, f] - mounts[s] * mount[end[s]]
	return sprintf("%.0f", rest / connections[s])
}

# both_ends SAMPLE: what a line says of its connections, the client's sample being
# in front of the server's
function both_ends(s,    t, f, line)
{
	for (t = s; t <= s + 1; t++)
		for (f = 1; f <= 3; f++)
			line = line sprintf("%s%8s", f == 1 ? "  " : "", of_one(t, f))
	return line
}

/^#/ { notes[++nnotes] = substr($0, 3); next }
$1 == "variant" || !($1 in title) { next }
{
	s = ++nsamples
	variant[s] = $1
	connections[s] = $2
	mounts[s] = $3
	end[s] = $4
	for (f = 1; f <= 4; f++)
		kib[s, f] = $(4 + f)
	many = $2 >= 16
	if (abs($8) / $2 > most_left[$4, many])
		most_left[$4, many] = abs($8) / $2
	if ($1 == "tcp" && $2 == 16)
		tcp[$4, $3] = $5
}

END {
	if (!nsamples)
		exit 1
	for (i = 1; i <= 2; i++) {
		name = i == 1 ? "client" : "server"
		if ((name, 16) in tcp)
			mount[name] = (tcp[name, 16] - tcp[name, 1]) / 15
	}
	print "variant,connections,mounts,end,idle_kib,loaded_kib,after_kib" >each
	for (s = 1; s <= nsamples; s++)
		printf "%s,%d,%d,%s,%s,%s,%s\n", variant[s], connections[s],
			mounts[s], end[s], of_one(s, 1), of_one(s, 2),
			of_one(s, 3) >each

	print "\nKiB of the kernel's memory for one connection, two guests (" kernel ")\n"
	printf "%-8s %11s %6s%18s%26s\n", "", "", "", "client", "server"
	printf "%-8s %11s %6s", "", "connections", "mounts"
	for (i = 1; i <= 2; i++)
		printf "  %8s%8s%8s", "idle", "loaded", "after"
	print ""
	for (s = 1; s < nsamples; s += 2)
		printf "%-8s %11d %6d%s\n", title[variant[s]], connections[s],
			mounts[s], both_ends(s)
	printf "\nWhat a mount takes by itself is taken off: %.0f KiB of the client, %.0f KiB of the\n",
		mount["client"], mount["server"]
	print "server. What was left when the mounts had ended, for a connection:"
	printf "%.0f and %.0f KiB at most where there was one, %.1f and %.1f where there were more.\n",
		most_left["client", 0], most_left["server", 0],
		most_left["client", 1], most_left["server", 1]
	for (i = 1; i <= nnotes; i++)
		print (i == 1 ? "\n" : "") notes[i]
}
