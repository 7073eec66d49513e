# SPDX-License-Identifier: GPL-2.0
"""A server with a fault, to see that fuzzing finds it and says what it takes."""

import dataclasses
import pathlib
import struct

from .. import wire
from ..endpoint import Endpoint, Listener, Lost
from ..registry import Failure
from ..rpc import RpcError
from ..wire import Error, Rpc
from . import server


def serve(trigger, path):
    """
    One connection after another, for ever. A Call that asks for more than 1000 credits
    is granted none; or, with a path, that file is made.
    """
    player = server.Player(trigger)
    player.speaker.listener = Listener(trigger.host, trigger.port)
    while True:
        endpoint = Endpoint.request(player.speaker.listener.pointer, 1000, receives=128,
                                    lender=player.lender)
        if not endpoint:
            continue
        player.speaker.endpoint, player.speaker.peer = endpoint, 4096
        try:
            endpoint.accept(server.PRIVATE.encode())
            while True:
                got = endpoint.receive(10)
                if got is None:
                    break
                for data in answers(player, got[0], path):
                    endpoint.post(data)
        except (Lost, OSError):
            pass
        finally:
            endpoint.close()


def answers(player, data, path):
    try:
        message = wire.decode(data)
        flawed = isinstance(message, Rpc) and message.credit > 1000
        found = player.messages(message)
    except (wire.WireError, Failure, RpcError, struct.error):
        number, version = ((data[at:at + 4] + bytes(4))[:4] for at in (0, 4))
        code = wire.BAD_XDR if version in (wire.u32(1), wire.u32(2)) else wire.VERS
        return [Error(int.from_bytes(number, 'big'), code, (1, 2) if code == wire.VERS else (),
                      int.from_bytes(version, 'big')).encode()]
    if flawed and path:
        pathlib.Path(path).touch()
    if flawed and not path:
        found = [dataclasses.replace(m, credit=0) for m in found]
    return [m.encode() for m in found]
