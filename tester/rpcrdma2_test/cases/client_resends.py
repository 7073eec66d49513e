# SPDX-License-Identifier: GPL-2.0
"""
Errors that request another form of a Call, in addition to those in client_errors and
client_codes: impossible arguments, and endless errors.
"""

from .. import rpc, wire
from ..registry import NotApplicable, case, check
from ..wire import NOMSG, Error
from .client_codes import most_segments
from .client_errors import refuse, with_data
from .client_replies import chunk_read, inline_read, is_nfs

MOST = 0xffffffff


def write(call):
    return with_data(call) and is_nfs(call, rpc.WRITE)


def error(t, call, code, *arguments):
    t.send(Error(call.number, code, arguments, credit=t.grant))


def refused_each_time(t, first, code, *arguments):
    """Refuses all Calls with the xid of this one, and returns them."""
    calls, call = [], first
    while call is not None:
        calls.append(call)
        check(len(calls) < 10, 'a loop')
        error(t, call, code, *arguments)
        call = t.serve(lambda c: c.number == first.number, 20)
    return calls


def ends(t, wanted, count, code, *arguments):
    """An error for each of COUNT Calls has to end the RPC, without an effect on later ones."""
    calls = refused_each_time(t, t.work(wanted), code, *arguments)
    check(len(calls) == count, f'{len(calls)} times on the wire')
    t.fails()
    t.works()


@case('C-085 S45', plays='server', kept=True, counts='calls_again == 0')
def segments_that_are_not_there(t):
    """SEGMENTS with 1 for a READ without chunks ends it"""
    ends(t, inline_read, 1, wire.SEGMENTS, 1)


@case('S41', plays='server', kept=True, counts='calls_again == 0')
def reply_resource_of_nothing(t):
    """REPLY_RESOURCE with 0 ends the RPC"""
    ends(t, inline_read, 1, wire.REPLY_RESOURCE, 0)


@case('C-092', plays='server', kept=True,
      counts='calls_again == 1 and calls_unsendable == 1 and aborted_rpcs == 0')
def reply_resource_without_bounds(t):
    """REPLY_RESOURCE with more than can be offered ends the RPC"""
    ends(t, chunk_read, 1, wire.REPLY_RESOURCE, 0x7fffffff)


@case('C-092', plays='server', kept=True)
def reply_resource_of_a_read(t):
    """After REPLY_RESOURCE, a READ with a Write chunk is repeated with a Reply chunk"""
    first = t.work(chunk_read)
    error(t, first, wire.REPLY_RESOURCE, 40000)
    again = t.serve(lambda c: c.number == first.number)
    check(again is not None, 'it does not come again')
    room = sum(s.length for s in again.reply or ())
    check(room >= 40000 and not again.writes, f'{again}')
    t.answer(again)
    t.succeeds()


@case('C-083 S45', plays='server', kept=True)
def more_read_chunks_than_it_has(t):
    """After READ_CHUNKS with more than any Call has, the Call is repeated once"""
    ends(t, write, 2, wire.READ_CHUNKS, MOST)


def several_segments(t, limit):
    """
    Refuses a Call with a chunk of several segments each time; returns the number of Calls.

    READ_CHUNKS makes the client send such Calls sooner, because it then uses no Read chunks for
    data.
    """
    first = refuse(t, with_data, wire.READ_CHUNKS, 0)
    while True:
        call = t.serve(lambda c: most_segments(c) > 1, 20)
        if call is None:
            raise NotApplicable('the command sends no such Call')
        if call.number != first.number:
            break
        t.answer(call)
    count = len(refused_each_time(t, call, wire.SEGMENTS, limit))
    t.fails()
    return count


@case('C-085 S45', plays='server')
def more_segments_than_it_has(t):
    """After SEGMENTS with more than any Call has, the Call is repeated once"""
    count = several_segments(t, MOST)
    check(count == 2, f'{count} times on the wire')


@case('C-085 S45', plays='server')
def no_segments(t):
    """SEGMENTS with 0 ends the RPC, because no other form exists"""
    count = several_segments(t, 0)
    check(count == 1, f'{count} times on the wire')


@case('C-083 S45', plays='server')
def no_read_chunks_at_all(t):
    """READ_CHUNKS with 0 for a Call in memory too: the Call is repeated only once"""
    first = refuse(t, write, wire.READ_CHUNKS, 0)
    again = t.serve(lambda c: c.number == first.number)
    check(again is not None and again.proc == NOMSG and not with_data(again), f'{again}')
    check(len(refused_each_time(t, again, wire.READ_CHUNKS, 0)) == 1, 'another resend')
    t.fails()


@case('C-084 S45', plays='server')
def no_write_chunks_at_all(t):
    """WRITE_CHUNKS with 0 for a READ with a Reply chunk too: it is repeated only once"""
    first = refuse(t, chunk_read, wire.WRITE_CHUNKS, 0)
    again = t.serve(lambda c: c.number == first.number)
    check(again is not None and again.reply and not again.writes, f'{again}')
    check(len(refused_each_time(t, again, wire.WRITE_CHUNKS, 0)) == 1, 'another resend')
    t.fails()


@case('C-084 S45', plays='server')
def no_write_chunks_is_kept(t):
    """WRITE_CHUNKS with 0 is valid for later Calls of the connection"""
    first = refuse(t, lambda c: c.writes, wire.WRITE_CHUNKS, 0)
    again = t.serve(lambda c: c.number == first.number)
    check(again is not None and not again.writes, f'{again}')
    t.answer(again)
    later = t.serve(lambda c: c.writes, 20)
    check(later is None, f'later: {later}')
    t.succeeds()


@case('S45', plays='server', ended='peer')
def what_was_learnt_is_lost(t):
    """The effect of READ_CHUNKS, and the count of repetitions, end with the connection"""
    first = refuse(t, write, wire.READ_CHUNKS, 0)
    for connection in (1, 2):
        again = t.serve(lambda c: c.number == first.number)
        check(again is not None and again.proc == NOMSG and not with_data(again), f'{again}')
        if connection == 2:
            break
        t.resume()
        again = t.serve(lambda c: c.number == first.number)
        check(again is not None and with_data(again), f'{again}')
        error(t, again, wire.READ_CHUNKS, 0)
    t.look()
    t.answer(again)
    t.succeeds()


@case('S45 S42', plays='server')
def each_call_is_refused_once(t):
    """Each Call with a Read or Write list, and each small READ, may be refused once"""
    t.negotiate()
    refused = set()

    def wanted(call):
        return call.number not in refused and (call.reads or call.writes or
                                               inline_read(call))

    while (call := t.serve(wanted, 20)) is not None:
        refused.add(call.number)
        if call.reads:
            error(t, call, wire.READ_CHUNKS, 0)
        elif call.writes:
            error(t, call, wire.WRITE_CHUNKS, 0)
        else:
            error(t, call, wire.REPLY_RESOURCE, 100)
    if not refused:
        raise NotApplicable('the command sends no such Call')
    t.succeeds()
