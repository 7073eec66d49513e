# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced in a guest: a Kerberos realm, with MIT's KDC, the server's gssproxy or
# rpc.svcgssd, the client's rpc.gssd, and the names of NFSv4. All of it is in the guest
# that calls realm_up; of two joined guests (node.sh) the server calls that, and the client
# realm_join. Hosts are in /etc/hosts.

realm=EXAMPLE.NET
realm_domain=example.net
realm_server=server.$realm_domain
realm_client=client.$realm_domain
realm_users=(alice bob)	# with an account each
realm_stranger=mallory	# without one
realm_password=secret
realm_enctype=aes256-cts-hmac-sha1-96
realm_dir=/run/krb5kdc
realm_keytab=/root/server.keytab	# of the daemon that accepts contexts
pipefs=/var/lib/nfs/rpc_pipefs
gssd_seconds=''

# rpc.gssd takes its principal by the machine's name. A guest that is both hosts is called
# as the client is.
realm_names()
{
	local user uid=2001 hosts=("$addr4 $realm_server" "$addr6 $realm_server")

	case ${VM_NODE:-} in
	'')	hosts+=("$addr4 $realm_client" "$addr6 $realm_client") ;;
	*)	hosts+=("10.0.0.2 $realm_client" "fd00::2 $realm_client") ;;
	esac
	grep -q " $realm_server\$" /etc/hosts || printf '%s\n' "${hosts[@]}" >>/etc/hosts
	hostname "${VM_NODE:-client}.$realm_domain"
	for user in "${realm_users[@]}"; do
		grep -q "^$user:" /etc/passwd ||
			echo "$user:x:$uid:$uid::/tmp:/bin/sh" >>/etc/passwd
		grep -q "^$user:" /etc/group || echo "$user:x:$uid:" >>/etc/group
		grep -q "^$user:" /etc/shadow || echo "$user:*:20000::::::" >>/etc/shadow
		uid=$((uid + 1))
	done
}

realm_conf()
{
	mkdir -p /etc/krb5kdc "$realm_dir"
	cat >/etc/krb5.conf <<-END
	[libdefaults]
		default_realm = $realm
		dns_lookup_kdc = false
		dns_lookup_realm = false
		dns_canonicalize_hostname = false
		rdns = false
	[realms]
		$realm = {
			kdc = $realm_server
			auth_to_local = RULE:[2:\$1/\$2](^host/$realm_client\$)s/.*/root/
			auth_to_local = RULE:[2:\$1/\$2](^nfs/$realm_server\$)s/.*/root/
			auth_to_local = DEFAULT
		}
	[domain_realm]
		.$realm_domain = $realm
	END
	cat >/etc/krb5kdc/kdc.conf <<-END
	[realms]
		$realm = {
			database_name = $realm_dir/principal
			key_stash_file = $realm_dir/stash
			acl_file = $realm_dir/acl
			supported_enctypes = $realm_enctype:normal
			max_life = 10h
		}
	END
	cat >/etc/nfs.conf <<-END
	[general]
		pipefs-directory = $pipefs
	END
	cat >/etc/idmapd.conf <<-END
	[General]
		Domain = $realm_domain
	[Mapping]
		Nobody-Group = nogroup
	[Translation]
		Method = nsswitch
		GSS-Methods = static,nsswitch
	[Static]
		host/$realm_client@$realm = root
	END
}

# kadmin COMMAND...: of the KDC's administrator, one argument each
kadmin()
{
	printf '%s\n' "$@" | kadmin.local -r "$realm" >/tmp/kadmin 2>&1
	! grep -iE 'error|failed|cannot|while ' /tmp/kadmin >&2
}

kdc_up()
{
	krb5kdc -r "$realm" || complain "no KDC"
}

# ended NAME: no process of that name is left. The handler of rpc.gssd for SIGTERM allocates
# memory, and could wait for ever.
ended()
{
	pkill -KILL -x "$1" || return 0
	while pgrep -x "$1" >/dev/null; do
		sleep 0.1
	done
}

kdc_down()
{
	ended krb5kdc
}

