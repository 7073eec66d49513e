# SPDX-License-Identifier: GPL-2.0
"""The results of a conversation, and the sum of many"""

import collections
import dataclasses

from .. import wire

CODES = {wire.VERS: 'VERS', wire.BAD_XDR: 'BAD_XDR', wire.INVALID_PROC: 'INVALID_PROC',
         wire.READ_CHUNKS: 'READ_CHUNKS', wire.WRITE_CHUNKS: 'WRITE_CHUNKS',
         wire.SEGMENTS: 'SEGMENTS', wire.WRITE_RESOURCE: 'WRITE_RESOURCE',
         wire.REPLY_RESOURCE: 'REPLY_RESOURCE', wire.INVALID_OPTION: 'INVALID_OPTION',
         wire.SYSTEM: 'SYSTEM'}


@dataclasses.dataclass
class Outcome:
    messages: int = 0       # sent
    mutated: int = 0        # sent with a mutation
    answers: int = 0
    lost: int = 0           # the peer ended the connection
    ended: int = 0          # the tester ended it early
    refused: str = ''       # reason why no connection was established
    failure: str = ''       # a violation by the peer
    codes: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    def said(self, mutated):
        self.messages += 1
        self.mutated += bool(mutated)

    def took(self, message):
        """Counts a message of the peer, which is well-formed."""
        self.answers += 1
        if not message.credit:
            raise wire.WireError(f'rdma_credit is 0 in {message}')
        if isinstance(message, wire.Error):
            self.codes[CODES.get(message.code, message.code)] += 1

    def add(self, other):
        self.messages += other.messages
        self.mutated += other.mutated
        self.answers += other.answers
        self.lost += other.lost
        self.ended += other.ended
        self.codes += other.codes
