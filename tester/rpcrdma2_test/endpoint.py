# SPDX-License-Identifier: GPL-2.0
"""Connections and exposed memory, with the library of endpoint.c."""

import ctypes
import dataclasses
import errno
import os
import pathlib
import struct

from .registry import NotApplicable
from .waits import scaled

MAGIC = 0xf6ab0e18
ROOM = 1 << 20


class Lost(Exception):
    """The connection has ended."""


@dataclasses.dataclass(frozen=True)
class PrivateData:
    """The first eight bytes of the connection manager's private data."""
    flags: int
    send: int
    receive: int
    magic: int = MAGIC
    version: int = 1

    def encode(self):
        return struct.pack('>IBBBB', self.magic, self.version, self.flags,
                           self.send // 1024 - 1, self.receive // 1024 - 1)

    @classmethod
    def decode(cls, data):
        """Returns None for data in another format."""
        if len(data) < 8:
            return None
        magic, version, flags, send, receive = struct.unpack('>IBBBB', data[:8])
        if magic != MAGIC or version != 1:
            return None
        return cls(flags, (send + 1) * 1024, (receive + 1) * 1024)


class Received(ctypes.Structure):
    _fields_ = [('length', ctypes.c_uint32), ('invalidated', ctypes.c_uint32),
                ('with_invalidate', ctypes.c_int), ('immediate', ctypes.c_int)]


class RegionHead(ctypes.Structure):
    _fields_ = [('address', ctypes.c_void_p), ('handle', ctypes.c_uint32)]


def load():
    path = os.environ.get('RPCRDMA2_TEST_LIBRARY')
    if not path:
        path = pathlib.Path(__file__).parent.parent / 'libendpoint.so'
    library = ctypes.CDLL(str(path), use_errno=True)
    pointer, size, u32 = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint32
    chars, i, byte = ctypes.c_char_p, ctypes.c_int, ctypes.c_uint8
    for name, result, *arguments in (
            ('ep_prepare', pointer, chars, chars, size, u32, pointer),
            ('ep_connect', i, pointer, chars, byte, byte),
            ('ep_half', i, pointer),
            ('ep_rnr_timer', i, pointer, byte),
            ('ep_completed', u32, pointer),
            ('ep_listen', pointer, chars, chars),
            ('ep_unlisten', None, pointer),
            ('ep_request', pointer, pointer, i, size, u32, pointer),
            ('ep_accept', i, pointer, chars, byte, byte),
            ('ep_close', None, pointer),
            ('ep_private', i, pointer, pointer, i),
            ('ep_send', i, pointer, chars, size, u32),
            ('ep_send_all', i, pointer, chars, pointer, u32),
            ('ep_post_receives', i, pointer, u32),
            ('ep_keep_receives', None, pointer),
            ('ep_is_lost', i, pointer),
            ('ep_is_left', i, pointer, i),
            ('ep_flush', i, pointer, i),
            ('ep_receive', i, pointer, i, pointer, size,
             ctypes.POINTER(Received)),
            ('ep_descriptors', None, pointer, pointer),
            ('ep_listener_descriptor', i, pointer),
            ('region_new', ctypes.POINTER(RegionHead), pointer, size),
            ('region_window', i, pointer, ctypes.POINTER(RegionHead)),
            ('region_free', None, ctypes.POINTER(RegionHead)),
            ('ep_rdma', i, pointer, i, ctypes.POINTER(RegionHead), size, u32,
             u32, ctypes.c_uint64)):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class Library:
    """Loads the library at its first use, because --list does not need it."""
    loaded = None

    def __getattr__(self, name):
        if Library.loaded is None:
            Library.loaded = load()
        return getattr(Library.loaded, name)

    def lacks(self):
        """Returns the reason why the library cannot be loaded, or None."""
        try:
            self.ep_listen
        except (OSError, AttributeError) as reason:     # AttributeError: it is an old one
            return f'{reason}; "make" in the folder of the tester builds the library'
        return None


lib = Library()


def failed(what, code=None):
    code = ctypes.get_errno() if code is None else -code
    why = os.strerror(code)
    if code == errno.ENODEV:
        why = 'no RDMA device leads to this address; "rdma link" lists the devices'
    return OSError(code, f'{what}: {why}')


class Region:
    """Memory that the peer may read and write"""

    def __init__(self, endpoint, length):
        self.endpoint, self.length = endpoint, length
        self.head = lib.region_new(endpoint.pointer, length)
        if not self.head:
            raise failed('memory')

    def window(self):
        """Gives the region a handle that the peer can invalidate."""
        code = lib.region_window(self.endpoint.pointer, self.head)
        if code:
            raise NotApplicable('the device has no memory windows of type 2')
        return self

    @property
    def handle(self):
        return self.head.contents.handle

    @property
    def address(self):
        return self.head.contents.address

    def write(self, data, at=0):
        ctypes.memmove(self.address + at, data, len(data))
        return self

    def read(self, length=None, at=0):
        return ctypes.string_at(self.address + at,
                                self.length if length is None else length)

    def free(self):
        lib.region_free(self.head)


class Endpoint:
    """One end of a connection"""

    def __init__(self, pointer):
        if not pointer:
            raise failed('endpoint')
        self.pointer, self.regions = pointer, []
        self.immediate = False  # the last message was an RDMA Write with Immediate

    @classmethod
    def prepare(cls, host, port, size=16384, receives=0, lender=None):
        """Returns an unconnected endpoint, which may use the buffers of a lender."""
        return cls(lib.ep_prepare(host.encode(), str(port).encode(), size, receives,
                                  lender and lender.pointer))

    @classmethod
    def connect(cls, host, port, private=b'', retries=0, receives=32, **options):
        self = cls.prepare(host, port, receives=receives, **options)
        code = lib.ep_connect(self.pointer, private, len(private), retries)
        if code:
            self.close()
            raise failed('connect', code)
        return self

    @classmethod
    def request(cls, listener, patience, size=16384, receives=32, lender=None):
        """Returns the next connection request, or None."""
        pointer = lib.ep_request(listener, int(scaled(patience) * 1000), size, receives,
                                 lender and lender.pointer)
        return cls(pointer) if pointer else None

    def accept(self, private=b'', retries=7):
        code = lib.ep_accept(self.pointer, private, len(private), retries)
        if code:
            raise failed('accept', code)
        return self

    @property
    def private(self):
        room = ctypes.create_string_buffer(256)
        length = lib.ep_private(self.pointer, room, 256)
        return room.raw[:length]

    def post(self, data, invalidate=0):
        code = lib.ep_send(self.pointer, data, len(data), invalidate)
        if code:
            raise Lost(f'Send: {os.strerror(-code)}')

    def post_all(self, *messages):
        """Sends the messages, with one doorbell for all that fit the Send Queue."""
        while messages:
            lengths = (ctypes.c_uint32 * len(messages))(*map(len, messages))
            code = lib.ep_send_all(self.pointer, b''.join(messages), lengths, len(messages))
            if code < 0:
                raise Lost(f'Send: {os.strerror(-code)}')
            messages = messages[code:]

    def flush(self, patience=5):
        code = lib.ep_flush(self.pointer, int(scaled(patience) * 1000))
        if code:
            raise Lost(f'Send: {os.strerror(-code)}')

    def send(self, *messages, invalidate=0, patience=5):
        """Does not fail if the peer ends the connection after a message; receive() shows that."""
        try:
            for data in messages:
                self.post(data, invalidate)
            self.flush(patience)
        except Lost:
            if not self.lost:
                raise

    def receive(self, patience):
        """Returns the bytes and the invalidated handle or None; or None after the timeout."""
        got, room = Received(), ctypes.create_string_buffer(65536)
        ret = lib.ep_receive(self.pointer, int(scaled(patience) * 1000), room,
                             len(room), ctypes.byref(got))
        if ret < 0:
            raise Lost('the peer has ended the connection')
        if not ret:
            return None
        self.immediate = bool(got.immediate)
        return (room.raw[:got.length],
                got.invalidated if got.with_invalidate else None)

    @property
    def descriptors(self):
        """Descriptors that are readable when receive() may have a result"""
        pair = (ctypes.c_int * 2)()
        lib.ep_descriptors(self.pointer, pair)
        return list(pair)

    @property
    def lost(self):
        """Whether the connection has ended, without receiving pending messages"""
        return bool(lib.ep_is_lost(self.pointer))

    def is_left(self, patience):
        """Waits until the peer has disconnected, which may be after this end's loss."""
        return bool(lib.ep_is_left(self.pointer, int(scaled(patience) * 1000)))

    def post_receives(self, count):
        code = lib.ep_post_receives(self.pointer, count)
        if code:
            raise Lost(f'Receive: {os.strerror(-code)}')

    def keep_receives(self):
        """Stops reposting Receives."""
        lib.ep_keep_receives(self.pointer)

    def region(self, length):
        self.regions.append(Region(self, length))
        return self.regions[-1]

    def rdma(self, region, length, handle, offset, read=False, at=0, immediate=False):
        """Does an RDMA Write to the peer's memory, or an RDMA Read from it."""
        code = lib.ep_rdma(self.pointer, 2 if immediate else read, region.head, at, length,
                           handle, offset)
        if immediate and abs(code) == errno.EINVAL and \
                not lib.ep_rdma(self.pointer, 0, region.head, at, 0, handle, offset):
            raise NotApplicable('the device takes RDMA Writes, but none With Immediate')
        if code:
            raise Lost('RDMA to the peer')

    def close(self):
        if self.pointer:
            for region in self.regions:
                region.free()
            lib.ep_close(self.pointer)
        self.pointer, self.regions = None, []


class Listener:
    """Receives connection requests."""

    def __init__(self, host, port):
        self.pointer = lib.ep_listen(host.encode(), str(port).encode())
        if not self.pointer:
            raise failed('listen')
        self.descriptor = lib.ep_listener_descriptor(self.pointer)

    def close(self):
        lib.ep_unlisten(self.pointer)
