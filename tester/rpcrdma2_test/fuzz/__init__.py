# SPDX-License-Identifier: GPL-2.0
"""Random mutations of valid conversations"""
