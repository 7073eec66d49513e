# SPDX-License-Identifier: GPL-2.0
"""
An impostor without Receives answers a Call that it can not have, and then receives the
Send, which the device repeats. Meanwhile the client encodes the RPC again, which may be
in the same place, and finds no pages to encrypt it into.
"""

from ..many import serves
from ..registry import case, check
from ..wire import REPLY, REPLY_RESOURCE, Error, Rpc, u32
from .client_replies import after

SECRET = b'in-plain-text'
RECEIVES = 3


def refusal(number):
    """The client sends the Call again, with a Reply chunk."""
    return Error(number, REPLY_RESOURCE, (100,))


def junk(number):
    """Too short for an RPC header: the RPC layer sends the Call again."""
    return Rpc(number, u32(number, REPLY), direction=REPLY)


def overheard(t, answer):
    """The bytes that the impostor receives in the end"""
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
    t.line(watch)                       # has begun
    victim = t.begin('victim')
    t.line(watch)                       # the Call is out
    impostor.send(answer(after(last[-1])))
    t.line(watch)                       # it was encoded again
    impostor.endpoint.post_receives(RECEIVES)
    got = impostor.endpoint.receive(30)
    check(got is not None, 'the impostor receives nothing')
    impostor.hang_up()
    t.does('pages')
    # Without memory for a checksum, too, the RPC layer has ended it with EIO.
    t.does('linked' if t.ends(victim) == 0 else 'link')
    t.does('unmount')
    return got[0]


@case('S45', plays='server', many=True)
def in_plain_text(t):
    """Without encryption an impostor may read the name of a symlink"""
    check(SECRET in overheard(t, refusal), 'it has not read the name')


@case('S45', plays='server', many=True)
def encrypted_and_refused(t):
    """With encryption it does not, when the RPC is sent again for an error"""
    check(SECRET not in overheard(t, refusal), 'it has read the name')


@case('S45', plays='server', many=True)
def encrypted_and_junk(t):
    """Nor when that is for a Reply that has no RPC header"""
    check(SECRET not in overheard(t, junk), 'it has read the name')
