# SPDX-License-Identifier: GPL-2.0
"""CONNPROP, REQPROP and UPDPROP, in both spellings."""

from .. import rpc
from ..registry import NotApplicable, case, check
from ..wire import (BAD_XDR, BRS, BRS_GENL, BRS_INLINE, BRS_NONE, CONNPROP, EXPERIMENTAL,
                    INVALID_OPTION, INVALID_PROC, NOMSG, RBSIZ, REPLY, RESPROP, UPDPROP, Prop,
                    Properties, Raw, connprop, propset, reqprop, u32, updprop)
from .credits import grown

UNKNOWN = (0, 4660, 0x7fffffff, 4294967040, 4294967200, 4294967295)


@case('C-010 C-042 C-043 C-060')
def what_the_server_says(t):
    """The server's CONNPROP has RBSIZ and BRS, each once and with the right length"""
    got = t.announce(Prop(RBSIZ, 4096), Prop(BRS, BRS_INLINE))
    ids = [p.which for p in got.sets[0]]
    check(max(ids) < EXPERIMENTAL, f'properties {ids}, without the mark of their extension')
    check(RBSIZ in ids and BRS in ids, f'properties {ids}')
    check(len(set(ids)) == len(ids), f'properties {ids}')
    check(got.values[RBSIZ].word >= 4096, f'RBSIZ {got.values[RBSIZ].word}')
    check(got.values[BRS].word in (BRS_INLINE, BRS_GENL), f'BRS {got.values[BRS].word}')
    check(all(bit < len(ids) for bit in got.sets[1]), f'rdma_nochg {got.sets[1]} of {ids}')


@case('C-039')
def properties_refused(t):
    """A server without properties refuses each message with INVALID_OPTION or _PROC"""
    for build in (connprop, reqprop, updprop):
        t.again()
        t.send(build(t.xid()))
        answer = t.receive(1)
        if answer is None or isinstance(answer.message, Properties):
            raise NotApplicable('the server has properties')
        check(answer.message.code in (INVALID_PROC, INVALID_OPTION), f'{answer.message}')
        t.alive()


@case('S26')
def grant_in_connprop(t):
    """The server's CONNPROP has the same grant as a Reply"""
    grant = t.announce().credit
    check(grant == t.alive().message.credit, f'{grant} is not the grant of a Reply')


@case('S01 C-069')
def connprop_as_an_option(t):
    """CONNPROP spelled as an option is answered as an option"""
    got = t.announce(Prop(RBSIZ, 8192), nochg={0}, as_option=True)
    check(got.as_option, f'{got}')


@case('S01 C-049 C-069')
def reqprop_as_an_option(t):
    """REQPROP spelled as an option is answered as an option"""
    got = t.ask(reqprop(t.xid(), [Prop(0x1234, 7)], as_option=True)).message
    check(isinstance(got, Properties) and got.as_option, f'{got}')
    check(got.sets[1] == {0}, f'rejected {got.sets[1]}')


@case('C-016 S11')
def property_past_the_end(t):
    """rdma_data that exceeds the message gets BAD_XDR (V27)"""
    for length in (9, 64, 0x1000, 0x7ffffffc, 0xffffffff):
        t.error(Raw(u32(t.xid(), 2, 32, 6, 1, RBSIZ, length, 8192, 0)), BAD_XDR)
    t.announce()


@case('C-017 S11')
def property_that_does_not_decode(t):
    """An undefined BRS gets BAD_XDR"""
    for value in (3, 7, 0xffffffff):
        for build in (connprop, updprop):
            t.error(build(t.xid(), [Prop(BRS, value)]), BAD_XDR)
    t.announce()


@case('C-018 S11')
def property_too_short(t):
    """A known property of 1 to 3 bytes gets BAD_XDR (V28)"""
    for which in (RBSIZ, BRS):
        for length in (1, 2, 3):
            t.error(connprop(t.xid(), [Prop(which, bytes(length))]), BAD_XDR)
    t.announce()


@case('C-018 C-017 S11')
def bad_property_as_an_option(t):
    """A malformed property spelled as an option gets BAD_XDR"""
    t.error(connprop(t.xid(), [Prop(BRS, b'\0\2')], as_option=True), BAD_XDR)
    t.error(connprop(t.xid(), [Prop(BRS, 7)], as_option=True), BAD_XDR)


