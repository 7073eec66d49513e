# SPDX-License-Identifier: GPL-2.0
"""Chunks: data that are read from them or written to them, and their lengths in Replies."""

import itertools
import os

from .. import nfs4, rpc
from ..registry import NotApplicable, case, check
from ..rpc import FSINFO, NULL, READ, READDIR, READDIRPLUS, WRITE, number_at
from ..wire import (BAD_XDR, MSG, NOMSG, REPLY_RESOURCE, WRITE_RESOURCE, ERR_CHUNK, Segment,
                    opaque, u32)
from .credits import at_once, grown

DATA = bytes(range(251)) * 24           # 6024 bytes


@case('E-03')
def call_in_memory(t):
    """A Call in a Position-Zero chunk of one, two or seven segments is answered"""
    for pieces in (1, 2, 7):
        t.answered(t.long(NULL, pieces=pieces))


@case('E-03', needs='export')
def long_call_in_memory(t):
    """A Call in a Position-Zero chunk of one segment, as long as a WRITE may be, is answered"""
    t.answered(t.long(NULL, bytes(largest(t))))


@case('E-03', version=1)
def call_in_memory_version_one(t):
    """A Call of version 1 in a Position-Zero chunk is answered"""
    for pieces in (1, 2, 7):
        t.reply(t.long(NULL, pieces=pieces, version=1))


@case('S09')
def empty_segments(t):
    """Read segments of no bytes are skipped"""
    message = t.long(NULL, pieces=2)
    first, last = message.reads
    empty = (0, Segment(0, 0, 0))
    t.answered(message.but(reads=(empty, first, empty, last, empty)))


@case('S46')
def many_read_segments_at_once(t):
    """Eight concurrent Calls whose Read chunks have 64 segments each are answered"""
    region = t.memory(64)
    reads = [(40, Segment(region.handle, 1, region.address))] * 64
    grown(t, 8, reads)
    at_once(t, [t.null(reads=reads) for _ in range(8)])


@case('S09 E-05')
def misaligned_position(t):
    """A position that is not a multiple of four, or beyond the end, gets BAD_XDR"""
    region = t.memory(4096)
    for position in (38, 39, 41, 44, 4096, 0xfffffffc):
        t.error(t.null(reads=[(position, Segment(region.handle, 4, region.address))]),
                BAD_XDR)
    t.alive()


@case('S09 E-05')
def positions_in_the_rpc_header(t):
    """A position within the RPC header gets BAD_XDR, even if the whole header is inline"""
    region = t.memory(4096)
    for position in range(4, 40, 4):
        t.error(t.null(reads=[(position, Segment(region.handle, 4, region.address))]),
                BAD_XDR)
    t.alive()


@case('C-031 E-06 S10')
def reply_chunk_is_not_needed(t):
    """A Reply that fits is inline, without the unused Reply chunk"""
    region = t.memory(8192)
    answer = t.answered(t.null(reply=t.segments(region, pieces=2)))
    check(not any(region.read()), 'the Reply chunk was written to')
    check(answer.message.reply is None, 'an unused Reply chunk comes back')


@case('E-25 E-10 C-064', needs='export')
def reply_chunk_is_needed(t):
    """A Reply that does not fit is RDMA2_NOMSG with the Reply chunk"""
    long_reply(t)


@case('E-25 E-10', version=1, needs='export')
def reply_chunk_of_version_one(t):
    """A Reply that does not fit is RDMA_NOMSG with the Reply chunk (version 1)"""
    long_reply(t)


def long_reply(t):
    handle = t.file(DATA)
    region = t.memory(8192)
    message = t.call(READ, rpc.read_arguments(handle, len(DATA)),
                     reply=t.segments(region, pieces=3))
    answer = t.reply(message)
    got = answer.message
    check(got.proc == NOMSG, f'{got}')
    offered, used = message.reply, got.reply
    check([(s.handle, s.offset) for s in used] == [(s.handle, s.offset) for s in offered],
          f'segments are {used}, were {offered}')
    length = sum(s.length for s in used)
    check(filled_in_order(used, offered), f'lengths are {used}')
    results = rpc.results(region.read(length))
    at = rpc.post_op_attr(results, 4) + 8
    check(rpc.opaque_at(results, at) == DATA, 'other data')
    check(len(results) == at + 4 + len(DATA), 'the lengths of the segments exceed the Reply')
    check(number_at(region.read(4), 0) == message.number, 'another xid in memory')
    check(not any(region.read(8192 - length, length)),
          'more bytes written than the segments have')


