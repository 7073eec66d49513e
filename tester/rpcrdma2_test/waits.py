# SPDX-License-Identifier: GPL-2.0
"""How long the tester waits, in seconds; --wait multiplies that."""

import time

FACTOR = 1.0


def scaled(seconds):
    return seconds * FACTOR


def until(seconds):
    """The time of the monotonic clock at which a wait of that long ends."""
    return time.monotonic() + scaled(seconds)
