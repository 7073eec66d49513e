# SPDX-License-Identifier: GPL-2.0
"""
A client and its server's properties: their effect on Sends and chunks at any time, the client's
answers, and its requests. asked.py has the same for a server.

The command works in rounds. Each begins with a folder, and then writes and reads files of 900
to 9000 bytes in it, in single operations. The server sends its properties before it answers a
MKDIR, so that the files of the round show their effect.
"""

from .. import rpc, wire
from ..registry import NotApplicable, case, check
from ..wire import (BRS, BRS_INLINE, CONNPROP, INVALID_OPTION, INVALID_PROC, MARK, NOMSG, RBSIZ,
                    REQPROP, RESPROP, UPDPROP, VERS, X_LIMITS, X_MARK, X_SBSIZ, Error, Option,
                    Prop, Properties, Rpc, resprop, updprop)
from .client_fallback import asked
from .client_negotiation import err_vers

HEADER = 36                     # of a Call without chunks
SMALL, OWN, LARGE = 6144, 8192, 65536



def of_procedure(call, procedure):
    """Whether this is a Call of the NFS procedure, with an inline RPC header"""
    return (len(call.body) >= 24 and rpc.number_at(call.body, 12) == rpc.NFS and
            rpc.number_at(call.body, 20) == procedure)


def round_begins(t):
    """Returns the next MKDIR, without an answer."""
    call = t.serve(lambda c: of_procedure(c, rpc.MKDIR))
    if call is None:
        raise NotApplicable('the command works in fewer rounds')
    return call


def written(t, limit):
    """
    Checks the WRITEs of a round, until its first READ.

    A Call longer than the limit has to have a Read chunk, a shorter one none.
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
    """Checks the rest of the round with this limit."""
    t.largest = limit
    t.answer(begun)
    written(t, limit)


def ends(t):
    """The command has to succeed without another CONNPROP and without another version."""
    t.goes_on(2)
    found = [m for m in t.others if m.proc == CONNPROP]
    check(not found, f'{found}')


@case('S19', plays='server')
def values_are_of_one_connection(t):
    """Values that the server announced on an earlier connection are not in force"""
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
    """A server that ignores CONNPROP gets at most 4096 bytes inline"""
    asked(t)
    bounded(t, round_begins(t), 4096)
    ends(t)


# Changed values

@case('S33 C-029', plays='server')
def large_receives(t):
    """Calls that fit the server's RBSIZ of 8192 are inline"""
    t.negotiate(Prop(RBSIZ, OWN), Prop(BRS, BRS_INLINE))
    bounded(t, round_begins(t), OWN)
    ends(t)


@case('S15 S13 C-052', plays='server')
def updates(t):
    """UPDPROP is in force at once: 1024 bytes, and more than the client's largest Send"""
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
    """An UPDPROP with one malformed property gets BAD_XDR, and none of it is applied"""
    t.negotiate()
    begun = round_begins(t)
    t.refused(updprop(t.xid(), [Prop(RBSIZ, 1024), Prop(BRS, 7)]), wire.BAD_XDR)
    bounded(t, begun, 4096)
    ends(t)


@case('C-019 C-060', plays='server')
def experimental_properties(t):
    """Unknown and experimental properties in an UPDPROP are skipped, and the rest is applied"""
    t.negotiate()
    begun = round_begins(t)
    odd = [Prop(n, b'ww') for n in range(0xffffff40, 0xffffff43)]
    t.silent(updprop(t.xid(), [*odd, Prop(RBSIZ, OWN)]))
    bounded(t, begun, OWN)
    ends(t)


@case('S14 C-092', plays='server')
def no_guess_after_an_update(t):
    """After REPLY_RESOURCE for a Reply that was expected to fit, a larger RBSIZ changes nothing"""
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


# The client's answers

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
    """REQPROP: the current BRS is done; an unknown property and a large size are rejected"""
    answers_a_wish(t)