def directory_and_long_reply(t):
    name = b'tester-' + os.urandom(6).hex().encode()
    region = t.memory(32768)
    many = [(nfs4.PUTROOTFH, b''), (nfs4.CREATE, u32(nfs4.DIRECTORY) + opaque(name) + u32(0, 0)),
            *[(nfs4.GETATTR, u32(2, 0x18011b, 0x308030))] * 40]
    got = t.reply(t.call(1, nfs4.compound(many, 0), vers=4,
                         reply=t.segments(region))).message
    check(got.proc == NOMSG, f'{got}')
    results = rpc.results(region.read(sum(s.length for s in got.reply)))
    gone = t.answered(t.call(1, nfs4.compound(
        [(nfs4.PUTROOTFH, b''), (nfs4.REMOVE, opaque(name))], 0), vers=4))
    check(number_at(results, 0) == 0 and number_at(results, 8) == len(many),
          f'status {number_at(results, 0)} after {number_at(results, 8)} operations')
    check(number_at(gone.results, 0) == 0, 'the server has not created the directory')


@case('E-25 C-093', needs='export')
def what_is_done_once_and_a_long_reply(t):
    """The Reply to a non-idempotent request is in the Reply chunk"""
    directory_and_long_reply(t)


@case('E-25', version=1, needs='export')
def what_is_done_once_and_a_long_reply_in_version_one(t):
    """The Reply to a non-idempotent request is in the Reply chunk (version 1)"""
    directory_and_long_reply(t)


def filled_in_order(used, offered):
    """Whether each segment is full before the next one is used"""
    for i, (s, o) in enumerate(zip(used, offered)):
        if s.length > o.length or s.length < o.length and any(x.length for x in used[i + 1:]):
            return False
    return True


@case('C-090 C-091 S45', needs='export')
def reply_too_long(t):
    """A Reply that fits nowhere gets REPLY_RESOURCE with its length"""
    handle = t.file(DATA)
    message = t.call(READ, rpc.read_arguments(handle, len(DATA)))
    need = t.error(message, REPLY_RESOURCE).arguments[0]
    check(len(DATA) < need < len(DATA) + 256, f'{need} bytes for {len(DATA)}')
    region = t.memory(need)
    t.error(message.but(reply=[Segment(region.handle, need - 4, region.address)]),
            REPLY_RESOURCE, need)
    check(not any(region.read()), 'written to a Reply chunk that is too small')
    answer = t.reply(message.but(reply=t.segments(region)))
    check(answer.message.proc == NOMSG and answer.message.reply[0].length == need,
          f'{answer.message}')


@case('C-024 C-005 C-090', needs='export')
def replies_of_a_client_without_properties(t):
    """Sends to a client without properties are limited to 4096 bytes"""
    handle = t.file(DATA)
    for count in (3900, 4000, 4100):
        message = t.call(READ, rpc.read_arguments(handle, count))
        answer = t.ask(message)
        check(answer.length <= 4096, f'a Send of {answer.length} bytes')


@case('E-10 E-11', needs='export')
def write_chunk(t):
    """READ data are in the Write chunk, whose segments return with the used lengths"""
    read_into_chunk(t)


@case('E-10 E-11', version=1, needs='export')
def write_chunk_version_one(t):
    """READ data are in the Write chunk, whose segments return with the used lengths (version 1)"""
    read_into_chunk(t)


def read_into_chunk(t):
    handle = t.file(DATA)
    region = t.memory(12288)
    offered = t.segments(region, pieces=3)
    answer = t.answered(t.call(READ, rpc.read_arguments(handle, len(DATA)), writes=[offered]))
    check(len(answer.message.writes) == 1, f'{len(answer.message.writes)} Write chunks')
    used = answer.message.writes[0]
    check([s.length for s in used] == [4096, len(DATA) - 4096, 0], f'lengths are {used}')
    check([(s.handle, s.offset) for s in used] == [(s.handle, s.offset) for s in offered],
          f'segments are {used}, were {offered}')
    check(region.read(len(DATA)) == DATA, 'other data')
    check(not any(region.read(12288 - len(DATA), len(DATA))), 'more was written')
    at = rpc.post_op_attr(answer.results, 4)
    check(len(answer.results) == at + 12, 'data, or padding for them, inline')
    check(number_at(answer.results, at + 8) == len(DATA), 'another length inline')


@case('E-07 E-08 E-09', needs='export')
def no_padding(t):
    """READ of 5 bytes writes 5 bytes, without padding"""
    handle = t.file(b'abcdefgh')
    region = t.memory(64).write(b'\xee' * 64)
    answer = t.answered(t.call(READ, rpc.read_arguments(handle, 5),
                               writes=[[Segment(region.handle, 5, region.address)]]))
    check(answer.message.writes[0][0].length == 5, f'{answer.message.writes}')
    check(region.read() == b'abcde' + b'\xee' * 59, f'{region.read(8)}')
    at = rpc.post_op_attr(answer.results, 4)
    check(len(answer.results) == at + 12, 'padding inline')


