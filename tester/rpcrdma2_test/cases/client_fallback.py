# SPDX-License-Identifier: GPL-2.0
"""A client whose first messages get no valid answer: its further attempts."""

import random

from .. import rpc, wire
from ..endpoint import Lost
from ..registry import NotApplicable, case, check
from ..wire import BAD_XDR, INVALID_OPTION, RBSIZ, VERS, Error, Prop, Properties, Raw, Rpc, u32
from .client_negotiation import err_vers, plain_probe


def asked(t):
    """Returns the client's CONNPROP on a new connection."""
    said = t.probe().message
    if not isinstance(said, Properties):
        raise NotApplicable('the client probes by an RPC')
    return said


def tried(t, answer=None):
    """Returns the RPC in version 2 that the client tries without a valid answer to CONNPROP."""
    said = asked(t)
    if answer:
        t.send(answer(said))
    call = t.next_call()
    check(call.version == 2, f'it is tried in version {call.version}')
    return call


def connprop(said):
    return wire.connprop(said.xid, [Prop(RBSIZ, 4096)], range(1))


def dialect(said):
    """Returns a message with version number 2, but without direction and handle."""
    return Raw(u32(said.xid, 2, 1, wire.MSG, 1, 0xfeed, 0xbeef, 0xcafe))


def version_one_next(t, *answers):
    """After these answers the client has to disconnect and to use version 1 on the next
    connection."""
    t.send(*answers)
    t.given_up()
    t.accept()
    t.goes_on(1)


# Answers to CONNPROP

@case('C-104', plays='server', acts='1 version_1>version_1')
def reply_in_version_one(t):
    """After a Reply of version 1 to CONNPROP the client continues in version 1"""
    said = asked(t)
    t.send(Rpc(said.xid, rpc.reply(said.xid), 1, t.grant, direction=wire.REPLY))
    t.goes_on(1)


@case('C-102', plays='server', acts='1,1 ERR_VERS>version_1')
def lost_before_the_first_reply(t):
    """A connection that is lost after ERR_VERS is followed by one in version 1"""
    err_vers(t, 1, 1)
    check(t.next_call().version == 1, 'a Call in version 2')
    t.accept()
    t.goes_on(1)


@case('S37', plays='server', acts='1 foreign>connect_again,_version_1')
def dialect_of_version_two(t):
    """A message that is invalid in version 2 ends the connection; the next one is in version 1"""
    version_one_next(t, dialect(asked(t)))


@case('S37', plays='server', acts='1 foreign>connect_again,_version_1')
def garbage(t):
    """300 random bytes end the connection; the next one is in version 1"""
    noise = random.Random(asked(t).xid).randbytes(300)
    version_one_next(t, Raw(noise))


def refused_once(t, answer):
    """A later connection begins with this answer, and the next connection request is rejected."""
    t.negotiate()
    t.serve_until(rpc.CREATE)
    t.accept()
    t.send(answer(asked(t)))
    t.given_up()
    t.refuse()


@case('C-102 S34', plays='server', acts='2,1 CONNPROP>version_2,foreign>connect_again,_version_1')
def version_one_when_it_can_connect(t):
    """A rejected request does not count as an attempt: the next connection is in version 1"""
    refused_once(t, dialect)
    t.accept()
    t.goes_on(1)


@case('C-060 S37', plays='server',
      acts='2,2 CONNPROP>version_2,BAD_XDR>connect_again,_plainly,CONNPROP>version_2')
def plainly_when_it_can_connect(t):
    """A rejected request is no attempt without experimental properties: the next one is"""
    refused_once(t, lambda said: Error(said.xid, BAD_XDR))
    plain_probe(t)
    t.goes_on(2)


# No answer

@case('C-103 S34', plays='server', acts='2 lost>connect_later,CONNPROP>version_2')
def lost_during_the_probe(t):
    """After one loss before any answer the client tries version 2 again"""
    asked(t)
    t.accept()
    t.negotiate()
    t.goes_on(2)


@case('C-103 S34', plays='server',
      acts='2 lost>connect_later,lost>connect_later,CONNPROP>version_2')
def lost_twice_during_the_probe(t):
    """After two losses in a row, as in one outage, the client tries version 2 again"""
    for _ in range(2):
        asked(t)
        t.accept()
    t.negotiate()
    t.goes_on(2)


@case('C-103 S34', plays='server',
      acts='1 lost>connect_later,lost>connect_later,lost>connect_again,_version_1')
