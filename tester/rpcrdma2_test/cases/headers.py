# SPDX-License-Identifier: GPL-2.0
"""Malformed headers, and payloads that do not match their headers."""

from ..registry import case, check
from ..rpc import NULL, GETATTR, call, number_at, results
from ..wire import (BAD_XDR, DONE, ERR_CHUNK, ERROR, INVALID_PROC, MSGP, NOMSG,
                    REPLY, Raw, Segment, u32)

HERE = Segment(0x1234, 4096, 0x10000)


@case('C-080 C-076')
def unknown_proc(t):
    """An unknown proc in version 2 gets INVALID_PROC; DONE and MSGP are unknown"""
    for proc in (2, 3, 10, 11, 0x100, 0xffffffff):
        t.error(t.null().with_word(3, proc), INVALID_PROC)
    t.alive()


@case('C-080 S44')
def unknown_proc_alone(t):
    """INVALID_PROC needs only the 16 bytes that all versions have"""
    t.error(Raw(u32(t.xid(), 2, 32, 10)), INVALID_PROC)


@case('C-062 C-076 C-077 S02 S49')
def errors_end_with_their_arguments(t):
    """An error has no trailing bytes and no direction, and it has a grant"""
    region = t.memory(4096).window()
    spoilt = t.null(writes=[t.segments(region)], inv_handle=region.handle).with_word(6, 2)
    answer = t.ask(spoilt)
    check(answer.length == 20 and answer.message.encode()[12:20] == u32(ERROR, BAD_XDR),
          f'{answer.length} bytes: {answer.message}')
    check(answer.invalidated is None, 'an error with invalidation')


def everything(t):
    """Returns a Call with all three lists."""
    return t.null(reads=[(40, HERE)], writes=[[HERE, HERE]], reply=[HERE])


@case('C-081 S05')
def headers_cut_short(t):
    """A truncated header gets BAD_XDR, wherever it is cut"""
    whole = everything(t)
    for length in range(16, whole.header_length, 4):
        t.error(whole.cut(length), BAD_XDR)
    t.alive()


@case('C-081 S05')
def headers_cut_within_a_word(t):
    """A header that ends within a word gets BAD_XDR"""
    for length in (17, 19, 22, 35):
        t.error(t.null().cut(length), BAD_XDR)


@case('C-081 S05')
def discriminators(t):
    """A list discriminator other than 0 and 1 gets BAD_XDR"""
    for word in (6, 7, 8):
        for value in (2, 0xff, 0x100, 0x01000000, 0xffffffff):
            t.error(t.null().with_word(word, value), BAD_XDR)
    t.alive()


@case('S05 C-106')
def counts_beyond_the_message(t):
    """A count of segments that exceeds the message gets BAD_XDR"""
    message = t.null(writes=[[HERE]])
    for count in (2, 0x1000, 0x10000001, 0x40000001, 0xffffffff):
        t.error(message.with_word(8, count), BAD_XDR)
    message = t.null(reply=[HERE])
    for count in (8, 0x10000001, 0xffffffff):
        t.error(message.with_word(9, count), BAD_XDR)
    t.alive()


@case('S05 C-106')
def lengths_that_overflow(t):
    """Lengths whose sum exceeds 32 bits get BAD_XDR, and nothing is read"""
    big = Segment(0x1234, 0xfffffff0, 0)
    t.error(t.call(NULL, reads=[(0, big), (0, big)], proc=NOMSG).but(body=b''), BAD_XDR)
    t.alive()


@case('S06')
def unreadable_direction(t):
    """An rdma_direction above 1 gets BAD_XDR"""
    for value in (2, 3, 0x100, 0xffffffff):
        t.error(t.null().with_word(4, value), BAD_XDR)


@case('S06 C-067')
def call_with_a_reply(t):
    """CALL with the msg_type of a Reply gets BAD_XDR"""
    t.error(t.null().with_word(10, REPLY), BAD_XDR)


@case('S06 C-067 C-078')
def reply_with_a_call(t):
    """REPLY with the msg_type of a Call gets no answer"""
    t.nothing(t.null(direction=REPLY))


@case('S07 C-061')
def message_without_a_payload(t):
    """RDMA2_MSG without the xid and type of an RPC gets BAD_XDR"""
    for length in (36, 40, 43):
        t.error(t.null().cut(length), BAD_XDR)


@case('S07 E-05')
def position_zero_in_a_msg(t):
    """RDMA2_MSG with a Position-Zero chunk gets BAD_XDR"""
    t.error(t.null(reads=[(0, HERE)]), BAD_XDR)


