# SPDX-License-Identifier: GPL-2.0
"""
A client and the properties of its server: what they do to its Sends and chunks, whenever
they come, what it answers, and what it asks. asked has the same of a server.

The command works in rounds. Each begins with a folder and goes on with files in it, which
are written and read: of 900 to 9000 bytes, at once. The server sends its properties before
it answers a MKDIR, so that the files of the round show their effect.
"""

from .. import rpc, wire
from ..registry import NotApplicable, case, check
from ..wire import (BRS, BRS_INLINE, CONNPROP, INVALID_OPTION, INVALID_PROC, NOMSG, RBSIZ, REQPROP,
                    RESPROP, UPDPROP, VERS, Error, Option, Prop, Properties, resprop, updprop)
from .client_fallback import asked
from .client_negotiation import err_vers

HEADER = 36                     # of a Call without chunks
SMALL, OWN, LARGE = 6144, 8192, 65536

# The mark of this project's ends, and what is said before it
MARK = bytes.fromhex('4b3c712e362644af9d2c3e28063801e6')
X_MARK, X_LIMITS, X_SEND = 0xffffff00, 0xffffff01, 0xffffff02


def of_procedure(call, procedure):
    """A Call of NFS whose header for RPC is inline"""
    return (len(call.body) >= 24 and rpc.number_at(call.body, 12) == rpc.NFS and
            rpc.number_at(call.body, 20) == procedure)


def round_begins(t):
    """The next MKDIR, which is not answered."""
    call = t.serve(lambda c: of_procedure(c, rpc.MKDIR))
    if call is None:
        raise NotApplicable('the command works in fewer rounds')
    return call


def written(t, limit):
    """
    What is written in a round, to its first READ: a Call that is longer than the limit has a
    Read chunk, no other has one.
    """
    inline = chunks = 0
    while True:
        call = t.serve(lambda c: c.proc == NOMSG or of_procedure(c, rpc.WRITE) or
                       of_procedure(c, rpc.READ))
        check(call is not None, 'the command has ended')
        if of_procedure(call, rpc.READ):
            break
        whole = HEADER + len(t.contents(call))
        check(bool(call.reads) == (whole > limit), f'{whole} bytes, {limit} are taken: {call}')
        inline, chunks = inline + (not call.reads), chunks + bool(call.reads)
        t.answer(call)
    check(inline and (chunks or limit == LARGE), f'{inline} inline, {chunks} in chunks')
    t.answer(call)


def bounded(t, begun, limit):
    """The rest of a round goes by this limit."""
    t.largest = limit
    t.answer(begun)
    written(t, limit)


def ends(t):
    """No other CONNPROP on this connection, no other version, and the command succeeds."""
    t.goes_on(2)
    found = [m for m in t.others if m.proc == CONNPROP]
    check(not found, f'{found}')


@case('S19', plays='server')
def values_are_of_one_connection(t):
    """What a server has announced on the connection before does not bind"""
    t.negotiate(Prop(RBSIZ, OWN), Prop(BRS, BRS_INLINE))
    bounded(t, round_begins(t), OWN)
    t.goes_on(2)
    t.others.clear()
    t.come_again()
    t.largest = 4096
    t.negotiate(Prop(BRS, BRS_INLINE))
    bounded(t, round_begins(t), 4096)
    ends(t)


@case('C-044 C-024', plays='server')
def a_server_that_has_no_answer(t):
    """A server that ignores CONNPROP is sent 4096 bytes inline, and all works"""
    asked(t)
    bounded(t, round_begins(t), 4096)
    ends(t)


# Values that change

@case('S33 C-029', plays='server')
def large_receives(t):
    """What fits in the server's RBSIZ of 8192 goes inline"""
    t.negotiate(Prop(RBSIZ, OWN), Prop(BRS, BRS_INLINE))
    bounded(t, round_begins(t), OWN)
    ends(t)


@case('S15 S13 C-052', plays='server')
def updates(t):
    """UPDPROP binds at once: 1024 bytes, and more than the client ever sends"""
    t.negotiate()
    bounded(t, round_begins(t), 4096)
    for num_bytes in (1024, OWN):
        begun = round_begins(t)
        t.send(updprop(t.xid(), [Prop(RBSIZ, num_bytes)]))
        bounded(t, begun, num_bytes)
    ends(t)


@case('S15', plays='server')
def second_connprop(t):
    """A second CONNPROP is an update"""
    t.negotiate()
    begun = round_begins(t)
    t.send(wire.connprop(t.xid(), [Prop(RBSIZ, 1024)]))
    bounded(t, begun, 1024)
    ends(t)


@case('S11', plays='server')
def nothing_of_a_bad_update_applies(t):
    """Of an UPDPROP with one bad property none is applied; it gets BAD_XDR"""
    t.negotiate()
    begun = round_begins(t)
    t.refused(updprop(t.xid(), [Prop(RBSIZ, 1024), Prop(BRS, 7)]), wire.BAD_XDR)
    bounded(t, begun, 4096)
    ends(t)


