# SPDX-License-Identifier: GPL-2.0
"""A tester for implementations of RPC-over-RDMA, versions 1 and 2."""
