#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest: the client's part when the tester is a server, on port $PORT, that violates
# the protocol in $CASE:
#
#	work.sh ADDRESS EXPORT [OPTIONS]
#
# $ACTION is mount, work or unmount, or empty for all of them. The work writes, reads and
# lists files; each effect is also checked on the server's side. If the folder $BESIDE
# exists, the client's counters before and after the work, and its connections after it, are
# stored there.

beside()
{
	local to=${BESIDE:-}/$CASE

	[ -n "${BESIDE:-}" ] && [ ! -e "$to.$1" ] || return
	sed 's/^/c_/' /sys/kernel/debug/xprtrdma2/counters >"$to.$1"
	cat /proc/net/rpc/xprtrdma2 >"$to.view"
}

make_data()
{
	[ -e /tmp/work.g ] && return
	head -c 5120 /dev/urandom >/tmp/work.f
	head -c 100000 /dev/urandom >/tmp/work.g
}

write_files()
{
	dd if=/tmp/work.f of="$1/f" bs=512 oflag=direct &&
	dd if=/tmp/work.g of="$1/g" bs=100000 oflag=direct &&
	ln -s "$long" "$1/l"
}

are_written()
{
	cmp /tmp/work.f "$1/f" && cmp /tmp/work.g "$1/g" &&
	[ "$(readlink "$1/l")" = "$long" ]
}

read_files()
{
	dd if="$1/f" of="/tmp/back.$$" bs=512 count=10 iflag=direct &&
	cmp "/tmp/back.$$" /tmp/work.f &&
	dd if="$1/g" of="/tmp/back.$$" bs=100000 count=1 iflag=direct &&
	cmp "/tmp/back.$$" /tmp/work.g &&
	[ "$(cd "$1" && echo ./*)" = "./f ./g ./l" ]
}

work()
{
	local name=w-$PORT-$$ long rc=1

	printf -v long '%04090d' 0
	make_data
	beside before
	mkdir "$1/$name" && write_files "$1/$name" && are_written "$2/$name" &&
		read_files "$1/$name" && rc=0
	beside after
	rm -f "/tmp/back.$$"
	return "$rc"
}

up()
{
	local options=${3:-vers=3} path=$2

	[[ $options != vers=4* ]] || path=/
	mkdir -p "$dir"
	timeout --foreground -s KILL 60 mount -t nfs -o \
		"$options,proto=rdma2,nolock,nordirplus,port=$PORT" \
		"$1:$path" "$dir"
}

down()
{
	umount "$dir" || umount -f -l "$dir"
}

dir=/mnt.$PORT
trap 'umount -f -l "$dir"; exit 1' TERM
case ${ACTION:-} in
mount)		up "$@" ;;
work)		work "$dir" "$2" ;;
unmount)	down ;;
*)		up "$@" && work "$dir" "$2"
		rc=$?
		down && exit "$rc" ;;
esac