# realm_up: names, principals, the keytabs, with the commands of the administrator's
# guide, and the KDC. Before the server.
realm_up()
{
	local user commands=()

	realm_names
	realm_conf
	kdb5_util -r "$realm" -P master create -s >/tmp/kdb5_util 2>&1 ||
		complain "no database of principals" || return 1
	for user in "${realm_users[@]}" "$realm_stranger"; do
		commands+=("addprinc -pw $realm_password $user")
	done
	kadmin "${commands[@]}" || return 1
	"$VM_TOP/scripts/guide.py" realm | sh -e >/tmp/kadmin 2>&1 ||
		complain "no keytabs: $(tail -n 1 /tmp/kadmin)" || return 1
	case ${VM_NODE:-} in
	'')	mv /root/client.keytab /etc/krb5.keytab ;;
	*)	cp "$realm_keytab" /etc/krb5.keytab && appear "$share/keytab" </root/client.keytab ;;
	esac || return 1
	kdc_up
}

# realm_join: the client's part, once the server's node has called realm_up
realm_join()
{
	realm_names
	realm_conf
	realm_keytab=/etc/krb5.keytab
	cp "$share/keytab" "$realm_keytab"
}

# lifetime TIME: of tickets, and so of contexts
lifetime()
{
	kadmin "modprinc -maxlife \"$1\" nfs/$realm_server" \
		"modprinc -maxlife \"$1\" krbtgt/$realm"
}

# contexts_begin, contexts: how many the client has got since
contexts_begin()
{
	echo >/sys/kernel/tracing/trace
	echo 1 >/sys/kernel/tracing/events/rpcgss/rpcgss_context/enable
}

contexts()
{
	grep -c rpcgss_context: /sys/kernel/tracing/trace
	echo 0 >/sys/kernel/tracing/events/rpcgss/rpcgss_context/enable
}

# contexts_follow: prints a line for each context that the client gets
contexts_follow()
{
	local at=/sys/kernel/tracing/instances/follow

	mkdir "$at" && echo 1 >"$at/events/rpcgss/rpcgss_context/enable" &&
		exec cat "$at/trace_pipe"
}

# gssd_up: until rpc.gssd has opened a pipe, mounts are refused. Contexts live as long as
# their ticket, or $gssd_seconds.
gssd_up()
{
	rpc.gssd ${gssd_seconds:+-t "$gssd_seconds"} || complain "no rpc.gssd" || return
	until find /proc/"$(pgrep -x rpc.gssd)"/fd -lname '*/gssd' 2>/dev/null | grep -q .; do
		pgrep -x rpc.gssd >/dev/null || complain "rpc.gssd has ended" || return
		sleep 0.1
	done
}

# gssd_again: restarts rpc.gssd without its tickets for the machine
gssd_again()
{
	ended rpc.gssd
	rm -f "/tmp/krb5ccmachine_$realm"
	gssd_up
}

# realm_daemons gssproxy|svcgssd: starts the daemons of both ends. To be called after
# server_up or locking_up, which creates the folder for their pipes to the kernel.
realm_daemons()
{
	mkdir -p "$pipefs"
	grep -q " $pipefs " /proc/mounts ||
		mount -t rpc_pipefs none "$pipefs" || return 1
	case $1 in
	gssproxy)
		mkdir -p /var/lib/gssproxy/{clients,rcache}
		sed -i "s|keytab:.*|keytab:$realm_keytab|" /etc/gssproxy/24-nfs-server.conf
		gssproxy -D || complain "no gssproxy" || return 1 ;;
	svcgssd)
		KRB5_KTNAME=$realm_keytab rpc.svcgssd -n || complain "no rpc.svcgssd" || return 1 ;;
	esac
	gssd_up || return 1
	rpc.idmapd || complain "no rpc.idmapd"
}

realm_down()
{
	local name

	for name in rpc.gssd rpc.svcgssd gssproxy rpc.idmapd krb5kdc; do
		ended "$name"
	done
	umount "$pipefs"
}

# as_user USER COMMAND...: which has a minute
as_user()
{
	setpriv --reuid="$1" --regid="$1" --clear-groups timeout -s KILL 60 "${@:2}"
}

# ticket USER PRINCIPAL [OPTION...]: with options of kinit
ticket()
{
	as_user "$1" kinit "${@:3}" "$2" <<<"$realm_password" >/dev/null
}