@case('C-033 S16', plays='server')
def the_same_size_twice(t):
    """A REQPROP for the size in force, a part of two pages, is done and raises nothing"""
    t.negotiate()
    begun = round_begins(t)
    for _ in range(2):
        message = wire.reqprop(t.xid(), [Prop(RBSIZ, 5000)])
        got = t.answer_to(message)
        check(isinstance(got, Properties) and got.proc == RESPROP and got.xid == message.xid and
              got.sets[0] == {0}, f'{got}')
    t.answer(begun)
    ends(t)
    sizes = [m.values[RBSIZ].word for m in t.others if m.proc == UPDPROP]
    check(not sizes, f'announced: {sizes}')


@case('S01 S16', plays='server')
def wishes_as_an_option(t):
    """REQPROP spelled as an option is answered as an option"""
    answers_a_wish(t, as_option=True)


@case('S52 C-049', plays='server')
def wishes_as_an_option_that_is_a_reply(t):
    """REQPROP spelled as an option is answered regardless of its direction"""
    answers_a_wish(t, wire.REPLY, as_option=True)


@case('C-048 S18', plays='server')
def wishes_with_the_xid_of_a_call(t):
    """A REQPROP with the xid of each RPC, before its Reply, gets a RESPROP"""
    t.negotiate()
    calls, count = [], 0
    while call := calls.pop(0) if calls else t.serve(lambda call: True):
        t.send(wire.reqprop(call.number, [Prop(RBSIZ, 4096)]))
        while (got := t.receive()) and isinstance(got.message, Rpc):
            calls.append(got.message)
        check(got and isinstance(got.message, Properties) and got.message.proc == RESPROP and
              got.message.xid == call.number, f'{call}: {got}')
        # Only now: behind its last Reply, the client may disconnect before it sends a message.
        t.answer(call)
        count += 1
    check(count, 'no Call')
    t.succeeds()
    check(not [m for m in t.others if m.proc == RESPROP], f'answered twice: {t.others}')


@case('S15 S17', plays='server',
      counts='dropped_silently > 3 * calls and reqprops > 4 * calls and reqprops_sent > 0')
def anything_at_any_time(t):
    """All property messages, before each Reply, while the client has a request, do no harm"""
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
    """An unknown option with an RPC as payload gets INVALID_OPTION, and the RPC no answer"""
    t.negotiate()
    begun = round_begins(t)
    xid = t.xid()
    for payload in (b'', rpc.call(xid, prog=0x40000000, vers=1)):
        t.refused(Option(xid, 0x7fffff01, b'info', payload=payload), INVALID_OPTION)
    t.answer(begun)
    ends(t)


# The client's requests

def questions(t):
    return [m for m in t.others if m.proc == REQPROP]


def next_question(t):
    got = t.receive(1)
    check(got is not None, 'the client requests nothing')
    return is_question(got.message)


def is_question(message):
    check(isinstance(message, Properties) and message.proc == REQPROP, f'{message}')
    check([p.which for p in message.sets[0]] == [RBSIZ], f'{message.sets}')
    return message


def asks(t, answer, limit, again=True):
    """
    Answers the client's requests of a server with Receives of OWN.

    The client requests SMALL, and more if its Sends may be LARGE. `again` is whether
    there is a second request.
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


@case('C-052 C-054', plays='server', needs='set',
      counts='resprops == 2 and properties_in_vain == 0 and reqprops_sent == 2')
def done_and_another_value(t):
    """A request that is done is in force, and one with another value has that value"""
    asks(t, done_up_to_own, OWN)


@case('S01 C-052', plays='server', needs='set',
      counts='resprops == 2 and properties_in_vain == 0 and reqprops_sent == 2')
def done_as_an_option(t):
    """A request that is done by an answer spelled as an option is in force"""
    asks(t, lambda q: resprop(q.xid, {0}, as_option=True), LARGE)


@case('C-053', plays='server', needs='set',
      counts='resprops == 2 and properties_in_vain == 0 and reqprops_sent == 2')
def rejected(t):
    """A request that is rejected leaves the server's announced value in force"""
    asks(t, lambda q: resprop(q.xid, rejected={0}), OWN)


@case('C-057 C-058', plays='server', needs='set',
      counts='resprops == 2 and properties_in_vain == 0 and reqprops_sent == 2')
def done_and_rejected(t):
    """A request that is both done and rejected is rejected"""
    asks(t, lambda q: resprop(q.xid, {0, 1}, {0}), OWN)