@case('C-019 C-060', plays='server')
def experimental_properties(t):
    """What is experimental or unknown in an UPDPROP is skipped, and the rest applies"""
    t.negotiate()
    begun = round_begins(t)
    odd = [Prop(n, b'ww') for n in range(0xffffff40, 0xffffff43)]
    t.silent(updprop(t.xid(), [*odd, Prop(RBSIZ, OWN)]))
    bounded(t, begun, OWN)
    ends(t)


@case('S14 C-092', plays='server')
def no_guess_after_an_update(t):
    """After REPLY_RESOURCE for a guess a larger RBSIZ does not bring the guess back"""
    t.negotiate(Prop(RBSIZ, OWN), Prop(BRS, BRS_INLINE))
    begun = round_begins(t)
    t.send(Error(begun.number, wire.REPLY_RESOURCE, (200,), credit=t.grant))
    again = t.serve(lambda c: c.number == begun.number)
    check(again is not None and again.reply, f'{again}')
    t.send(updprop(t.xid(), [Prop(RBSIZ, LARGE)]))
    t.largest = LARGE
    t.answer(again)
    call = read_of(t, 4096)
    check(call.writes or call.reply, f'{call}')
    t.answer(call)
    ends(t)


# What the client answers

def wish(t):
    return [Prop(BRS, t.takes), Prop(0xffffffff, b'\0\0\0\7'), Prop(RBSIZ, 1 << 28)]


def answers_a_wish(t, direction=None, **fields):
    t.negotiate()
    begun = round_begins(t)
    message = wire.reqprop(t.xid(), wish(t), **fields)
    got = t.answer_to(message if direction is None else message.with_word(4, direction))
    check(isinstance(got, Properties) and got.proc == RESPROP and got.xid == message.xid and
          got.as_option == message.as_option, f'{got}')
    done, rejected, other = got.sets
    check((done, rejected, other) == ({0}, {1, 2}, []), f'{got.sets}')
    t.answer(begun)
    ends(t)


@case('C-049 C-051 C-053 S16', plays='server')
def wishes(t):
    """REQPROP: BRS as it is is done, what is unknown and too large a size are rejected"""
    answers_a_wish(t)


@case('S01 S16', plays='server')
def wishes_as_an_option(t):
    """REQPROP spelled as an option is answered as an option"""
    answers_a_wish(t, as_option=True)


@case('S52 C-049', plays='server')
def wishes_as_an_option_that_is_a_reply(t):
    """So it is whatever its direction says"""
    answers_a_wish(t, wire.REPLY, as_option=True)


@case('C-048 S18', plays='server')
def wishes_with_the_xid_of_a_call(t):
    """A REQPROP with the xid of each RPC, before its Reply: each has its RESPROP"""
    t.negotiate()
    calls = []

    def ask(call):
        calls.append(call.number)
        t.send(wire.reqprop(call.number, [Prop(RBSIZ, 4096)]))
    check(t.serve(ask) is None, 'a Call is held')
    t.succeeds()
    answered = [m.xid for m in t.others if m.proc == RESPROP]
    check(sorted(answered) == sorted(calls), f'{len(calls)} RPCs, {len(answered)} RESPROPs')


@case('S15 S17', plays='server')
def anything_at_any_time(t):
    """All that can be said of properties before each Reply, while the client asks: no harm"""
    t.negotiate(Prop(RBSIZ, OWN), frozen=False)
    sizes = iter([4096, SMALL, OWN, 5000] * 20)

    def babble(call):
        if of_procedure(call, rpc.MKDIR):
            t.set('send_size', next(sizes))
        while questions(t):
            question = questions(t)[0]
            t.others.remove(question)
            t.send(resprop(question.xid, {0}))
        for num_bytes in (0, 0xffffffff, LARGE, 4096):
            for option in (False, True):
                props = [Prop(RBSIZ, num_bytes)]
                t.send(wire.connprop(call.number, props, as_option=option),
                       wire.reqprop(call.number, props, as_option=option),
                       resprop(call.number, {0}, {0}, props, as_option=option),
                       updprop(call.number, props, as_option=option))
    t.largest = LARGE
    check(t.serve(babble, 60) is None, 'a Call is held')
    t.succeeds()


@case('S40 C-012', plays='server')
def option_with_a_payload(t):
    """An unknown option gets INVALID_OPTION, also with an RPC behind it, of which nothing comes"""
    t.negotiate()
    begun = round_begins(t)
    xid = t.xid()
    for payload in (b'', rpc.call(xid, prog=0x40000000, vers=1)):
        t.refused(Option(xid, 0x7fffff01, b'info', payload=payload), INVALID_OPTION)
    t.answer(begun)
    ends(t)


