# SPDX-License-Identifier: GPL-2.0
"""
Requests and announcements of a server during a connection.

--set makes the server's Sends smaller and larger. A server whose Sends are smaller than the
client's Receives does not need such large Receives: it may request smaller ones, with one
request at a time.
"""

import time

from .. import rpc, wire
from ..endpoint import PrivateData
from ..registry import NotApplicable, case, check
from ..waits import scaled
from ..wire import (BRS, MARK, RBSIZ, REPLY_RESOURCE, REQPROP, UPDPROP, X_MARK, X_SBSIZ, Error,
                    Prop, Properties, Rpc, reqprop, resprop)
from .credits import grown

SILENCE = 0.2
LARGE, SMALL, LARGEST = 16384, 8192, 65536


def change(t, num_bytes):
    """Sets the server's largest Send; returns the server's message about that, or None."""
    t.set('send_size', num_bytes)
    got = t.receive(SILENCE)
    return got.message if got else None


def sizes_may_change():
    """Waits for the second in which the server need not shrink its Receives or announce (S53)."""
    time.sleep(1 + scaled(0.1))


def needs_sends(t, num_bytes):
    """The device of the server may limit its Sends: to 12288 bytes on soft-iWARP."""
    own = PrivateData.decode(t.endpoint.private)
    if own is not None and own.send < num_bytes:
        raise NotApplicable(f'the server has no Sends of {num_bytes} bytes')


def begin(t):
    """Makes the server request SMALL from a client with Receives of LARGE; returns the REQPROP."""
    t.announce(Prop(RBSIZ, LARGE))
    got = change(t, SMALL)
    if got is None:
        raise NotApplicable('the server requests nothing')
    check(isinstance(got, Properties) and got.proc == REQPROP, f'{got}')
    check([(p.which, p.word) for p in got.sets[0]] == [(RBSIZ, SMALL)], f'{got.sets}')
    return got


def asks(t, num_bytes, want):
    """With Sends of this size the server has to request Receives of `want`, or nothing."""
    if want is not None:
        needs_sends(t, want)
    got = change(t, num_bytes)
    if want is None:
        check(got is None, f'the server sends {got}')
    else:
        check(isinstance(got, Properties) and got.proc == REQPROP and
              got.values[RBSIZ].word == want, f'a request for {want} bytes expected, not {got}')


def answered_with(t, answer, at_large=None, at_largest=None):
    """Checks the requests of a server that got this answer and whose Sends then grow again."""
    t.nothing(answer(begin(t).xid))
    asks(t, LARGE, at_large)
    asks(t, LARGEST, at_largest)
    t.alive()


@case('C-040 C-052', needs='set')
def done(t):
    """After a request that is done, the server requests larger Receives when its Sends grow"""
    answered_with(t, lambda xid: resprop(xid, {0}), at_large=LARGE)


@case('S01 C-052', needs='set')
def done_as_an_option(t):
    """A request that is done by an answer spelled as an option counts as done"""
    answered_with(t, lambda xid: resprop(xid, {0}, as_option=True), at_large=LARGE)


@case('C-054', needs='set')
def another_value(t):
    """A request that is answered with another value has that value"""
    answered_with(t, lambda xid: resprop(xid, other=[Prop(RBSIZ, 12288)]), at_large=LARGE)


@case('C-053 C-025', needs='set')
def rejected(t):
    """A request that is rejected leaves the Receives unchanged"""
    answered_with(t, lambda xid: resprop(xid, rejected={0}), at_largest=LARGEST)


@case('C-058', needs='set')
def done_and_rejected(t):
    """A request that is both done and rejected is rejected"""
    answered_with(t, lambda xid: resprop(xid, {0}, {0}), at_largest=LARGEST)


@case('C-058', needs='set')
def done_and_another_value(t):
    """A request that is done and has another value is rejected"""
    answered_with(t, lambda xid: resprop(xid, {0}, other=[Prop(RBSIZ, 12288)]),
                  at_largest=LARGEST)