@case('C-017 C-018 S11')
def bad_wish(t):
    """A malformed property in REQPROP gets BAD_XDR, not RESPROP"""
    t.error(reqprop(t.xid(), [Prop(BRS, 7)]), BAD_XDR)
    t.error(reqprop(t.xid(), [Prop(RBSIZ, b'\0')]), BAD_XDR)
    t.announce()


@case('C-081 S11 C-106')
def properties_cut_short(t):
    """A truncated property message gets BAD_XDR, wherever it is cut"""
    props = [Prop(RBSIZ, 8192), Prop(BRS, BRS_GENL)]
    for whole in (connprop(t.xid(), props, {0, 1}), updprop(t.xid(), props),
                  reqprop(t.xid(), props)):
        for length in range(16, len(whole.encode()), 4):
            t.error(whole.cut(length), BAD_XDR)
    t.announce()


@case('C-106 C-081')
def counts_of_properties(t):
    """A count of properties or words that exceeds the message gets BAD_XDR"""
    for count in (2, 0x10000000, 0x20000001, 0xffffffff):
        t.error(Raw(u32(t.xid(), 2, 32, 6, count, RBSIZ, 4, 4096)), BAD_XDR)
        t.error(Raw(u32(t.xid(), 2, 32, 6, 0, count, 1)), BAD_XDR)


@case('C-019 C-060 C-108')
def unknown_properties(t):
    """Unknown and experimental properties are skipped, and the rest is applied"""
    props = [Prop(i, b'abcde'[:n % 6]) for n, i in enumerate(UNKNOWN)]
    t.announce(*props, Prop(RBSIZ, 8192), *props[::-1])
    expect_inline(t, 6000)


def expect_inline(t, count, inline=True):
    """A READ of this size has to be inline, or not."""
    if not t.target.root:
        return
    handle = t.file(bytes(count))
    region = t.memory(count + 256)
    answer = t.reply(t.call(rpc.READ, rpc.read_arguments(handle, count),
                            reply=t.segments(region)))
    check((answer.message.proc != NOMSG) is inline,
          f'READ of {count}: rdma_proc {answer.message.proc}')


@case('C-001 C-020 C-024 C-031 E-13 S13', needs='export')
def rbsiz_bounds_replies(t):
    """Replies are inline up to the client's RBSIZ: 4096 by default"""
    limit = t.receive_size(8192)
    if limit < 8192:
        raise NotApplicable(f'the server itself has buffers of {limit}')
    expect_inline(t, 6000)
    for props in ([Prop(RBSIZ, 4096)], [Prop(RBSIZ, b'')], [], [Prop(1234, 9)]):
        t.again()
        t.announce(*props)
        t.largest = 4096
        expect_inline(t, 3800)
        expect_inline(t, 6000, False)


@case('S19', needs='export')
def properties_are_of_one_connection(t):
    """A client's properties are not in force on its next connection"""
    t.receive_size(8192)
    t.again()
    t.largest = 4096
    expect_inline(t, 6000, False)


@case('S13', needs='export')
def rbsiz_that_is_small(t):
    """An RBSIZ below 4096 is valid, and limits Sends down to 1024"""
    for size in (2048, 1024, 100, 0):
        t.again()
        t.announce(Prop(RBSIZ, size))
        expect_inline(t, 700)
        expect_inline(t, 3000, False)


@case('S13')
def rbsiz_that_is_large(t):
    """No RBSIZ is too large"""
    for size in (65536, 0x100000, 0x7fffffff, 0xffffffff):
        t.again()
        t.announce(Prop(RBSIZ, size))
        t.alive()


@case('C-019 C-106')
def unknown_property_of_several_pages(t):
    """An unknown property of any length is skipped, and the rest is applied"""
    size = t.receive_size()
    t.again(size=max(size, 16384))
    t.announce(Prop(0x1234, bytes(size - 64)), Prop(RBSIZ, 4096))
    t.alive()


@case('C-021', needs='export')
def order_of_properties(t):
    """The order of properties has no effect"""
    for props in ([Prop(RBSIZ, 8192), Prop(BRS, BRS_INLINE)],
                  [Prop(BRS, BRS_INLINE), Prop(RBSIZ, 8192)]):
        t.again()
        t.announce(*props, nochg={0, 1})
        expect_inline(t, 6000)


@case('S12', needs='export')
def properties_twice(t):
    """The last value of a property that is twice in CONNPROP counts"""
    t.announce(Prop(RBSIZ, 8192), Prop(RBSIZ, 4096))
    t.largest = 4096
    expect_inline(t, 6000, False)


