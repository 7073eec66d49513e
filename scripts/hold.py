#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Holds idle connections to a server, using the tester's library:

    hold.py ADDRESS PORT COUNT

It does not retry connections that the server refuses. Ends by a signal.
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
