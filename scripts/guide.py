#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0
"""
Prints the commands and files in Documentation/admin-guide.rst:

    guide.py commands       blocks after ".. guest", each followed by a line "%%"
    guide.py realm          blocks after ".. realm", for the KDC of a guest
    guide.py file PATH      the block after ".. file PATH"
    guide.py readme README  commands in README that the guide lacks
"""

import os
import re
import sys

with open(os.path.dirname(__file__) + '/../Documentation/admin-guide.rst') as opened:
    guide = opened.read()
kind, *what = sys.argv[1:] or sys.exit(__doc__)
if kind == 'readme':
    known = {' '.join(line.split()) for line in re.findall(r'^\t(.+)', guide, re.M)}
    with open(what[0]) as opened:
        section = re.search('^On a real machine$.*?^Read on$', opened.read(), re.M | re.S)[0]
    # Lines of "peer=" are output of the server.
    missing = [line for line in re.findall(r'^    (\S.*)', section, re.M)
               if ' '.join(line.split()) not in known and not line.startswith('peer=')]
    sys.exit('\n'.join(f'{what[0]}: not in the guide: {line}' for line in missing) or 0)
word = ' '.join(['guest' if kind == 'commands' else kind, *what])
end = '%%\n' if kind == 'commands' else ''
# Up to the first other line behind the block
at = rf'^\.\. {re.escape(word)}\n'
blocks = re.findall(at + r'\n(?:::\n\n)?((?:\t.*\n|\n)+)', guide, re.M)
if not blocks or len(blocks) != len(re.findall(at, guide, re.M)):
    sys.exit(__doc__)
for block in blocks:
    print(*re.findall(r'^\t(.*\n)', block, re.M), sep='', end=end)
