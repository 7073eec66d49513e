# shellcheck shell=bash disable=SC2015,SC2034,SC2153,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh: Kerberos with all that belongs to it (realm.sh)

# shellcheck source=scripts/vm/realm.sh
. "$(dirname "$0")/realm.sh" || exit 2

kerberos_port=20050	# of in-tree's server
kerberos_mounts=(/mnt.krb5 /mnt.krb5i /mnt.krb5p)

# kerberos_up [gssproxy|svcgssd]
kerberos_up()
{
	nfs_host=$realm_server
	# As fs-exercise has them
	echo 'user:x:1234:1234::/:/bin/false' >>/etc/passwd
	echo 'group:x:4321:' >>/etc/group
	realm_up && EXPORT_OPTIONS=sec=sys:krb5:krb5i:krb5p nfs_up "$proto" && realm_is_up=1 &&
		realm_daemons "${1:-gssproxy}"
}

# A file system of each kind below /export
kerberos_exports()
{
	local name id=0

	for name in krb5p krb5:krb5i; do
		id=$((id + 1))
		mkdir "$export_dir/only-$id"
		mount -t tmpfs -o mode=1777 none "$export_dir/only-$id" || return 1
		echo "$export_dir/only-$id *(rw,no_root_squash,insecure,no_subtree_check,fsid=$id,sec=$name)" \
			>>/etc/exports
	done
	exportfs -ra
}

kerberos_down()
{
	realm_down
	umount_all
	exportfs -ua
	umount "$export_dir"/only-* 2>/dev/null
}

# kerberos_mount VERSION FOLDER PATH [OPTIONS]: of a path below the export. There is no
# second try.
kerberos_mount()
{
	local path=$3

	[ "$1" != 3 ] || path=$export_dir/$3
	mkdir -p "$2"
	mount -t nfs -o "vers=$1,proto=$proto,port=$port,retry=0${4:+,$4}" \
		"$nfs_host:/${path#/}" "$2"
}

# fails_with NAME TEXT COMMAND...
fails_with()
{
	local said

	if said=$("${@:3}" 2>&1); then
		fail "$1: it succeeds"
	elif [[ $said == *"$2"* ]]; then
		ok "$1: \"$2\""
	else
		fail "$1: $said"
	fi
}

# mount_fails NAME TEXT VERSION [OPTIONS]
mount_fails()
{
	fails_with "$1" "$2" kerberos_mount "$3" /mnt "" "${@:4}"
	umount_all
}

# mount_works NAME VERSION [OPTIONS]
mount_works()
{
	check "$1" kerberos_mount "$2" /mnt "" "${@:3}" && umount /mnt
}

# has_flavor FOLDER FLAVOR
has_flavor()
{
	grep " $1 nfs" /proc/mounts
	grep -q " $1 nfs.*[ ,]sec=$2," /proc/mounts
}

# file_tests NAME VERSION [WORDS...]: the file tests with these words in their names
file_tests()
{
	local words

	for words in "${@:3}"; do
		CASES=$words verdicts "$1" "$VM_TOP/scripts/fs-exercise.py" "$2" /mnt "$export_dir"
	done
}

# kerberos_files VERSION FLAVOR [WORDS...]: a mount of this flavor, with these file tests. On any
# transport nfsd cannot decode a contiguous argument of more than a page from an encrypted
# Call, so there are no large xattrs.
kerberos_files()
{
	local v=$1 sec=$2 name="NFSv$1, $2"

	check "$name: mount" mount_nfs "$proto" "$v" /mnt "sec=$sec" || return
	check "$name: /proc/mounts shows it" has_flavor /mnt "$sec"
	[ "$sec" != krb5p ] || local -x EXCEPT=xattrs
	file_tests "$name" "$v" "${@:3}"
	gss_placement "$v" "$sec"
	kerberos_registrations "$name"
	check "$name: umount" umount_all
	rm -f "$export_dir"/mega "$export_dir"/small
}

# kerberos_flavors VERSION [WORDS...]: with each flavor
kerberos_flavors()
{
	local sec

	for sec in krb5 krb5i krb5p; do
		kerberos_files "$1" "$sec" "${@:2}"
	done
}

