# SPDX-License-Identifier: GPL-2.0
"""Versions of messages and answers."""

from ..endpoint import Lost
from ..registry import Failure, NotApplicable, case, check
from ..wire import MSG, VERS, Error, Properties, Raw, Rpc, WireError, connprop, u32

UNKNOWN = (0xffffffff, 0x20000, 255, 4, 3, 0)


@case('C-079 C-076 C-077 E-17 S36')
def unknown_version(t):
    """An unsupported rdma_vers gets VERS with the same rdma_vers, and the supported range"""
    unknown_versions(t)


@case('E-17 C-079', version=1)
def unknown_version_to_version_one(t):
    """An unsupported rdma_vers gets ERR_VERS and the supported range"""
    unknown_versions(t)


def unknown_versions(t):
    low, high = t.error(t.null().with_word(1, UNKNOWN[0]), VERS).arguments
    check(tuple(v for v in (1, 2) if low <= v <= high) == t.target.versions,
          f'versions {low} to {high}, not {t.target.versions}')
    for version in UNKNOWN:
        if low <= version <= high:
            check(not refuses(t, version), f'VERS {low} to {high} for version {version}')
        else:
            t.error(t.null().with_word(1, version), VERS, low, high)
    t.alive()


def refuses(t, version):
    """Returns whether VERS answers a version that this tester lacks. Anything else may happen."""
    try:
        t.send(t.null().with_word(1, version))
        answer = t.receive()
    except (Failure, Lost, WireError):
        answer = None
    t.again()
    return answer is not None and isinstance(answer.message, Error) and answer.message.code == VERS


@case('S44 C-079')
def version_is_judged_before_all_else(t):
    """The version is checked before any other fault, in 16 bytes with any proc"""
    for proc in (0, 2, 5, 9, 77):
        t.error(Raw(u32(t.xid(), UNKNOWN[0], 0, proc)), VERS)
    t.alive()


@case('C-010 C-061 C-067 C-099 B-01 E-01 E-22 S47')
def answer_in_version_two(t):
    """A Call in version 2 is answered in version 2"""
    check(t.alive().message.version == 2, 'it is not')


@case('C-105 S35')
def each_call_in_its_own_version(t):
    """On one connection, Calls of both versions are answered in their version"""
    if 1 not in t.target.versions:
        raise NotApplicable('the server does not support version 1')
    for version in (1, 2, 2, 1, 2, 1, 1):
        check(t.answered(t.null(version=version)).message.version == version,
              f'not version {version}')


@case('C-105 B-01', version=1)
def answer_in_version_one(t):
    """A Call in version 1 is answered in version 1, in its layout, with its xid"""
    for _ in range(3):
        answer = t.alive()
        check(answer.message.version == 1 and answer.message.proc == MSG,
              f'{answer.message}')
        check(answer.length == 28 + 24, f'{answer.length} bytes')


@case('C-100 S36', version=1)
def version_two_refused(t):
    """A server without version 2 refuses it with ERR_VERS and continues in version 1"""
    if 2 in t.target.versions:
        raise NotApplicable('the server supports version 2')
    for message in (connprop(t.xid()), t.null(version=2), connprop(t.xid())):
        t.error(message, VERS, 1, 1)
        t.alive()


@case('C-046 C-099 S29 S32')
def first_connprop(t):
    """The first CONNPROP is answered with one CONNPROP of at most 1024 bytes"""
    answer = t.ask(connprop(t.xid()))
    check(isinstance(answer.message, Properties), f'{answer.message}')
    check(answer.length <= 1024, f'{answer.length} bytes')
    check(answer.message.credit > 0, 'no grant')
    t.nothing()


@case('C-099 S29')
def first_message_is_a_call(t):
    """A Call of 1024 bytes may be the first message"""
    answer = t.reply(t.null().plus(bytes(1024 - 76)))
    check(isinstance(answer.message, Rpc), f'{answer.message}')


@case('C-003 S32')
def four_thousand_and_ninety_six(t):
    """A message of exactly 4096 bytes is received, even as the first message"""
    t.reply(t.null().plus(bytes(4096 - 76)))
    t.alive()


@case('S31')
def short_messages(t):
    """Messages of less than 16 bytes are dropped without an answer"""
    for length in range(16):
        t.nothing(t.null().cut(length))


@case('S31 C-003')
def short_messages_use_up_nothing(t):
    """
    Dropped messages do not reduce the number of Receives

    On iWARP a message that arrives before a Receive is posted again would end the connection.
    """
    for _ in range(50):
        t.send(*[t.null().cut(12)] * 2)
        t.alive()
