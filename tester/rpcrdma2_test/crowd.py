# SPDX-License-Identifier: GPL-2.0
"""
A crowd of hostile clients: many connections to an RDMA service, each of which tries to use up a
resource of the service.

    python3 -m rpcrdma2_test.crowd ADDRESS PORT COUNT [MANNER]

The connections take turns in the first five of these manners, or all have the given one, and
reconnect when they are lost:

    withhold  posts no Receive, so that its device answers no RDMA Read behind the first Reply:
              eight Calls of 1 MiB each
    slow      the same with RDMA Reads of one byte; every 19 s it posts one Receive, which lets
              one of them complete
    chunks    Calls with the longest chunk lists, one after the other
    mute      sends nothing
    rnr       posts no Receive for the Replies to eight Calls
    hoard     the same with 30 READs of 1 MiB of the file "hoard", whose RDMA Writes wait behind
              the first Reply
    flood     uses all granted credits for NULL Calls
    drain     the same with READs of 64 KiB of that file
    half      sends a connection request and never confirms the connection
    hold      sends nothing, and does not reconnect; after a refusal no further one connects

The program prints "ready" when all connections are established and have sent their first
messages. On SIGTERM it prints a line for each manner with the counts of its connections, and
ends. After SIGUSR1 it does not reconnect.
"""

import collections
import ctypes
import errno
import os
import select
import signal
import sys
import time

from . import nfs4, rpc
from .endpoint import Endpoint, Lost, Received, failed, lib
from .wire import Rpc, Segment, opaque, u32

TURNS = 'withhold', 'slow', 'chunks', 'mute', 'rnr'
FLOODS = 'flood', 'drain'
OFFERED, DRAINED = 1 << 20, 1 << 16
DEPTH = 64              # outstanding Calls of a flooding connection
RECEIVES = {'chunks': 4, 'flood': DEPTH, 'drain': DEPTH}
# s between two Receives, or two Calls with long chunk lists
PAUSE = {'slow': 19, 'chunks': 0.5}
# The RNR timer is 0.12 s, and 0.66 s if the other end repeats RDMA Writes at each retry.
RNR_TIMER = 27

counts = collections.defaultdict(lambda: dict.fromkeys(
    ('up', 'lost', 'refused', 'calls', 'taken', 'replies', 'most'), 0))
poller = select.poll()
owners = {}             # peers by their descriptors
room, received = ctypes.create_string_buffer(16), Received()


def parts(message):
    """The message, and the position of its second xid"""
    return message.encode(), message.header_length


def null(chunks=0, segments=0, length=0, writes=0):
    """A NULL Call; Read chunk n has position 40 + 4 * n and this number of segments."""
    return parts(Rpc(0, rpc.call(0, vers=4), reads=tuple(
        (40 + 4 * i, offered(length)) for i in range(chunks) for _ in range(segments)),
        writes=((offered(OFFERED),),) * writes))


def read_file(size):
    operations = ((nfs4.PUTROOTFH, b''), (nfs4.LOOKUP, opaque(b'hoard')),
                  (nfs4.READ, bytes(24) + u32(size)))
    return parts(Rpc(0, rpc.call(0, 1, nfs4.compound(operations, 0), vers=4),
                     writes=((offered(size),),)))


def offered(length):
    """Memory of all connections: their queue pairs have one protection domain."""
    return Segment(region.handle, length, region.address)