# In a chunk for the data, or in one for all of the Call or Reply: one registration
kerberos_registrations()
{
	local name="E-26 $1"

	dd if=/dev/urandom of=/tmp/mega bs=1M count=8 status=none
	measure dd if=/tmp/mega of=/mnt/mega bs=1M oflag=direct
	expect "$name: WRITE of 1 MiB: one registration per WRITE" "c_registrations == 8"
	check "$name: WRITE of 1 MiB: the server has the data" cmp /tmp/mega "$export_dir/mega"
	measure dd if=/mnt/mega of=/tmp/back bs=1M count=8 iflag=direct
	expect "$name: READ of 1 MiB: one registration per READ" "c_registrations == 8"
	check "$name: READ of 1 MiB: the client has the data" cmp /tmp/mega /tmp/back

	measure dd if=/tmp/mega of=/mnt/small bs=4k count=32 oflag=direct
	expect "$name: WRITE of 4 KiB: no registration" \
		"s_calls >= 32 && c_registrations == 0"
	check "$name: WRITE of 4 KiB: the server has the data" \
		cmp -n 131072 /tmp/mega "$export_dir/small"
	measure dd if=/mnt/small of=/tmp/back bs=4k count=32 iflag=direct
	expect "$name: READ of 4 KiB: no registration" \
		"s_calls >= 32 && c_registrations == 0"
	check "$name: READ of 4 KiB: the client has the data" \
		cmp -n 131072 /tmp/mega /tmp/back
}

kerberos_negotiates()
{
	local v=$1 name="NFSv$1" above=sys

	check "$name: mount of sec=krb5p without sec=" \
		kerberos_mount "$v" /mnt only-1 &&
		check "$name: the mount uses krb5p" has_flavor /mnt krb5p
	check "$name: a file there" eval "echo text >/mnt/file.$v"
	check "$name: the server has the data" grep -q text "$export_dir/only-1/file.$v"
	umount_all
	check "$name: mount of sec=krb5:krb5i without sec=" \
		kerberos_mount "$v" /mnt only-2 &&
		check "$name: the mount uses krb5" has_flavor /mnt krb5
	umount_all
	check "$name: mount of sec=krb5:krb5i with sec=krb5i" \
		kerberos_mount "$v" /mnt only-2 sec=krb5i
	check "$name: a directory there" mkdir "/mnt/dir.$v"
	umount_all
	if ! { kerberos_mount "$v" /mnt only-1 sec=sys && ls /mnt; } >/tmp/said 2>&1 &&
			grep -qE 'Operation not permitted$|access denied by server' /tmp/said; then
		ok "$name: sec=krb5p is not mounted with sec=sys: $(grep -m 1 : /tmp/said)"
	else
		fail "$name: sec=krb5p with sec=sys: $(tail -n 1 /tmp/said)"
	fi
	umount_all
	[ "$v" != 3 ] || return
	# From a file system of one flavor to one of another, where no sec= forbids it
	check "$name: mount of sec=sys:krb5 without sec=" kerberos_mount "$v" /mnt ""
	check "$name: a file of the file system below" grep -q text "/mnt/only-1/file.$v"
	check "$name: the mount below uses krb5p" has_flavor /mnt/only-1 krb5p
	# Over NFSv4.0 the client tries the root of the server with krb5p first.
	[ "$v" != 4.0 ] || above=krb5p
	check "$name: the mount above uses $above" has_flavor /mnt "$above"
	check "$name: umount of both" umount /mnt/only-1 /mnt
}

