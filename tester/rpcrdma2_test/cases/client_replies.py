# SPDX-License-Identifier: GPL-2.0
"""
Replies that violate the protocol. The command gets the right data, or its RPC ends with an
error; it then works with files again, on the same mount.
"""

import dataclasses

from .. import rpc, wire
from ..endpoint import Lost
from ..many import serves
from ..registry import NotApplicable, case, check
from ..wire import NOMSG, REPLY, Prop, Rpc, Segment, u32

RESULTS = 24                        # offset of the results in an RPC Reply
HALF = 0x80000000                   # half of the range of 32 bits


def is_nfs(call, *procedures):
    return (len(call.body) >= 24 and rpc.number_at(call.body, 12) == rpc.NFS and
            rpc.number_at(call.body, 20) in procedures)


def inline_read(call):
    return is_nfs(call, rpc.READ) and not call.writes and not call.reply


def chunk_read(call):
    return is_nfs(call, rpc.READ) and len(call.writes) == 1 and not call.reply


def listing(call):
    return is_nfs(call, rpc.READDIR, rpc.READDIRPLUS) and call.reply and not call.writes


class Truth:
    """The right Reply to a Call; the data of a READ begin after `head` bytes"""

    def __init__(self, t, call):
        self.t, self.call = t, call
        self.body = t.ask_backend(t.contents(call))
        self.good = Rpc(call.number, self.body, 2, t.grant, direction=REPLY)
        self.head = len(self.body)
        if is_nfs(call, rpc.READ):
            check(not rpc.number_at(self.body, RESULTS), 'READ fails')
            self.head = rpc.post_op_attr(self.body, RESULTS + 4) + 12
        self.data = self.body[self.head:]

    def inline(self, length, data=b''):
        """Returns the first LENGTH bytes of the Reply, followed by DATA."""
        return self.good.but(body=self.body[:length] + data)

    def head_with(self, *chunks):
        """Returns the inline head with these Write chunks, written or not."""
        return self.good.but(body=self.body[:self.head], writes=chunks)

    def count(self, number):
        """Returns the Reply with this count in both places."""
        body = bytearray(self.body)
        body[self.head - 12:self.head - 8] = body[self.head - 4:self.head] = u32(number)
        return self.good.but(body=bytes(body))

    def placed(self, length=None):
        """Writes the first bytes of the data; returns the Write chunk."""
        data = self.data[:rpc.number_at(self.body, self.head - 4)]
        return self.t.write(data[:length], self.call.writes[0])

    def in_reply_chunk(self, length=None):
        """Writes the first bytes of the Reply; returns the Reply chunk."""
        return self.t.write(self.body[:length], self.call.reply)

    def nomsg(self, chunk):
        return self.good.but(body=b'', proc=NOMSG, reply=chunk)


def longer(chunk):
    """Returns the chunk with a last segment that is a word too long."""
    last = chunk[-1]
    return [*chunk[:-1], dataclasses.replace(last, length=last.length + 4)]


def wrapped(chunk):
    """Returns two segments whose lengths wrap around at 32 bits to those of the chunk."""
    return [Segment(7, HALF, 4096), Segment(7, HALF + sum(s.length for s in chunk), 4096)]


def spoil(t, wanted, bad, most=100):
    """Answers each matching Call of a run with these messages; returns their number."""
    call, count = t.work(wanted), 0
    while call is not None:
        count += 1
        check(count <= most, f'{count} times: a loop')
        said = bad(Truth(t, call))
        t.send(*(said if isinstance(said, (list, tuple)) else [said]))
        call = t.serve(wanted, 20)
    return count


def succeeds(t, wanted, bad, most=100):
    spoil(t, wanted, bad, most)
    t.succeeds()


def fails(t, wanted, bad, most=1):
    """The command has to fail, and the next run has to succeed."""
    spoil(t, wanted, bad, most)
    t.fails()
    t.works()


def unreadable(t, wanted, bad):
    """
    The command has to fail, immediately or after repetitions of the Call.

    An RPC layer that cannot decode the header of an RPC Reply may send the Call again.
    """
    call = t.work(wanted)
    for _ in range(4):
        t.send(bad(Truth(t, call)))
        call = t.comes_again(call.number)
        if call is None:
            t.fails()
            return t.works()
    return check(False, 'a loop')


# Data in a Write chunk

@case('E-20 E-10', plays='server', kept=True, counts='replies_bad == 1')
def more_than_the_write_chunk_holds(t):
    """A Write chunk longer than the offered one ends the READ"""
    fails(t, chunk_read, lambda r: r.head_with(longer(r.call.writes[0])))


