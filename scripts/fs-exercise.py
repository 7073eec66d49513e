#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0
"""
Transfers files through an NFS mount in every way a program can, and compares them: through the
mount after dropping its cache, and, if EXPORT is given, on the server's side.

    [CASES=words] [EXCEPT=words] [QUICK=1] fs-exercise.py VERSION MOUNT [EXPORT]

One line per case: "ok NAME" or "FAIL NAME: why". QUICK reduces the number of sizes, for
emulated guests.
"""

import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import random
import re
import struct
import sys
import traceback

MIB = 1 << 20
CREATE = os.O_RDWR | os.O_CREAT | os.O_TRUNC
LIBC = ctypes.CDLL(None, use_errno=True)
ODD_SIZES = (1, 3, 511, 1023, 1024, 4095, 4096, 4097, 8191, 65535, 65536, 65537, 262145,
             MIB - 1, MIB, MIB + 1, 3 * MIB + 5)
ODD_OFFSETS = (0, 1, 3, 4095, 4097, 65537)
quick = 'QUICK' in os.environ


def must(condition, *why):
    if not condition:
        raise AssertionError(*why)


def fails_with(error, call, *arguments):
    try:
        call(*arguments)
    except OSError as e:
        must(e.errno in error, e)
    else:
        must(False, f'no error from {call.__name__}')


def libc(name, *arguments):
    """Calls a function that Python lacks, or offers only in combination with others."""
    ret = getattr(LIBC, name)(*arguments)
    if ret < 0:
        raise OSError(ctypes.get_errno(), f'{name}: {os.strerror(ctypes.get_errno())}')
    return ret


def client(name):
    return f'{mount_dir}/{name}'


def server(name):
    return f'{export_dir}/{name}'


def buffer(size):
    """Has space for an extra byte, so that data can be unaligned."""
    return memoryview(mmap.mmap(-1, size + 1, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))


def filled(size, seed):
    """The same seed gives the same bytes."""
    data = buffer(size)[:size]
    data[:] = random.Random(seed).randbytes(size)
    return data


def compare(want, got):
    for part in range(0, len(want), MIB):
        if bytes(want[part:part + MIB]) != bytes(got[part:part + MIB]):
            at = next(i for i in range(part, len(want)) if want[i] != got[i])
            must(False, f'byte {at} of {len(want)} is {got[at]:#x}, not {want[at]:#x}')


def read_all(fd, data, at):
    while len(data):
        n = os.preadv(fd, [data], at)
        must(n > 0, f'{n} at {at}, {len(data)} to go')
        data, at = data[n:], at + n


def write_all(fd, data, at):
    while len(data):
        n = os.pwrite(fd, data, at)
        must(n > 0, f'{n} at {at}, {len(data)} to go')
        data, at = data[n:], at + n


def forget(fd):
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


def holds(path, flags, want):
    """The whole file, as seen from one side, consists of exactly these bytes."""
    fd = os.open(path, os.O_RDONLY | flags)
    forget(fd)
    size = os.fstat(fd).st_size
    must(size == len(want), f'{path} has {size} bytes, not {len(want)}')
    got = buffer(size)[1:]
    read_all(fd, got, 0)
    compare(want, got)
    os.close(fd)


def both_hold(name, want):
    if export_dir:
        holds(server(name), 0, want)
    holds(client(name), 0, want)
    holds(client(name), os.O_DIRECT, want)


def new_file(name, flags=0):
    return os.open(client(name), CREATE | flags, 0o644)


def odd_io(flags=0, mapped=False):
    for size in ODD_SIZES:
        for offset in ODD_OFFSETS[::1 + quick]:
            name, end = f'odd-{size}-{offset}', offset + size
            data = buffer(size)[1:]
            data[:] = filled(size, size * 31 + offset)
            fd = new_file(name, flags)
            if mapped:
                os.ftruncate(fd, end)
                with mmap.mmap(fd, end) as area:
                    area[offset:] = bytes(data)
                    area.flush()
            else:
                write_all(fd, data, offset)
            os.fsync(fd)
            os.close(fd)
            both_hold(name, bytes(offset) + bytes(data))
            os.unlink(client(name))


