# SPDX-License-Identifier: GPL-2.0
"""A client whose RPCs are refused: how often and where each one is sent."""

from .. import rpc
from ..registry import case, check
from ..wire import BAD_XDR, INVALID_OPTION, INVALID_PROC, VERS, Error


def refused(t, number, code):
    """Refuses the Call with this number, and answers those before it."""
    t.negotiate()
    for _ in range(number - 1):
        t.answer(t.next_call())
    call = t.next_call()
    check(call.version == 2, f'{call}')
    t.send(Error(call.number, code))
    return call


def again_in_version_one(t, call):
    """The Call has to be repeated in version 1 on the next connection."""
    t.given_up()
    t.accept()
    again = t.next_call()
    check((again.number, again.version) == (call.number, 1), f'{again}')
    return again


def and_goes_on(t, call):
    t.answer(again_in_version_one(t, call))
    t.goes_on(1)


def and_version_one_too(t, call):
    again = again_in_version_one(t, call)
    t.send(Error(again.number, VERS, (2, 2), 1))
    t.in_vain()


@case('S42', plays='server', acts='2,1 CONNPROP>version_2,lacks_RPCs>connect_again,_version_1',
      counts={'client_refused.invalid_proc_for_the_first: the version is the reason':
              'ended_VERSION == 1'})
def invalid_proc_for_the_first(t):
    """After INVALID_PROC the first RPC is sent once more, in version 1"""
    and_goes_on(t, refused(t, 1, INVALID_PROC))


@case('S42', plays='server', acts='2,1 CONNPROP>version_2,lacks_RPCs>connect_again,_version_1')
def invalid_option_for_the_first(t):
    """After INVALID_OPTION the first RPC is sent once more, in version 1"""
    and_goes_on(t, refused(t, 1, INVALID_OPTION))


@case('S42', plays='server', acts='2,1 CONNPROP>version_2,lacks_RPCs>connect_again,_version_1')
def invalid_proc_for_the_fourth(t):
    """After INVALID_PROC the fourth RPC is sent once more, in version 1"""
    and_goes_on(t, refused(t, 4, INVALID_PROC))


@case('S42 S36', plays='server',
      acts='2,1 CONNPROP>version_2,lacks_RPCs>connect_again,_version_1,ERR_VERS>fail')
def both_versions_for_the_first(t):
    """ERR_VERS in version 1 then ends the first RPC, without a loop"""
    and_version_one_too(t, refused(t, 1, INVALID_PROC))


@case('S42 S36', plays='server',
      acts='2,1 CONNPROP>version_2,lacks_RPCs>connect_again,_version_1,ERR_VERS>fail')
def both_versions_for_the_fourth(t):
    """ERR_VERS in version 1 then ends the fourth RPC, without a loop"""
    and_version_one_too(t, refused(t, 4, INVALID_PROC))


@case('C-094 S42', plays='server',
      says={'C-094 BAD_XDR for the first RPC: the mount fails with EIO':
            'mount system call failed'})
def bad_xdr_for_the_first(t):
    """BAD_XDR for the first RPC of a connection ends it, and the command, after one Call"""
    refused(t, 1, BAD_XDR)
    t.in_vain()


@case('S42', plays='server')
def bad_xdr_for_each(t):
    """BAD_XDR for each SYMLINK ends it: none is repeated, on one connection"""
    seen = []
    t.negotiate()
    while True:
        call = t.serve(lambda c: t.procedure(c) == rpc.SYMLINK)
        if call is None:
            break
        check(call.version == 2 and call.number not in seen, f'{call}')
        seen.append(call.number)
        t.send(Error(call.number, BAD_XDR, credit=t.grant))
    check(len(seen) == 30, f'{len(seen)} SYMLINKs')
    t.succeeds()


# Three concurrent Calls

def three(t):
    t.negotiate()
    calls = [t.serve_until(rpc.SYMLINK) for _ in range(3)]
    check(all(c.version == 2 for c in calls), f'{calls}')
    return calls


def each_again(t, calls):
    """Each of the three Calls has to be repeated once, in version 1 on the next connection."""
    seen = []

    def note(call):
        if t.procedure(call) == rpc.SYMLINK:
            seen.append(call.number)
        return call.version != 1
    t.given_up()
    t.accept()
    check(t.serve(note) is None, 'a Call in version 2')
    check(sorted(seen) == sorted(c.number for c in calls), f'{len(seen)} SYMLINKs')
    t.succeeds()


@case('S42', plays='server')
def one_of_three(t):
    """After INVALID_OPTION for one of three Calls, each is repeated once, in version 1"""
    calls = three(t)
    t.send(Error(calls[1].number, INVALID_OPTION, credit=t.grant))
    each_again(t, calls)


@case('S42', plays='server')
def all_of_three(t):
    """After INVALID_OPTION for all three Calls, each is repeated once, in version 1"""
    calls = three(t)
    t.send(*[Error(c.number, INVALID_OPTION, credit=t.grant) for c in calls])
    each_again(t, calls)


@case('C-101 S36', plays='server',
      acts='2,2 CONNPROP>version_2,ERR_VERS>connect_again,CONNPROP>version_2')
def vers_for_one_each_time(t):
    """ERR_VERS twice for one of three Calls ends it, although the others are answered"""
    refused = three(t)[0].number
    t.send(Error(refused, VERS, (1, 2), credit=t.grant))
    t.given_up()
    t.accept()
    t.negotiate()
    left = 3
    while left:
        call = t.next_call()
        left -= t.procedure(call) == rpc.SYMLINK
        if call.number != refused:
            t.answer(call)
    t.send(Error(refused, VERS, (1, 2), credit=t.grant))
    other = t.serve(lambda c: c.number == refused, 20)
    check(other is None, f'a third attempt: {other}')
    t.succeeds()