@case('E-20 E-10', plays='server', kept=True, counts='replies_bad == 1')
def more_write_chunks_than_offered(t):
    """Two Write chunks instead of the offered one end the READ"""
    fails(t, chunk_read, lambda r: r.head_with(r.call.writes[0], r.placed(4)))


@case('E-20 S05', plays='server', kept=True, counts='replies_bad == 1')
def write_list_that_wraps(t):
    """Two Write chunks whose lengths wrap around to the offered one end the READ"""
    fails(t, chunk_read, lambda r: r.head_with(*[[s] for s in wrapped(r.call.writes[0])]))


@case('E-20 S05', plays='server', kept=True, counts='replies_bad == 1')
def write_chunk_that_wraps(t):
    """Two segments whose lengths wrap around to the offered one end the READ"""
    fails(t, chunk_read, lambda r: r.head_with(wrapped(r.call.writes[0])))


@case('E-20 E-10', plays='server', kept=True, counts='replies_bad == 1')
def write_chunk_where_none_is(t):
    """A Write chunk that was not offered ends the READ"""
    fails(t, inline_read, lambda r: r.good.but(writes=[[Segment(7, 4, 4096)]]))


@case('E-20', plays='server', kept=True, counts='replies_bad == 0 and write_chunk_bytes == 0')
def write_chunk_that_holds_nothing(t):
    """An empty Write chunk with the count of all data ends the READ"""
    fails(t, chunk_read, lambda r: r.head_with(r.placed(0)), 100)


