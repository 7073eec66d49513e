# shellcheck shell=bash disable=SC2015,SC2034,SC2086,SC2154 # as in nfs-cases.sh, which has the variables
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by nfs-cases.sh, after negotiate-cases.sh: what servers say of themselves while a
# connection lasts, what they ask, and what they are told. The servers are the tester's.

# What the client's counters rose by in a visit, by case
counted='
done_and_another_value	c_resprops==2&&c_properties_in_vain==0&&c_reqprops_sent==2
done_as_an_option	c_resprops==2&&c_properties_in_vain==0&&c_reqprops_sent==2
rejected		c_resprops==2&&c_properties_in_vain==0&&c_reqprops_sent==2
done_and_rejected	c_resprops==2&&c_properties_in_vain==0&&c_reqprops_sent==2
what_was_not_asked	c_resprops==2&&c_properties_in_vain==0&&c_reqprops_sent==2
bad_answer		c_resprops==0&&c_properties_in_vain==2&&c_reqprops_sent==2
answer_with_another_xid	c_resprops==0&&c_properties_in_vain==0&&c_dropped_silently==1
no_answer_yet		c_resprops==0&&c_properties_in_vain==0&&c_reqprops_sent==1
bad_xdr_for_a_wish	c_properties_in_vain==2&&c_replies_unknown==0&&c_reqprops_sent==2
invalid_proc_for_a_wish	c_properties_in_vain==1&&c_replies_unknown==0&&c_reqprops_sent==1
invalid_option_for_a_wish c_properties_in_vain==1&&c_replies_unknown==0&&c_reqprops_sent==1
err_vers_for_a_wish	c_properties_in_vain==1&&c_replies_unknown==0&&c_reqprops_sent==1&&c_connects==2
anything_at_any_time	c_dropped_silently>3*c_calls&&c_reqprops>4*c_calls&&c_reqprops_sent>0
no_chunks		c_calls_unsendable>0&&c_calls_unsendable<10&&c_registrations==0&&c_calls_again==0
'

all_counted()
{
	local name expression

	while read -r name expression; do
		[ -n "$name" ] || continue
		name=client_properties.$name
		rise "/tmp/before.$name" "/tmp/after.$name"
		expect "$name: counters" "$expression"
	done <<<"$counted"
}

group_properties()
{
	negotiate_up || return
	visits ${CASES:-client_properties}
	[ -n "${CASES:-}" ] || all_counted
	finish
}