@case('E-10 S10')
def unused_write_chunks(t):
    """Unused Write chunks return with lengths of 0"""
    region = t.memory(4096)
    writes = [t.segments(region, 2048, 2), t.segments(region, 2048, 3, at=2048)]
    answer = t.answered(t.null(writes=writes))
    check([len(c) for c in answer.message.writes] == [2, 3], f'{answer.message.writes}')
    check(not any(s.length for c in answer.message.writes for s in c),
          f'{answer.message.writes}')
    check(not any(region.read()), 'written to')


@case('E-10', version=1)
def unused_write_chunks_version_one(t):
    """Unused Write chunks return with lengths of 0 (version 1)"""
    unused_write_chunks(t)


@case('S10 E-10', needs='export')
def write_chunk_without_segments(t):
    """With a Write chunk without segments, the data are inline and the chunk returns"""
    handle = t.file(b'inline')
    answer = t.answered(t.call(READ, rpc.read_arguments(handle, 6), writes=[[]]))
    check([list(c) for c in answer.message.writes] == [[]], f'{answer.message.writes}')
    at = rpc.post_op_attr(answer.results, 4) + 8
    check(rpc.opaque_at(answer.results, at) == b'inline', 'the data are not inline')


@case('C-086 C-087 C-088 S45', needs='export')
def write_chunk_too_small(t):
    """READ into a chunk that is too small gets WRITE_RESOURCE with the chunk and the length"""
    handle = t.file(DATA)
    region = t.memory(8192)
    message = t.call(READ, rpc.read_arguments(handle, len(DATA)),
                     writes=[t.segments(region, len(DATA) - 24, 2)])
    got = t.error(message, WRITE_RESOURCE)
    check(got.arguments[0] in (0, 1), f'chunk {got.arguments[0]}')
    check(got.arguments[1] == len(DATA), f'{got.arguments[1]} bytes, not {len(DATA)}')
    check(not any(region.read()), 'written to a Write chunk that is too small')
    answer = t.answered(message.but(writes=[t.segments(region, len(DATA))]))
    check(answer.message.writes[0][0].length == len(DATA), 'the larger chunk is not used')


def lengths(answer):
    """Returns the lengths of the segments in each Write chunk."""
    return [[s.length for s in chunk] for chunk in answer.message.writes]


@case('E-10', needs='export')
def write_chunk_and_an_error_of_nfs(t):
    """A READ that fails leaves the Write chunk unused"""
    region = t.memory(4096)
    answer = t.answered(t.call(READ, rpc.read_arguments(t.target.root, 100),
                               writes=[t.segments(region)]))
    check(number_at(answer.results, 0) != 0, 'READ of a folder succeeds')
    check(lengths(answer) == [[0]], f'{answer.message.writes}')


@case('E-02 E-05', needs='export')
def read_chunk(t):
    """WRITE takes its data from a Read chunk of one or several segments"""
    write_from_chunk(t)


@case('E-02 E-05', version=1, needs='export')
def read_chunk_version_one(t):
    """WRITE takes its data from a Read chunk of one or several segments (version 1)"""
    write_from_chunk(t)


def write_from_chunk(t):
    for pieces in (1, 2, 5):
        handle = t.file()
        region = t.memory(len(DATA)).write(DATA)
        message = t.call(WRITE, rpc.write_arguments(handle, len(DATA)))
        reads = [(len(message.body), s) for s in t.segments(region, pieces=pieces)]
        answer = t.answered(message.but(reads=reads))
        check(number_at(answer.results, 0) == 0, 'WRITE failed')
        check(t.content(handle, len(DATA)) == DATA, f'{pieces} segments: other data')


def largest(t):
    """The server's maximum for the payload of a READ and of a WRITE"""
    answer = t.answered(t.call(FSINFO, opaque(t.target.root)))
    at = rpc.post_op_attr(answer.results, 4)
    return min(number_at(answer.results, at + offset) for offset in (0, 12))


