# SPDX-License-Identifier: GPL-2.0
#
# Folds samples: what perf script shows of each, an empty line between two, becomes
# a line for each different stack, outermost function first, and how often it was
# seen. Functions of modules have the module's name behind them.
#
#	perf script -F comm,ip,sym,dso | awk -f fold.awk

BEGIN {
	RS = ""
	FS = "\n"
}

{
	comm = $1
	gsub(/^[ \t]+|[ \t]+$/, "", comm)
	# The program that records is no part of what is recorded.
	if (comm ~ /^perf/)
		next
	# Workers have numbers.
	sub(/[:\/].*/, "", comm)
	stack = comm
	for (i = NF; i > 1; i--) {
		n = split($i, w, " ")
		name = w[2]
		# what the compiler has split off
		sub(/\.(isra|constprop|part|cold).*/, "", name)
		if (n > 2 && w[n] ~ /^\(\[.*\]\)$/ && w[n] !~ /kernel/)
			name = name " " substr(w[n], 2, length(w[n]) - 2)
		stack = stack ";" name
	}
	seen[stack]++
}

END {
	for (stack in seen)
		print stack, seen[stack]
}
