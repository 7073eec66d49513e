#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# DKMS runs this before it installs the modules for a kernel. It removes those of "make
# install", because depmod may prefer either: both are below "updates".
#
#	pre-install.sh RELEASE MODULES

old=${2:?}/${1:?}/updates/rdma2
[ -d "$old" ] || exit 0
echo "rdma2: DKMS's modules replace those of 'make install' in $old"
rm -r "$old"
