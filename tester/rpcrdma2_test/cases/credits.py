# SPDX-License-Identifier: GPL-2.0
"""Grants, and the corresponding Receives. A Send without a Receive ends the connection."""

import time
from contextlib import contextmanager

from ..client import Client
from ..endpoint import Lost
from ..registry import case, check
from ..wire import INVALID_PROC, RBSIZ, Error, Option, Prop, Rpc, reqprop, updprop


def at_once(t, messages):
    """Sends all messages before taking any answer; each has to be answered. Returns the answers."""
    t.send(*messages)
    return answers_to(t, messages)


def answers_to(t, messages):
    """Returns the answers to these messages, in any order; each has to be answered."""
    left, answers = {m.xid for m in messages}, []
    while left:
        answer = t.receive()
        check(answer is not None, f'{len(left)} of {len(messages)} are not answered')
        check(answer.message.xid in left, f'xid {answer.message.xid:#x} answered twice')
        left.remove(answer.message.xid)
        answers.append(answer.message)
    return answers


@case('B-11 E-16 B-01')
def all_that_is_granted(t):
    """The client may use all credits of the grant"""
    fill(t)


@case('B-11 E-16 B-01', version=1)
def all_that_is_granted_in_version_one(t):
    """The client may use all credits of the grant (version 1)"""
    fill(t)


def fill(t):
    t.open(receives=128)
    for _ in range(3):
        grant = min(t.alive().message.credit, 120)
        at_once(t, [t.null() for _ in range(grant)])
    t.nothing()


@case('S27')
def property_messages_take_no_credit(t):
    """While all credits are in use, property messages and options find Receives"""
    t.open(receives=128)
    t.announce()
    grant = min(t.alive().message.credit, 100)
    calls = [t.null() for _ in range(grant)]
    half = grant // 2
    at_once(t, calls[:half] + [reqprop(t.xid(), [Prop(RBSIZ, 4096)])] + calls[half:])
    calls = [t.null() for _ in range(grant)]
    at_once(t, calls + [Option(t.xid(), 0x7fffff01)])
    t.send(updprop(t.xid(), [Prop(RBSIZ, 4096)]))
    at_once(t, [t.null() for _ in range(grant)])


@case('S26')
def request_for_no_credit(t):
    """rdma_credit 0 in a Call is read as 1, and never returned"""
    for credit in (0, 1, 0xffffffff):
        for _ in range(3):
            answer = t.answered(t.null(credit=credit))
            check(answer.message.credit > 0, 'a grant of 0')


@case('S26', version=1)
def request_for_no_credit_in_version_one(t):
    """rdma_credit 0 in a Call of version 1 is read as 1, and never returned"""
    for credit in (0, 1, 0xffffffff):
        answer = t.answered(t.null(credit=credit))
        check(answer.message.credit > 0, 'a grant of 0')


@case('C-077 S26')
def grant_in_errors(t):
    """An error has the same grant as a Reply"""
    grant = t.alive().message.credit
    got = t.error(t.null().with_word(6, 2), 2)
    check(got.credit == grant, f'{got.credit}, not {grant}')


@case('E-16 S31')
def refused_messages_use_up_nothing(t):
    """Rejected messages do not reduce the number of Receives"""
    t.open(receives=128)
    for _ in range(40):
        t.error(t.null().with_word(6, 2), 2)
        t.error(t.null().with_word(3, 10), 3)
    at_once(t, [t.null() for _ in range(min(t.alive().message.credit, 120))])


@case('B-01')
def answers_are_for_their_calls(t):
    """Each of many different messages gets its own answer: a Call its Reply, others an error"""
    t.open(receives=64)
    grant = min(t.alive().message.credit, 30)
    good = [t.null() for _ in range(grant - grant // 3)]
    bad = [t.null().with_word(3, 10) for _ in range(grant // 3)]
    answers = at_once(t, [m for pair in zip(good, bad) for m in pair] + good[len(bad):])
    refused = {m.xid for m in answers if isinstance(m, Error) and m.code == INVALID_PROC}
    check(refused == {m.xid for m in bad}, f'{answers}')
    check(all(isinstance(m, Rpc) for m in answers if m.xid not in refused), f'{answers}')


@case('B-08')
def an_answer_that_finds_no_receive(t):
    """An answer that finds no Receive ends its connection, and nothing else"""
    no_receive(t)


@case('B-08', version=1)
def an_answer_that_finds_no_receive_in_version_one(t):
    """An answer that finds no Receive ends its connection, and nothing else (version 1)"""
    no_receive(t)


def no_receive(t):
    t.open(receives=1)
    t.send(t.null(), t.null())
    time.sleep(0.3)             # receive() posts the Receive again
    try:
        for _ in range(3):
            t.receive(2)
        check(False, 'the connection goes on')
    except Lost:
        t.again()
    t.alive()


# Limited memory for Receives

@contextmanager
def another(t):
    """Creates a second connection, of another client."""
    other = Client(t.target, t.version)
    try:
        yield other
    finally:
        other.close()


def granted(t, **fields):
    return t.answered(t.null(**fields)).message.credit


def grown(t, enough=None, reads=None):
    """
    Uses all credits until there are more, or ENOUGH. Returns the grant.

    A server that is faster than the Calls arrive does not have all of them at a time. So the
    device gets them at once, and the grant has to rise within 8 such rounds. With READS, a Read
    list, each Call stays for the time of its RDMA Reads.
    """
    grant = most = granted(t)
    enough, left = enough or grant + 1, 8
    while grant < enough and left:
        calls = [t.null(reads=reads or ()) for _ in range(grant)]
        t.endpoint.post_all(*(call.encode() for call in calls))
        answers_to(t, calls)
        grant = granted(t)
        left = 8 if grant > most else left - 1
        most = max(most, grant)
    check(grant >= enough, f'{grant} credits, not {enough}, although all are used')
    return grant


@case('S26 S27', needs='set')
def grants_while_memory_is_short(t):
    """With memory for one connection, a new one gets a smaller grant, and the first returns one"""
    t.set('receive_memory', 368)
    t.open(receives=128)
    first = grown(t)
    with another(t) as other:
        second = granted(other)
        check(0 < second < first, f'the second is granted {second}, the first {first}')
        later = [granted(t), granted(t, version=1), granted(t)]
        check(later == [first - 1] * 3, f'first {first}, then {later}')
        at_once(t, [t.null() for _ in range(first - 1)])
        at_once(other, [other.null() for _ in range(second)])


@case('S26', needs='set')
def shares_while_memory_is_short(t):
    """A connection within its share keeps its grant, one above it returns credits"""
    t.set('receive_memory', 976)
    t.set('receive_size', 53248)
    idle = grown(t)
    t.set('receive_size', 4096)
    with another(t) as fair, another(t) as more:
        share = grown(fair)
        least = granted(more)
        check(0 < least < share, f'{share}, then {least}')
        check([granted(fair), granted(fair)] == [share] * 2, 'the share gets less')
        later = granted(t)
        check(later < idle, f'{idle}, then {later}')
