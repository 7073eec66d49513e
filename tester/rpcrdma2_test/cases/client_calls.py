# SPDX-License-Identifier: GPL-2.0
"""The form of a client's Calls while the command works with files."""

import struct

from .. import rpc, wire
from ..endpoint import Lost
from ..registry import NotApplicable, case, check
from ..wire import BRS, BRS_INLINE, NOMSG, RBSIZ, Error, Prop, Rpc, u32


def watch(t, size=4096):
    """Returns all Calls of a run of the command, which has to succeed."""
    seen = []
    t.own = size
    t.any_version()
    t.serve(lambda call: seen.append(call), patience=20)
    t.succeeds()
    check(len(seen) > 5, f'only {len(seen)} Calls')
    return seen


@case('C-061 C-067 C-072 C-010 E-01 E-21', plays='server')
def every_call_is_well_formed(t):
    """Each message decodes to its end; xid, direction and handle are valid"""
    for call in watch(t):
        check(call.version in (1, 2) and call.direction == wire.CALL, f'{call}')
        check(call.inv_handle == 0 or call.inv_handle in call.handles(), f'{call}')


@case('C-064 C-002 E-05', plays='server')
def long_calls(t):
    """A Call too long for the server's Receive is RDMA2_NOMSG, from position 0"""
    calls = [c for c in watch(t) if c.proc == NOMSG]
    if not calls:
        raise NotApplicable('the command sends no long Call')
    for call in calls:
        check(not call.body and 0 in [p for p, _ in call.reads], f'{call}')


@case('E-02 E-05 E-07 S09', plays='server')
def positions(t):
    """Positions ascend, are multiples of 4, lie within the message, and are 0 in NOMSG only"""
    for call in watch(t):
        at = [p for p, _ in call.reads]
        check(at == sorted(at) and all(p % 4 == 0 for p in at), f'{at}')
        check((0 in at) == (call.proc == NOMSG), f'{call}')
        check(call.proc == NOMSG or all(p <= len(call.body) for p in at), f'{call}')
        check(all(s.length for _, s in call.reads), f'empty segments: {call}')
        # The Read chunk of an NFSv3 Call ends the message.
        check(call.proc == NOMSG or not at or at[-1] == len(call.body),
              f'inline behind a chunk: {call}')


@case('C-001 C-029 E-13 E-29', plays='server')
def larger_receives(t):
    """Calls that fit the server's RBSIZ are inline"""
    calls = [c for c in watch(t, 16384) if c.version == 2]
    if not calls:
        raise NotApplicable('the client does not support version 2')
    check(all(c.proc != NOMSG for c in calls), 'a Call in memory that would fit')


@case('C-030 E-15', plays='server')
def no_reply_chunk_for_small_replies(t):
    """NULL, GETATTR and FSINFO, whose Replies always fit, offer no Reply chunk"""
    small = {rpc.NULL, rpc.GETATTR, rpc.FSINFO}
    for call in watch(t):
        if (call.proc != NOMSG and rpc.number_at(call.body, 12) == rpc.NFS and
                rpc.number_at(call.body, 20) in small):
            check(call.reply is None and not call.writes, f'{call}')


@case('C-002 E-15', plays='server')
def reply_chunk_for_large_replies(t):
    """READDIR and READDIRPLUS whose results may not fit offer a Reply chunk"""
    listings = {rpc.READDIR, rpc.READDIRPLUS}
    calls = [c for c in watch(t) if c.body and rpc.number_at(c.body, 20) in listings and
             rpc.number_at(c.body, 12) == rpc.NFS]
    if not calls:
        raise NotApplicable('the command reads no folder')
    for call in calls:
        count = struct.unpack('>I', call.body[-4:])[0]
        room = sum(s.length for s in call.reply or ())
        check(count <= 4000 or room >= count, f'{count} bytes wanted, {room} offered')


