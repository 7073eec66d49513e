# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: RPCSEC_GSS. There is no KDC; gss-contexts gives client
# and server the contexts that they would agree on with its help.

# gss_up: of both sides; before the server, the exports ask for it.
gss_up()
{
	mount -t rpc_pipefs none /var/lib/nfs/rpc_pipefs || return 1
	"$tools/gss-contexts" serve >/tmp/contexts 2>&1 &
	gss_contexts=$!
}

gss_down()
{
	kill "$gss_contexts"
	wait "$gss_contexts" 2>/dev/null
	umount /var/lib/nfs/rpc_pipefs
}

# map_names: over Kerberos a client of NFSv4 sends names, and there is no idmapd.
map_names()
{
	local flavor

	for flavor in krb5 krb5i krb5p; do
		echo "gss/$flavor user 1234 2147483647 1234" \
			>/proc/net/rpc/nfs4.nametoid/channel
		echo "gss/$flavor group 4321 2147483647 4321" \
			>/proc/net/rpc/nfs4.nametoid/channel
	done
}

# What nfsd takes in one piece and is longer than a page, it cannot take from an
# encrypted Call, whatever the transport: no long symlinks, no large xattrs.
gss_files()
{
	local v=$1 sec=$2 words

	check "NFSv$v, $sec: mount" mount_nfs "$proto" "$v" /mnt "sec=$sec" ||
		return
	check "NFSv$v, $sec: /proc/mounts says so" \
		grep -q " /mnt .*sec=$sec," /proc/mounts
	for words in 'odd sizes' 'large file' vectors rename directory owner \
			locks; do
		CASES=$words verdicts "NFSv$v, $sec" "$tools/fs-exercise" \
			"$v" /mnt "$export_dir"
	done
}

# No octet that must be encrypted, or of which a checksum is needed, is placed
# directly: what does not fit inline goes in Position-Zero and Reply chunks.
gss_placement()
{
	local v=$1 sec=$2 name="E-26 NFSv$1, $2"

	dd if=/dev/urandom of=/tmp/mega bs=1M count=4 status=none
	measure dd if=/tmp/mega of=/mnt/mega bs=1M oflag=direct
	if [ "$sec" = krb5 ]; then
		expect "$name: WRITE of 1 MiB: a Read chunk for the data" \
			"s_read_chunks == 4 && s_long_calls == 0"
	else
		expect "$name: WRITE of 1 MiB: all of it in a Position-Zero chunk" \
			"s_read_chunks == 4 && s_long_calls == 4"
	fi
	check "$name: the server has it" cmp /tmp/mega "$export_dir/mega"

	echo 3 >/proc/sys/vm/drop_caches
	measure dd if=/mnt/mega of=/tmp/back bs=1M iflag=direct
	if [ "$sec" = krb5 ]; then
		expect "$name: READ of 1 MiB: a Write chunk for the data" \
			"s_write_chunks == 4 && s_reply_chunks == 0"
	else
		expect "$name: READ of 1 MiB: all of it in a Reply chunk" \
			"s_write_chunks == 0 && s_reply_chunks == 4"
	fi
	check "$name: the client has it" cmp /tmp/mega /tmp/back
}

group_krb5()
{
	local v sec

	EXPORT_OPTIONS=sec=sys:krb5:krb5i:krb5p nfs_up "$proto" && gss_up &&
		map_names || { fail "server"; return; }
	for v in ${VERSIONS:-4.2 3}; do
		for sec in krb5 krb5i krb5p; do
			gss_files "$v" "$sec" && gss_placement "$v" "$sec"
			check "NFSv$v, $sec: umount" umount_all
			rm -rf "${export_dir:?}"/*
		done
	done
	gss_down
	finish
}
