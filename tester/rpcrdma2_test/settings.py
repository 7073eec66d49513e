# SPDX-License-Identifier: GPL-2.0
"""What a command changes of the peer, as an administrator does."""

import os
import subprocess


class Settings:
    """Settings by name, and which of them are not what they were."""

    def __init__(self, command, **environment):
        self.command, self.environment, self.changed = command, environment, set()

    def set(self, name, value):
        """The value '' is the peer's default."""
        self.changed.add(name)
        subprocess.run(['sh', '-c', self.command], check=True, timeout=5,
                       env=dict(os.environ, SETTING=name, VALUE=str(value),
                                **self.environment))

    def restore(self):
        for name in [*self.changed]:
            self.set(name, '')