@case('E-19', plays='server')
def only_data_go_in_chunks(t):
    """Only READ and READLINK have a Write list, only WRITE and SYMLINK a Read chunk"""
    for call in watch(t):
        if call.proc == NOMSG:
            continue
        procedure = rpc.number_at(call.body, 20)
        if rpc.number_at(call.body, 12) == rpc.NFS:
            check(not call.writes or procedure in (rpc.READ, rpc.READLINK), f'{call}')
            check(not call.reads or procedure in (rpc.WRITE, rpc.SYMLINK), f'{call}')


@case('S10', plays='server')
def no_empty_chunks(t):
    """No chunk is without segments, and no segment without bytes"""
    for call in watch(t):
        for chunk in [*call.writes, call.reply]:
            check(chunk is None or chunk and all(s.length for s in chunk), f'{call}')


@case('E-22', plays='server')
def never_done(t):
    """The client sends no DONE, no MSGP, and no Read list except in Calls"""
    for call in watch(t):
        check(call.proc in (wire.MSG, NOMSG), f'{call}')


@case('C-045 C-047 C-033', plays='server')
def frozen_properties(t):
    """The client neither requests changes of frozen properties nor changes those it has frozen"""
    t.own = 4096
    said = t.negotiate()
    frozen = [p.which for n, p in enumerate(said.sets[0]) if n in said.sets[1]]
    t.succeeds()
    for message in t.others:
        check(message.proc != wire.REQPROP, f'{message}')
        check(message.proc != wire.UPDPROP or
              not any(p.which in frozen for p in message.sets[0]), f'{message}')


@case('E-12', plays='server')
def write_list_of_a_reply_without_data(t):
    """A failed READ ends, regardless of the Write list in its Reply"""
    t.any_version()
    call = t.serve(lambda c: c.writes)
    if call is None:
        raise NotApplicable('the command offers no Write list')
    t.send(Rpc(call.number, rpc.reply(call.number, u32(5, 0)), call.version, t.grant,
               direction=wire.REPLY, writes=call.writes))
    check(t.serve(lambda c: c.number == call.number, 20) is None, 'the READ comes again')


def under_way(t):
    """Yields all waiting Calls after each arrival; answers the oldest if no other one arrives."""
    waiting = []
    for _ in range(400):
        try:
            got = t.receive(0.1)
        except Lost:
            return
        if got is not None and isinstance(got.message, Rpc):
            check(got.message.number not in [c.number for c in waiting], 'an xid twice')
            waiting.append(got.message)
            yield waiting
        elif got is None and waiting:
            t.answer(waiting.pop(0))
        elif t.process.poll() is not None:
            return


@case('B-03', plays='server')
def calls_within_the_grant(t):
    """Outstanding Calls never exceed the last grant"""
    t.grant = 2
    t.any_version()
    t.answer(t.next_call())
    most = 0
    for waiting in under_way(t):
        most = max(most, len(waiting))
        check(most <= 2, f'{most} Calls, 2 granted')
    if most < 2:
        raise NotApplicable('the command never has two Calls under way')


def several_under_way(t):
    """Serves until two Calls are outstanding; returns both without an answer."""
    t.negotiate()
    for waiting in under_way(t):
        if len(waiting) == 2:
            return waiting
    raise NotApplicable('the command never has two Calls under way')


@case('C-097', plays='server')
def one_of_several_before_the_first_grant(t):
    """Of Calls that wait for a connection, one is sent; its answer releases the others"""
    several_under_way(t)
    t.accept()
    got = t.receive()
    check(got is not None, 'no Call on the new connection')
    if not isinstance(got.message, Rpc):
        t.send(Error(got.message.xid, wire.INVALID_OPTION, credit=32))
        got = t.receive()
    check(got is not None and isinstance(got.message, Rpc), f'{got}')
    second = t.receive(0.5)
    check(second is None, f'before the first is answered: {second}')
    t.answer(got.message)
    t.answer(t.next_call())
    t.succeeds()


@case('S26', plays='server')
def grant_of_none(t):
    """A grant of 0 is read as 1"""
    t.grant = 0
    t.negotiate(Prop(RBSIZ, 4096), Prop(BRS, BRS_INLINE))
    t.succeeds()