# The owner of a file at the server is who the client has a ticket for.
kerberos_users()
{
	local name="NFSv$1, $2" dir=$export_dir/users

	check "$name: mount" mount_nfs "$proto" "$1" /mnt "sec=$2" || return
	mkdir -m 1777 "$dir"
	check "$name: root, by the machine's keytab" touch /mnt/users/root
	check "$name: root's file is root's" test -O "$dir/root"
	fails_with "$name: a user without a ticket" "Permission denied" \
		as_user alice touch /mnt/users/alice
	check "$name: kinit" ticket alice alice -l 20s
	check "$name: a user with a ticket" as_user alice \
		sh -c "umask 077; echo text >/mnt/users/alice"
	check "$name: the file is the user's" \
		grep -qx alice <(stat -c %U "$dir/alice")
	check "$name: kinit of a user without an account" ticket bob "$realm_stranger" -l 20s
	check "$name: a user without an account" as_user bob touch /mnt/users/stranger
	check "$name: the file is nobody's" \
		grep -qx nobody <(stat -c %U "$dir/stranger")
	sleep 30
	fails_with "$name: a ticket that has expired" "Key has expired" \
		as_user alice touch /mnt/users/alice
	check "$name: kinit again" ticket alice alice
	check "$name: a user with a new ticket" as_user alice touch /mnt/users/alice
	check "$name: kinit of another user" ticket bob bob
	fails_with "$name: another user" "Permission denied" \
		as_user bob cat /mnt/users/alice
	check "$name: the file is unchanged" grep -qx text "$dir/alice"
	as_user alice kdestroy -q
	as_user bob kdestroy -q
	check "$name: umount" umount_all
	rm -r "$dir"
}

# kerberos_error CAUSE TEXT COMMAND REPAIR: the error that a user gets after the command, and
# its end after the repair
kerberos_error()
{
	eval "$3" || fail "$name: $1: $3"
	mount_fails "$name, $1" "$2" "$v" sec=krb5
	eval "$4" || fail "$name: $1: $4"
	mount_works "$name, $1, repaired: mount" "$v" sec=krb5
}

kerberos_errors()
{
	local v=$1 name="NFSv$1, sec=krb5" key=nfs/$realm_server denied="access denied by server"

	gssd_again
	mount_works "$name: mount" "$v" sec=krb5
	kerberos_error "no rpc.gssd" "incorrect mount option" "ended rpc.gssd" gssd_again
	kerberos_error "no keytab" "$denied" "mv /etc/krb5.keytab /tmp/keytab && gssd_again" \
		"mv /tmp/keytab /etc/krb5.keytab"
	kerberos_error "no KDC" "$denied" "kdc_down && gssd_again" kdc_up
	kerberos_error "the server has the old key" "$denied" \
		"kadmin 'cpw -randkey $key' && gssd_again" \
		"kadmin 'ktadd -norandkey -k $realm_keytab $key'"
}

# alice_works SECONDS: and gets a ticket now and then, as k5start does
alice_works()
{
	local i file=/mnt.krb5p/alice/file

	for i in $(seq "$1"); do
		[ $((i % 2)) -eq 0 ] || ticket alice alice || return
		as_user alice dd if=/tmp/mega of="$file" bs=64k count=4 oflag=direct \
			conv=notrunc status=none || return
		as_user alice dd if="$file" of=/dev/null bs=64k iflag=direct status=none ||
			return
		sleep 1
	done
}

