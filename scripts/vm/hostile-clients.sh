# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by hostile-cases.sh: what a hostile client does to our server. The
# clients are scripts/rdma-peer.c.

hostile_clients()
{
	:
}
