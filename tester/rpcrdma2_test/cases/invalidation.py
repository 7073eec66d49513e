# SPDX-License-Identifier: GPL-2.0
"""Send With Invalidate in version 2. Handles are those of memory windows of type 2."""

from .. import rpc
from ..registry import NotApplicable, case, check
from ..rpc import NULL, READ
from ..wire import BAD_XDR, NOMSG, Segment


@case('C-008 C-074')
def none_without_a_handle(t):
    """With rdma_inv_handle 0 a Reply is a plain Send, with any chunks"""
    region = t.memory(4096).window()
    answer = t.answered(t.null(writes=[t.segments(region)]))
    check(answer.invalidated is None, 'invalidation')
    answer = t.answered(t.null())
    check(answer.invalidated is None, 'invalidation')


def only(t, answer, handle):
    """If a handle was invalidated, it has to be this one."""
    check(answer.invalidated in (None, handle),
          f'{answer.invalidated} is invalidated, not {handle:#x}')
    if answer.invalidated is None:
        raise NotApplicable('the server does not use Send With Invalidate')
    t.alive()


@case('C-075')
def handle_of_a_write_chunk(t):
    """rdma_inv_handle of a Write chunk is the handle that is invalidated"""
    region = t.memory(4096).window()
    only(t, t.answered(t.null(writes=[t.segments(region)], inv_handle=region.handle)),
         region.handle)


@case('C-075')
def handle_of_a_reply_chunk(t):
    """rdma_inv_handle of a Reply chunk is the handle that is invalidated"""
    region = t.memory(4096).window()
    only(t, t.answered(t.null(reply=t.segments(region), inv_handle=region.handle)),
         region.handle)


@case('C-075')
def handle_of_a_read_chunk(t):
    """rdma_inv_handle of a Position-Zero chunk is the handle that is invalidated"""
    message = t.long(NULL)
    region = t.endpoint.regions[0].window()
    only(t, t.answered(message.but(
        reads=tuple((0, s) for s in t.segments(region, 40)), inv_handle=region.handle)),
         region.handle)


@case('S48 C-075')
def one_of_several_handles(t):
    """Of several handles in a Call, the nominated one is invalidated"""
    first, second = t.memory(4096).window(), t.memory(4096).window()
    writes = [t.segments(first), t.segments(second)]
    only(t, t.answered(t.null(writes=writes, inv_handle=second.handle)), second.handle)
    only(t, t.answered(t.null(writes=writes[:1], inv_handle=first.handle)), first.handle)


@case('S47')
def handle_of_no_chunk(t):
    """An rdma_inv_handle that the Call does not contain causes a plain Send and no error"""
    region = t.memory(4096).window()
    answer = t.answered(t.null(inv_handle=0x11111111))
    check(answer.invalidated is None, 'invalidation')
    answer = t.answered(t.null(writes=[t.segments(region)], inv_handle=region.handle ^ 1))
    check(answer.invalidated is None, 'invalidation')


@case('S49 C-074')
def none_with_an_error(t):
    """An error is a plain Send, regardless of the handle that the Call nominates"""
    region = t.memory(4096).window()
    message = t.null(writes=[t.segments(region)], inv_handle=region.handle)
    for spoilt in (message.with_word(3, 10), message.with_word(1, 3),
                   message.but(number=message.number ^ 1),
                   message.but(writes=[[Segment(region.handle, 16, region.address)] * 230])):
        answer = t.ask(spoilt)
        check(answer.invalidated is None, f'invalidation with {answer.message}')
    t.error(message.with_word(6, 2), BAD_XDR)
    only(t, t.answered(message), region.handle)


@case('C-075 E-11', needs='export')
def after_the_data(t):
    """The handle is invalidated after the data have arrived"""
    handle = t.file(b'0123456789' * 100)
    region = t.memory(4096).window()
    answer = t.answered(t.call(READ, rpc.read_arguments(handle, 1000),
                               writes=[t.segments(region)], inv_handle=region.handle))
    check(region.read(1000) == b'0123456789' * 100, 'other data')
    check(answer.message.proc != NOMSG, f'{answer.message}')
    only(t, answer, region.handle)
