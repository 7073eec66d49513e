# SPDX-License-Identifier: GPL-2.0
"""The tester's timeouts in seconds; --wait multiplies them."""

import time

FACTOR = 1.0


def scaled(seconds):
    return seconds * FACTOR


def until(seconds):
    """Returns the time of the monotonic clock at the end of the timeout."""
    return time.monotonic() + scaled(seconds)
