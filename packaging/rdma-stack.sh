#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Whether a kernel's RDMA modules come from a vendor (DOCA-OFED, MLNX_OFED and
# others), whose functions have other arguments than the kernel's headers say.
# Prints nothing for a kernel with its own; else one line that names what is there,
# and ends with 1.
#
#	rdma-stack.sh RELEASE [MODULES]	MODULES: /lib/modules

release=$1
modules=${2:-/lib/modules}

# The kernel's own modules are below kernel/; what replaces them is beside it.
found=$(find "$modules/$release/" -path "$modules/$release/kernel" -prune -o \
	\( -name 'ib_core.ko*' -o -name 'rdma_cm.ko*' -o -name 'mlx_compat.ko*' \) \
	-print 2>/dev/null | sort | head -n 1)
[ -n "$found" ] || exit 0

version=$(modinfo -F version "$found" 2>/dev/null)
echo "rdma2: Linux $release has the RDMA modules of a vendor (${found#"$modules/$release/"}${version:+, version $version});" \
	"rdma2 is built against the kernel's own only, see Documentation/install.rst"
exit 1