def lost_each_time(t):
    """Three connections that are lost at CONNPROP are followed by one in version 1"""
    for _ in range(3):
        asked(t)
        t.accept()
    t.goes_on(1)


@case('S11 S29', plays='server', acts='2 silence>try_version_2,Reply>version_2')
def bad_connprop(t):
    """A malformed CONNPROP is no answer; a server that answers an RPC has version 2"""
    t.answer(tried(t, lambda said: connprop(said).cut(-4)))
    t.goes_on(2)


@case('S29', plays='server', acts='2 silence>try_version_2,CONNPROP>version_2')
def late_connprop(t):
    """CONNPROP is accepted even after an RPC was tried"""
    said = asked(t)
    call = t.next_call()
    t.send(connprop(said))
    t.answer(call)
    t.goes_on(2)


@case('C-026 S29', plays='server', acts='2 silence>try_version_2,lacks_properties>version_2')
def late_invalid_option(t):
    """INVALID_OPTION for CONNPROP is accepted even after an RPC was tried"""
    said = asked(t)
    call = t.next_call()
    t.send(Error(said.xid, INVALID_OPTION, credit=1))
    t.answer(call)
    t.goes_on(2)


@case('C-060 S37', plays='server',
      acts='2 silence>try_version_2,BAD_XDR>connect_again,_plainly,CONNPROP>version_2')
def late_bad_xdr(t):
    """After a late BAD_XDR, CONNPROP is repeated without experimental properties"""
    said = asked(t)
    t.next_call()
    t.send(Error(said.xid, BAD_XDR))
    plain_probe(t)
    t.goes_on(2)


@case('C-103 S34', plays='server', acts='1 silence>try_version_2,silence>connect_again,_version_1')
def silence(t):
    """Without an answer to CONNPROP and to an RPC, the next connection is in version 1"""
    call = tried(t)
    t.given_up()
    t.accept()
    again = t.next_call()
    check((again.number, again.version) == (call.number, 1), f'{again}')
    t.answer(again)
    t.goes_on(1)


@case('C-103 S34', plays='server', acts='1 silence>try_version_2,silence>connect_again,_version_1')
def silence_and_an_impatient_rpc(t):
    """If RPCs time out sooner, version 1 takes no more than three connections"""
    asked(t)
    connections = 1
    while True:
        try:
            got = t.receive(14)
            check(got is not None, 'the client waits')
            if got.message.version == 1:
                t.answer(got.message)
                return t.goes_on(1)
        except Lost:
            connections += 1
            check(connections <= 3, 'a fourth connection')
            t.accept()


# Answers to the RPC that is tried

@case('C-103 S34', plays='server', acts='1 silence>try_version_2,lost>connect_again,_version_1')
def lost_on_trial(t):
    """A connection that is lost at the tried RPC is followed by one in version 1"""
    tried(t)
    t.accept()
    t.goes_on(1)


@case('S33 S36', plays='server', acts='1 silence>try_version_2,ERR_VERS>connect_again,_version_1')
def err_vers_on_trial(t):
    """After ERR_VERS for the tried RPC, another connection is in version 1"""
    call = tried(t)
    version_one_next(t, Error(call.number, VERS, (1, 1), 2))


@case('S37', plays='server', acts='1 silence>try_version_2,foreign>connect_again,_version_1')
def dialect_on_trial(t):
    """After an invalid message for the tried RPC, another connection is in version 1"""
    version_one_next(t, dialect(tried(t)))


@case('S37', plays='server', acts='1 silence>try_version_2,foreign>connect_again,_version_1')
def dialect_twice_on_trial(t):
    """A second invalid message does not end the tried RPC, which is sent again in version 1"""
    invalid = dialect(tried(t))
    version_one_next(t, invalid, invalid)


@case('S42', plays='server', acts='1 silence>try_version_2,lacks_RPCs>connect_again,_version_1')
def invalid_option_on_trial(t):
    """After INVALID_OPTION for the tried RPC, another connection is in version 1"""
    call = tried(t)
    version_one_next(t, Error(call.number, INVALID_OPTION))


@case('S36', plays='server', acts='- silence>try_version_2,ERR_VERS>fail')
def no_common_version_on_trial(t):
    """Without a common version at this stage the command fails, without a loop"""
    call = tried(t)
    t.send(Error(call.number, VERS, (3, 4), 2))
    t.in_vain()