@case('E-10', needs='export')
def largest_payload(t):
    """WRITE and READ of the server's maximum use a single segment"""
    length = largest(t)
    data = (b'%8d' * (length // 8)) % tuple(range(length // 8))
    handle = t.file()
    region = t.memory(length).write(data)
    message = t.call(WRITE, rpc.write_arguments(handle, length))
    answer = t.answered(message.but(reads=[(len(message.body), t.segments(region)[0])]))
    check(number_at(answer.results, 0) == 0, 'WRITE failed')
    pre_op_attr = 24 if number_at(answer.results, 4) else 0
    at = rpc.post_op_attr(answer.results, 8 + pre_op_attr)
    check(number_at(answer.results, at) == length,
          f'{number_at(answer.results, at)} bytes of {length} written')
    region.write(bytes(length))
    answer = t.answered(t.call(READ, rpc.read_arguments(handle, length),
                               writes=[t.segments(region)]))
    check(lengths(answer) == [[length]], f'{answer.message.writes}')
    check(region.read() == data, 'other data')


@case('E-07', needs='export')
def read_chunk_without_padding(t):
    """WRITE takes 5 bytes from a Read chunk of 5 bytes"""
    handle = t.file()
    region = t.memory(5).write(b'abcde')
    message = t.call(WRITE, rpc.write_arguments(handle, 5))
    answer = t.answered(message.but(reads=[(len(message.body), t.segments(region)[0])]))
    check(number_at(answer.results, 0) == 0, 'WRITE failed')
    check(t.content(handle, 5) == b'abcde', 'other data')


@case('E-04', needs='export')
def nomsg_with_a_read_chunk(t):
    """RDMA2_NOMSG may have a Read chunk beside the Position-Zero chunk, in any order"""
    data = t.memory(len(DATA)).write(DATA)
    for order in (1, -1):
        handle = t.file()
        arguments = rpc.write_arguments(handle, len(DATA))
        position = len(t.call(WRITE, arguments).body)
        message = t.long(WRITE, arguments, reads=[(position, s) for s in t.segments(data)])
        answer = t.answered(message.but(reads=message.reads[::order]))
        check(number_at(answer.results, 0) == 0, 'WRITE failed')
        check(t.content(handle, len(DATA)) == DATA, 'other data')


@case('C-082 C-081', needs='export')
def a_refused_write_changes_nothing(t):
    """A WRITE whose header is rejected does not write"""
    handle = t.file(b'before')
    message = t.call(WRITE, rpc.write_arguments(handle, 6, b'after!'))
    t.error(message.with_word(6, 2), BAD_XDR)
    t.error(message.but(number=message.number ^ 1), BAD_XDR)
    check(t.content(handle, 6) == b'before', 'the file has changed')


@case('E-02', needs='export')
def no_request_writes_to_pages_of_a_file(t):
    """No request gets the pages of a file whose READ did not fit the session's responses"""
    data = DATA[:4096]
    handle = t.file(data)
    session = nfs4.Session(t, responses=1025)
    path = session.path(t.made[-1])
    other = t.file()
    region = t.memory(8192).write(b'\xee' * 8192)
    write = t.call(WRITE, rpc.write_arguments(other, region.length))
    afterwards = (write.but(reads=[(len(write.body), t.segments(region)[0])]),
                  t.call(READDIR, rpc.readdir_arguments(t.target.root, 2048)))
    read = (nfs4.READ, nfs4.ANONYMOUS + u32(0, 0, 65536))
    statuses = set()
    # The READ fills the response up to three bytes, and no other result fits behind it.
    for behind, after in itertools.product(((), ((nfs4.GETATTR, u32(1, 0x10)),)), afterwards):
        for _ in range(16):
            answer = t.answered(session.in_session(*path, read, *behind))
            statuses.add(number_at(answer.results, 0))
            check(number_at(t.answered(after).results, 0) == 0, 'the next request failed')
        check(t.content(handle, len(data)) == data, 'the file has changed')
    check(statuses <= {0, nfs4.REP_TOO_BIG}, f'READ failed: {statuses}')
    if nfs4.REP_TOO_BIG not in statuses:
        raise NotApplicable('the server removes no READ from its Reply')


@case('C-082 E-24', version=1, needs='export')
def a_refused_write_changes_nothing_version_one(t):
    """A WRITE whose header is rejected does not write (version 1)"""
    handle = t.file(b'before')
    message = t.call(WRITE, rpc.write_arguments(handle, 6, b'after!'))
    t.error(message.with_word(3, 9), ERR_CHUNK)
    check(t.content(handle, 6) == b'before', 'the file has changed')


@case('E-19', needs='export')
def only_data_go_in_write_chunks(t):
    """FSINFO has no data for a Write chunk: its results are inline"""
    region = t.memory(4096)
    answer = t.answered(t.call(FSINFO, opaque(t.target.root), writes=[t.segments(region)]))
    check(not any(region.read()), 'written to')
    check(answer.message.proc == MSG, f'{answer.message}')


@case('E-19 E-25', needs='export')
def readdir_in_the_reply_chunk(t):
    """A READDIRPLUS reply that does not fit is in the Reply chunk"""
    for _ in range(30):
        t.file()
    region = t.memory(32768)
    arguments = opaque(t.target.root) + bytes(16)
    answer = t.reply(t.call(READDIRPLUS, arguments + bytes((0, 0, 0x20, 0, 0, 0, 0x40, 0)),
                            reply=t.segments(region, pieces=2)))
    check(answer.message.proc == NOMSG, f'{answer.message}')
    results = rpc.results(region.read(sum(s.length for s in answer.message.reply)))
    check(number_at(results, 0) == 0 and b'tester-' in results, 'no names')
    t.answered(t.call(READDIR, rpc.readdir_arguments(t.target.root, 1024)))