# Beside a load over each flavor. The tickets, and with them the server's contexts, live
# longer: when a ticket ends during a Call, nfsd answers AUTH_BADCRED, for which the client's
# RPC layer closes an NFSv4 connection, or closes the connection itself, over TCP as well.
kerberos_expires()
{
	local v=$1 dir sec i loads=() before n name="NFSv$1, contexts of 5 s"

	gssd_seconds=5
	gssd_again
	for dir in "${kerberos_mounts[@]}"; do
		sec=${dir#/mnt.}
		check "$name, $sec: mount" mount_nfs "$proto" "$v" "$dir" "sec=$sec"
		mkdir "$export_dir/$sec"
	done
	mkdir "$export_dir/alice"
	chown alice "$export_dir/alice"
	dd if=/dev/urandom of=/tmp/mega bs=1M count=1 status=none
	contexts_begin
	before=$(counters)
	for dir in "${kerberos_mounts[@]}"; do
		sec=${dir#/mnt.}
		"$load_sh" "$dir/$sec" "$export_dir/$sec" 900 1 >"/tmp/load.$sec" 2>&1 &
		loads+=($!)
	done
	check "$name: a user" alice_works 25
	for i in 0 1 2; do
		kill "${loads[i]}"
		sec=${kerberos_mounts[i]#/mnt.}
		has_verified "$name, $sec: all data are correct" "${loads[i]}" "/tmp/load.$sec"
	done
	risen "$before"
	n=$(contexts)
	bounded "$name: they have expired ($n contexts)" "$n" 20
	expect "$name: no connection lost" \
		"c_connects == 0 && c_disconnects == 0 && s_disconnects == 0"
	for dir in "${kerberos_mounts[@]}"; do
		check "$name: umount of $dir" umount "$dir"
	done
	rm -rf "$export_dir"/{krb5,krb5i,krb5p,alice}
	as_user alice kdestroy -q
	gssd_seconds=''
	gssd_again
}

# no_connections: succeeds when neither end has a connection. The last umount returns before
# the connection ends, and both ends count that as a disconnect: the client as "ended by its
# owner".
no_connections()
{
	! grep -q . "$client_view" && ! grep -qvE ' state=(ended|refused) ' "$server_view"
}

# With a context, a user needs no KDC.
kerberos_kdc_away()
{
	local name="NFSv$1, no KDC for 2 minutes" before
	local -x LOAD_THINK=100000

	check "$name: no earlier connection" await no_connections
	check "$name: mount" mount_nfs "$proto" "$1" /mnt sec=krb5p || return
	mkdir -m 1777 "$export_dir/users"
	check "$name: kinit" ticket bob bob
	before=$(counters)
	busy 900
	kdc_down
	ticket alice alice 2>/tmp/said
	grep -q 'Cannot contact any KDC' /tmp/said &&
		ok "$name: kinit reports it" || fail "$name: kinit: $(cat /tmp/said)"
	fails_with "$name: a ticket without a context" "Permission denied" \
		as_user bob touch /mnt/users/bob
	sleep 120
	kdc_up
	check "$name, with the KDC again: kinit" ticket alice alice
	check "$name, with the KDC again: a user" as_user alice touch /mnt/users/alice
	check "$name, with the KDC again: the other user" as_user bob touch /mnt/users/bob
	kill "$load"
	end_busy "$name"
	risen "$before"
	expect "$name: no connection lost" "c_connects == 0 && s_disconnects == 0"
	as_user alice kdestroy -q
	as_user bob kdestroy -q
	check "$name: umount" umount_all
	rm -rf "${export_dir:?}/users"
}

# Contexts that expire meanwhile are not made anew, and all goes on when it is back.
kerberos_expires_away()
{
	local name="NFSv$1, contexts expire without a KDC" before

	check "$name: no earlier connection" await no_connections
	check "$name: lifetime" lifetime "20 seconds"
	gssd_again
	check "$name: mount" mount_nfs "$proto" "$1" /mnt sec=krb5p || return
	mkdir -m 1777 "$export_dir/users"
	check "$name: kinit" ticket alice alice
	before=$(counters)
	check "$name: root" touch /mnt/users/root
	check "$name: a user" as_user alice sh -c "umask 077; echo text >/mnt/users/alice"
	kdc_down
	sleep 60
	fails_with "$name: the user" "Key has expired" as_user alice touch /mnt/users/alice
	fails_with "$name: root" "Permission denied" touch /mnt/users/root
	kdc_up
	check "$name, with the KDC again: root" touch /mnt/users/root
	check "$name, with the KDC again: kinit" ticket alice alice
	check "$name, with the KDC again: the user" as_user alice \
		sh -c "echo more >>/mnt/users/alice"
	check "$name, with the KDC again: the server has the data" \
		cmp "$export_dir/users/alice" <(printf '%s\n' text more)
	risen "$before"
	expect "$name: no connection lost" "c_connects == 0 && s_disconnects == 0"
	as_user alice kdestroy -q
	check "$name: umount" umount_all
	rm -rf "${export_dir:?}/users"
	check "$name: lifetime as before" lifetime "10 hours"
	gssd_again
}

# kerberos_pair NAME PROTO PORT VERSION
kerberos_pair()
{
	local sec name port=$3

	for sec in krb5 krb5i krb5p; do
		name="$1, NFSv$4, $sec"
		check "$name: mount" mount_nfs "$2" "$4" /mnt \
			"sec=$sec,rsize=262144,wsize=262144" || continue
		[ "$2" = rdma ] || check "$name: version 1" [ "$(connection version)" = 1 ]
		QUICK=1 file_tests "$name" "$4" 'odd sizes' 'large file' directory
		check "$name: umount" umount_all
	done
}

group_kerberos()
{
	local v
	local -x QUICK=1

	kerberos_up && kerberos_exports || { fail "server"; return; }
	for v in ${VERSIONS:-3 4.0 4.1 4.2}; do
		kerberos_flavors "$v" ''
		kerberos_negotiates "$v"
	done
	for v in 3 4.2; do
		mount_fails "NFSv$v, xprtsec=tls" "incorrect mount option" "$v" xprtsec=tls
		mount_fails "NFSv$v, xprtsec=mtls" "incorrect mount option" "$v" xprtsec=mtls
		mount_works "NFSv$v, xprtsec=none: mount" "$v" xprtsec=none
	done
}

group_kerberos-users()
{
	local v

	kerberos_up || { fail "server"; return; }
	for v in 4.2 3; do
		kerberos_users "$v" krb5
		kerberos_errors "$v"
	done
}

# Debian uses rpc.svcgssd if gssproxy is not installed.
group_kerberos-svcgssd()
{
	local v

	kerberos_up svcgssd || { fail "server"; return; }
	for v in 4.2 3; do
		kerberos_flavors "$v"
		kerberos_users "$v" krb5p
		kerberos_errors "$v"
	done
}

group_kerberos-load()
{
	local v

	kerberos_up || { fail "server"; return; }
	for v in ${VERSIONS:-4.2 3}; do
		kerberos_expires "$v"
		kerberos_kdc_away "$v"
		kerberos_expires_away "$v"
	done
}

# The session's callbacks have AUTH_SYS, on a connection whose RPCs have Kerberos.
group_kerberos-callbacks()
{
	local v sec

	kerberos_up && grace_over || { fail "server"; return; }
	for v in ${VERSIONS:-4.1 4.2}; do
		for sec in krb5 krb5i krb5p; do
			mount_kerberos()
			{
				mount_nfs "$proto" "$1" /mnt "sec=$sec"
			}
			callbacks_of "$sec, " mount_kerberos "$v" 4 c s
		done
	done
}

# The tester's cases with a context of this realm
group_kerberos-calls()
{
	kerberos_up || { fail "server"; return; }
	modprobe -qa ib_uverbs rdma_ucm
	check "kinit by the machine's keytab" kinit -k "host/$realm_client"
	# shellcheck disable=SC2086 # words
	tester "" --export "$export_dir" --gss "nfs@$realm_server" \
		"$addr4" "$port" ${CASES:-gss} || failed=1
}

# With the enctypes of RFC 8009, which User-Mode Linux is built without
group_kerberos-sha2()
{
	local v

	realm_enctype=aes256-cts-hmac-sha384-192
	kerberos_up || { fail "server"; return; }
	for v in ${VERSIONS:-4.2 3}; do
		kerberos_flavors "$v"
	done
	check "the ticket has that enctype" eval \
		"klist -e /tmp/krb5ccmachine_$realm | grep -A 2 nfs/ | grep $realm_enctype"
}

group_kerberos-intree()
{
	local v

	kerberos_up || { fail "server"; return; }
	load_modules rdma && listen_on rdma "$kerberos_port" ||
		{ fail "in-tree's server"; return; }
	for v in 4.2 3; do
		kerberos_pair "in-tree's server" "$proto" "$kerberos_port" "$v"
		kerberos_pair "in-tree's client" rdma "$port" "$v"
	done
	kerberos_pair "in-tree with itself" rdma "$kerberos_port" 4.2
}

# Data that is encrypted or covered by a checksum must not be placed directly; if it does
# not fit inline, it goes in Position-Zero and Reply chunks. krb5 protects no data.
gss_placement()
{
	local v=$1 sec=$2 name="E-26 NFSv$1, $2"

	dd if=/dev/urandom of=/tmp/mega bs=1M count=4 status=none
	measure dd if=/tmp/mega of=/mnt/mega bs=1M oflag=direct
	case $sec in
	sys|krb5) expect "$name: WRITE of 1 MiB: a Read chunk for the data" \
			"s_read_chunks == 4 && s_long_calls == 0" ;;
	krb5?)	expect "$name: WRITE of 1 MiB: all of it in a Position-Zero chunk" \
			"s_read_chunks == 4 && s_long_calls == 4" ;;
	esac
	check "$name: the server has the data" cmp /tmp/mega "$export_dir/mega"

	echo 3 >/proc/sys/vm/drop_caches
	measure dd if=/mnt/mega of=/tmp/back bs=1M iflag=direct
	case $sec in
	sys|krb5) expect "$name: READ of 1 MiB: a Write chunk for the data" \
			"s_write_chunks == 4 && s_reply_chunks_used == 0" ;;
	krb5?)	expect "$name: READ of 1 MiB: all of it in a Reply chunk" \
			"s_write_chunks == 0 && s_reply_chunks_used == 4" ;;
	esac
	check "$name: the client has the data" cmp /tmp/mega /tmp/back
}