@case('C-058', needs='set')
def not_answered(t):
    """A request that is in none of the three sets is rejected"""
    answered_with(t, resprop, at_largest=LARGEST)


@case('C-056 C-058', needs='set')
def what_was_not_asked(t):
    """Values of properties that were not requested have no effect"""
    answered_with(t, lambda xid: resprop(xid, other=[Prop(BRS, b''), Prop(0xffffff33, b'')]),
                  at_largest=LARGEST)


@case('S11 C-058', needs='set')
def a_bad_answer(t):
    """A malformed RESPROP, in either spelling, rejects all requests, and gets no answer"""
    for as_option, length in ((False, 28), (True, 24), (True, 40)):
        t.again()
        answered_with(t, lambda xid, o=as_option, n=length: resprop(xid, {0}, as_option=o).cut(n),
                      at_largest=LARGEST)
        t.set('send_size', '')


@case('S17', needs='set')
def another_xid(t):
    """A RESPROP with another xid is not an answer: the server requests nothing else"""
    answered_with(t, lambda xid: resprop(xid ^ 1, {0}))


@case('S16', needs='set')
def no_answer(t):
    """One request at a time: without an answer the server requests nothing else"""
    begin(t)
    asks(t, LARGE, None)
    asks(t, LARGEST, None)
    t.alive()


@case('C-034', needs='set export')
def a_wish_for_less_binds(t):
    """After a request for smaller Receives the server has no larger Sends, until it is rejected"""
    handle = t.file(bytes(range(250)) * 40)
    message = t.call(rpc.READ, rpc.read_arguments(handle, 10000))
    got = begin(t)
    t.set('send_size', LARGEST)
    t.largest = SMALL
    t.error(message, REPLY_RESOURCE)
    t.send(resprop(got.xid, rejected={0}))
    again = t.receive(SILENCE)
    check(again is None or again.message.proc == REQPROP, f'{again}')
    if again is None:
        t.largest = LARGE
        t.answered(message.but(number=message.number + 1, body=rpc.call(
            message.number + 1, rpc.READ, rpc.read_arguments(handle, 10000))))


@case('S18', needs='set')
def bad_xdr(t):
    """BAD_XDR for a request rejects that request, and no other"""
    answered_with(t, lambda xid: Error(xid, wire.BAD_XDR), at_largest=LARGEST)


@case('C-026 S18', needs='set')
def refused(t):
    """After INVALID_PROC or INVALID_OPTION for a request the connection has no other request"""
    for code in (wire.INVALID_PROC, wire.INVALID_OPTION):
        t.again()
        answered_with(t, lambda xid, c=code: Error(xid, c))
        t.set('send_size', '')


@case('C-047', needs='set')
def frozen(t):
    """The server does not request a change of a property that the client has frozen"""
    t.announce(Prop(RBSIZ, LARGE), nochg={0})
    asks(t, SMALL, None)
    asks(t, LARGEST, None)


@case('C-047', needs='set')
def not_announced(t):
    """The server does not request a change of a property that the client has not announced"""
    t.announce(Prop(BRS, wire.BRS_INLINE))
    asks(t, SMALL, None)
    asks(t, LARGEST, None)


@case('C-027 C-059 C-060', needs='set')
def told(t):
    """The server announces its largest Send to a client with the mark, once per second at most"""
    t.announce(Prop(X_MARK, MARK))
    needs_sends(t, LARGE)
    got = change(t, SMALL)
    if got is None:
        raise NotApplicable('the server announces nothing')
    check(got.proc == UPDPROP and got.values[X_SBSIZ].word == SMALL, f'{got}')
    check(change(t, LARGE) is None, 'a second announcement within a second')
    t.alive()                                   # an UPDPROP may be in flight until here
    sizes_may_change()
    message = t.null()
    t.send(message)
    got = [t.receive().message for _ in range(2)]
    news = [m for m in got if isinstance(m, Properties)]
    check(len(news) == 1 and news[0].values[X_SBSIZ].word == LARGE, f'{got}')
    check([m.xid for m in got if isinstance(m, Rpc)] == [message.xid], f'{got}')


