#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Connections to a server, by the tester's library, on which nothing is said:

    hold.py ADDRESS PORT COUNT [SECONDS]

Those that the server refuses are not made again. Ends after that time (20 s), or by a signal.
"""

import sys
import time

from rpcrdma2_test.endpoint import Endpoint

held = []
for _ in range(int(sys.argv[3])):
    try:
        held.append(Endpoint.connect(*sys.argv[1:3]))
    except OSError:
        pass
time.sleep(int(sys.argv[4]) if len(sys.argv) > 4 else 20)