# What the client asks

def questions(t):
    return [m for m in t.others if m.proc == REQPROP]


def next_question(t):
    got = t.receive(1)
    check(got is not None, 'the client asks for nothing')
    return is_question(got.message)


def is_question(message):
    check(isinstance(message, Properties) and message.proc == REQPROP, f'{message}')
    check([p.which for p in message.sets[0]] == [RBSIZ], f'{message.sets}')
    return message


def asks(t, answer, limit, again=True):
    """
    A server of OWN bytes is asked for SMALL ones, and for more when the client's Sends may
    be of LARGE: each wish gets this answer. `again` is whether there is a second one.
    """
    t.negotiate(Prop(RBSIZ, OWN), Prop(BRS, BRS_INLINE), frozen=False)
    begun = round_begins(t)
    t.set('send_size', SMALL)
    question = next_question(t)
    check(question.values[RBSIZ].word == SMALL, f'{question.sets}')
    reply = answer(question)
    if reply:
        t.silent(reply)
    bounded(t, begun, SMALL)
    begun = round_begins(t)
    t.set('send_size', LARGE)
    got = t.receive(1 if again else 0.3)
    check((got is not None) == again, f'second question: {got}')
    if got:
        question = is_question(got.message)
        check(question.values[RBSIZ].word > OWN, f'{question.sets}')
        t.silent(answer(question))
    bounded(t, begun, limit)
    ends(t)
    check(not questions(t) and not [m for m in t.others if m.proc == UPDPROP], f'{t.others}')


def done_up_to_own(question):
    if question.values[RBSIZ].word <= OWN:
        return resprop(question.xid, {0})
    return resprop(question.xid, other=[Prop(RBSIZ, OWN)])


@case('C-052 C-054', plays='server', needs='set')
def done_and_another_value(t):
    """A wish that is done is, and one that is answered with another value has that"""
    asks(t, done_up_to_own, OWN)


@case('S01 C-052', plays='server', needs='set')
def done_as_an_option(t):
    """So it is when the answer is spelled as an option"""
    asks(t, lambda q: resprop(q.xid, {0}, as_option=True), LARGE)


@case('C-053', plays='server', needs='set')
def rejected(t):
    """A wish that is rejected leaves what the server has announced"""
    asks(t, lambda q: resprop(q.xid, rejected={0}), OWN)


@case('C-057 C-058', plays='server', needs='set')
def done_and_rejected(t):
    """One that is done and rejected is rejected"""
    asks(t, lambda q: resprop(q.xid, {0, 1}, {0}), OWN)


@case('C-055 C-056 C-058', plays='server', needs='set')
def what_was_not_asked(t):
    """So is one that is answered with values of other properties"""
    foreign = [Prop(BRS, 0), Prop(0xfffffff0, 0), Prop(BRS, 0)]
    asks(t, lambda q: resprop(q.xid, other=foreign), OWN)


@case('S11', plays='server', needs='set')
def bad_answer(t):
    """So is one whose answer does not decode, and that answer gets none"""
    asks(t, lambda q: resprop(q.xid, {0}).cut(-4), OWN)


@case('S17', plays='server', needs='set')
def answer_with_another_xid(t):
    """A RESPROP with another xid is no answer, and nothing else is asked"""
    asks(t, lambda q: resprop(q.xid ^ 0x10000000, {0}), SMALL, again=False)


@case('C-034 S16', plays='server', needs='set')
def no_answer_yet(t):
    """Until it is answered a wish for less binds the client itself"""
    asks(t, lambda q: None, SMALL, again=False)


@case('S18', plays='server', needs='set')
def bad_xdr_for_a_wish(t):
    """BAD_XDR for a wish rejects it"""
    asks(t, lambda q: Error(q.xid, wire.BAD_XDR), OWN)


@case('C-026 S18', plays='server', needs='set')
def invalid_proc_for_a_wish(t):
    """INVALID_PROC for a wish rejects all there might be"""
    asks(t, lambda q: Error(q.xid, INVALID_PROC), OWN, again=False)


@case('C-026 S18', plays='server', needs='set')
def invalid_option_for_a_wish(t):
    """So does INVALID_OPTION"""
    asks(t, lambda q: Error(q.xid, INVALID_OPTION), OWN, again=False)


@case('S18 S36', plays='server', needs='set')
def err_vers_for_a_wish(t):
    """ERR_VERS for a wish: the connection ends, and the version is found anew"""
    t.negotiate(Prop(RBSIZ, OWN), Prop(BRS, BRS_INLINE), frozen=False)
    round_begins(t)
    t.set('send_size', SMALL)
    t.send(Error(next_question(t).xid, VERS, (1, 1), 2))
    t.given_up()
    t.accept()
    err_vers(t, 1, 1)
    t.goes_on(1)


