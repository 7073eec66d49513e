# SPDX-License-Identifier: GPL-2.0
#
# vectors.h of vectors.txt: an array of bytes for each message

BEGIN {
	print "/* Generated from vectors.txt */"
	print "#include <linux/types.h>\n"
	print "/* No suite uses them all. */"
}

/^V/ {
	end()
	name = tolower($1)
	printf "static const u8 %s[] __maybe_unused = {", name
	next
}

/^[0-9a-f]/ {
	sub(/;.*/, "")
	printf "\n\t"
	for (i = 1; i <= NF; i++)
		printf "0x%s, ", $i
}

function end()
{
	if (name)
		print "\n};\n"
}

END { end() }
