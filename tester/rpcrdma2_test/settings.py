# SPDX-License-Identifier: GPL-2.0
"""Settings of the peer that a command changes, as an administrator does."""

import os
import subprocess

from .registry import Failure
from .waits import scaled

# By name: the peer that has the setting, and the meaning of $VALUE
TABLE = {
    'backward': ('server', 'Calls of the server to its clients: none, inline or genl'),
    'call': ('server', 'Calls to make now, to the client that is there: count, window, call '
             'and reply, which are bytes inline or data/read chunk/write chunk/Reply chunk'),
    'calls': ('server', 'the same, and the command ends when the Calls have ended'),
    'credits': ('server', 'maximum of credits of a connection'),
    'expire': ('server', 'the owner of a client of NFSv4, whose state the server forgets'),
    'exports': ('server', '"unknown": the server cannot look up its exports'),
    'gss_context': ('both', 'the handle, in hex, of an RPCSEC_GSS context that the service has '
                    'to accept, with any key'),
    'held': ('client', 'ends when this many Calls of the server were outstanding, which the '
             'client holds until then, and it has replied to all'),
    'pin': ('client', "the only version that the client may use with the tester's $PORT; a "
            'second number is the one for all other ports of the address'),
    'receive_memory': ('server', 'KiB for the Receives of all connections'),
    'receive_size': ('both', 'bytes of each Receive, for new connections; those of a client '
                     'also grow on existing ones'),
    'send_size': ('both', "bytes of the peer's largest Send"),
    'unanswered': ('client', 'succeeds when this many more Calls have got no answer since it '
                   'was 0'),
    'unmapped': ('server', 'how many times (-1: always) memory for RDMA Reads cannot be '
                 'mapped'),
    'versions': ('both', 'the only version of RPC-over-RDMA that the peer uses, or any'),
}


class Settings:
    """The command for the settings, and the settings that differ from their defaults"""

    def __init__(self, command, **environment):
        self.command, self.environment, self.changed = command, environment, set()

    def set(self, name, value):
        """The value '' restores the peer's default."""
        self.changed.add(name)
        # The limit ends only a command that hangs.
        subprocess.run(['sh', '-c', self.command], check=True, timeout=scaled(600),
                       env=dict(os.environ, SETTING=name, VALUE=str(value),
                                **self.environment))

    def restore(self):
        """Restores each setting, also if the command fails for another one."""
        wrong = []
        for name in sorted(self.changed):
            try:
                self.set(name, '')
                self.changed.remove(name)
            except (OSError, subprocess.SubprocessError) as reason:
                wrong.append(f'{name} is not restored: {reason}')
        if wrong:
            raise Failure('; '.join(wrong))