@case('C-027 C-059 S16', needs='set')
def told_when_it_has_arrived(t):
    """An UPDPROP that finds no Receive is sent again; other messages do not prove its arrival"""
    t.open(receives=1, retries=7).announce(Prop(X_MARK, MARK))
    needs_sends(t, LARGE)
    first, second, third = t.null(), t.null(), t.null()
    t.send(first)                               # the Reply uses up the only Receive
    time.sleep(scaled(SILENCE))                 # receive() would post the Receive again
    t.set('send_size', SMALL)
    time.sleep(scaled(SILENCE))                 # until the UPDPROP is sent and finds no Receive
    t.set('send_size', LARGE)
    sizes_may_change()
    t.send(second)
    got = [t.receive().message for _ in range(2)]
    check(got[0].xid == first.xid, f'{got}')
    if not isinstance(got[1], Properties):
        raise NotApplicable('the server announces nothing')
    check(got[1].values[X_SBSIZ].word == SMALL, f'{got}')
    got = t.receive().message
    check(isinstance(got, Rpc) and got.xid == second.xid, f'a second announcement: {got}')
    time.sleep(1 + scaled(0.5))
    t.send(third)
    got = [t.receive().message for _ in range(2)]
    news = [m for m in got if isinstance(m, Properties)]
    check(len(news) == 1 and news[0].values[X_SBSIZ].word == LARGE, f'{got}')


@case('S14 C-059', needs='set export')
def told_before_it_holds(t):
    """The server announces smaller Sends to a client with the mark before it refuses a Reply"""
    handle = t.file(bytes(6000))
    t.announce(Prop(X_MARK, MARK), Prop(RBSIZ, LARGE), nochg={0})
    got = change(t, SMALL)
    if got is None:
        raise NotApplicable('the server announces nothing')
    check(got.proc == UPDPROP and got.values[X_SBSIZ].word == SMALL, f'{got}')
    t.set('send_size', 4096)                    # the server has just sent an announcement
    told = False
    for later in (False, True, True):
        if later:
            sizes_may_change()
        t.send(t.call(rpc.READ, rpc.read_arguments(handle, 6000)))
        got = t.receive().message
        while isinstance(got, Properties):
            told = told or got.proc == UPDPROP and got.values[X_SBSIZ].word == 4096
            check(told, f'{got}')
            got = t.receive().message
        refused = isinstance(got, Error) and got.code == REPLY_RESOURCE
        check(refused == told, f'announced: {told}, and {got}')
    check(told, 'the server announces nothing')


@case('C-027 C-032 C-059')
def what_is_announced_is_in_force(t):
    """Messages of the last RBSIZ that the server has announced are answered"""
    first = size = t.receive_size(LARGE)
    t.again(size=LARGEST, receives=64)
    t.announce(Prop(RBSIZ, LARGE))
    grown(t, 6)
    for wish in (4096, LARGEST, first):
        sizes_may_change()
        t.send(reqprop(t.xid(), [Prop(RBSIZ, wish)]))
        got = t.receive()
        while got is not None:
            message = got.message
            check(isinstance(message, Properties), f'{message}')
            if message.proc == wire.RESPROP and 0 in message.sets[0]:
                size = wish                     # this client keeps to the size from now on
            for prop in message.sets[-1 if message.proc == wire.RESPROP else 0]:
                size = prop.word if prop.which == RBSIZ else size
            got = t.receive(SILENCE)
        calls = [t.null().plus(bytes(min(size, LARGEST) - 76)) for _ in range(6)]
        t.send(*calls)
        for _ in calls:
            check(t.receive() is not None, f'no answer to a message of {size} bytes')


@case('C-014 C-040 C-041')
def a_feature_is_known_entirely(t):
    """A server with properties accepts each of the four messages about properties"""
    t.announce(Prop(RBSIZ, 4096))
    t.wishes(Prop(RBSIZ, 4096))
    t.nothing(wire.updprop(t.xid(), [Prop(RBSIZ, 8192)]), resprop(t.xid(), {0}))
