# SPDX-License-Identifier: GPL-2.0
"""
An impostor without Receives answers a Call that it cannot have received, and then receives the
Send, which the device repeats. Meanwhile the client encodes the RPC again, possibly in the same
memory, and gets no pages for the encrypted Call.
"""

from ..many import serves
from ..registry import case, check
from ..wire import REPLY, REPLY_RESOURCE, Error, Rpc, u32
from .client_replies import after

SECRET = b'in-plain-text'
RECEIVES = 3


def refusal(number):
    """Makes the client repeat the Call with a Reply chunk."""
    return Error(number, REPLY_RESOURCE, (100,))


def junk(number):
    """Is too short for an RPC header, so that the RPC layer repeats the Call."""
    return Rpc(number, u32(number, REPLY), direction=REPLY)


def overheard(t, answer):
    """Returns the bytes that the impostor receives at the end."""
    def remembers(c, message):
        if isinstance(message, Rpc):
            last.append(message.number)
        serves(c, message)

    last, t.receives = [], RECEIVES
    t.up(remembers)
    t.does('mount')
    impostor, = t.connections
    impostor.endpoint.keep_receives()
    t.does('drain')
    watch = t.begin('watch')
    t.line(watch)                       # begins
    victim = t.begin('victim')
    t.line(watch)                       # the Call was sent
    impostor.send(answer(after(last[-1])))
    t.line(watch)                       # it was encoded again
    impostor.endpoint.post_receives(RECEIVES)
    got = impostor.endpoint.receive(30)
    check(got is not None, 'the impostor receives nothing')
    impostor.hang_up()
    t.does('pages')
    # Without memory for a checksum the RPC layer has ended the RPC with EIO.
    t.does('linked' if t.ends(victim) == 0 else 'link')
    t.does('unmount')
    return got[0]


@case('S45', plays='server', many=True)
def in_plain_text(t):
    """Without encryption an impostor can read the name of a symlink"""
    check(SECRET in overheard(t, refusal), 'the eavesdropper has not read the name')


@case('S45', plays='server', many=True)
def encrypted_and_refused(t):
    """With encryption it cannot when the RPC is repeated because of an error"""
    check(SECRET not in overheard(t, refusal), 'the eavesdropper has read the name')


@case('S45', plays='server', many=True)
def encrypted_and_junk(t):
    """With encryption it cannot when the RPC is repeated because of a Reply without RPC header"""
    check(SECRET not in overheard(t, junk), 'the eavesdropper has read the name')