# encrypted_again: succeeds if a Call was encrypted again while the device could reach
# its pages, and the client has another connection. The first of the four that times out has
# the connection closed, and is encoded meanwhile. The others count only if they are encoded
# before the end of the connection, which takes their pages from the device, too.
encrypted_again()
{
	has_risen c_pages_revoked -ge 1 && has_risen c_connects -ge 1
}

# slow_writes: writes to open files while mountd is stopped
slow_writes()
{
	local i before writers=()

	before=$(counters)
	for i in 1 2 3 4; do
		dd if=/tmp/mega bs=1M count=1 oflag=direct conv=notrunc \
			1>&"${slow[i]}" 2>/dev/null &
		writers+=($!)
	done
	await encrypted_again
	pkill -CONT rpc.mountd
	wait "${writers[@]}"
}

# nfsd sends no Replies until mountd continues. With NFSv3 the RPC layer retransmits a WRITE
# after a second, and encrypts it again, into other pages. The case proves that the pages of
# the first encryption are revoked before RPCSEC_GSS frees them, at least once, and that all
# four files have their data.
gss_timeouts()
{
	local i fd slow=() name="X2 NFSv3, krb5p, no Reply in time"

	check "$name: mount" mount_nfs "$proto" 3 /mnt \
		sec=krb5p,timeo=10,retrans=1 || return
	dd if=/dev/urandom of=/tmp/mega bs=1M count=1 status=none
	for i in 1 2 3 4; do
		exec {fd}<>"/mnt/slow$i"
		slow[i]=$fd
	done
	pkill -STOP rpc.mountd
	exportfs -f
	measure slow_writes
	expect "$name: the RPC is encrypted again" "c_pages_revoked >= 1"
	expect "$name: on another connection" "c_connects >= 1"
	for i in 1 2 3 4; do
		fd=${slow[i]}
		exec {fd}>&-
		check "$name: file $i" cmp /tmp/mega "$export_dir/slow$i"
	done
	check "$name: umount" umount_all
}

