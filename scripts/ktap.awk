# SPDX-License-Identifier: GPL-2.0
#
# Converts KTAP to one line per case, "ok GROUP SUITE: CASE", with FAIL or skip instead of
# ok, and "# REASON" behind a skipped case. GROUP is a variable of the command line. In KTAP a
# result after deeper results is their summary; all other results are cases. Each parameter of
# a parameterized case counts as a case.

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
	else if (sub(/ *# SKIP */, " # ", text)) word = "skip"
	if (depth > 4) text = inner ": " text
	print word " " group " " suite ": " text
}