def mmap_read():
    """A process that maps the file sees bytes that the client's cache did not have."""
    want = filled(3 * MIB + 17, 77)
    with open((server if export_dir else client)('map'), 'wb') as file:
        file.write(want)
        os.fsync(file)
        forget(file.fileno())
    fd = os.open(client('map'), os.O_RDONLY)
    with mmap.mmap(fd, len(want), prot=mmap.PROT_READ) as area:
        compare(want, area[:])
    os.close(fd)


def whole_file(flags=0):
    want = filled((12 if quick else 48) * MIB + 4097, flags + 5)
    fd = os.open(client('whole'), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | flags, 0o644)
    for done in range(0, len(want), MIB):
        write_all(fd, want[done:done + MIB], done)
    os.close(fd)
    both_hold('whole', want)
    os.unlink(client('whole'))


def vectors():
    parts, at = [], 0
    for size in 1, 4095, 7, 8192, 65537, 3, 100000:
        parts.append((at, at + size))
        at += size
    want, got = filled(at, 3), buffer(at)[:at]
    for flags in 0, os.O_DIRECT:
        fd = new_file('vec', flags)
        must(os.pwritev(fd, [want[a:b] for a, b in parts], 0) == at)
        os.fsync(fd)
        got[:] = bytes(at)
        must(os.preadv(fd, [got[a:b] for a, b in parts], 0) == at)
        compare(want, got)
        os.close(fd)
        both_hold('vec', want)


