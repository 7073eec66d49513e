#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Decides whether rdma2 can be built for a kernel. For a supported kernel it prints nothing;
# for any other it prints one line with the reason and ends with 1. There are three reasons:
#
#  - The kernel has no NFS or no RDMA, as the kernels for clouds.
#
#  - The tests do not run on this series. Such a build may fail, or succeed although a
#    structure has changed its meaning. RDMA2_LINUX="6.18 7.4" in the environment or in
#    /etc/default/rdma2 adds series.
#
#  - The RDMA modules come from a vendor (DOCA-OFED, MLNX_OFED and others); the arguments
#    of their functions differ from the declarations in the kernel's headers.
#
#	supported.sh RELEASE [MODULES]	MODULES: default /lib/modules
#	supported.sh --tested		prints the series that tests run on

release=$1
modules=${2:-/lib/modules}
tested='6.1 6.12 7.2 7.3'

[ "$release" != --tested ] || { echo "$tested"; exit; }

# 6.12.117+deb13-amd64 and 6.12-rc1 belong to the series 6.12.
series=$(printf '%s\n' "$release" | sed -n 's/^\([0-9]*\.[0-9]*\)\([^0-9].*\)\{0,1\}$/\1/p')
conf=${RDMA2_CONF:-/etc/default/rdma2}
if [ -z "${RDMA2_LINUX+set}" ] && [ -r "$conf" ]; then
	# shellcheck source=/dev/null
	. "$conf"
fi
case " $tested $RDMA2_LINUX " in
*" ${series:-none} "*) ;;
*)	echo "rdma2: not tested with Linux $release, only with ${tested};" \
		"RDMA2_LINUX=${series:-?} in the environment or in $conf allows the build"
	exit 1 ;;
esac

config=$modules/$release/build/.config
for option in CONFIG_SUNRPC CONFIG_INFINIBAND_ADDR_TRANS; do
	if [ -r "$config" ] && ! grep -q "^$option=[ym]" "$config"; then
		echo "rdma2: Linux $release is without $option, so there is nothing to build"
		exit 1
	fi
done

# The kernel's own modules are below kernel/; a vendor's are outside of it.
found=$(find "$modules/$release/" -path "$modules/$release/kernel" -prune -o \
	\( -name 'ib_core.ko*' -o -name 'rdma_cm.ko*' -o -name 'mlx_compat.ko*' \) \
	-print 2>/dev/null | sort | head -n 1)
[ -n "$found" ] || exit 0

version=$(modinfo -F version "$found" 2>/dev/null)
echo "rdma2: Linux $release has the RDMA modules of a vendor (${found#"$modules/$release/"}${version:+, version $version});" \
	"rdma2 is built against the kernel's own only, see \"RDMA modules of a vendor\" in install.rst"
exit 1
