# SPDX-License-Identifier: GPL-2.0
"""A server that an administrator has restricted to one version, by --set."""

from .. import rpc, wire
from ..registry import case
from ..wire import ERR_CHUNK, ERROR, REPLY, VERS, Error, Raw, Rpc, u32


@case('S36 C-100', needs='set')
def version_one_only(t):
    """Without version 2, its messages get ERR_VERS 1 to 1, and version 1 continues to work"""
    t.set('versions', 1)
    t.version = 1
    for message in (wire.connprop(t.xid()), t.null(version=2)):
        t.error(message, VERS, 1, 1)
    t.alive()


@case('C-078 S36', needs='set')
def answers_in_a_version_that_is_off(t):
    """Replies and errors get no answer, regardless of their version"""
    t.set('versions', 1)
    t.version = 1
    xid = t.xid()
    t.nothing(Rpc(xid, rpc.reply(xid), direction=REPLY), wire.resprop(t.xid()),
              Error(t.xid(), wire.BAD_XDR))


@case('S36 C-079', needs='set')
def version_two_only(t):
    """Without version 1, its Calls get ERR_VERS 2 to 2, and its errors no answer"""
    t.set('versions', 2)
    t.error(t.null(version=1), VERS, 2, 2)
    t.nothing(Raw(u32(t.xid(), 1, 32, ERROR, ERR_CHUNK)))
