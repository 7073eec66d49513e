#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Kerberos contexts without Kerberos: gives the kernel's RPCSEC_GSS client and server a fixed
session key, instead of one that rpc.gssd and rpc.svcgssd negotiate with the help of a KDC.

    gss-contexts.py serve   answers the client's upcalls until it is killed; each gets a
                            context of its own on both sides. Prints "begins" first
    gss-contexts.py HANDLE  creates a single context, on the server only, for a client in
                            user space; HANDLE is eight hex digits

These contexts need no Call to establish them: they are in the server's cache before the client
uses them.
"""

import glob
import itertools
import os
import re
import select
import struct
import sys
import time

PIPES = '/var/lib/nfs/rpc_pipefs/*/clnt*/gssd'
CONTEXTS = '/proc/net/rpc/auth.rpcsec.context/channel'
WINDOW = 128                    # the server's sequence window
LIFETIME = 3600
ENCTYPE = 18                    # RFC 3962: aes256-cts-hmac-sha1-96
KEY = bytes(range(1, 33))
INITIATOR, CFX = 1, 2           # flags of a context, RFC 4121


def context(flags):
    """The format that the kernel's krb5 mechanism imports, in the machine's byte order"""
    return struct.pack('=IIQI', flags, int(time.time()) + LIFETIME, 0, ENCTYPE) + KEY


def make_server_context(handle, uid):
    fd = os.open(CONTEXTS, os.O_WRONLY)
    os.write(fd, f'\\x{handle:08x} {int(time.time()) + LIFETIME} {uid} {uid} 0 krb5 '
                 f'\\x{context(CFX).hex()} client@TEST\n'.encode())
    os.close(fd)


def answer(fd, handle):
    upcall = os.read(fd, 511).decode()
    uid = re.match(r'mech=krb5 uid=(\d+)', upcall)
    if not uid:
        print('unexpected:', upcall, end='', file=sys.stderr)
        return
    uid, own = int(uid[1]), context(INITIATOR | CFX)
    make_server_context(handle, uid)
    os.write(fd, struct.pack('=4I', uid, LIFETIME, WINDOW, 4) + struct.pack('>I', handle) +
             struct.pack('=I', len(own)) + own)
    print(f'{handle:08x}', upcall, end='', flush=True)


def look_for_pipes(pipes):
    """Each RPC client has a pipe, and RPC clients come and go."""
    for name in set(glob.glob(PIPES)) - set(pipes.values()):
        try:
            pipes[os.open(name, os.O_RDWR | os.O_NONBLOCK)] = name
        except OSError:
            pass


def serve():
    pipes, handles = {}, itertools.count(0x67737301)
    look_for_pipes(pipes)
    print('begins', flush=True)
    while True:
        poll = select.poll()
        for fd in pipes:
            poll.register(fd, select.POLLIN)
        for fd, event in poll.poll(20):
            try:
                if event & select.POLLIN:
                    answer(fd, next(handles))
            except OSError as error:
                print(error, file=sys.stderr)
            if event & (select.POLLHUP | select.POLLERR):
                os.close(fd)
                del pipes[fd]
        look_for_pipes(pipes)


if len(sys.argv) != 2:
    sys.exit(__doc__)
if sys.argv[1] == 'serve':
    serve()
make_server_context(int(sys.argv[1], 16), 0)
