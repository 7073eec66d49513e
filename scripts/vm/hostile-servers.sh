# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by hostile-cases.sh: what a hostile server does to our client. The
# servers are scripts/peer.

hostile_servers()
{
	:
}