@case('S12', needs='export')
def property_longer_than_its_type(t):
    """Bytes after a property's value are ignored"""
    t.announce(Prop(RBSIZ, u32(8192, 0xffffffff)))
    t.largest = 8192
    expect_inline(t, 6000)


@case('S11', needs='export')
def nothing_of_a_bad_message_applies(t):
    """A CONNPROP with one malformed property is not applied at all"""
    t.error(connprop(t.xid(), [Prop(RBSIZ, 8192), Prop(BRS, 7)]), BAD_XDR)
    t.largest = 4096
    expect_inline(t, 6000, False)


@case('S15 C-023', needs='export')
def updprop_applies(t):
    """Larger and smaller values in UPDPROP are in force immediately"""
    if t.receive_size(4096) < 8192:
        raise NotApplicable('the server has buffers of 4096')
    expect_inline(t, 6000, False)
    t.nothing(updprop(t.xid(), [Prop(RBSIZ, 8192)]))
    t.largest = 8192
    expect_inline(t, 6000)
    t.nothing(updprop(t.xid(), [Prop(RBSIZ, 4096)]))
    t.largest = 4096
    expect_inline(t, 6000, False)


@case('S52 C-049')
def options_that_call_themselves_replies(t):
    """CONNPROP, REQPROP and UPDPROP, as options with REPLY, are processed by type"""
    def as_reply(message):
        return message.with_word(4, REPLY)
    got = t.ask(as_reply(connprop(t.xid(), [Prop(RBSIZ, 8192)], as_option=True))).message
    check(isinstance(got, Properties) and got.proc == CONNPROP and got.as_option, f'{got}')
    message = reqprop(t.xid(), [Prop(RBSIZ, 4096)], as_option=True)
    got = t.ask(as_reply(message)).message
    check(isinstance(got, Properties) and got.proc == RESPROP and got.xid == message.xid, f'{got}')
    t.nothing(as_reply(updprop(t.xid(), [Prop(RBSIZ, 8192)], as_option=True)))
    t.error(as_reply(updprop(t.xid(), [Prop(BRS, 7)], as_option=True)), BAD_XDR)


@case('C-022 S04')
def bitmaps_of_any_length(t):
    """rdma_nochg may have no word, one or more, with bits beyond the set"""
    for words in ((), (3,), (0xffffffff,), (3, 0), (0, 0, 0xffffffff)):
        t.again()
        message = Raw(u32(t.xid(), 2, 32, 6) + propset([Prop(RBSIZ, 4096)]) +
                      u32(len(words), *words))
        got = t.ask(message).message
        check(isinstance(got, Properties), f'{words} gets {got}')


@case('C-049 C-051 C-055 C-057')
def wishes_are_answered(t):
    """REQPROP gets one RESPROP with its xid, in which each request is in one set"""
    size = t.receive_size()
    t.wishes()
    t.wishes(Prop(RBSIZ, 4096))
    t.wishes(Prop(BRS, BRS_INLINE), Prop(0xffffffff, 7), Prop(RBSIZ, 65536))
    t.wishes(*[Prop(i, b'x') for i in UNKNOWN], Prop(RBSIZ, size))
    t.wishes(*[Prop(0x2000 + i, b'') for i in range(70)])
    t.nothing()


@case('C-053 C-108 C-019')
def unknown_wishes(t):
    """A request for an unknown property is rejected"""
    t.announce()
    _, rejected, _ = t.wishes(*[Prop(i, b'abc') for i in UNKNOWN])
    check(rejected == set(range(len(UNKNOWN))), f'rejected {rejected}')


@case('C-025 C-050 C-052 C-053 C-054 S16')
def wishes_for_a_size(t):
    """A request for the current size is done; one beyond the server's limits is not"""
    size = t.receive_size()
    done, _, _ = t.wishes(Prop(RBSIZ, size))
    check(done == {0}, f'its own RBSIZ {size} is not done')
    t.reply(t.null().plus(bytes(min(size, 16384) - 76)))
    done, rejected, other = t.wishes(Prop(RBSIZ, 0x10000000))
    check(not done, f'256 MiB are done: {rejected} {other}')
    check(RBSIZ not in other or other[RBSIZ].word >= 4096, f'{other}')


@case('C-052 S16')
def wishes_for_a_small_size(t):
    """A request for 4096 bytes is done, because RBSIZ is a minimum"""
    t.receive_size()
    done, rejected, other = t.wishes(Prop(RBSIZ, 4096))
    check(done == {0}, f'{rejected} {other}')
    t.reply(t.null().plus(bytes(4096 - 76)))


