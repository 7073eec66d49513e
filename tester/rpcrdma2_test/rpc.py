# SPDX-License-Identifier: GPL-2.0
"""ONC RPC, and the parts of NFSv3 and MOUNT that cases need."""

import os
import socket
import struct

from .waits import scaled
from .wire import CALL, REPLY, opaque, u32

NFS, MOUNT, PORTMAP = 100003, 100005, 100000
NULL, GETATTR, LOOKUP, READLINK, READ, WRITE = 0, 1, 3, 5, 6, 7
CREATE, MKDIR, SYMLINK, REMOVE = 8, 9, 10, 12
READDIR, READDIRPLUS, FSINFO = 16, 17, 19
SUCCESS, PROG_UNAVAIL, PROC_UNAVAIL, GARBAGE_ARGS = 0, 1, 3, 4
FILE_SYNC = 2


class RpcError(Exception):
    """An RPC failed."""


def root():
    """Returns AUTH_SYS credentials of the superuser."""
    return u32(1) + opaque(u32(0) + opaque(b'tester') + u32(0, 0, 0)) + u32(0, 0)


def call(xid, proc=NULL, arguments=b'', prog=NFS, vers=3, cred=None):
    if cred is None:
        cred = u32(0, 0, 0, 0) if proc == NULL else root()
    return u32(xid, CALL, 2, prog, vers, proc) + cred + arguments


def reply(xid, results=b'', accept_stat=SUCCESS):
    return u32(xid, REPLY, 0, 0, 0, accept_stat) + results


def results(message, accept_stat=SUCCESS):
    """Returns the results in an RPC Reply, which has to have this accept_stat."""
    if len(message) < 24:
        raise RpcError(f'an RPC Reply of {len(message)} bytes')
    _, kind, stat, _, length = struct.unpack_from('>5I', message)
    at = 20 + length + -length % 4
    if kind != REPLY or stat:
        raise RpcError(f'msg_type {kind}, reply_stat {stat}')
    found = struct.unpack_from('>I', message, at)[0]
    if found != accept_stat:
        raise RpcError(f'accept_stat {found}, not {accept_stat}')
    return message[at + 4:]


def number_at(data, at):
    return struct.unpack_from('>I', data, at)[0]


def opaque_at(data, at):
    length = number_at(data, at)
    return data[at + 4:at + 4 + length]


def over_tcp(host, port, prog, vers, proc, arguments=b''):
    """Returns the results of an RPC over TCP, from a reserved port if possible."""
    with socket.socket(socket.AF_INET6 if ':' in host else socket.AF_INET) as sock:
        for local in range(1023, 900, -1):
            try:
                sock.bind(('', local))
                break
            except OSError:
                continue
        sock.settimeout(scaled(5))
        sock.connect((host, port))
        xid = int.from_bytes(os.urandom(4), 'big')
        message = call(xid, proc, arguments, prog, vers)
        put_record(sock, message)
        return results(record(sock))


def put_record(sock, message):
    """Sends a record of RPC over TCP in one fragment."""
    sock.sendall(u32(0x80000000 | len(message)) + message)


def record(sock):
    """Returns the next record, from all its fragments."""
    message, last = b'', 0
    while not last:
        mark = number_at(take(sock, 4), 0)
        last = mark & 0x80000000
        message += take(sock, mark & 0x7fffffff)
    return message


def take(sock, length):
    data = b''
    while len(data) < length:
        more = sock.recv(length - len(data))
        if not more:
            raise RpcError('the connection ends')
        data += more
    return data


def mount(host, path):
    """Returns the file handle of an export, by the MOUNT protocol."""
    port = number_at(over_tcp(host, 111, PORTMAP, 2, 3, u32(MOUNT, 3, 6, 0)), 0)
    if not port:
        raise RpcError('no MOUNT service')
    answer = over_tcp(host, port, MOUNT, 3, 1, opaque(path.encode()))
    if number_at(answer, 0):
        raise RpcError(f'MNT of {path}: {number_at(answer, 0)}')
    return opaque_at(answer, 4)


def create_arguments(folder, name):
    """UNCHECKED, mode 0666, size 0"""
    return opaque(folder) + opaque(name) + u32(0, 1, 0o666, 0, 0, 1, 0, 0, 0, 0)


def write_arguments(handle, length, data=None, offset=0):
    """Without data, ends with the data's length; the data are in a chunk."""
    head = opaque(handle) + struct.pack('>QII', offset, length, FILE_SYNC)
    return head + (u32(length) if data is None else opaque(data))


def read_arguments(handle, count, offset=0):
    return opaque(handle) + struct.pack('>QI', offset, count)


def readdir_arguments(handle, count):
    return opaque(handle) + bytes(16) + u32(count)


def post_op_attr(data, at):
    """Returns the position behind the attributes."""
    return at + 4 + (84 if number_at(data, at) else 0)
