#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0
"""
Kills tasks in the middle of file operations.

    fs-kill.py MOUNT EXPORT KILLS [SEED]
    fs-kill.py -f MOUNT EXPORT SECONDS [SEED]

The first form has slots with one task each, which repeats one operation until a signal ends it;
the next task of the slot gets the next operation. The signal is sent after a random time, when
the task is inside the operation; the program counts these hits for each operation. Files have
the same contents whenever they are written, so that all of them can be compared at the end,
regardless of the kills.

The second form keeps readers and writers at work and ends their RPCs as "umount -f" does. They
get EIO and continue.

One line per case, "ok NAME" or "FAIL NAME: why".
"""

import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import random
import signal
import struct
import sys
import time
import traceback

SLOTS, ENTRIES, BLOB, SMALL = 8, 160, 12000, 700
MIB = 1 << 20
DATA = 4 * MIB
# Users in an ACL: the Linux NFS server sends ACLs up to the first size only.
SOME_USERS, MANY_USERS = 320, 335
LONG_LINK = 1000        # NFSv3 allows 1024
# In seconds of the guest's own clock; by the host's clock both may take any time.
SIMULATED = os.environ.get('VM_CLOCK') == 'guest'
PATIENCE = 15 if SIMULATED else float('inf')            # for a killed task to end
LOCK_PATIENCE = 25 if SIMULATED else float('inf')       # until its lock is free
ENOUGH = 5              # READs, and WRITEs, that are ended
SIGNALS = signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM
# Asynchronous RPCs also return ERESTARTSYS, to a task without signals.
WAS_ENDED = errno.EIO, errno.EINTR, 512
INSIDE, DONE, ENDED, OVER = 0, 1, 2, -1
LIBC = ctypes.CDLL(None, use_errno=True)

