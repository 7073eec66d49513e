# SPDX-License-Identifier: GPL-2.0
"""Valid conversations, spoilt by chance."""
