# SPDX-License-Identifier: GPL-2.0
#
# What tables for a person call things. Given with one more -f, in front.

# bytes of a row, as short as can be
function bytes(n)
{
	if (n == 0)
		return ""
	if (n < 1024)
		return n
	return n < 1048576 ? n / 1024 "K" : n / 1048576 "M"
}

BEGIN {
	title["intree"] = "in-tree"
	title["tuned"] = "tuned"
	title["tcp"] = "TCP"
	title["floor"] = "floor"
	title["base"] = "base"
	title["rdma2"] = "rdma2"
}