@case('S26', plays='server')
def a_grant_wakes_calls(t):
    """A Call that waits for a credit is sent when a CONNPROP of the server grants one"""
    t.grant = 1
    t.negotiate()
    first = t.serve(lambda c: c.body.endswith((rpc.opaque(b'x'), rpc.opaque(b'y'))))
    if first is None:
        raise NotApplicable('the command makes no concurrent Calls')
    check(t.receive(0.5) is None, 'two Calls, 1 granted')
    t.grant = 4
    t.send(wire.connprop(t.xid(), [Prop(RBSIZ, t.own)], [0], credit=t.grant))
    second = t.next_call(2)
    check(second.number != first.number, f'{second}')
    t.answer(first)
    t.answer(second)
    t.succeeds()


@case('E-27', plays='server')
def handles_die_with_their_rpc(t):
    """The handles of an RPC are invalid after its end"""
    t.any_version()
    old = t.serve(lambda c: c.reads or c.writes or c.reply)
    if old is None:
        raise NotApplicable('the command needs no memory')
    t.answer(old)
    t.serve(lambda c: c.number != old.number)
    segment = [*[s for _, s in old.reads], *[s for c in old.writes for s in c],
               *(old.reply or ())][0]
    is_dead(t, segment, bool(old.reads))


def is_dead(t, segment, read):
    """Using the handle has to fail, which ends the connection."""
    region = t.endpoint.region(4)
    try:
        t.endpoint.rdma(region, 4, segment.handle, segment.offset, read)
    except Lost:
        return
    check(False, f'the handle {segment.handle:#x} of a finished RPC can be used')


@case('E-27', plays='server')
def invalidation_of_one_handle(t):
    """When the server invalidates one handle of an RPC, the others become invalid too"""
    t.negotiate()
    old = t.serve(lambda c: c.inv_handle and not c.writes and len(c.reply or ()) > 1)
    if old is None:
        raise NotApplicable('the command sends no Call with several handles')
    body = t.ask_backend(t.contents(old))
    t.send(Rpc(old.number, body, 2, t.grant, direction=wire.REPLY), invalidate=old.inv_handle)
    t.serve(lambda c: c.number != old.number)
    is_dead(t, next(s for s in old.reply if s.handle != old.inv_handle), False)


@case('C-006', plays='server')
def nominated_handles_are_of_one_rpc(t):
    """A nominated handle belongs to its Call, and to no earlier Call"""
    seen, count = set(), 0
    for call in watch(t, 1024):
        if call.inv_handle:
            check(call.inv_handle in call.handles(), f'{call}')
            check(call.inv_handle not in seen, f'of an RPC before: {call}')
            count += 1
        seen.update(call.handles())
    if not count:
        raise NotApplicable('the client nominates no handle')


@case('C-098', plays='server')
def first_rpc_of_a_connection(t):
    """A Call that is sent first, to a silent server, has at most 1024 bytes"""
    t.negotiate()
    call = t.serve(lambda c: 1024 < len(c.encode()) <= 4096)
    if call is None:
        raise NotApplicable('the command sends no such Call')
    t.accept()
    got = t.receive()
    while got is not None and not isinstance(got.message, Rpc):
        got = t.receive()
    check(got is not None, 'no Call comes again')
    check(got.length <= 1024, f'{got.length} bytes')
    check(len(t.contents(got.message)) > 1024, f'another Call: {got.message}')
    t.answer(got.message)
    t.succeeds()


@case('C-006', plays='server')
def invalidation_is_taken(t):
    """A Reply that invalidates the nominated handle is accepted"""
    t.negotiate()
    call = t.serve(lambda c: c.inv_handle and not c.writes and not c.reads)
    if call is None:
        raise NotApplicable('the client nominates no handle')
    body = t.ask_backend(t.contents(call))
    t.send(Rpc(call.number, body, 2, 32, direction=wire.REPLY), invalidate=call.inv_handle)
    t.succeeds()