# inline_writes FLAVOR: Calls of three pages that are completely in their Receive. The
# in-tree client can be configured to send such Calls.
inline_writes()
{
	local name="NFSv4.2, $1, WRITE of 12 KiB"

	check "$name: mount" mount_nfs rdma 4.2 /mnt \
		"sec=$1,rsize=262144,wsize=262144" || return
	dd if=/dev/urandom of=/tmp/inline bs=12k count=8 status=none
	measure dd if=/tmp/inline of=/mnt/inline bs=12k oflag=direct
	expect "$name: inline" \
		"s_read_chunks == 0 && s_calls >= 8 && s_recv_bytes > 8 * 12288"
	check "$name: the server has the data" cmp /tmp/inline "$export_dir/inline"
	check "$name: umount" umount_all
}

gss_long_messages()
{
	local flavor max=/proc/sys/sunrpc/rdma_max_inline_write

	modprobe rpcrdma && echo 65536 >$max ||
		{ fail "the kernel's own client"; return; }
	echo 65536 >/sys/module/svcrdma2/parameters/receive_size
	for flavor in krb5 krb5i krb5p; do
		inline_writes "$flavor"
	done
	echo 20480 >/sys/module/svcrdma2/parameters/receive_size
	rmmod rpcrdma
}

# fail_pages TIMES: this number of page allocations fail in tasks with make-it-fail
fail_pages()
{
	settings /sys/kernel/debug/fail_page_alloc min-order=0 task-filter=Y ignore-gfp-wait=N \
		verbose=0 times="$1" probability=$(($1 ? 100 : 0))
}