shared = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast('Q')
data = mmap.mmap(-1, DATA)
data[:] = random.Random(0x6b696c6c).randbytes(DATA)
# Each task has its own copy.
buffer = memoryview(mmap.mmap(-1, MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
reasons = os.pipe()
now = time.monotonic


def must(condition, *why):
    if not condition:
        raise AssertionError(*why)


def described(error):
    lines = [str(frame.lineno) for frame in traceback.extract_tb(error.__traceback__)
             if frame.name not in ('must', 'inside')]
    return f'line {", ".join(lines)}: {error!r}'


class Slot:
    """A task, and the numbers that it shares with its parent"""

    def __init__(self, number):
        self.number, self.pid, self.op, self.killed = number, 0, None, 0
        self.shared = shared[3 * number:3 * number + 3]

    def begin(self, serial, task, *arguments):
        global own
        self.shared[INSIDE] = 0
        self.killed, self.due = 0, now() + random.uniform(0.001, 0.016)
        self.pid = os.fork()
        if self.pid:
            return
        try:
            own = self
            random.seed(f'{seed} {serial}')
            task(*arguments)
            os._exit(0)
        except BaseException as error:
            os.write(reasons[1], described(error).encode())
            os._exit(1)

    def has_ended(self, flags=0):
        """Whether the task has ended; its failure is raised."""
        pid, status = os.waitpid(self.pid, flags)
        if pid:
            self.pid = 0
        if pid and os.waitstatus_to_exitcode(status) > 0:
            raise AssertionError(self.op, os.read(reasons[0], 500).decode())
        must(not pid or not status or self.killed, self.op, 'ended by a signal', status)
        return bool(pid)


slots = [Slot(number) for number in range(SLOTS)]


def file(name):
    """A file of the task's own slot"""
    return f'{mnt}/{name}-{own.number}'


def inside(call, *arguments):
    """Marks the system call in which the signal should hit the task."""
    own.shared[INSIDE] = 1
    try:
        return call(*arguments)
    finally:
        own.shared[INSIDE] = 0


def somewhere():
    return random.randrange(0, DATA, MIB)


def read(size, flags=0):
    at = somewhere()
    fd = os.open(f'{mnt}/data', os.O_RDONLY | flags)
    if not flags:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    buffer[:size] = bytes(size)
    n = inside(os.preadv, fd, [buffer[:size]], at)
    must(n == size, n)
    os.close(fd)
    must(bytes(buffer[:size]) == data[at:at + size], 'other data')


def write(size, flags=0):
    """A place of the slot's own file always gets the same bytes."""
    at = somewhere()
    fd = os.open(file('out'), os.O_WRONLY | flags)
    buffer[:size] = data[at:at + size]
    n = inside(os.pwrite, fd, buffer[:size], at)
    must(n == size, n)
    if not flags:
        inside(os.fsync, fd)
    os.close(fd)


def list_folder(lookups=False):
    """The new time on the server makes the client read the folder again."""
    n = 0
    os.utime(f'{export}/many')
    with inside(os.scandir, f'{mnt}/many') as entries:
        while entry := inside(next, entries, None):
            if lookups and n % 40 == 0:
                inside(os.stat, entry.path)
            n += 1
    must(n == ENTRIES, n)


def make_link():
    with contextlib.suppress(FileNotFoundError):
        os.unlink(file('link'))
    with contextlib.suppress(FileExistsError):
        inside(os.symlink, 'x' * LONG_LINK, file('link'))


def open_file():
    fd = inside(os.open, file('new'), os.O_RDWR | os.O_CREAT, 0o644)
    inside(os.close, fd)
    if random.randrange(2):
        with contextlib.suppress(FileNotFoundError):
            inside(os.unlink, file('new'))


def lock(name):
    """Takes a lock that other tasks wait for, or one on the slot's own file."""
    fd = os.open(file(name) if name == 'out' else f'{mnt}/{name}', os.O_RDWR)
    inside(fcntl.lockf, fd, fcntl.LOCK_EX)
    inside(fcntl.lockf, fd, fcntl.LOCK_UN)
    os.close(fd)


def attribute(users):
    """The name and value of an xattr, or an ACL of NFSv3 with this number of users"""
    if not version3:
        return 'user.blob', data[:BLOB]
    entries = [(0x01, -1), *((0x02, 1001 + i) for i in range(users)),
               (0x04, -1), (0x10, -1), (0x20, -1)]
    return 'system.posix_acl_access', struct.pack('<I', 2) + b''.join(
        struct.pack('<HHi', tag, 6, user) for tag, user in entries)


def get_attribute():
    """os.getxattr() would first try with a small buffer."""
    name, value = attribute(SOME_USERS)
    os.utime(f'{export}/attr')
    n = inside(LIBC.getxattr, f'{mnt}/attr'.encode(), name.encode(),
               (ctypes.c_char * MIB).from_buffer(buffer), ctypes.c_size_t(MIB))
    must(n > BLOB / 8, n, ctypes.get_errno())
    must(version3 or bytes(buffer[:n]) == value, 'another value')


def set_attribute():
    inside(os.setxattr, file('attr'), *attribute(MANY_USERS))


def stat_file():
    must(inside(os.stat, f'{mnt}/data').st_size == DATA)


OPS = [
    ('READ, 1 MiB', read, MIB, os.O_DIRECT),
    ('WRITE, 1 MiB', write, MIB, os.O_DIRECT),
    ('READDIR', list_folder),
    ('SYMLINK', make_link),
    ('OPEN', open_file),
    ('LOCK that is held', lock, 'lock'),
    ('READ, cached', read, MIB // 2),
    ('WRITE, cached', write, MIB // 4),
    ('READDIR and LOOKUP', list_folder, True),
    ('ACL or xattr, get', get_attribute),
    ('ACL or xattr, set', set_attribute),
    ('LOCK that is free', lock, 'out'),
    ('WRITE, small', write, SMALL, os.O_DIRECT),
    ('READ, small', read, SMALL, os.O_DIRECT),
    ('GETATTR', stat_file),
]
hits = {name: 0 for name, *_ in OPS}    # tasks killed inside the operation


def repeat(operation, *arguments):
    while True:
        operation(*arguments)


def end(slot):
    """Sends the signal, or gives more time to a task that is outside its operation."""
    if slot.shared[INSIDE]:
        os.kill(slot.pid, random.choice(SIGNALS))
        slot.killed = now()
        hits[slot.op] += 1
    else:
        slot.due = now() + random.uniform(0, 0.001)


def kill_tasks(kills):
    serial, longest = 0, (0, 'none')
    while serial < kills or any(slot.pid for slot in slots):
        for slot in slots:
            took = now() - slot.killed
            if slot.pid and slot.has_ended(os.WNOHANG):
                longest = max(longest, (took, slot.op))
            must(not slot.pid or not slot.killed or took < PATIENCE, slot.op,
                 f'alive {took:.1f} s after a signal')
            if not slot.pid and serial < kills:
                slot.op, *task = OPS[serial % len(OPS)]
                slot.begin(serial, repeat, *task)
                serial += 1
            if slot.pid and not slot.killed and now() >= slot.due:
                end(slot)
        time.sleep(random.uniform(0, 0.0015))
    print(f'# the slowest took {longest[0]:.3f} s to end ({longest[1]})')


def all_hit():
    for name, number_of_hits in hits.items():
        print(f'# {name:20} {number_of_hits:4} killed inside')
    must(all(hits.values()), hits)


def lock_free():
    """The server frees the lock of a dead task on a request of the client."""
    with open(f'{mnt}/lock', 'r+b') as held:
        latest = now() + LOCK_PATIENCE
        while now() < latest:
            try:
                return fcntl.lockf(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                time.sleep(0.1)
    must(False, 'the lock is held still')


def endure():
    """A reader or writer that continues when its RPCs are ended"""
    writes = own.number & 1
    fd = os.open(file('out') if writes else f'{mnt}/data', os.O_RDWR | os.O_DIRECT)
    own.shared[INSIDE] = 1
    while not shared[OVER]:
        at = somewhere()
        buffer[:] = data[at:at + MIB] if writes else bytes(MIB)
        try:
            n = os.pwrite(fd, buffer, at) if writes else os.preadv(fd, [buffer], at)
        except OSError as error:
            must(error.errno in WAS_ENDED, error)
            own.shared[ENDED] += 1
            continue
        must(n == MIB, n)       # an RPC has all bytes, or it was ended
        # all_whole() compares what the WRITEs have written.
        must(writes or bytes(buffer) == data[at:at + MIB], 'other data')
        own.shared[DONE] += 1


def total(which, kind=slice(None)):
    return sum(slot.shared[which] for slot in slots[kind])


def one_has_ended():
    return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)


def end_rpcs(seconds):
    """
    Takes this time at least; on a slow machine no RPC may have ended by then.

    The files are open before, because a slow machine would end each OPEN, too.
    """
    kinds, forced = (slice(0, None, 2), slice(1, None, 2)), 0
    for slot in slots:
        slot.op = 'WRITE' if slot.number & 1 else 'READ'
        slot.begin(slot.number, endure)
    while total(INSIDE) < SLOTS and not one_has_ended():
        time.sleep(0.01)
    stop = now() + seconds
    while now() < stop or (any(total(ENDED, kind) <= ENOUGH for kind in kinds) and
                           not one_has_ended()):
        # New RPCs have to begin, so that the next umount ends some of them.
        rounds, latest = total(DONE) + total(ENDED) + SLOTS, now() + 1
        time.sleep(random.uniform(0, 0.06))
        while total(DONE) + total(ENDED) < rounds and now() < latest:
            time.sleep(0.01)
        LIBC.umount2(mount_dir.encode(), 1)     # MNT_FORCE
        forced += 1
    shared[OVER] = 1
    for slot in slots:
        slot.has_ended()
    counts = [(total(ENDED, kind), total(DONE, kind)) for kind in kinds]
    print(f'# RPCs ended {forced} times: ' + ', '.join(
        f'{ended} {name}s of {ended + done}' for (ended, done), name in
        zip(counts, ('READ', 'WRITE'))))
    must(all(ended > ENOUGH for ended, done in counts), counts)


def contents(name):
    with open(name, 'rb', buffering=0) as opened:
        got = b''
        while more := opened.read(DATA - len(got)):
            got += more
    return got


def prepare():
    global version3
    os.makedirs(f'{export}/many', exist_ok=True)
    try:
        os.setxattr(mnt, 'user.probe', b'x')
        version3 = False
    except OSError as error:            # NFSv3 has no user xattrs.
        version3 = error.errno == errno.EOPNOTSUPP
    for name, size in [(f'many/{i:060}', 1) for i in range(ENTRIES)] + [
            (f'{name}-{i}', size) for i in range(SLOTS) for name, size in
            (('out', DATA), ('attr', 1))] + [('data', DATA), ('lock', 1), ('attr', 1)]:
        with open(f'{export}/{name}', 'wb') as made:
            made.write(data[:size])
    os.setxattr(f'{mnt}/attr', *attribute(SOME_USERS))


def all_whole():
    whole = data[:]
    for name in [f'{side}/out-{i}' for i in range(SLOTS) for side in (export, mnt)] + [
            f'{mnt}/data']:
        must(contents(name) == whole, f'{name} differs')


def passes(name, run, *arguments):
    """Runs a case and prints its result."""
    try:
        run(*arguments)
    except Exception as error:
        print(f'FAIL {name}: {described(error)}')
        return False
    print('ok', name)
    return True


def main():
    sys.stdout.reconfigure(line_buffering=True)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.umask(0)
    random.seed(seed)
    print(f'# seed {seed:#x}')
    try:
        prepare()
    except Exception as error:
        print(f'FAIL files: {described(error)}')
        return 1
    if force:
        good = passes('RPCs of READ and WRITE ended in flight', end_rpcs, float(number))
    else:
        good = passes(f'{number} tasks killed', kill_tasks, int(number))
        good &= passes('signals met each operation', all_hit)
        good &= passes('locks of killed tasks are free again', lock_free)
    for slot in slots:
        if slot.pid:
            os.kill(slot.pid, signal.SIGKILL)
    return not passes('files are whole', all_whole) or not good


words = sys.argv[1:]
force = words[:1] == ['-f']
if len(words) - force not in (3, 4):
    print(__doc__, file=sys.stderr)
    sys.exit(2)
mount_dir, export_dir, number, seed = (words[force:] + [str(time.time_ns())])[:4]
mnt, export, seed = f'{mount_dir}/kill', f'{export_dir}/kill', int(seed, 0)
sys.exit(main())