def append():
    want, size = filled(8 * MIB, 11), 0
    with contextlib.suppress(FileNotFoundError):
        os.unlink(client('append'))
    for i in range(40):
        fd = os.open(client('append'), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        n = 1 + i * i * 97
        must(os.write(fd, want[size:size + n]) == n)
        size += n
        os.close(fd)
    both_hold('append', want[:size])


def truncation():
    want = bytes(filled(200000, 12))
    fd = new_file('trunc')
    write_all(fd, want, 0)
    for size in 65537, 4097, 1, 0, 5, 70000, 4096, 300001:
        os.ftruncate(fd, size)
        # The range beyond an earlier end of the file reads as zeroes.
        want = want[:size].ljust(size, b'\0')
        both_hold('trunc', want)
    os.close(fd)


def write_text(name, text):
    fd = os.open(client(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    must(os.write(fd, text) == len(text))
    os.close(fd)


def renames():
    for name in 'd1', 'd2':
        with contextlib.suppress(FileExistsError):
            os.mkdir(client(name), 0o755)
    write_text('a', b'one')
    write_text('d1/b', b'two')
    os.rename(client('a'), client('d2/c'))
    fails_with([errno.ENOENT], os.stat, client('a'))
    both_hold('d2/c', b'one')
    os.rename(client('d2/c'), client('d1/b'))
    both_hold('d1/b', b'one')
    os.rename(client('d1'), client('d2/moved'))
    both_hold('d2/moved/b', b'one')
    fails_with([errno.ENOENT], os.rename, client('nothing'), client('d2/c'))
    os.unlink(client('d2/moved/b'))
    os.rmdir(client('d2/moved'))
    os.rmdir(client('d2'))


def sent(operation):
    """How often this mount has sent the operation, by /proc/self/mountstats; -1 if unknown"""
    with open('/proc/self/mountstats', encoding='utf-8') as file:
        mounts = re.split('^device ', file.read(), flags=re.M)
    found = [re.search(rf'^\t *{operation}: \d+ (\d+)', mount, re.M) for mount in mounts
             if re.match(rf'\S+ mounted on {re.escape(mount_dir)} with fstype nfs', mount)]
    return int(found[-1][1]) if found and found[-1] else -1


def symlinks():
    for i, size in enumerate((1, 255, 1023, 2048, 4000, 4095)):
        name, target = f'link-{size}', chr(ord('a') + i) * size
        os.symlink(target, client(name))
        if export_dir:
            must(os.readlink(server(name)) == target)
        # The client that creates a symlink caches its target.
        with open('/proc/sys/vm/drop_caches', 'w', encoding='ascii') as file:
            file.write('3')
        before = sent('READLINK')
        must(os.readlink(client(name)) == target, f'of {size}')
        must(before >= 0 and sent('READLINK') == before + 1, f'of {size}')
        os.unlink(client(name))


def hard_links():
    write_text('first', b'shared')
    os.link(client('first'), client('second'))
    must(os.stat(client('second')).st_nlink == 2)
    write_text('second', b'changed')
    both_hold('first', b'changed')
    os.unlink(client('first'))
    both_hold('second', b'changed')
    must(os.stat(client('second')).st_nlink == 1)
    os.unlink(client('second'))


def count_entries(folder, want):
    with os.scandir(folder) as entries:
        n = sum(entry.name[0] != '.' for entry in entries)
    must(n == want, f'{folder}: {n}')


def large_directory():
    """Long names fill many large READDIR replies."""
    entries = 800 if quick else 2500
    names = [client(f'many/{i:0{4 + i % 240}}') for i in range(entries)]
    os.mkdir(client('many'), 0o755)
    for name in names:
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
    if export_dir:
        count_entries(server('many'), entries)
    count_entries(client('many'), entries)
    for name in names[::2]:
        os.unlink(name)
    count_entries(client('many'), entries // 2)
    for name in names[1::2]:
        os.unlink(name)
    os.rmdir(client('many'))


def attributes():
    write_text('attr', b'x')
    os.chmod(client('attr'), 0o604)
    os.chown(client('attr'), 1234, 4321)
    os.utime(client('attr'), ns=(1000000007000005000, 1200000011000007000))
    st = os.stat(server('attr') if export_dir else client('attr'))
    must(st.st_mode & 0o7777 == 0o604)
    must((st.st_uid, st.st_gid) == (1234, 4321))
    must(st.st_mtime_ns // 10 ** 9 == 1200000011)
    os.unlink(client('attr'))


def removed_while_open():
    want, got = filled(5000, 9), buffer(5000)[:5000]
    fd = new_file('gone')
    write_all(fd, want, 0)
    os.unlink(client('gone'))
    os.fsync(fd)
    forget(fd)
    read_all(fd, got, 0)
    compare(want, got)
    os.close(fd)


def set_lock(fd, kind, start, size):
    fcntl.fcntl(fd, fcntl.F_SETLK, struct.pack('hhqqi', kind, os.SEEK_SET, start, size, 0))


def try_lock(name, start, size):
    """The error in another process, which opens the file itself, because closing it here would
    drop the locks of the holder."""
    child = os.fork()
    if not child:
        try:
            set_lock(os.open(client(name), os.O_RDWR), fcntl.F_WRLCK, start, size)
        except OSError as error:
            os._exit(error.errno)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def locks():
    held = errno.EAGAIN, errno.EACCES
    write_text('lock', b'a file with room for locks')
    fd = os.open(client('lock'), os.O_RDWR)
    set_lock(fd, fcntl.F_WRLCK, 100, 50)
    must(try_lock('lock', 120, 5) in held)
    must(try_lock('lock', 0, 100) == 0)
    must(try_lock('lock', 150, 10) == 0)
    set_lock(fd, fcntl.F_RDLCK, 100, 50)
    must(try_lock('lock', 149, 5) in held)
    set_lock(fd, fcntl.F_UNLCK, 100, 50)
    must(try_lock('lock', 120, 5) == 0)
    fcntl.flock(fd, fcntl.LOCK_EX)
    fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)
    os.unlink(client('lock'))


def get_xattr(path, name, most=65536):
    room = ctypes.create_string_buffer(most)
    size = libc('getxattr', path.encode(), name.encode(), room, most)
    return room.raw[:size]


def xattrs():
    path = client('xattr')
    write_text('xattr', b'x')
    for i, size in enumerate((1, 3, 255, 1000, 4095, 4097, 8192, 20001, 65536)):
        want = bytes(filled(size, i))
        os.setxattr(path, 'user.value', want)
        for side in ([server('xattr')] if export_dir else []) + [path]:
            got = get_xattr(side, 'user.value')
            must(len(got) == size, f'{len(got)} of {size}')
            compare(want, got)
    # The list of names fills a large reply.
    for i in range(60):
        os.setxattr(path, f'user.{i:0200}', b'v')
    room = ctypes.create_string_buffer(65536)
    must(libc('listxattr', path.encode(), room, 65536) >= 60 * 206)
    os.removexattr(path, 'user.value')
    fails_with([errno.ENODATA], get_xattr, path, 'user.value')
    os.unlink(path)


def no_xattrs():
    """tmpfs of 6.1 alone has no xattrs of users, and neither has a mount of it."""
    write_text('xattr', b'x')
    for path in server('xattr'), client('xattr'):
        fails_with([errno.EOPNOTSUPP], os.setxattr, path, 'user.probe', b'v')
    os.unlink(client('xattr'))


def acls():
    """NFSv3 transfers ACLs with a side protocol over the same connection."""
    name = 'system.posix_acl_access'
    acl = struct.pack('I', 2) + b''.join(struct.pack('HHI', *entry) for entry in [
        (1, 6, 0xffffffff), *((2, i & 7, 1000 + i) for i in range(1, 37)),
        (4, 4, 0xffffffff), (16, 7, 0xffffffff), (32, 0, 0xffffffff)])
    write_text('acl', b'x')
    os.setxattr(client('acl'), name, acl)
    if export_dir:
        must(get_xattr(server('acl'), name, len(acl)) == acl)
    must(get_xattr(client('acl'), name, len(acl)) == acl)
    os.unlink(client('acl'))


def copy_and_holes():
    want = filled(2 * MIB + 3, 21)
    source, copy, at = new_file('from'), new_file('to'), 0
    write_all(source, want, 0)
    os.fsync(source)
    while at < len(want):
        n = os.copy_file_range(source, copy, len(want) - at, offset_src=at)
        must(n > 0)
        at += n
    os.fsync(copy)
    # FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE
    libc('fallocate', copy, 3, ctypes.c_long(4096), ctypes.c_long(65536))
    want[4096:4096 + 65536] = bytes(65536)
    must(os.lseek(copy, 0, os.SEEK_HOLE) == 4096)
    os.close(source)
    os.close(copy)
    both_hold('to', want)


# Name, function, and the version if the case is for one version only
ALL = [
    ('odd sizes at odd offsets, buffered', odd_io),
    ('odd sizes at odd offsets, O_DIRECT', lambda: odd_io(os.O_DIRECT)),
    ('odd sizes at odd offsets, mmap', lambda: odd_io(mapped=True)),
    ('large file, buffered', whole_file),
    ('large file, O_DIRECT', lambda: whole_file(os.O_DIRECT)),
    ('mmap of a file with a cold cache', mmap_read),
    ('vectors of odd parts', vectors),
    ('append', append),
    ('truncate and extend', truncation),
    ('rename', renames),
    ('symlinks up to 4095 bytes', symlinks),
    ('hard links', hard_links),
    ('directory of many long names', large_directory),
    ('mode, owner and times', attributes),
    ('file removed while open', removed_while_open),
    ('locks', locks),
    ('xattrs up to 64 KiB', xattrs, '4.2') if os.environ.get('VM_KERNEL') != 'debian-6.1' else
    ('no xattrs of users', no_xattrs, '4.2'),
    ('ACL of 40 entries', acls, '3'),
    ('copy_file_range and holes', copy_and_holes, '4.2'),
]


def main():
    only, but = os.environ.get('CASES', ''), os.environ.get('EXCEPT')
    failed, done = False, False
    sys.stdout.reconfigure(line_buffering=True)
    for name, run, *versions in ALL:
        if (versions and version not in versions) or only not in name or (but and but in name):
            continue
        done = True
        try:
            run()
            print('ok', name)
        except Exception as error:
            lines = [str(frame.lineno) for frame in traceback.extract_tb(error.__traceback__)[1:]
                     if frame.name != 'must']
            print(f'FAIL {name}: line {", ".join(lines)}: {error!r}')
            failed = True
    if not done:
        print(f'FAIL no case of NFSv{version} is called "{only}":',
              ', '.join(name for name, _, *versions in ALL if version in (versions or [version])))
        return 2
    return failed


if len(sys.argv) not in (3, 4):
    print(__doc__, file=sys.stderr)
    sys.exit(2)
version, mount_dir, export_dir = (sys.argv[1:] + [None])[:3]
sys.exit(main())
