# SPDX-License-Identifier: GPL-2.0
#
# Converts the output of a job, whose last line is "ended STATUS", to TAP: "ok NAME",
# "FAIL NAME", "skip NAME # REASON". Variables of the command line: the job, the number of
# cases that the plan has, and the file for the cases' names.

function name(line) {
	sub(/^(not )?ok /, "", line)
	sub(/ # SKIP .*/, "", line)
	gsub(/[0-9]+([.][0-9]+)?/, "N", line)
	print line >names
}
/^ended [0-9]+$/ { rc = $2; next }
/^ok / { cases++ }
sub(/^FAIL /, "not ok ") { cases++; failed++ }
/^skip .* # ./ { cases++; sub(/^skip/, "ok"); sub(/ # /, " # SKIP ") }
sub(/^skip /, "not ok ") { cases++; failed++; $0 = $0 ": skipped without a reason" }
/^(not )?ok / { name($0) }
/^((not )?ok |#)/ { print; next }
{ said[++lines] = $0 }
END {
	if ((rc || !cases) && !failed++)
		printf "not ok %s: ended with %d%s\n", job, rc,
			cases++ ? "" : ", no result"
	else if (plan != "?" && plan != cases && !failed++)
		printf "not ok %s: %d cases, the plan has %s\n", job,
			cases++, plan == "" ? "no line for it" : plan
	for (i = lines > 60 ? lines - 59 : 1; failed && i <= lines; i++)
		print "# " said[i]
	print "1.." cases
	exit failed > 0
}
