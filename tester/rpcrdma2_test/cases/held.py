# SPDX-License-Identifier: GPL-2.0
"""
A client that takes no Replies. It posts no Receives, and its device keeps reporting that: the
server's first Send stays in flight, and so does everything behind it on the Send Queue.
"""

import time

from .. import rpc
from ..client import Client
from ..registry import case, check
from ..waits import scaled
from ..wire import MSG, MSGP, Raw, Segment, u32
from .credits import at_once, grown

PATIENCE = 60                   # any limit is valid, but there has to be one
LENGTH = 1 << 20
CONNECTIONS = 12                # more than most servers have threads
CALLS = 7                       # so many credits are needed, and one more
FIRST = 32                      # NULL Calls, before those that fill the Send Queue
SENT = 9                        # Calls that fill it
RECEIVED = 5                    # of these, even if none of them ends
OTHERS = 8                      # Calls on another connection


class Holder:
    """A connection without Receives, on which COUNT Calls have been sent"""

    def __init__(self, t, count):
        self.t = t.open(receives=0, retries=7)
        self.region = t.memory(LENGTH)
        self.say(*[t.null() for _ in range(count)])

    def post(self, *messages):
        """Sends messages that the server may have no Receive for."""
        for message in messages:
            self.t.endpoint.post(message.encode())

    def say(self, *messages):
        """Sends messages that are received, but not answered."""
        self.post(*messages)
        self.t.endpoint.flush(PATIENCE)

    def pull(self, count, segments, length, proc=MSG, send=None):
        """Sends COUNT NULL Calls with a Read chunk after each, by say() if SEND is None."""
        here = Segment(self.region.handle, length, self.region.address)
        for _ in range(count):
            message = self.t.null(reads=[(40, here)] * segments, proc=proc)
            data = message.encode()
            if proc == MSGP:            # has rdma_align and rdma_thresh
                data = data[:16] + u32(0, 0) + data[16:]
            (send or self.say)(Raw(data))

    def ends(self):
        """The server has to end the connection within PATIENCE."""
        check(self.t.endpoint.is_left(PATIENCE),
              f'after {scaled(PATIENCE):g} s the connection goes on')

    def fill(self, proc=MSG):
        """
        Requests small Replies and many RDMA Reads, until a Call has to wait for its own.

        Two Calls of 64 RDMA Reads fit on most Send Queues, nine on none. A Call that waits may
        hold its Receive, so the server receives the last ones later or never.
        """
        self.pull(RECEIVED, 64, 1, proc)
        self.pull(SENT - RECEIVED, 64, 1, proc, self.post)


@case('S46 B-08')
def reads_without_response(t):
    """RDMA Reads without a response have a deadline, which ends the connection"""
    holder = Holder(t, 1)
    holder.pull(4, 1, LENGTH)
    holder.ends()


def in_small_steps(t, proc):
    """Each batch of taken Replies frees some Send Queue entries, but too few."""
    holder = Holder(t, 32)
    holder.fill(proc)
    for _ in range(2):
        time.sleep(8)
        check(not t.endpoint.lost, 'the connection has ended before')
        t.endpoint.post_receives(8)
    holder.ends()


def not_taken(t, proc):
    """
    No Reply is taken; the connection has to end.

    Calls on another connection are answered after a thread of the server had time for those that
    fill the Send Queue. scripts/vm/limit-cases.sh counts the Replies.
    """
    holder = Holder(t, FIRST)
    holder.fill(proc)
    other = Client(t.target, t.version)
    try:
        for _ in range(OTHERS):
            other.answered(other.null())
        check(not t.endpoint.lost, 'the connection has ended before')
    finally:
        other.close()
    holder.ends()


@case('S46 B-08')
def replies_that_are_not_taken(t):
    """RDMA Reads behind Replies that the client does not take end with the connection"""
    not_taken(t, MSG)


@case('S46 B-08 E-23', version=1)
def replies_that_are_not_taken_in_version_one(t):
    """RDMA Reads behind Replies that the client does not take end with it (version 1, RDMA_MSGP)"""
    not_taken(t, MSGP)


@case('S46 B-08')
def replies_in_small_steps(t):
    """A client that takes its Replies in small steps only delays the end of the connection"""
    in_small_steps(t, MSG)


@case('S46 B-08 E-23', version=1)
def replies_in_small_steps_in_version_one(t):
    """A client that takes its Replies in small steps only delays the end (version 1, RDMA_MSGP)"""
    in_small_steps(t, MSGP)


@case('S46 B-08', needs='export')
def more_connections_than_threads(t):
    """Calls that wait for the Send Queue occupy no thread: other Calls are answered"""
    holders = [Holder(Client(t.target, t.version), FIRST) for _ in range(CONNECTIONS)]
    try:
        for holder in holders:
            holder.fill()
        # nfsd takes a message of each connection in turn: all that fill a Send Queue have begun.
        for _ in range(FIRST + SENT):
            t.alive()
        begin = time.monotonic()
        handle = t.file()
        region = t.memory(LENGTH).write(b'data' * (LENGTH // 4))
        message = t.call(rpc.WRITE, rpc.write_arguments(handle, LENGTH))
        answer = t.answered(message.but(
            reads=[(len(message.body), s) for s in t.segments(region)]))
        check(rpc.number_at(answer.results, 0) == 0, 'WRITE failed')
        took = time.monotonic() - begin
        check(took < scaled(4), f'CREATE and WRITE take {took:.1f} s')
        up = sum(not h.t.endpoint.lost for h in holders)
        check(up >= CONNECTIONS - 1, f'{up} of {CONNECTIONS} connections are left')
    finally:
        for holder in holders:
            holder.t.close()


def with_reads(t, count):
    """Returns COUNT NULL Calls with a Read chunk after each."""
    region = t.memory(64)
    here = Segment(region.handle, 64, region.address)
    return [t.null(reads=[(40, here)]) for _ in range(count)]


@case('S46 B-08', needs='set')
def reads_that_can_not_begin(t):
    """While memory for RDMA Reads cannot be mapped, other Calls of the connection are answered"""
    t.set('unmapped', -1)
    t.send(*with_reads(t, 1))
    for _ in range(CALLS):
        t.alive()
    t.lost()


@case('S46 B-08', needs='set')
def reads_that_keep_one_thread(t):
    """Such RDMA Reads occupy one thread in total, so other connections continue"""
    t.set('unmapped', -1)
    other = Client(t.target, t.version)
    try:
        grown(other, CALLS + 1)
        other.send(*with_reads(other, CALLS))
        other.alive()
        for _ in range(CALLS):
            t.alive()
        check(not other.endpoint.lost, 'the other connection has ended before')
        other.lost()
    finally:
        other.close()


@case('S46 B-08', needs='set')
def reads_that_begin_late(t):
    """When mapping succeeds again, each Call whose RDMA Reads have waited is answered"""
    grown(t, CALLS + 1)
    t.set('unmapped', 20)
    at_once(t, with_reads(t, CALLS))