@case('C-055 C-056 C-058', plays='server', needs='set',
      counts='resprops == 2 and properties_in_vain == 0 and reqprops_sent == 2')
def what_was_not_asked(t):
    """A request that is answered with values of other properties is rejected"""
    foreign = [Prop(BRS, 0), Prop(0xfffffff0, 0), Prop(BRS, 0)]
    asks(t, lambda q: resprop(q.xid, other=foreign), OWN)


@case('S11', plays='server', needs='set',
      counts='resprops == 0 and properties_in_vain == 2 and reqprops_sent == 2')
def bad_answer(t):
    """A request with a malformed answer is rejected, and the answer gets none"""
    asks(t, lambda q: resprop(q.xid, {0}).cut(-4), OWN)


@case('S11 S01', plays='server', needs='set',
      counts='resprops == 0 and properties_in_vain == 2 and reqprops_sent == 2')
def bad_answer_as_an_option(t):
    """A request whose answer is an option longer than its message is rejected"""
    asks(t, lambda q: resprop(q.xid, {0}, as_option=True).cut(-4), OWN)


@case('S17', plays='server', needs='set',
      counts='resprops == 0 and properties_in_vain == 0 and dropped_silently == 1')
def answer_with_another_xid(t):
    """A RESPROP with another xid is not an answer, and the client has no other request"""
    asks(t, lambda q: resprop(q.xid ^ 0x10000000, {0}), SMALL, again=False)


@case('C-034 S16', plays='server', needs='set',
      counts='resprops == 0 and properties_in_vain == 0 and reqprops_sent == 1')
def no_answer_yet(t):
    """Until it is answered, a request for a smaller size limits the client itself"""
    asks(t, lambda q: None, SMALL, again=False)


@case('S18', plays='server', needs='set',
      counts='properties_in_vain == 2 and replies_unknown == 0 and reqprops_sent == 2')
def bad_xdr_for_a_wish(t):
    """BAD_XDR for a request rejects it"""
    asks(t, lambda q: Error(q.xid, wire.BAD_XDR), OWN)


@case('C-026 S18', plays='server', needs='set',
      counts='properties_in_vain == 1 and replies_unknown == 0 and reqprops_sent == 1')
def invalid_proc_for_a_wish(t):
    """INVALID_PROC for a request rejects all requests of the connection"""
    asks(t, lambda q: Error(q.xid, INVALID_PROC), OWN, again=False)


@case('C-026 S18', plays='server', needs='set',
      counts='properties_in_vain == 1 and replies_unknown == 0 and reqprops_sent == 1')
def invalid_option_for_a_wish(t):
    """INVALID_OPTION for a request rejects all requests of the connection"""
    asks(t, lambda q: Error(q.xid, INVALID_OPTION), OWN, again=False)


@case('S18 S36', plays='server', needs='set',
      counts='properties_in_vain == 1 and replies_unknown == 0 and reqprops_sent == 1 and '
             'connects == 2')
def err_vers_for_a_wish(t):
    """After ERR_VERS for a request the client disconnects and negotiates again"""
    t.negotiate(Prop(RBSIZ, OWN), Prop(BRS, BRS_INLINE), frozen=False)
    round_begins(t)
    t.set('send_size', SMALL)
    t.send(Error(next_question(t).xid, VERS, (1, 1), 2))
    t.given_up()
    t.accept()
    err_vers(t, 1, 1)
    t.goes_on(1)


@case('S18 S36', plays='server', needs='set',
      counts='properties_in_vain == 2 and replies_unknown == 0 and reqprops_sent == 2 and '
             'connects == 2')
def err_vers_for_each_wish(t):
    """ERR_VERS for a request on the next connection in version 2 only refuses the request"""
    announced = Prop(RBSIZ, OWN), Prop(BRS, BRS_INLINE)
    t.negotiate(*announced, frozen=False)
    round_begins(t)
    t.set('send_size', SMALL)
    t.send(Error(next_question(t).xid, VERS, (1, 2), 2))
    t.given_up()
    t.accept()
    t.negotiate(*announced, frozen=False)
    bounded(t, round_begins(t), SMALL)
    begun = round_begins(t)
    t.set('send_size', LARGE)
    t.send(Error(next_question(t).xid, VERS, (1, 2), 2))
    bounded(t, begun, OWN)
    ends(t)


