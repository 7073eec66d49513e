#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
In a guest: uses a mount of a hostile server until most operations fail.

    use.py FOLDER

The folder has the files "data", of 64 KiB, and "link". Errors are expected.
"""

import mmap
import os
import sys

SIZES = (512, 4096, 16384, 65536)


def operations(folder):
    data, link = f'{folder}/data', f'{folder}/link'
    page = mmap.mmap(-1, max(SIZES))

    def direct(flags, size, operation):
        fd = os.open(data, flags | os.O_DIRECT)
        try:
            operation(fd, memoryview(page)[:size])
        finally:
            os.close(fd)

    for size in SIZES:
        yield lambda size=size: direct(os.O_RDONLY, size,
                                       lambda fd, room: os.preadv(fd, [room], 0))
        yield lambda: os.stat(data)
        yield lambda size=size: direct(os.O_WRONLY, size,
                                       lambda fd, room: os.pwritev(fd, [room], 0))
        yield lambda: os.listdir(folder)
        yield lambda: os.readlink(link)


def main():
    failed = 0
    while failed < 100:
        for operation in operations(sys.argv[1]):
            try:
                operation()
                failed = 0
            except OSError:
                failed += 1


if __name__ == '__main__':
    main()