class Peer:
    """A connection"""

    def __init__(self, manner):
        self.manner, self.did, self.endpoint = manner, counts[manner], None

    def establish(self):
        """Both ends retry without limit when they find no Receive."""
        self.since, self.sent, self.under_way, self.grant = time.monotonic(), 0, 0, 1
        self.endpoint = endpoint = Endpoint.prepare(
            host, port, 2048 if self.manner == 'chunks' else 512, RECEIVES.get(self.manner, 0))
        if self.manner == 'half':
            self.must('ep_half')
        code = lib.ep_connect(endpoint.pointer, b'', 0, 7)
        if code:
            self.did['refused'] += code == -errno.ECONNREFUSED
            return self.end()
        self.did['up'] += 1
        if self.manner == 'half':
            return None
        if self.manner != 'hoard':
            self.must('ep_rnr_timer', RNR_TIMER)
        if self.manner not in RECEIVES:
            endpoint.keep_receives()
        self.descriptors = endpoint.descriptors
        for descriptor in self.descriptors:
            poller.register(descriptor, select.POLLIN)
            owners[descriptor] = self
        return self.look()

    def must(self, function, *arguments):
        """Calls a function of the library, without which the manner would be another one. It may
        fail when the connection has ended already, which look() finds."""
        code = getattr(lib, function)(self.endpoint.pointer, *arguments)
        if code and not self.endpoint.lost:
            raise failed(function, code)

    def end(self):
        """A signal's handler no longer sees the endpoint when it is closed."""
        endpoint, self.endpoint, self.since = self.endpoint, None, time.monotonic()
        self.did['taken'] += lib.ep_completed(endpoint.pointer)
        endpoint.close()

    def call(self, *messages):
        """Sends messages, each with its own xid."""
        for data, at in messages:
            xid = u32(0x1000 + self.sent)
            self.endpoint.post(xid + data[4:at] + xid + data[at + 4:])
            self.sent += 1
            self.did['calls'] += 1

    def fill(self):
        """Sends Calls up to the grant and the number of buffers."""
        while self.under_way < min(self.grant, DEPTH):
            self.call(*flood[self.manner])
            self.under_way += 1
        self.did['most'] = max(self.did['most'], self.under_way)

    def look(self):
        """Takes Replies, whose third word is the grant. The only other event is the end."""
        try:
            if not self.sent:
                self.call(*first.get(self.manner, ()))
            if self.manner in FLOODS:
                self.fill()
            while (ret := lib.ep_receive(self.endpoint.pointer, 0, room, len(room),
                                         ctypes.byref(received))) > 0:
                self.did['replies'] += 1
                if self.manner in FLOODS:
                    self.grant = int.from_bytes(room[8:12], 'big')
                    self.under_way -= 1
                    self.fill()
        except Lost:
            ret = -1
        if ret < 0:
            self.did['lost'] += 1
            for descriptor in self.descriptors:
                poller.unregister(descriptor)
                del owners[descriptor]
            self.end()

    def act(self):
        """Reconnects, or does what the manner does from time to time."""
        pause = PAUSE.get(self.manner, 0) if self.endpoint else 1
        if time.monotonic() - self.since < pause:
            return
        if not self.endpoint:
            if not alone:
                self.establish()
        elif self.manner in PAUSE:
            self.since = time.monotonic()
            try:
                if self.manner == 'slow':
                    self.endpoint.post_receives(1)
                else:
                    self.call(long_lists[self.sent % 2])
            except Lost:
                pass            # look() finds the end


def stay_alone(*_):
    global alone
    alone = True


def report(*_):
    for peer in peers:
        if peer.endpoint:
            peer.did['taken'] += lib.ep_completed(peer.endpoint.pointer)
    for manner, did in counts.items():
        print(manner, *(f'{name}={n}' for name, n in did.items()))
    sys.stdout.flush()
    os._exit(0)


if len(sys.argv) not in (4, 5):
    print(__doc__, file=sys.stderr)
    sys.exit(2)
host, port, number = sys.argv[1:4]
manners = sys.argv[4:] or TURNS
alone = manners == ['hold']
region = Endpoint.prepare(host, port, 64).region(OFFERED)
first = {'withhold': [null()] + 8 * [null(1, 1, OFFERED)], 'slow': 4 * [null(), null(1, 1, 1)],
         'rnr': 8 * [null()], 'hoard': [null()] + 30 * [read_file(OFFERED)]}
flood = {'flood': [null()], 'drain': [read_file(DRAINED)]}
long_lists = null(16, 4, 1, 8), null(1, 64, 1)
peers = [Peer(manners[i % len(manners)]) for i in range(int(number))]
for which, handler in ((signal.SIGTERM, report), (signal.SIGUSR1, stay_alone)):
    signal.signal(which, handler)
    signal.siginterrupt(which, False)           # a connection request waits on
for one in peers:
    one.establish()
    if alone and one.did['refused']:
        break
print('ready', flush=True)
while True:
    for found, _ in poller.poll(None if manners == ['hold'] else 20):
        if found in owners:
            owners[found].look()
    for one in peers:
        one.act()
