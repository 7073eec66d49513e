# SPDX-License-Identifier: GPL-2.0
"""
Answers to Calls of the server. NFSv4.1.

nfsd repeats a failed callback immediately, as another Call, whose xid shows how the last one
has ended.
"""

from .. import nfs4, rpc, wire
from ..endpoint import Lost
from ..nfs4 import Session
from ..registry import NotApplicable, case, check
from ..wire import BRS, BRS_INLINE, BRS_NONE, CALL, NOMSG, REPLY, Error, Prop, Rpc, Segment
from .callbacks import is_satisfied

HERE = Segment(0x1234, 4096)


def next_call(t, patience=3):
    """Returns the next Call of the server, or None after the timeout; ignores Replies."""
    while got := t.receive(patience):
        check(isinstance(got.message, Rpc), f'{got.message}')
        if got.message.direction == CALL:
            return got.message
    return None


def good(call, **fields):
    return Rpc(call.number, nfs4.recalled(call), call.version, direction=REPLY, **fields)


def begin(t):
    t.open(size=32768)
    session = Session(t)
    return session, nfs4.recall(t, session).message


def ended_by(t, call, answer):
    """The answer has to end the callback, which nfsd then repeats."""
    t.send(answer)
    try:
        again = next_call(t)
    except Lost as reason:
        raise Lost(f'after the answer: {reason}') from reason
    check(again is not None, f'no Call after {answer}')
    check(again.number != call.number, 'the same Call again')
    t.alive()
    return again


def end(t, call):
    t.send(good(call))
    is_satisfied(t)


def all_end(t, answers):
    _, call = begin(t)
    for answer in answers:
        call = ended_by(t, call, answer(call))
    end(t, call)


ARGUMENTS = {wire.VERS: (1, 1), wire.READ_CHUNKS: (0,), wire.WRITE_CHUNKS: (0,),
             wire.SEGMENTS: (1,), wire.WRITE_RESOURCE: (1, 256), wire.REPLY_RESOURCE: (256,)}


@case('C-071 S43', needs='export')
def errors(t):
    """All error codes, including an unknown one, end the callback immediately"""
    all_end(t, [lambda c, code=code: Error(c.number, code, ARGUMENTS.get(code, ()))
                for code in (*range(1, 11), 99)])


@case('C-071 S43', version=1, needs='export')
def errors_of_version_one(t):
    """All error codes of version 1 end the callback immediately"""
    all_end(t, [lambda c: Error(c.number, wire.VERS, (1, 1), 1),
                lambda c: Error(c.number, wire.ERR_CHUNK, (), 1)])


@case('S07 E-22', needs='export')
def replies_with_chunks(t):
    """A Reply with chunks that were not offered ends the callback"""
    chunks(t)


@case('S07 E-22', version=1, needs='export')
def replies_with_chunks_in_version_one(t):
    """A Reply with chunks that were not offered ends the callback (version 1)"""
    chunks(t)


def chunks(t):
    all_end(t, [lambda c: good(c, reads=((8, HERE),)), lambda c: good(c, writes=((HERE,),)),
                lambda c: good(c, reply=(HERE,))])


@case('S07', needs='export')
def replies_out_of_line(t):
    """A Reply in RDMA2_NOMSG, with or without a Reply chunk, ends the callback"""
    all_end(t, [lambda c: good(c).but(proc=NOMSG, body=b''),
                lambda c: good(c).but(proc=NOMSG, body=b'', reply=(HERE,))])


@case('S10 E-06', needs='export')
def a_reply_with_an_unused_reply_chunk(t):
    """An empty Reply chunk in an inline Reply has no effect"""
    _, call = begin(t)
    t.send(good(call, reply=(Segment(0x1234, 0),)))
    is_satisfied(t)


@case('S07', needs='export')
def replies_that_are_too_short(t):
    """A Reply without an RPC header ends the callback"""
    all_end(t, [lambda c: good(c).cut(36), lambda c: good(c).cut(40)])


@case('S08', needs='export')
def replies_of_two_xids(t):
    """A Reply whose RPC message has another xid ends the callback"""
    all_end(t, [lambda c: good(c).with_word(9, 0xbadcafe)])


@case('S08', version=1, needs='export')
def replies_of_two_xids_in_version_one(t):
    """A Reply whose RPC message has another xid ends the callback (version 1)"""
    all_end(t, [lambda c: good(c).with_word(7, 0xbadcafe)])


@case('B-14 C-106', needs='export')
def replies_that_are_too_long(t):
    """A Reply that is longer than a callback allows ends the callback"""
    all_end(t, [lambda c: good(c).plus(bytes(8000))])


def dropped(t, *messages):
    """The messages cause neither a Call nor an error, and the connection stays."""
    t.send(*messages)
    got = next_call(t, 0.2)
    check(got is None, f'{got}')
    t.alive()


@case('S31 C-066', needs='export')
def answers_to_nothing(t):
    """Replies and errors for no Call, or for an answered Call, are dropped"""
    strays(t)


@case('S31 C-066', version=1, needs='export')
def answers_to_nothing_in_version_one(t):
    """Replies and errors for no Call, or for an answered Call, are dropped (version 1)"""
    strays(t)


