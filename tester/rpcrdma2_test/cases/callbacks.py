# SPDX-License-Identifier: GPL-2.0
"""Calls of the server to the client, and COMPOUNDs with several chunks. NFSv4.1."""

from .. import nfs4, rpc
from ..nfs4 import ANONYMOUS, CB_PROGRAM, Session
from ..registry import NotApplicable, case, check
from ..wire import (BRS, BRS_INLINE, BRS_NONE, CALL, MSG, REPLY, SYSTEM, VERS, WRITE_RESOURCE,
                    Error, Prop, Rpc, Segment, u32)

DATA = bytes(range(200)) * 6


def answer(t, call, **fields):
    """Answers the recall; nfsd does not repeat it."""
    t.send(Rpc(call.number, nfs4.recalled(call), call.version, direction=REPLY, **fields))


def is_satisfied(t):
    got = t.receive(0.5)
    while got is not None:
        check(got.message.direction == REPLY, f'the server repeats its Call: {got.message}')
        got = t.receive(0.3)
    t.alive()


@case('B-07 B-13 B-18 C-036 C-067 S25', needs='export')
def form_of_a_call(t):
    """The server's Call: RDMA2_MSG without lists and handles, with credits and the right program"""
    t.announce(Prop(BRS, BRS_INLINE))
    got = nfs4.recall(t, Session(t)).message
    check(got.version == 2 and got.proc == MSG and got.direction == CALL, f'{got}')
    check(not got.handles() and got.reply is None and not got.writes, f'{got}')
    check(got.inv_handle == 0 and got.credit > 0, f'{got}')
    check(rpc.number_at(got.body, 12) == CB_PROGRAM, f'{got}')
    answer(t, got)
    is_satisfied(t)


@case('B-15 B-07 B-18 E-18', version=1, needs='export')
def form_of_a_call_in_version_one(t):
    """The server's Call in version 1: RDMA_MSG, three empty lists, followed by the RPC, one xid"""
    got = nfs4.recall(t, Session(t)).message
    check(got.version == 1 and got.proc == MSG and got.header_length == 28, f'{got}')
    check(not got.handles() and got.reply is None and not got.writes, f'{got}')
    check(got.credit > 0 and rpc.number_at(got.body, 0) == got.number, f'{got}')
    answer(t, got)
    is_satisfied(t)


@case('C-013 C-066 C-070 B-02', needs='export')
def one_xid_in_both_directions(t):
    """Calls of client and server with the same xid each get their own answer"""
    got = nfs4.recall(t, Session(t)).message
    t.answered(Rpc(got.number, rpc.call(got.number)))
    answer(t, got)
    t.answered(Rpc(got.number, rpc.call(got.number)))
    is_satisfied(t)


@case('C-035 S20', needs='export')
def no_calls_to_a_client_that_takes_none(t):
    """A client with BRS NONE gets no delegation, or none that is recalled"""
    t.announce(Prop(BRS, BRS_NONE))
    session = Session(t)
    try:
        handle = session.delegated(10)
    except NotApplicable:
        return
    t.send(t.call(rpc.WRITE, rpc.write_arguments(handle, 4, b'data')))
    got = t.receive(1)
    while got is not None:
        check(got.message.direction == REPLY, f'{got.message}')
        got = t.receive(0.5)
    t.alive()


@case('B-04 B-12 B-17', needs='export')
def an_answer_and_a_full_window(t):
    """Beside those of the grant, the server has a Receive for the answer to its Call"""
    t.open(receives=128)
    session = Session(t)
    grant = min(t.alive().message.credit, 60)
    got = nfs4.recall(t, session).message
    calls = [t.null() for _ in range(grant)]
    reply = Rpc(got.number, nfs4.recalled(got), direction=REPLY)
    t.send(*calls[:grant // 2], reply, *calls[grant // 2:])
    left = {c.number for c in calls}
    while left:
        answered = t.receive()
        check(answered is not None, f'{len(left)} Calls are not answered')
        left.discard(answered.message.xid)
    is_satisfied(t)


@case('C-066 C-071 S18', needs='export')
def answers_that_are_none(t):
    """A Reply or an error with another xid does not answer the server's Call"""
    got = nfs4.recall(t, Session(t)).message
    other = got.number ^ 0x40000000
    t.send(Rpc(other, rpc.reply(other), direction=REPLY), Error(other, SYSTEM),
           Error(other, VERS, (1, 2)))
    t.alive()
    answer(t, got)
    is_satisfied(t)


def two_reads(t, session, *writes):
    """Returns a COMPOUND of two READs of one file, with these Write chunks."""
    t.file(DATA)
    read = (nfs4.READ, ANONYMOUS + u32(0, 0, len(DATA)))
    return session.in_session(*session.path(t.made[-1]), read, read, writes=writes)


@case('E-28', needs='export')
def two_results_and_one_chunk(t):
    """With one Write chunk for two READs, the data of the second are inline"""
    region = t.memory(len(DATA))
    answered = t.answered(two_reads(t, Session(t), t.segments(region)))
    check(rpc.number_at(answered.results, 0) == 0, 'the COMPOUND failed')
    check(region.read() == DATA, 'other data in the chunk')
    # The message has to end with a length of 4 bytes and the second data. Their contents
    # are not checked, because some NFS servers fail at a second READ over TCP too.
    check(len(answered.results) > len(DATA) + 4 and
          rpc.number_at(answered.results, len(answered.results) - len(DATA) - 4) == len(DATA),
          'the second data are not inline')
    check(DATA[:100] not in answered.results[:-len(DATA)], 'the first are inline, too')


@case('E-10 E-11', needs='export')
def two_results_and_two_chunks(t):
    """Results are in the Write chunks in their order"""
    first, second = t.memory(4096), t.memory(4096)
    answered = t.answered(two_reads(t, Session(t), t.segments(first), t.segments(second)))
    check([sum(s.length for s in c) for c in answered.message.writes] == [len(DATA), len(DATA)],
          f'{answered.message.writes}')
    check(first.read(len(DATA)) == DATA, 'other data in the first')


@case('C-086 C-087 C-088 S45', needs='export')
def second_chunk_too_small(t):
    """If the second of two Write chunks is too small, the error names 2, or 0 for unknown"""
    first, second = t.memory(4096), t.memory(64)
    message = two_reads(t, Session(t), t.segments(first),
                        [Segment(second.handle, 64, second.address)])
    got = t.error(message, WRITE_RESOURCE)
    check(got.arguments in ((2, len(DATA)), (0, len(DATA))), f'{got.arguments}')
    check(not any(first.read()) and not any(second.read()), 'written to')
