# SPDX-License-Identifier: GPL-2.0
"""A client whose administrator has restricted its versions, by --set."""

from .. import rpc
from ..registry import case, check
from ..wire import INVALID_OPTION, INVALID_PROC, VERS, Error
from .client_fallback import asked, dialect
from .client_negotiation import err_vers
from .client_refused import refused, three


@case('S34', plays='server', needs='set', acts='1 -')
def to_version_one(t):
    """A client that is pinned to version 1 uses it from the first message on"""
    t.set('pin', 1)
    t.goes_on(1)


@case('S34 S36', plays='server', needs='set', acts='1 ERR_VERS>fail')
def to_version_one_in_vain(t):
    """A client pinned to version 1 that gets ERR_VERS for 2 fails without a loop"""
    t.set('pin', 1)
    call = t.next_call()
    check(call.version == 1, f'{call}')
    t.send(Error(call.number, VERS, (2, 2), 1))
    t.in_vain()


@case('S34', plays='server', needs='set', acts='2 CONNPROP>version_2')
def to_version_two(t):
    """A client that is pinned to version 2 uses it"""
    t.set('pin', 2)
    t.negotiate()
    t.goes_on(2)


@case('S34 S36', plays='server', needs='set', acts='- ERR_VERS>fail')
def to_version_two_in_vain(t):
    """A client pinned to version 2 that gets ERR_VERS for 1 fails"""
    t.set('pin', 2)
    err_vers(t, 1, 1)
    t.in_vain()


@case('S34 S37', plays='server', needs='set', acts='- foreign>fail')
def to_version_two_another_dialect(t):
    """A client pinned to version 2 that gets an answer in another dialect fails"""
    t.set('pin', 2)
    t.send(dialect(asked(t)))
    t.in_vain()


@case('S34 S42', plays='server', needs='set', acts='2 CONNPROP>version_2,lacks_RPCs>fail')
def refused_with_invalid_option(t):
    """Pinned to version 2, INVALID_OPTION for the first RPC ends it, and no other is sent"""
    t.set('pin', 2)
    refused(t, 1, INVALID_OPTION)
    t.in_vain()


@case('S34 S42', plays='server', needs='set', acts='2 CONNPROP>version_2,lacks_RPCs>fail')
def refused_with_invalid_proc(t):
    """Pinned to version 2, INVALID_PROC for the fourth RPC ends it, and no other is sent"""
    t.set('pin', 2)
    refused(t, 4, INVALID_PROC)
    t.in_vain()


@case('S34 S42', plays='server', needs='set', logged=1)
def one_of_three(t):
    """Pinned to version 2, INVALID_OPTION for one of three Calls ends only that one"""
    t.set('pin', 2)
    first, *others = three(t)
    for call in others:
        t.answer(call)
    t.send(Error(first.number, INVALID_OPTION, credit=t.grant))
    no_more_symlinks(t)


@case('S34 S42', plays='server', needs='set', logged=1)
def all_of_three(t):
    """Pinned to version 2, INVALID_OPTION for three Calls ends only these"""
    t.set('pin', 2)
    for call in three(t):
        t.send(Error(call.number, INVALID_OPTION, credit=t.grant))
    no_more_symlinks(t)


def no_more_symlinks(t):
    other = t.serve(lambda c: c.version != 2 or t.procedure(c) == rpc.SYMLINK)
    check(other is None, f'{other}')
    t.succeeds()


@case('S34', plays='server', needs='set')
def port_before_address(t):
    """A pin of the server's port takes precedence over one of its address"""
    t.set('pin', '1 2')
    t.goes_on(1)


@case('S34', plays='server', needs='set')
def pin_before_least_version(t):
    """A pin takes precedence over the minimum version"""
    t.set('versions', 2)
    t.set('pin', 1)
    t.goes_on(1)


@case('S34 S36', plays='server', needs='set', acts='- ERR_VERS>fail')
def least_version(t):
    """If version 2 is the minimum, ERR_VERS for 1 makes the command fail"""
    t.set('versions', 2)
    err_vers(t, 1, 1)
    t.in_vain()


@case('S34 S42', plays='server', needs='set', acts='2 CONNPROP>version_2,lacks_RPCs>fail')
def least_version_refused(t):
    """If version 2 is the minimum, INVALID_PROC for the first RPC ends it, and no other is sent"""
    t.set('versions', 2)
    refused(t, 1, INVALID_PROC)
    t.in_vain()


@case('S34', plays='server', needs='set')
def highest_version(t):
    """If version 1 is the maximum, the client uses it from the first message on"""
    t.set('versions', 1)
    t.goes_on(1)
