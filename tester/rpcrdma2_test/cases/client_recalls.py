# SPDX-License-Identifier: GPL-2.0
"""An NFS client with callbacks, which are from nfsd through the tester, or from the tester."""

from .. import rpc, wire
from ..registry import NotApplicable, case, check
from ..wire import RBSIZ, Error, Prop, Segment
from .client_codes import call_of_the_server
from .client_errors import answer

GRANT = 4               # of the client for Calls of the server, until all of these are outstanding
MOST = 16               # that it grants by default


@case('S23 S24 B-06', plays='server')
def calls_for_nobody(t):
    """Calls with chunks get a limit of 0, 41 others get SYSTEM, and the connection stays"""
    t.accept(receives=128)
    t.negotiate(Prop(RBSIZ, 4096))
    call = t.serve_until(rpc.FSINFO)
    if t.takes != wire.BRS_INLINE:
        raise NotApplicable('the client takes Calls with chunks')
    here = Segment(0x77, 4, 0x1000)
    calls = [call_of_the_server(t), call_of_the_server(t, reads=((40, here),)),
             call_of_the_server(t, writes=((here,),)),
             call_of_the_server(t, reads=((40, here),) * 65)]
    expected = [(wire.SYSTEM, ()), (wire.READ_CHUNKS, (0,)), (wire.WRITE_CHUNKS, (0,)),
                (wire.READ_CHUNKS, (0,))] + [(wire.SYSTEM, ())] * 40
    calls += [call_of_the_server(t) for _ in range(40)]
    t.send(*calls)
    left = {c.number: e for c, e in zip(calls, expected)}
    while left:
        got = answer(t)
        check(isinstance(got, Error) and got.xid in left, f'{got}')
        check((got.code, got.arguments) == left.pop(got.xid), f'{got}')
    t.answer(call)
    t.succeeds()


@case('C-066 B-02', plays='server')
def calls_with_the_xids_of_rpcs(t):
    """Ten or more Calls with the xids of waiting RPCs: both get their own answers"""
    t.negotiate()
    calls = 0
    while (call := t.serve(lambda c: c.direction == wire.CALL)) is not None:
        calls += 1
        message = call_of_the_server(t).but(
            number=call.number, body=rpc.call(call.number, prog=0x40000000, vers=1))
        t.refused(message, wire.SYSTEM)
        t.answer(call)
    check(calls >= 10, f'{calls} Calls')
    t.succeeds()


@case('B-07', plays='server', many=True)
def recalled(t):
    """Each Call of nfsd gets its Reply, with the client's grant, on one connection"""
    t.up()
    t.does('')
    check(len(t.times) == 1, f'{len(t.times)} connections')
    check(len(t.replies) == t.calls, f'{t.calls} Calls, {len(t.replies)} Replies')
    granted = sum(GRANT <= r.credit <= MOST for r in t.replies)
    check(granted >= 12, f'{granted} Replies with a grant of {GRANT} to {MOST}')
