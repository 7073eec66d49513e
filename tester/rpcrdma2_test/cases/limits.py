# SPDX-License-Identifier: GPL-2.0
"""More chunks or segments than the server accepts: codes 4, 5 and 6."""

from ..registry import NotApplicable, case, check
from ..wire import NOMSG, READ_CHUNKS, SEGMENTS, SYSTEM, WRITE_CHUNKS, Error, Rpc, Segment

HERE = Segment(0x1234, 16, 0x10000)


def stretched(t, count, **fields):
    """Returns NULL with arguments, which it ignores, for this number of positions."""
    message = t.null(**fields)
    return message.but(body=message.body + bytes(4 * count),
                       reads=tuple((40 + 4 * i, HERE) for i in range(count)))


def read_chunks(count):
    return lambda t: stretched(t, count)


def write_chunks(count):
    return lambda t: t.null(writes=[[HERE]] * count)


def segments(count):
    return lambda t: t.null(writes=[[HERE] * count])


def limit_of(t, message, code):
    """Returns the server's limit from its error for a message far above the limit."""
    answer = t.ask(message)
    if isinstance(answer.message, Rpc):
        raise NotApplicable('only the size of a message limits the chunks')
    got = answer.message
    check(isinstance(got, Error) and got.code == code, f'code {code} expected, not {got}')
    return got.arguments[0]


def at_the_limit(t, build, many, code):
    """Above the limit the server has to name it each time."""
    limit = limit_of(t, build(many)(t), code)
    check(0 <= limit < many, f'{limit} is the limit, and {many} are too many')
    t.error(build(limit + 1)(t), code, limit)
    t.error(build(limit + 2)(t), code, limit)
    t.alive()
    return limit


@case('C-083')
def too_many_read_chunks(t):
    """One Read chunk above the server's limit gets READ_CHUNKS with the limit"""
    at_the_limit(t, read_chunks, 100, READ_CHUNKS)


@case('C-084')
def too_many_write_chunks(t):
    """One Write chunk above the server's limit gets WRITE_CHUNKS with the limit"""
    at_the_limit(t, write_chunks, 150, WRITE_CHUNKS)


@case('C-084')
def as_many_write_chunks_as_there_may_be(t):
    """The maximum number of Write chunks gets a Reply with the same number"""
    limit = limit_of(t, write_chunks(150)(t), WRITE_CHUNKS)
    answer = t.answered(write_chunks(limit)(t))
    check(len(answer.message.writes) == limit, f'{len(answer.message.writes)} chunks')


@case('C-085')
def too_many_segments_of_a_write_chunk(t):
    """A Write chunk with one segment above the server's limit gets SEGMENTS"""
    at_the_limit(t, segments, 230, SEGMENTS)


@case('C-085')
def as_many_segments_as_there_may_be(t):
    """A Write chunk with the maximum of segments gets a Reply with the same number"""
    limit = limit_of(t, segments(230)(t), SEGMENTS)
    answer = t.answered(segments(limit)(t))
    check([len(c) for c in answer.message.writes] == [limit], f'{answer.message.writes}')


@case('C-085')
def too_many_segments_of_a_reply_chunk(t):
    """A Reply chunk with one segment above the server's limit gets SEGMENTS"""
    limit = limit_of(t, t.null(reply=[HERE] * 230), SEGMENTS)
    t.error(t.null(reply=[HERE] * (limit + 1)), SEGMENTS, limit)
    t.answered(t.null(reply=[HERE] * limit))


@case('C-085')
def segments_of_several_chunks(t):
    """The argument of SEGMENTS for several chunks is the limit of each chunk"""
    for build in (lambda n: t.null(writes=[[HERE] * n] * 2),
                  lambda n: t.null(writes=[[HERE] * n] * 2, reply=[HERE] * n)):
        limit = limit_of(t, build(70), SEGMENTS)
        check(0 < limit < 70, f'{limit} is the limit, and 70 are too many')
        t.answered(build(limit))


@case('C-085 E-03')
def too_many_segments_of_a_read_chunk(t):
    """A Read chunk with one segment above the server's limit gets SEGMENTS, at any position"""
    limit = limit_of(t, t.null(reads=[(40, HERE)] * 160), SEGMENTS)
    t.error(t.null(reads=[(40, HERE)] * (limit + 1)), SEGMENTS, limit)
    t.error(t.null(proc=NOMSG, reads=[(0, HERE)] * (limit + 1)).but(body=b''),
            SEGMENTS, limit)


@case('C-085')
def as_many_segments_of_a_read_chunk(t):
    """A Read chunk with the maximum of segments is read"""
    limit = limit_of(t, t.null(reads=[(40, HERE)] * 160), SEGMENTS)
    region = t.memory(4)
    t.answered(t.null(reads=[(40, Segment(region.handle, 1, region.address))] * limit))


@case('C-106 C-093')
def a_call_that_is_too_large(t):
    """A Call of 2 GiB gets SYSTEM, and nothing is read"""
    region = t.memory(4)
    t.error(t.null(reads=[(40, Segment(region.handle, 0x7ffffff0, region.address))]), SYSTEM)
    t.alive()


@case('E-03 C-085')
def as_many_segments_of_a_call(t):
    """A Call in the maximum of segments is answered"""
    limit = limit_of(t, t.null(reads=[(40, HERE)] * 160), SEGMENTS)
    message = t.null()
    count = min(limit, 16)
    body = message.body + bytes(4 * count)
    region = t.memory(len(body)).write(body)
    pieces = [(0, s) for s in t.segments(region, 40, 10)]
    pieces += [(0, s) for s in t.segments(region, 4 * (count - 10), count - 10, at=40)]
    t.answered(message.but(body=b'', proc=NOMSG, reads=tuple(pieces)))


@case('S44 C-083 C-084 C-085')
def order_of_limits(t):
    """Of several exceeded limits, Read chunks precede Write chunks, and these precede segments"""
    reads = stretched(t, 40).reads
    long = t.null()
    long = long.but(body=long.body + bytes(160), writes=[[HERE]] * 20 + [[HERE] * 80])
    t.error(long.but(reads=reads), READ_CHUNKS)
    t.error(long, WRITE_CHUNKS)
    t.error(long.but(writes=[[HERE] * 80]), SEGMENTS)


@case('C-062 C-083 C-084 C-085')
def one_argument_each(t):
    """Codes 4 to 6 have one argument, and the connection stays"""
    for message, code in ((read_chunks(100)(t), READ_CHUNKS),
                          (write_chunks(150)(t), WRITE_CHUNKS),
                          (segments(230)(t), SEGMENTS)):
        answer = t.ask(message)
        check(answer.length == 24 and answer.message.code == code, f'{answer}')
        t.alive()