@case('C-047', plays='server', needs='set')
def no_wish_for_what_is_frozen(t):
    """The client does not request a change of a property that the server has frozen"""
    t.negotiate(Prop(RBSIZ, OWN), Prop(BRS, BRS_INLINE))
    for num_bytes in (SMALL, LARGE):
        begun = round_begins(t)
        t.set('send_size', num_bytes)
        check(t.receive(0.3) is None, 'the client sends a message')
        bounded(t, begun, min(num_bytes, OWN))
    ends(t)
    check(not t.others, f'{t.others}')


@case('S26', plays='server', needs='set')
def place_of_a_wish(t):
    """A request takes the place of a Call until it is answered"""
    t.grant = 2
    t.negotiate(Prop(RBSIZ, OWN), Prop(BRS, BRS_INLINE), frozen=False)
    begun = round_begins(t)
    t.set('send_size', SMALL)
    question = next_question(t)
    t.answer(begun)
    first = t.serve(lambda c: c.body.endswith((rpc.opaque(b'x'), rpc.opaque(b'y'))))
    if first is None:
        raise NotApplicable('the command makes no concurrent Calls')
    check(t.receive(0.5) is None, 'two Calls and a REQPROP are outstanding, with 2 credits')
    t.send(resprop(question.xid, {0}, credit=t.grant))
    second = t.next_call(2)
    check(second.number != first.number, f'{second}')
    t.answer(second)
    t.answer(first)
    ends(t)


@case('C-034', plays='server', needs='set')
def change_before_the_first_answer(t):
    """A change while CONNPROP is unanswered is in force on this connection"""
    said = asked(t)
    t.set('send_size', SMALL)
    check(t.receive(0.3) is None, 'a message before the answer')
    t.send(wire.connprop(said.xid, [Prop(RBSIZ, OWN)], range(1)))
    bounded(t, round_begins(t), SMALL)
    ends(t)


# Property messages between this project's implementations

def extended(t, mark, receive, send, limits):
    t.negotiate(Prop(RBSIZ, receive), Prop(X_SBSIZ, send), Prop(X_LIMITS, wire.u32(*limits)),
                Prop(X_MARK, mark))


def read_of(t, num_bytes):
    """Returns the next READ of this size; clients request whole pages."""
    call = t.serve(lambda c: of_procedure(c, rpc.READ) and
                   rpc.number_at(c.body, len(c.body) - 4) == num_bytes)
    check(call is not None, 'the command has ended')
    return call


def write_of(t, num_bytes):
    """Returns the WRITE of this size, in any form."""
    call = t.serve(lambda c: (c.proc == NOMSG or of_procedure(c, rpc.WRITE)) and
                   len(t.contents(c)) > num_bytes)
    check(call is not None, 'the command has ended')
    return call


@case('C-060 C-083 S14', plays='server')
def largest_send_and_limits(t):
    """With the mark, the server's largest Send and limits are in force"""
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
    """The client announces its largest Send to a server with the mark, by UPDPROP"""
    extended(t, MARK, OWN, 4096, (16, 1 << 20, 1, 1))
    begun = round_begins(t)
    t.set('send_size', SMALL)
    got = t.receive(1)
    check(got is not None and isinstance(got.message, Properties) and
          got.message.proc == UPDPROP, f'{got}')
    check([(p.which, p.word) for p in got.message.sets[0]] == [(X_SBSIZ, SMALL)], f'{got.message}')
    bounded(t, begun, SMALL)
    ends(t)


@case('C-085 S13', plays='server',
      counts='calls_unsendable > 0 and calls_unsendable < 10 and registrations == 0 and '
             'calls_again == 0')
def no_chunks(t):
    """A server that accepts no chunks gets none; Calls that need one fail immediately"""
    extended(t, MARK, 0, 1, (0, 0, 0, 0))
    t.largest = 1024
    call = t.serve(lambda c: c.handles())
    check(call is None, f'{call}')
    t.succeeds()