def strays(t):
    _, call = begin(t)
    other = call.number ^ 0x40000000
    for number in (other, call.number):
        if number == call.number:
            t.send(good(call))
        dropped(t, good(call).but(number=number, body=rpc.reply(number)),
                Error(number, wire.BAD_XDR, (), t.version))
    is_satisfied(t)


@case('S35', needs='export')
def answers_in_another_version(t):
    """An answer in another version than the Call does not answer it"""
    _, call = begin(t)
    other = 3 - t.version
    for answer in good(call).but(version=other), Error(call.number, wire.BAD_XDR, (), other):
        if other in t.target.versions:
            dropped(t, answer)
        else:                           # a message of an unknown version has no direction
            t.error(answer, wire.VERS)
    end(t, call)


@case('S35', version=1, needs='export')
def answers_in_another_version_in_version_one(t):
    """An answer in another version than the Call does not answer it (version 1)"""
    answers_in_another_version(t)


@case('S26', needs='export')
def a_grant_of_none(t):
    """A Reply that grants 0 credits grants 1: the next callback is sent"""
    session, call = begin(t)
    t.send(good(call, credit=0))
    is_satisfied(t)
    end(t, nfs4.recall(t, session).message)


@case('S26', version=1, needs='export')
def a_grant_of_none_in_version_one(t):
    """A Reply that grants 0 credits grants 1: the next callback is sent (version 1)"""
    a_grant_of_none(t)


@case('S25', needs='export')
def version_of_the_last_call(t):
    """The server uses the version of the client's last Call"""
    if t.target.versions != (1, 2):
        raise NotApplicable('the server supports one version only')
    session, call = begin(t)
    end(t, call)
    handle = session.delegated()
    t.version = 3 - t.version
    t.alive()
    t.send(t.call(rpc.WRITE, rpc.write_arguments(handle, 4, b'data')))
    call = next_call(t)
    check(call is not None and call.version == t.version, f'{call}')
    end(t, call)


@case('S25', version=1, needs='export')
def version_of_the_last_call_in_version_one(t):
    """The server uses the version of the client's last Call (version 1)"""
    version_of_the_last_call(t)


def recalls(t, sessions):
    """Recalls a delegation of each session; returns the Calls that arrive without any answer."""
    handles = [s.delegated() for s in sessions]
    t.send(*[t.call(rpc.WRITE, rpc.write_arguments(h, 4, b'data')) for h in handles])
    calls = []
    while (got := next_call(t, 0.5)) is not None:
        calls.append(got)
    return calls


@case('B-05 B-04', needs='export')
def no_more_calls_than_are_granted(t):
    """With two clients on one connection, outstanding callbacks do not exceed the grant"""
    t.open(receives=64)
    sessions = [Session(t), Session(t)]
    calls = recalls(t, sessions)
    check(len(calls) == 1, f'{len(calls)} Calls, and none is granted yet')
    t.send(good(calls[0], credit=2))
    second = next_call(t)
    check(second is not None, 'the second does not come')
    t.send(good(second, credit=2))
    calls = recalls(t, sessions)
    check(len(calls) == 2, f'{len(calls)} Calls, 2 granted')
    t.send(*[good(c, credit=1) for c in calls])
    calls = recalls(t, sessions)
    check(len(calls) == 1, f'{len(calls)} Calls, 1 granted')
    t.send(good(calls[0], credit=1))
    second = next_call(t)
    check(second is not None, 'the second does not come')
    end(t, second)


@case('B-05 B-04', version=1, needs='export')
def no_more_calls_than_are_granted_in_version_one(t):
    """With two clients on one connection, outstanding callbacks do not exceed it (version 1)"""
    no_more_calls_than_are_granted(t)


@case('B-05 B-04', needs='export')
def a_grant_wakes_all_that_wait(t):
    """All callbacks that wait for credits are sent when a Reply grants enough"""
    t.open(receives=64)
    calls = recalls(t, [Session(t) for _ in range(3)])
    check(len(calls) == 1, f'{len(calls)} Calls, and none is granted yet')
    t.send(good(calls[0], credit=2))
    calls = [next_call(t), next_call(t)]
    check(all(calls), f'2 Calls wait, 2 are granted, {calls} come')
    t.send(*[good(c) for c in calls])
    is_satisfied(t)


@case('B-05 B-04', version=1, needs='export')
def a_grant_wakes_all_that_wait_in_version_one(t):
    """All callbacks that wait for credits are sent when a Reply grants enough (version 1)"""
    a_grant_wakes_all_that_wait(t)


@case('C-035 S15', needs='export')
def no_calls_after_brs_none(t):
    """A client that has changed its BRS to NONE gets no Calls"""
    t.announce(Prop(BRS, BRS_INLINE))
    session = Session(t)
    handle = session.delegated()
    t.nothing(wire.updprop(t.xid(), [Prop(BRS, BRS_NONE)]))
    t.send(t.call(rpc.WRITE, rpc.write_arguments(handle, 4, b'data')))
    got = next_call(t, 1)
    check(got is None, f'{got}')
    t.alive()