# The plain text of a Call stays in memory until pages for its encrypted form can be
# allocated. If krb5 has no memory for a checksum either, the RPC layer ends the RPC with
# EIO, and the link is created again. The tester's server is an impostor that looks for the
# plain text. Its time is limited to 4 s (see client_counter), so the action "watch" starts
# earlier.
step_krb5-run()
{
	local port=$PORT dir=/mnt.$PORT before counter sec=krb5p nfs_host=$realm_server

	[ "$CASE" != client_overheard.in_plain_text ] || sec=sys
	trap 'fail_pages 0; umount -f -l "$dir"; exit 1' TERM
	case $ACTION in
	mount)	fail_pages 0
		mount_nfs rdma2 3 "$dir" "nolock,actimeo=600,sec=$sec" &&
			! stat "$dir/in-plain-text" ;;
	drain)	stat -f "$dir" "$dir" "$dir" ;;
	victim)	echo 1 >/proc/self/make-it-fail &&
			exec ln -s target "$dir/in-plain-text" ;;
	watch)	client_counter calls
		before=$counter
		echo begins
		await is_past calls "$before" || exit
		fail_pages 10000
		echo called
		# Until encoding attempts got no pages for the encrypted Call
		[ "$sec" = sys ] ||
			await eval "[ \$(</sys/kernel/debug/fail_page_alloc/times) -lt 9998 ]" || exit
		echo again ;;
	pages)	fail_pages 0 ;;
	link*)	{ [ "$ACTION" = linked ] || {
			[ "$sec" != sys ] && ln -s target "$dir/in-plain-text"
		}; } && [ "$(readlink "$export_dir/in-plain-text")" = target ] &&
			rm "$export_dir/in-plain-text" ;;
	unmount) umount "$dir" || umount -l "$dir" ;;
	esac
	exit
}

gss_overheard()
{
	can_fail /sys/kernel/debug/fail_page_alloc X8 || return
	counted tester "" --server --actions --trigger \
		"exec $VM_TOP/scripts/vm/nfs-cases.sh krb5-run rdma2" \
		"$addr4" 20500 client_overheard || failed=1
	expect "X8 no RPC ended because of a Reply, or because its Call cannot be sent" \
		"c_calls_unsendable + c_replies_bad == 0"
	# A failed case leaves the fault injection on.
	fail_pages 0
	unmount_visits
}

gss_again()
{
	local options

	next_port=20450
	modprobe -qa ib_uverbs rdma_ucm
	for options in vers=3,sec=krb5i vers=3,sec=krb5p vers=4.1,sec=krb5i; do
		echo "# S45 X2 $options: a repeated RPC is encrypted again"
		hostile_server "$options" client_resends.each_call_is_refused_once
	done
	gss_overheard
}

group_krb5()
{
	local v some=('odd sizes' directory)

	kerberos_up || { fail "server"; return; }
	[ -n "${QUICK:-}" ] || some+=('large file' vectors rename owner locks)
	for v in ${VERSIONS:-4.2 3}; do
		kerberos_files "$v" sys
		kerberos_flavors "$v" "${some[@]}"
	done
	gss_timeouts
	gss_again
	gss_long_messages
}
