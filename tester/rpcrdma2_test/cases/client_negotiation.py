# SPDX-License-Identifier: GPL-2.0
"""A client on a new connection: the version, and the first messages."""

from .. import rpc, wire
from ..endpoint import MAGIC, PrivateData
from ..registry import NotApplicable, case, check
from ..wire import (BRS, BRS_INLINE, BRS_NONE, EXPERIMENTAL, RBSIZ, VERS, Error, Prop,
                    Properties, Rpc)
from .client_codes import call_of_the_server


def err_vers(t, low, high, version=2):
    """Refuses the version of the client's first message, and names the supported versions."""
    said = t.probe().message
    t.send(Error(said.xid, VERS, (low, high), version))


@case('P-01 P-10 P-11 S28', plays='server')
def private_data(t):
    """The client's private data have the format, flags 00 or 01, and sizes of at least 4096"""
    t.accept()
    data = PrivateData.decode(t.endpoint.private)
    check(data is not None, f'{t.endpoint.private[:8].hex()}')
    check(data.flags in (0, 1), f'flags are {data.flags:#04x}')
    check(min(data.send, data.receive) >= 4096, f'sizes are {data.send}, {data.receive}')


@case('C-096 C-098 C-046 S29 S32', plays='server')
def first_message(t):
    """The first message is of version 2, has at most 1024 bytes, and is sent alone"""
    got = t.probe()
    check(got.length <= 1024, f'{got.length} bytes')
    check(t.receive(0.3) is None, 'a second message before the first answer')


@case('C-043 C-045 C-042 S20', plays='server')
def what_the_client_says(t):
    """The client's CONNPROP has RBSIZ, and BRS that is not NONE"""
    said = t.probe().message
    if not isinstance(said, Properties):
        raise NotApplicable('the client has no properties')
    check({RBSIZ, BRS} <= set(said.values), f'{said.sets}')
    check(said.values[RBSIZ].word >= 4096, f'RBSIZ {said.values[RBSIZ].word}')
    check(said.values[BRS].word != BRS_NONE, 'BRS NONE')
    check(len(said.values) == len(said.sets[0]), 'a property twice')


@case('C-097', plays='server')
def one_call_before_the_first_grant(t):
    """Until a message other than an error brings a grant, one Call is outstanding at a time"""
    t.grant = 1
    said = t.probe().message
    t.send(Error(said.xid, wire.INVALID_OPTION, credit=32))
    got = t.next_call()
    check(t.receive(0.3) is None, 'a second Call after an error with a grant')
    t.answer(got)
    t.succeeds()


@case('C-099 C-065', plays='server')
def version_two(t):
    """After the server's CONNPROP the client's Calls are of version 2"""
    t.negotiate()
    t.goes_on(2)


@case('C-101 S36', plays='server')
def version_one_after_err_vers(t):
    """After ERR_VERS for version 1 the client uses it on the same connection"""
    err_vers(t, 1, 1)
    t.goes_on(1)


@case('S36', plays='server', acts='1 ERR_VERS>version_1')
def version_one_in_err_vers(t):
    """An ERR_VERS whose header has version 1 is accepted too"""
    err_vers(t, 1, 1, version=1)
    t.goes_on(1)


@case('C-101 C-104 E-29 P-03', plays='server')
def use_of_version_one(t):
    """After ERR_VERS the mount works in version 1, with 1024 bytes without private data"""
    without_sizes(t, b'')


def without_sizes(t, private):
    """The client accepts these private data, and in version 1 has Sends of at most 1024 bytes."""
    t.accept(private=private)
    got = t.receive()
    check(got is not None, 'the client sends nothing')
    if got.message.version == 2:
        t.send(Error(got.message.xid, VERS, (1, 1)))
    else:
        t.held = got
    t.largest = t.peer = 1024
    symlink_by_threshold(t, 1024)


def symlink_by_threshold(t, num_bytes):
    """A SYMLINK beyond the threshold has a Read chunk, a shorter one none; the command succeeds."""
    call = t.serve_until(rpc.SYMLINK)
    whole = 28 + len(t.contents(call))
    check(bool(call.reads) == (whole > num_bytes), f'{whole} bytes: {call}')
    t.answer(call)
    t.succeeds()


@case('S33 P-12', plays='server')
def threshold_by_private_data(t):
    """After ERR_VERS the server's private data limit the Sends"""
    t.accept(private=PrivateData(0, 2048, 2048))
    err_vers(t, 1, 1)
    t.largest = t.peer = 2048
    symlink_by_threshold(t, 2048)


@case('C-102', plays='server')
def lost_after_err_vers(t):
    """A connection that is lost right after ERR_VERS is followed by one in version 1"""
    err_vers(t, 1, 1)
    t.accept()
    check(t.next_call().version == 1, 'version 2')


@case('S36', plays='server', acts='- ERR_VERS>fail')
def no_common_version(t):
    """Without a common version the mount fails, without a loop"""
    err_vers(t, 3, 7)
    t.in_vain()


