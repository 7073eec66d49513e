#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0
"""
In a guest: uses a mount of a hostile server until most operations fail.

    use.py FOLDER

The folder has the files "data", of 64 KiB, and "link". Errors are expected.
"""

import mmap
import os
import sys

folder, page, failed = sys.argv[1], memoryview(mmap.mmap(-1, 65536)), 0
data = f'{folder}/data'


def direct(flags, call, size):
    fd = os.open(data, flags | os.O_DIRECT)
    try:
        call(fd, [page[:size]], 0)
    finally:
        os.close(fd)


while failed < 100:
    for call, *words in [each for size in (512, 4096, 16384, 65536) for each in (
            (direct, os.O_RDONLY, os.preadv, size), (os.stat, data),
            (direct, os.O_WRONLY, os.pwritev, size), (os.listdir, folder),
            (os.readlink, f'{folder}/link'))]:
        try:
            call(*words)
            failed = 0
        except OSError:
            failed += 1
