#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Connections to a server, by the tester's library, on which nothing is said:

    hold.py ADDRESS PORT COUNT

Those that the server refuses are not made again. Ends by a signal.
"""

import signal
import sys

from rpcrdma2_test.endpoint import Endpoint

held = []
for _ in range(int(sys.argv[3])):
    try:
        held.append(Endpoint.connect(*sys.argv[1:3]))
    except OSError:
        pass
signal.pause()
