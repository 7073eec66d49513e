# SPDX-License-Identifier: GPL-2.0
#
# Reads KTAP: one line a case, "ok GROUP SUITE: CASE", FAIL or skip instead of ok.
# GROUP is a variable of the command line. In KTAP a result that follows deeper
# ones sums them up; all others are cases. A case with parameters is as many cases
# as it has parameters.

/^    # Subtest:/ { suite = $0; sub(/.*# Subtest: /, "", suite) }
/# Subtest:/ { inner = $0; sub(/.*# Subtest: /, "", inner) }
/^ *(not )?ok [0-9]+/ {
	match($0, /^ */)
	depth = RLENGTH
	if (depth < last) { last = depth; next }
	last = depth
	text = $0
	sub(/^ *(not )?ok [0-9]+ (- )?/, "", text)
	word = "ok"
	if ($0 ~ /^ *not ok/) word = "FAIL"
	else if (sub(/ *# SKIP.*/, "", text)) word = "skip"
	if (depth > 4) text = inner ": " text
	print word " " group " " suite ": " text
}
