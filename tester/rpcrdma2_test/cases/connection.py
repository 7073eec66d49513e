# SPDX-License-Identifier: GPL-2.0
"""Private data of the connection manager, and the first message of a connection."""

from ..client import SILENCE
from ..endpoint import MAGIC, PrivateData
from ..registry import NotApplicable, case, check
from ..rpc import FSINFO, READ, read_arguments
from ..wire import ERR_CHUNK, Error, opaque
from .properties import expect_inline

NOT_PRIVATE = (b'', b'\0' * 8, PrivateData(1, 16384, 16384, MAGIC + 1).encode(),
               PrivateData(1, 16384, 16384, version=2).encode(),
               PrivateData(1, 16384, 16384).encode()[:4])


@case('P-01 P-10 P-11 S28')
def private_data_of_version_two(t):
    """The server's private data have the format, flags 00 or 01, and sizes of at least 4096"""
    private_data(t)


@case('P-01 P-10 P-11', version=1)
def private_data_of_version_one(t):
    """The server's private data have the format, flags 00 or 01, and sizes of at least 1024"""
    private_data(t, 1024)


def private_data(t, least=4096):
    data = PrivateData.decode(t.open().endpoint.private)
    if data is None and least == 1024:
        raise NotApplicable('the server has no private data, which is allowed')
    check(data is not None, f'private data are {t.endpoint.private[:8].hex()}')
    check(data.flags in (0, 1), f'flags are {data.flags:#04x}')
    check(min(data.send, data.receive) >= least, f'sizes are {data.send}, {data.receive}')


@case('P-03 P-05 P-06 S28 E-13', needs='export')
def private_data_mean_nothing_in_version_two(t):
    """Version 2 ignores missing, foreign and valid private data: its first threshold is 4096"""
    for data in NOT_PRIVATE + tuple(PrivateData(1, size, size) for size in (1024, 16384)):
        t.again(private=data)
        t.alive()
        expect_inline(t, 3000)
        expect_inline(t, 6000, False)


@case('P-03 P-04 P-05 P-06', version=1)
def private_data_are_optional(t):
    """With missing or foreign private data, version 1 is used without Send With Invalidate"""
    for data in NOT_PRIVATE:
        t.again(private=data)
        region = t.memory(4096).window()
        answer = t.answered(t.null(writes=[t.segments(region)]))
        check(answer.invalidated is None, f'invalidation after {data.hex()}')


@case('P-02 P-12', version=1, needs='export')
def sizes_are_of_one_connection(t):
    """Sizes of private data are valid for their connection only"""
    handle = t.file(bytes(range(256)) * 8)
    t.again(private=PrivateData(0, 4096, 4096))
    t.largest = 4096
    answer = t.answered(t.call(READ, read_arguments(handle, 2048)))
    check(answer.length > 2048, 'READ of 2048 bytes does not come inline')
    t.again(private=b'')
    too_long(t, t.call(READ, read_arguments(handle, 2048)))


@case('P-12 S28', version=1, needs='set export')
def sizes_last_as_long_as_the_connection(t):
    """The sizes in the server's private data are in force until the end of the connection"""
    handle = t.file(bytes(6000))
    t.again(private=PrivateData(0, 16384, 16384))
    t.largest = 16384
    own = PrivateData.decode(t.endpoint.private)
    if own is None or own.send < t.largest:
        raise NotApplicable('the server has small Sends')
    t.answered(t.call(READ, read_arguments(handle, 6000)))
    t.set('send_size', 4096)
    t.answered(t.call(READ, read_arguments(handle, 6000)))


@case('P-04 P-12 C-104 E-14', version=1, needs='export')
def default_threshold_of_version_one(t):
    """Without private data no Send of version 1 exceeds 1024 bytes"""
    handle = t.file(bytes(2048))
    t.again(private=b'')
    t.largest = 1024
    t.alive()
    t.answered(t.call(READ, read_arguments(handle, 512)))
    too_long(t, t.call(READ, read_arguments(handle, 2048)))


def too_long(t, message):
    """A Reply that cannot be sent gets ERR_CHUNK, and never a Send above 1024."""
    t.largest = 1024
    t.error(message, ERR_CHUNK)
    t.alive()


@case('P-07 P-08', version=1)
def invalidation_when_both_flags_are_set(t):
    """With both flags set a Reply may invalidate a handle of its Call"""
    t.open(private=PrivateData(1, 4096, 4096))
    own = PrivateData.decode(t.endpoint.private)
    region = t.memory(4096).window()
    answer = t.answered(t.null(writes=[t.segments(region)]))
    check(answer.invalidated in (None, region.handle),
          f'{answer.invalidated} is invalidated, not {region.handle}')
    if own is None or not own.flags & 1:
        check(answer.invalidated is None, 'invalidation, but the own flag is clear')
        raise NotApplicable('the flag of the server is clear')


@case('P-09 P-13', version=1)
def no_invalidation_when_the_flag_is_clear(t):
    """With the client's flag clear no Reply invalidates a handle"""
    t.open(private=PrivateData(0, 4096, 4096))
    region = t.memory(4096).window()
    answer = t.answered(t.null(writes=[t.segments(region)]))
    check(answer.invalidated is None, 'invalidation')


@case('P-09', version=1)
def no_invalidation_when_the_flag_of_the_server_is_clear(t):
    """With its own flag clear the server does not send with invalidation"""
    t.open(private=PrivateData(1, 4096, 4096))
    data = PrivateData.decode(t.endpoint.private)
    if data and data.flags & 1:
        raise NotApplicable('the flag of the server is set')
    region = t.memory(4096).window()
    answer = t.answered(t.null(writes=[t.segments(region)]))
    check(answer.invalidated is None, 'invalidation, but the flag of the server is clear')


@case('S30')
def the_server_does_not_speak_first(t):
    """The server sends nothing before the client's first message"""
    t.open()
    answer = t.receive(4 * SILENCE)
    check(answer is None, f'the server sends {answer}')
    t.alive()


@case('B-13 S21')
def no_call_from_the_server_unasked(t):
    """The server sends no Call before the client's upper layer is ready"""
    t.announce()
    for _ in range(3):
        t.alive()
    answer = t.receive(4 * SILENCE)
    check(answer is None, f'the server sends {answer}')


@case('S46', needs='export')
def memory_that_is_not_there(t):
    """A failed RDMA Read ends the connection, or is answered with SYSTEM and nothing else"""
    t.open()
    message = t.long(FSINFO, opaque(t.target.root))
    position, segment = message.reads[0]
    dead = type(segment)(segment.handle ^ 0x5500, segment.length, segment.offset)
    try:
        answer = t.ask(message.but(reads=((position, dead),)))
        check(isinstance(answer.message, Error) and answer.message.code == 10,
              f'{answer.message}')
    except Exception as reason:
        if type(reason).__name__ != 'Lost':
            raise
    t.again()
    t.alive()