@case('E-20', plays='server', kept=True, counts='replies_bad == 0 and write_chunk_bytes > 50000')
def write_chunk_that_holds_half(t):
    """If the Write chunk has half of the count, the client reads the rest separately"""
    succeeds(t, chunk_read, lambda r: r.head_with(r.placed(len(r.data) // 2 & ~3)))


@case('E-20 E-07', plays='server', kept=True,
      counts='replies_bad == 0 and write_chunk_bytes == 100000')
def more_behind_a_full_write_chunk(t):
    """Inline bytes after the data of a Write chunk are ignored"""
    succeeds(t, chunk_read, lambda r: r.head_with(r.placed()).plus(r.data[:2000]))


@case('E-20 E-07', plays='server', kept=True,
      counts='replies_bad == 0 and write_chunk_bytes >= 50000')
def data_go_on_inline(t):
    """Data that continue inline after a short Write chunk cause no wrong byte"""
    def bad(r):
        half = len(r.data) // 2 & ~3
        return r.head_with(r.placed(half)).plus(r.data[half:half + min(half, 2000)])
    succeeds(t, chunk_read, bad)


@case('E-20', plays='server', kept=True, counts='replies_bad == 0 and write_chunk_bytes >= 100000')
def write_chunk_without_a_head(t):
    """All data in the Write chunk, with truncated results, do not block the command"""
    def bad(r):
        return r.good.but(body=r.body[:RESULTS + 4], writes=[r.placed()])
    spoil(t, chunk_read, bad)
    t.works()


# Inline data

@case('E-20 S09', plays='server', kept=True, counts='replies_bad == 0 and fixup_bytes > 5120 + 500')
def reply_behind_a_long_header(t):
    """A Reply after empty Read segments, which have no effect, may begin anywhere in a page"""
    counts = iter(range(159, 1000))
    empty = ((256, Segment(0, 0, 0)),)

    def bad(r):
        if t.peer < 5000:
            raise NotApplicable('the Receives of the client are too small')
        return r.good.but(reads=empty * next(counts))
    succeeds(t, inline_read, bad)


@case('E-20', plays='server', kept=True, counts='replies_bad == 0')
def bytes_behind_the_reply(t):
    """Bytes after the RPC Reply are ignored"""
    succeeds(t, inline_read, lambda r: r.good.plus(b'Z' * (3000 - len(r.body))))


@case('E-20', plays='server', kept=True, counts='replies_bad == 0')
def less_data_than_is_said(t):
    """With less data than its count, the client reads the rest separately"""
    succeeds(t, inline_read, lambda r: r.inline(r.head + min(len(r.data), 100)))


@case('E-20', plays='server', kept=True, counts='replies_bad == 0')
def more_data_is_said(t):
    """A count that exceeds both the data and the buffer has no effect"""
    succeeds(t, inline_read, lambda r: r.count(1 << 20))


@case('E-20', plays='server', kept=True, counts='replies_bad == 0')
def all_data_are_said(t):
    """A count of 4 GiB ends the READ"""
    fails(t, inline_read, lambda r: r.count(0xffffffff), 100)


@case('E-20', plays='server', kept=True, counts='replies_bad == 0')
def cut_in_the_results(t):
    """A Reply that ends within its results ends the READ"""
    fails(t, inline_read, lambda r: r.inline(RESULTS + 4))


@case('E-20', plays='server', kept=True, counts='replies_bad == 0 and connects == 1',
      ended='ended by its owner')
def cut_in_the_rpc_header(t):
    """A Reply that ends within the RPC header ends the READ eventually"""
    unreadable(t, inline_read, lambda r: r.inline(8))


@case('E-20 S07', plays='server', kept=True, counts='replies_bad == 1')
def cut_in_the_msg_type(t):
    """A Reply that ends within the msg_type ends the READ"""
    fails(t, inline_read, lambda r: r.inline(6))


@case('E-20', plays='server', kept=True, counts='replies_bad == 0 and connects == 1',
      ended='ended by its owner')
def cut_in_a_word(t):
    """A Reply that ends within a word ends the READ eventually"""
    unreadable(t, inline_read, lambda r: r.inline(r.head + 2))


def denial(call, grant):
    """Returns a Reply with AUTH_BADCRED."""
    body = b''.join(u32(word) for word in (call.number, 1, 1, 1, 1))
    unused = [[dataclasses.replace(s, length=0) for s in c] for c in call.writes]
    return Rpc(call.number, body, 2, grant, direction=REPLY).but(writes=unused)


@case('E-20', plays='server', kept=True,
      counts='replies_bad == 0 and connects == 0 and disconnects == 0')
def each_call_is_denied_once(t):
    """
    A Reply that denies the Call (AUTH_BADCRED) brings it again, on the same connection

    A server denies a Call so when its context of RPCSEC_GSS expires while it is decrypted.
    """
    denied = set()

    def wanted(call):
        return call.number not in denied

    call = t.work(wanted)
    while call is not None:
        denied.add(call.number)
        t.send(denial(call, t.grant))
        call = t.serve(wanted, 20)
    check(len(denied) > 10, f'{len(denied)} Calls only')
    t.succeeds()


class Denier:
    """Manners of a server that grants two credits, and one while it denies two Calls"""

    def __init__(self, c):
        self.c, self.held, self.denied, self.again = c, [], [], 2
        c.grant = 2

    def __call__(self, c, message):
        if not isinstance(message, Rpc):
            return serves(c, message)
        if message.number in self.denied[-2:]:
            self.again += 1
            c.grant = self.again
        elif self.again == 2:
            self.held.append(message)
            return None
        return c.answer(message)

    def deny(self):
        """
        Denies the two held Calls, and leaves one credit.

        Before that, a grant of two wakes a task that waits for a credit. The RPC layer of
        Linux reserves the connection for this task, so that both Calls are queued before one
        of them is sent again.
        """
        self.denied += [call.number for call in self.held]
        denials = [denial(call, 1) for call in self.held]
        grants = [wire.connprop(self.c.xid(), [Prop(wire.RBSIZ, self.c.own)], [0], credit=n)
                  for n in (2, 1)]
        self.held, self.again, self.c.grant = [], 0, 1
        self.c.send(*denials, *grants)

    def answer(self):
        """Answers the held Calls."""
        for call in self.held:
            self.c.answer(call)
        self.held = []


@case('E-20 B-04 S26', plays='server', many=True)
def denied_while_the_grant_falls(t):
    """Of two Calls that are denied together with a grant of 1, each comes again"""
    t.up()
    t.does('mount', 'work')
    manners = t.manners = Denier(t.connections[0])
    works = [t.begin('work') for _ in range(6)]
    while any(work.poll() is None for work in works):
        if not t.attend(0.1, lambda: len(manners.held) == 2):
            manners.answer()
            continue
        manners.deny()
        check(t.attend(10, lambda: manners.again == 2),
              f'of pair {len(manners.denied) // 2}, {manners.again} came again')
    check(len(manners.denied) > 20, f'{len(manners.denied)} Calls only')
    for work in works:
        check(t.ends(work) == 0, f'the work ends with {work.returncode}')
    t.manners = serves
    t.does('work', 'unmount')
    check(len(t.times) == 1, f'{len(t.times)} connections')


# Data in the Reply chunk

@case('E-06 E-25 C-031', plays='server', kept=True,
      counts='replies_bad == 0 and reply_chunks_used == 1')
def reply_chunk_that_was_not_needed(t):
    """A Reply that would fit inline is accepted in the Reply chunk too"""
    succeeds(t, listing, lambda r: r.nomsg(r.in_reply_chunk()))


@case('E-20 E-06', plays='server', kept=True, counts='replies_bad == 1')
def more_than_the_reply_chunk_holds(t):
    """A Reply chunk longer than the offered one ends the READDIR"""
    fails(t, listing, lambda r: r.nomsg(longer(r.call.reply)))


@case('E-20 S05', plays='server', kept=True, counts='replies_bad == 1')
def reply_chunk_that_wraps(t):
    """A Reply chunk whose lengths wrap around to the offered one ends the READDIR"""
    fails(t, listing, lambda r: r.nomsg(wrapped(r.call.reply)))


@case('S08 S06', plays='server', kept=True)
def reply_chunk_with_another_message(t):
    """A Reply chunk with another xid, or with a Call, ends the READDIR at once"""
    for word, at in ((0xbadcafe, 0), (wire.CALL, 4)):
        fails(t, listing, lambda r: r.nomsg(r.t.write(
            r.body[:at] + u32(word) + r.body[at + 4:], r.call.reply)))


@case('E-20', plays='server', kept=True,
      counts='replies_bad == 0 and reply_chunk_bytes == 24 and connects == 1',
      ended='ended by its owner')
def reply_chunk_cut_short(t):
    """A Reply chunk with 8 bytes ends the READDIR eventually"""
    unreadable(t, listing, lambda r: r.nomsg(r.in_reply_chunk(8)))


@case('E-20 E-06 S07', plays='server', kept=True, counts='replies_bad == 1')
def reply_chunk_and_inline(t):
    """RDMA2_MSG with a used Reply chunk ends the READDIR"""
    fails(t, listing, lambda r: r.good.but(reply=r.in_reply_chunk()))


# Replies at another time

@case('E-20 C-066', plays='server', kept=True, counts='replies_unknown == 10')
def reply_to_a_stranger(t):
    """A Reply to an RPC that never existed, before the expected Reply, has no effect"""
    def bad(r):
        number = r.call.number ^ 0x40000000
        return r.good.but(number=number, body=u32(number) + r.body[4:]), r.good
    succeeds(t, inline_read, bad)


@case('E-20 C-066', plays='server', kept=True, counts='replies_unknown == 9')
def reply_to_the_last_rpc(t):
    """Each Reply is repeated together with the next one, without an effect"""
    said = []

    def bad(r):
        said.append(r.good)
        return said[-2:]
    succeeds(t, inline_read, bad)
    check(len(said) > 1, 'one READ only')


@case('S35', plays='server', kept=True,
      counts='replies_bad == 0 and dropped_silently == 10 and replies_unknown == 0')
def reply_in_another_version(t):
    """A Reply in version 1, with other data, does not answer a Call in version 2"""
    def bad(r):
        other = r.body[:r.head] + bytes(255 - byte for byte in r.data)
        return r.good.but(version=1, body=other), r.good
    succeeds(t, inline_read, bad)


@case('E-20 C-066', plays='server', kept=True,
      counts='replies_unknown >= 20 and local_invalidations >= 20')
def reply_twice(t):
    """A Reply that is sent twice at once has an effect once"""
    def bad(r):
        data = r.head_with(r.placed(4096)).encode()
        t.endpoint.post_all(data, data)
        return ()
    succeeds(t, chunk_read, bad)


def after(number):
    """Returns the next xid of a client that counts xids in its own byte order."""
    return int.from_bytes((int.from_bytes(number.to_bytes(4, 'big'), 'little') + 1 &
                           0xffffffff).to_bytes(4, 'little'), 'big')


@case('E-20', plays='server', kept=True,
      counts='receives_bad == 1 and connects == 1 and replies_bad == 0',
      ended='Receive without a message')
def write_with_immediate(t):
    """
    An RDMA Write with Immediate is not a Reply, even if its Receive contained one before

    Each Receive has contained a Reply to this RPC before the RPC existed.
    """
    truth = Truth(t, t.work(chunk_read))
    number = after(truth.call.number)
    stale = truth.head_with().but(number=number, body=u32(number) + truth.body[4:truth.head])
    t.send(*[stale] * 160)
    t.send(truth.head_with(truth.placed(len(truth.data) // 2 & ~3)))
    second = t.serve(lambda c: chunk_read(c) and c.number != truth.call.number)
    if second is None or second.number != number:
        raise NotApplicable('the rest is not read by an RPC with the next xid')
    first = second.writes[0][0]
    region = t.endpoint.region(first.length)
    try:
        t.endpoint.rdma(region, first.length, first.handle, first.offset, immediate=True)
        t.is_left()
    except Lost:
        pass                            # before the RDMA Write completes
    again = t.comes_again(number)
    check(again is not None, 'the READ has ended')
    t.answer(again)
    t.succeeds()