@case('S07')
def nomsg_without_position_zero(t):
    """RDMA2_NOMSG without a Position-Zero chunk gets BAD_XDR"""
    t.error(t.null(proc=NOMSG).but(body=b''), BAD_XDR)
    t.error(t.null(proc=NOMSG, reads=[(40, HERE)]).but(body=b''), BAD_XDR)


@case('S07 C-064')
def bytes_behind_nomsg(t):
    """Bytes after the header of RDMA2_NOMSG are ignored"""
    t.answered(t.long(NULL).plus(b'bytes that mean nothing'))


@case('S08')
def two_xids(t):
    """An rdma_xid that differs from the RPC's xid gets BAD_XDR with rdma_xid"""
    message = t.null()
    t.error(message.but(number=message.number ^ 1), BAD_XDR)


@case('S08 E-03')
def two_xids_in_memory(t):
    """An rdma_xid that differs from the xid in a Position-Zero chunk gets BAD_XDR"""
    message = t.long(NULL)
    t.error(message.but(number=message.number ^ 1), BAD_XDR)
    t.alive()


@case('S06 S08 C-067')
def a_reply_in_memory(t):
    """A Position-Zero chunk with a Reply in a NOMSG Call gets BAD_XDR"""
    message = t.long(NULL)
    t.endpoint.regions[0].write(u32(REPLY), 4)
    t.error(message, BAD_XDR)
    t.alive()


@case('S44 S05')
def order_of_checks(t):
    """Of several faults: proc before lists, lists before payload, payload before limits"""
    many = [(40, HERE)] * 200
    t.error(t.null().with_word(6, 2).with_word(3, 10), INVALID_PROC)
    t.error(t.null().with_word(6, 2).with_word(10, REPLY), BAD_XDR)
    t.error(t.null(reads=many[:150]).with_word(0, 1), BAD_XDR)
    t.error(t.null(reads=many[:100], writes=[[HERE]]).cut(36 + 24 * 100 + 4), BAD_XDR)
    t.alive()


@case('E-24 C-095', version=1)
def version_one_errors(t):
    """Any fault of a version 1 header gets ERR_CHUNK, and the connection stays"""
    t.error(t.null().with_word(3, 7), ERR_CHUNK)
    t.error(Raw(u32(t.xid(), 1, 32, NOMSG, 0, 0, 0)), ERR_CHUNK)
    t.error(t.null(reads=[(40, HERE)]).cut(24), ERR_CHUNK)
    t.error(t.null(writes=[[HERE]]).with_word(6, 99), ERR_CHUNK)
    t.alive()


@case('E-24 S08', version=1)
def version_one_two_xids(t):
    """In version 1 an rdma_xid that differs from the RPC's xid gets ERR_CHUNK"""
    message = t.null()
    t.error(message.but(number=message.number ^ 1), ERR_CHUNK)


@case('E-24 S05', version=1)
def version_one_discriminators(t):
    """In version 1 a list discriminator other than 0 and 1 gets ERR_CHUNK"""
    for word in (4, 5, 6):
        t.error(t.null().with_word(word, 2), ERR_CHUNK)


@case('E-22', version=1)
def done(t):
    """RDMA_DONE gets no answer"""
    t.nothing(Raw(u32(t.xid(), 1, 32, DONE)))


@case('E-23', version=1)
def msgp(t):
    """RDMA_MSGP is read as RDMA_MSG"""
    message = t.null(proc=MSGP)
    padded = message.encode()[:16] + u32(4, 2048) + message.encode()[16:]
    t.reply(Raw(padded))


@case('S31', version=1)
def version_one_short_messages(t):
    """Messages of less than 16 bytes are dropped without an answer"""
    for length in range(16):
        t.nothing(t.null().cut(length))


@case('S38 C-078', version=1)
def version_one_silence(t):
    """An error or a Reply in version 1 gets no answer"""
    t.nothing(Raw(u32(t.xid(), 1, 32, ERROR, ERR_CHUNK)))
    t.nothing(t.null().with_word(8, REPLY))


@case('S07 C-061')
def garbage_in_the_rpc(t):
    """A fault within the RPC gets an RPC Reply, not an error"""
    message = t.null()
    answer = t.reply(message.but(body=call(message.number, GETATTR, u32(0xffff))))
    results(answer.message.body, 4)
    answer = t.reply(message.but(body=call(message.number, NULL, prog=200999)))
    results(answer.message.body, 1)
    check(number_at(answer.message.body, 4) == REPLY, 'no Reply')