@case('C-047', plays='server', needs='set')
def no_wish_for_what_is_frozen(t):
    """The client does not ask for a change of what the server will not change"""
    t.negotiate(Prop(RBSIZ, OWN), Prop(BRS, BRS_INLINE))
    for num_bytes in (SMALL, LARGE):
        begun = round_begins(t)
        t.set('send_size', num_bytes)
        check(t.receive(0.3) is None, 'the client says something')
        bounded(t, begun, min(num_bytes, OWN))
    ends(t)
    check(not t.others, f'{t.others}')


@case('S26', plays='server', needs='set')
def place_of_a_wish(t):
    """A wish takes the place of a Call until it is answered, and no longer"""
    t.grant = 2
    t.negotiate(Prop(RBSIZ, OWN), Prop(BRS, BRS_INLINE), frozen=False)
    begun = round_begins(t)
    t.set('send_size', SMALL)
    question = next_question(t)
    t.answer(begun)
    first = t.serve(lambda c: c.body.endswith((rpc.opaque(b'x'), rpc.opaque(b'y'))))
    if first is None:
        raise NotApplicable('the command makes no two Calls at once')
    check(t.receive(0.5) is None, 'two Calls beside a wish, 2 granted')
    t.send(resprop(question.xid, {0}, credit=t.grant))
    second = t.next_call(2)
    check(second.number != first.number, f'{second}')
    t.answer(second)
    t.answer(first)
    ends(t)


@case('C-034', plays='server', needs='set')
def change_before_the_first_answer(t):
    """What changes while CONNPROP is not answered yet holds on this connection"""
    said = asked(t)
    t.set('send_size', SMALL)
    check(t.receive(0.3) is None, 'a message before the answer')
    t.send(wire.connprop(said.xid, [Prop(RBSIZ, OWN)], range(1)))
    bounded(t, round_begins(t), SMALL)
    ends(t)


# What this project's ends say to each other

def extended(t, mark, receive, send, limits):
    t.negotiate(Prop(RBSIZ, receive), Prop(X_SEND, send), Prop(X_LIMITS, wire.u32(*limits)),
                Prop(X_MARK, mark))


def read_of(t, num_bytes):
    """The next READ that asks for so many bytes: clients ask for whole pages"""
    call = t.serve(lambda c: of_procedure(c, rpc.READ) and
                   rpc.number_at(c.body, len(c.body) - 4) == num_bytes)
    check(call is not None, 'the command has ended')
    return call


def write_of(t, num_bytes):
    """The WRITE of so many bytes, in whatever form it comes"""
    call = t.serve(lambda c: (c.proc == NOMSG or of_procedure(c, rpc.WRITE)) and
                   len(t.contents(c)) > num_bytes)
    check(call is not None, 'the command has ended')
    return call


@case('C-060 C-083 S14', plays='server')
def largest_send_and_limits(t):
    """With the mark the server's largest Send and its limits count: no Read chunk, less inline"""
    extended(t, MARK, OWN, 2048, (16, 1 << 20, 0, 1))
    call = write_of(t, 9000)
    check(call.proc == NOMSG and {p for p, _ in call.reads} == {0}, f'{call}')
    t.answer(call)
    call = read_of(t, 4096)
    check(call.writes or call.reply, f'{call}')
    t.answer(call)
    ends(t)


@case('C-019 S11', plays='server')
def another_mark(t):
    """With another mark they are unknown properties"""
    extended(t, bytes([MARK[0] ^ 1]) + MARK[1:], OWN, 2048, (16, 1 << 20, 0, 1))
    call = write_of(t, 9000)
    check(call.proc != NOMSG and call.reads, f'{call}')
    t.answer(call)
    call = read_of(t, 4096)
    check(not (call.writes or call.reply), f'{call}')
    t.answer(call)
    ends(t)


@case('C-023 C-059', plays='server', needs='set')
def told_of_the_largest_send(t):
    """A server with the mark is told of the client's largest Send, by UPDPROP"""
    extended(t, MARK, OWN, 4096, (16, 1 << 20, 1, 1))
    begun = round_begins(t)
    t.set('send_size', SMALL)
    got = t.receive(1)
    check(got is not None and isinstance(got.message, Properties) and
          got.message.proc == UPDPROP, f'{got}')
    check([(p.which, p.word) for p in got.message.sets[0]] == [(X_SEND, SMALL)], f'{got.message}')
    bounded(t, begun, SMALL)
    ends(t)


@case('C-085 S13', plays='server')
def no_chunks(t):
    """To a server that takes no chunk at all none is sent: what needs one fails, at once"""
    extended(t, MARK, 0, 1, (0, 0, 0, 0))
    t.largest = 1024
    call = t.serve(lambda c: c.handles())
    check(call is None, f'{call}')
    t.succeeds()
