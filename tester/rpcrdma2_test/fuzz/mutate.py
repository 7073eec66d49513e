# SPDX-License-Identifier: GPL-2.0
"""
Mutations of a valid conversation. A mutation has two numbers, whose meaning it defines, and
applies to messages of any length. The same seed gives the same mutations.
"""

import dataclasses
import random
import struct

WORDS = (0, 1, 2, 3, 4, 5, 7, 8, 10, 31, 32, 33, 63, 64, 65, 127, 255, 1023, 1024, 4095,
         4096, 4097, 65535, 65536, 1 << 20, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff)


def _at(head, a):
    """Returns the offset of a word of the header."""
    return a % max(1, head // 4) * 4


def _replace(data, at, value):
    return data[:at] + struct.pack('>I', value & 0xffffffff) + data[at + 4:]


def _word(data, at):
    return struct.unpack_from('>I', data.ljust(at + 4, b'\0'), at)[0]


def set_word(data, head, a, b):
    """A word of the header gets a value that often reveals faults, or any other."""
    return _replace(data, _at(head, a), WORDS[b % len(WORDS)] if b & 1 << 31 else b)


def add(data, head, a, b):
    """A word is changed by a small number: a length, an offset, a position."""
    at = _at(head, a)
    return _replace(data, at, _word(data, at) + (b % 17 - 8 or 4))


def flip(data, head, a, b):
    """One bit of a word is inverted."""
    at = _at(head, a)
    return _replace(data, at, _word(data, at) ^ 1 << b % 32)


def copy(data, head, a, b):
    """A word is copied to another one: a handle becomes a length."""
    return _replace(data, _at(head, a), _word(data, _at(head, b)))


def insert(data, head, a, b):
    """A word is inserted."""
    at = _at(head, a)
    return data[:at] + struct.pack('>I', WORDS[b % len(WORDS)]) + data[at:]


def remove(data, head, a, b):
    """Some words are removed."""
    at = _at(head, a)
    return data[:at] + data[at + 4 * (b % 4 + 1):]


def repeat(data, head, a, b):
    """A part of the header is repeated, like a list element too many."""
    at, length = _at(head, a), 4 * (b % 8 + 1)
    return data[:at] + data[at:at + length] * (b // 8 % 12 + 1) + data[at:]


def cut(data, _head, a, _b):
    """Only the first bytes remain."""
    return data[:a % (len(data) + 1)]


def cut_header(data, head, a, _b):
    """Only the first bytes of the header remain."""
    return data[:a % (head + 1)]


def grow(data, _head, a, b):
    """Bytes are appended."""
    return data + bytes([a & 0xff]) * (b % 600)


def payload(data, head, a, b):
    """A word of the RPC header is changed."""
    if len(data) < head + 8:
        return data
    return _replace(data, head + a % min(6, (len(data) - head) // 4) * 4,
                    WORDS[b % len(WORDS)] if b & 1 << 31 else b)


# Weights of the mutations that change bytes
BYTES = {set_word: 20, add: 14, flip: 10, copy: 6, insert: 5, remove: 5, repeat: 5,
          cut: 3, cut_header: 3, grow: 3, payload: 2}
# Weights of the mutations of time and order
ORDER = {'swap': 5, 'twice': 6, 'drop': 4, 'delay': 1, 'hasty': .5, 'invalidate': .5, 'end': .5}

BY_NAME = {f.__name__: f for f in BYTES}
_NAMES = [f.__name__ for f in BYTES] + list(ORDER)
_WEIGHTS = list(BYTES.values()) + list(ORDER.values())


@dataclasses.dataclass(frozen=True)
class Mutation:
    message: int        # number of the message in the conversation; the first is 0
    name: str
    a: int = 0
    b: int = 0

    def apply(self, data, head):
        return BY_NAME[self.name](data, head, self.a, self.b)

    def __str__(self):
        return f'{self.name}({self.a:#x}, {self.b:#x}) of message {self.message}'


def choose(rng, count, share):
    """Returns mutations for this share of the messages, ordered by message."""
    found = []
    for message in range(count):
        if rng.random() >= share:
            continue
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            name = rng.choices(_NAMES, _WEIGHTS)[0]
            # All messages have the first words.
            a = rng.randrange(7) if rng.random() < .2 else rng.getrandbits(32)
            found.append(Mutation(message, name, a, rng.getrandbits(32)))
    return found


def of_messages(mutations):
    """Groups mutations by message."""
    found = {}
    for m in mutations:
        found.setdefault(m.message, []).append(m)
    return found


def spoil(data, head, mutations):
    """Returns the mutated bytes."""
    for m in mutations:
        if m.name in BY_NAME:
            data = m.apply(data, min(head, len(data)))
    return data


def seed_of(seed, index):
    """Returns the seed of a conversation in a run."""
    return random.Random(f'{seed}/{index}').getrandbits(48)