@case('S16 S12')
def wishes_twice(t):
    """The second request for the same property is rejected"""
    t.receive_size()
    _, rejected, _ = t.wishes(Prop(RBSIZ, 4096), Prop(RBSIZ, 4096))
    check(1 in rejected, f'rejected {rejected}')


@case('C-055 C-057 S12')
def many_wishes(t):
    """The maximum number of requests in a message is answered, in a message that fits"""
    t.announce()
    t.wishes(*[Prop(0x3000 + i, b'') for i in range(500)])


@case('S53 C-025')
def wishes_that_flip(t):
    """Alternating large and small sizes are answered, but not done each time"""
    if t.receive_size() <= 4096:
        raise NotApplicable('the server has buffers of 4096')
    done = []
    for size in (4096, 65536) * 10:
        message = reqprop(t.xid(), [Prop(RBSIZ, size)])
        got = t.ask(message).message
        while isinstance(got, Properties) and got.proc == UPDPROP:
            got = t.receive().message
        check(isinstance(got, Properties) and got.proc == RESPROP and got.xid == message.xid,
              f'{got}')
        done += [size] if 0 in got.sets[0] else []
    check(done and done[0] == 4096, f'the first request: {done}')
    check(done.count(4096) < 8, f'done: {done}')


@case('C-041 C-049 S16')
def wishes_before_connprop(t):
    """REQPROP is answered even before CONNPROP"""
    t.wishes(Prop(RBSIZ, 4096))
    t.announce()


@case('C-048 S18')
def wish_with_the_xid_of_a_call(t):
    """A REQPROP with the xid of an outstanding Call: both are answered"""
    t.announce()
    call = t.null()
    t.send(call, reqprop(call.number, [Prop(RBSIZ, 4096)]))
    got = [t.receive().message for _ in range(2)]
    check(all(m.xid == call.number for m in got), f'{got}')
    check(sum(isinstance(m, Properties) for m in got) == 1, f'{got}')
    t.nothing()


@case('S16')
def several_wishes_at_once(t):
    """Concurrent REQPROPs are answered in their order"""
    t.announce()
    grown(t, 6)                         # so many Receives are posted
    messages = [reqprop(t.xid(), [Prop(RBSIZ, 4096)]) for _ in range(6)]
    t.send(*messages)
    for message in messages:
        got = t.receive().message
        check(got.xid == message.xid, f'{got}')


@case('C-004 C-028 B-11')
def messages_as_long_as_a_receive(t):
    """Messages of exactly the server's RBSIZ are answered, up to the grant"""
    size = t.receive_size(65536)
    t.again(size=max(size, 16384))
    got = t.announce(Prop(RBSIZ, 4096))
    calls = [t.null() for _ in range(min(got.credit, 24))]
    t.send(*[c.plus(bytes(size - len(c.encode()))) for c in calls])
    left = {c.number for c in calls}
    while left:
        answer = t.receive()
        check(answer is not None, f'{len(left)} of {len(calls)} are not answered')
        left.remove(answer.message.xid)


@case('C-028 S16')
def a_rejected_wish_leaves_the_receives(t):
    """After a request for Receives that are too small, messages of the old size are answered"""
    size = t.receive_size(65536)
    t.again(size=max(size, 16384))
    t.announce(Prop(RBSIZ, 4096))
    _, rejected, _ = t.wishes(Prop(RBSIZ, 1024))
    check(rejected == {0}, f'rejected: {rejected}')
    for _ in range(32):                         # each Receive has been posted again by then
        t.alive()
    null = t.null()
    check(t.ask(null.plus(bytes(size - len(null.encode())))).message.xid == null.xid, 'no answer')


@case('B-20 S20')
def any_readiness_for_callbacks(t):
    """A client's Calls are answered with any BRS"""
    for value in (BRS_NONE, BRS_INLINE, BRS_GENL):
        t.again()
        t.announce(Prop(BRS, value))
        t.alive()


@case('S16', needs='export')
def a_wish_changes_nothing_of_the_other_side(t):
    """A request about the server's RBSIZ leaves the client's unchanged"""
    if t.receive_size(8192) < 8192:
        raise NotApplicable('the server has buffers of 4096')
    t.wishes(Prop(RBSIZ, 4096))
    expect_inline(t, 6000)


@case('S07')
def bytes_behind_properties(t):
    """Bytes after a property message are ignored"""
    message = connprop(t.xid(), [Prop(RBSIZ, 4096)])
    got = t.ask(message.plus(bytes(40))).message
    check(isinstance(got, Properties), f'{got}')
