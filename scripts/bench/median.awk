# SPDX-License-Identifier: GPL-2.0
#
# Of all measurements of a cell the median, and how far they are apart.
#
#	awk -F, -f median.awk samples.csv

# sorts a[1..n]
function sort(a, n,    i, j, t)
{
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && a[j] + 0 < a[j - 1] + 0; j--) {
			t = a[j]
			a[j] = a[j - 1]
			a[j - 1] = t
		}
}

FNR == 1 || $6 != "cost" { next }
{
	key = $1 "," $2 "," $3 "," $4 "," $5
	if (!(key in samples))
		keys[++nkeys] = key
	samples[key] = samples[key] " " $8
	rpcs[key] = $10
}

END {
	print "variant,nconnect,depth,row,size,instructions,samples,spread_percent,rpcs"
	for (k = 1; k <= nkeys; k++) {
		n = split(samples[keys[k]], a, " ")
		sort(a, n)
		m = n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
		printf "%s,%.1f,%d,%.2f,%s\n", keys[k], m, n, \
			m ? (a[n] - a[1]) * 100 / m : 0, rpcs[keys[k]]
	}
}