@case('C-026 C-044', plays='server', acts='2 lacks_properties>version_2')
def no_properties(t):
    """A server that refuses CONNPROP with code 3 is used in version 2"""
    said = t.probe().message
    t.send(Error(said.xid, wire.INVALID_PROC, credit=1))
    t.goes_on(2)


@case('C-026 C-005 C-044', plays='server')
def use_without_properties(t):
    """A server that refuses CONNPROP with code 9 is used with Sends of at most 4096 bytes"""
    said = t.probe().message
    t.send(Error(said.xid, wire.INVALID_OPTION, credit=1))
    t.succeeds()


@case('S30', plays='server', acts='2 CONNPROP>version_2')
def the_server_speaks_first(t):
    """A CONNPROP before the client's first message has no effect"""
    t.accept()
    t.send(wire.connprop(t.xid(), [Prop(RBSIZ, 4096), Prop(BRS, BRS_INLINE)]))
    t.negotiate()
    t.succeeds()


@case('C-097 S30', plays='server')
def the_server_calls_first(t):
    """A Call of the server before its first grant gets no answer"""
    said = t.probe().message
    t.send(call_of_the_server(t))
    check(t.receive(0.3) is None, 'an answer')
    t.send(wire.connprop(said.xid, [Prop(RBSIZ, 4096)], credit=32))
    check(t.next_call().version == 2, 'version 1')


@case('S31', plays='server')
def what_is_no_answer(t):
    """Short messages, and answers to nothing, do not disturb the negotiation"""
    said = t.probe().message
    xid = t.xid()
    for message in (said.cut(0), said.cut(12), Error(said.xid ^ 1, VERS, (1, 1), 2),
                    wire.resprop(t.xid()), Rpc(xid, rpc.reply(xid), direction=wire.REPLY)):
        t.send(message)
        check(t.receive(0.05) is None, f'an answer to {message}')
    t.send(wire.connprop(said.xid, [Prop(RBSIZ, 4096)], credit=32))
    check(t.next_call().version == 2, 'version 1')


def plain_probe(t, answer=None):
    """The next connection has to begin with CONNPROP with only the draft's properties."""
    if t.endpoint:
        t.given_up()
    t.accept()
    got = t.probe()
    t.held = got
    said = got.message
    check(isinstance(said, Properties) and {RBSIZ, BRS} <= set(said.values), f'{said}')
    check(max(said.values) < EXPERIMENTAL, f'{said.sets}')
    if answer:
        return t.send(answer(t.probe().message))
    return t.negotiate()


@case('C-060 S37', plays='server', acts='2 BAD_XDR>connect_again,_plainly,CONNPROP>version_2')
def experimental_ids_refused(t):
    """After BAD_XDR, CONNPROP is repeated without experimental properties"""
    t.send(Error(t.probe().message.xid, wire.BAD_XDR))
    plain_probe(t)
    t.goes_on(2)


@case('C-060 S37', plays='server',
      acts='1 BAD_XDR>connect_again,_plainly,BAD_XDR>connect_again,_version_1')
def another_dialect(t):
    """BAD_XDR for the repeated CONNPROP leads to version 1"""
    t.send(Error(t.probe().message.xid, wire.BAD_XDR))
    plain_probe(t, lambda said: Error(said.xid, wire.BAD_XDR))
    t.given_up()
    t.accept()
    t.goes_on(1)


@case('S37', plays='server', acts='1 foreign>connect_again,_version_1')
def another_error(t):
    """An error that no server of version 2 sends for CONNPROP leads to version 1 immediately"""
    t.send(Error(t.probe().message.xid, wire.SYSTEM))
    t.given_up()
    t.accept()
    t.goes_on(1)


@case('P-03', plays='server')
def no_private_data(t):
    """The mount works without private data in the server's answer"""
    t.accept(private=b'')
    t.any_version()
    t.succeeds()


@case('P-05 P-04', plays='server')
def foreign_private_data(t):
    """Version 1 ignores the sizes in private data with another magic number"""
    without_sizes(t, PrivateData(1, 16384, 16384, MAGIC + 1))


@case('P-06 P-04', plays='server')
def private_data_of_another_format(t):
    """Version 1 ignores the sizes in private data with another version of the format"""
    without_sizes(t, PrivateData(1, 16384, 16384, version=2))


@case('P-05 S28', plays='server')
def foreign_private_data_in_version_two(t):
    """The mount works in version 2 with foreign private data in the server's answer"""
    t.accept(private=b'\xff' * 8)
    t.any_version()
    t.succeeds()


@case('C-010 C-073', plays='server')
def no_handle_without_chunks(t):
    """rdma_inv_handle is 0 in a Call without chunks"""
    t.negotiate()
    call = t.next_call()
    check(not call.handles() and not call.inv_handle, f'{call}')