# The next visit

@case('C-096 S29 S34', plays='server', acts='2,2 CONNPROP>version_2,CONNPROP>version_2')
def version_two_is_asked_for_each_time(t):
    """The second visit to a server of version 2 begins with CONNPROP alone, like the first"""
    t.negotiate()
    t.goes_on(2)
    t.come_again()
    said = asked(t)
    check(t.receive(0.3) is None, 'a message before the answer')
    t.send(connprop(said))
    t.goes_on(2)


@case('S34', plays='server', acts='1,1 ERR_VERS>version_1')
def version_one_is_remembered(t):
    """The second visit to a server of version 1 begins with an RPC in version 1"""
    err_vers(t, 1, 1)
    t.goes_on(1)
    t.come_again()
    t.goes_on(1)


@case('C-103 S34', plays='server',
      acts='1,1 silence>try_version_2,silence>connect_again,_version_1')
def version_one_after_silence_is_remembered(t):
    """A server that was silent in version 2 but answered in version 1 is visited in version 1"""
    silence(t)
    t.come_again()
    t.goes_on(1)


@case('C-103 S34', plays='server',
      acts='1,1 lost>connect_later,lost>connect_later,lost>connect_again,_version_1')
def version_one_after_losses_is_remembered(t):
    """A server that ended each connection at CONNPROP is then visited in version 1"""
    lost_each_time(t)
    t.come_again()
    t.goes_on(1)


@case('S34 S37', plays='server', acts='1,1 foreign>connect_again,_version_1')
def version_one_after_garbage_is_remembered(t):
    """A server of another dialect is then visited in version 1"""
    version_one_next(t, dialect(asked(t)))
    t.come_again()
    t.goes_on(1)


@case('C-103 S34', plays='server', acts='1,2 foreign>connect_again,_version_1,CONNPROP>version_2')
def version_one_without_a_reply(t):
    """Version 1 is not remembered before it works: version 2 is tried again"""
    t.send(dialect(asked(t)))
    t.given_up()
    t.accept()
    check(t.next_call().version == 1, 'a Call in version 2')
    t.accept()
    t.negotiate()
    t.goes_on(2)


@case('S34 S36', plays='server',
      acts='1,2 ERR_VERS>version_1,ERR_VERS>connect_again,CONNPROP>version_2')
def version_one_is_refused_too(t):
    """After ERR_VERS for both versions, another connection begins with version 2"""
    err_vers(t, 1, 1)
    t.send(Error(t.next_call().number, VERS, (2, 2), 1))
    t.given_up()
    t.accept()
    t.negotiate()
    t.goes_on(2)


@case('S34 S36', plays='server',
      acts='1,1,2 ERR_VERS>version_1,ERR_VERS>connect_again,CONNPROP>version_2')
def version_one_is_gone(t):
    """A server that replaced version 1 by version 2 is probed again on another connection"""
    err_vers(t, 1, 1)
    t.goes_on(1)
    first = t.come_again().next_call()
    check(first.version == 1, f'{first}')
    t.send(Error(first.number, VERS, (2, 2), 1))
    t.given_up()
    t.accept()
    t.negotiate()
    t.goes_on(2)


def version_one_in_vain(t):
    """Makes the client remember version 1; its Call in version 1 then waits."""
    err_vers(t, 1, 1)
    t.goes_on(1)
    first = t.come_again().next_call()
    check(first.version == 1, f'{first}')


@case('S34', plays='server', acts='1,1,2 ERR_VERS>version_1,CONNPROP>version_2')
def version_one_is_lost(t):
    """A connection in version 1 that is lost before a Reply is followed by version 2"""
    version_one_in_vain(t)
    t.accept()
    t.negotiate()
    t.goes_on(2)


@case('S34', plays='server', acts='1,1,2 ERR_VERS>version_1,CONNPROP>version_2')
def version_one_is_silent(t):
    """A connection in version 1 that is silent until the RPC times out is followed by version 2"""
    version_one_in_vain(t)
    t.given_up()
    t.accept()
    t.negotiate()
    t.goes_on(2)


@case('C-101 S34', plays='server', acts='2,1 CONNPROP>version_2,ERR_VERS>version_1')
def version_two_is_gone(t):
    """A server that replaced version 2 by version 1 is used in version 1"""
    t.negotiate()
    t.goes_on(2)
    t.come_again()
    err_vers(t, 1, 1)
    t.goes_on(1)
