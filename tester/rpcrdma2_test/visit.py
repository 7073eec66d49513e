# SPDX-License-Identifier: GPL-2.0
"""
A client for --server, on the tester's machine: a command for --trigger, with or without --actions.

    python3 -m rpcrdma2_test.visit ADDRESS EXPORT [OPTIONS]

It mounts the export from the tester, with "vers=3" or these options, does the work that the case
needs, and compares the files with those in EXPORT itself. It uses the interface of the system
directly where the messages depend on it, and imports little, because each action is a process.
"""

import errno
import mmap
import os
import signal
import subprocess
import sys
import threading

PORT, CASE = os.environ.get('PORT', '0'), os.environ.get('CASE', '')
DIR = f'/mnt.{PORT}'
SESSION_CASES = ('client_backward.a_call_before_a_session',
                 'client_backward.a_call_as_a_session_begins')
# By the beginning of the case's name, the first one that matches: further mount options
OPTIONS = (
    ('client_replies.', 'nordirplus'), ('client_resends.', 'nordirplus'),
    *((name, 'nordirplus') for name in SESSION_CASES),
    ('client_fallback.silence_and_an_impatient_rpc', 'timeo=40,retrans=5'),
    ('client_fallback.version_one_is_silent', 'timeo=40,retrans=5'),
    ('client_hours.rpc_longer_than_the_idle_timeout', 'timeo=6000'),
    ('client_hours.refused', 'nconnect=2'), ('client_hours.silent', 'nconnect=2'),
    ('client_hours.closing', 'nconnect=2'), ('client_hours.version_two_now', 'nconnect=2'),
    ('client_killed.credits_of_small_rpcs', 'actimeo=60,lookupcache=none'),
    ('client_killed.sends_that_hang', 'actimeo=60'),
    ('client_killed.', 'noac,lookupcache=none'))


def must(condition, why):
    if not condition:
        raise OSError(why)


def put(path, data):
    with open(path, 'wb') as file:
        file.write(data)


def same(path, data):
    with open(path, 'rb') as file:
        must(file.read() == data, f'{path} has other data')


def direct(path, flags, data, step):
    """Writes, or reads and compares, without the page cache, in parts of this length."""
    fd, pages = os.open(path, os.O_DIRECT | flags, 0o666), mmap.mmap(-1, step)
    for at in range(0, len(data), step):
        part = data[at:at + step]
        if flags:
            pages[:] = part
        count = os.write(fd, pages) if flags else os.readv(fd, [pages])
        must(count == step and pages[:] == part, f'{path} has other data at {at}')
    os.close(fd)


def lists(path, *names):
    must(sorted(os.listdir(path)) == list(names), f'{path}: {os.listdir(path)}')


def links(path, target):
    must(os.readlink(path) == target, f'{path} has another target')


def at_once(function, *arguments):
    """Calls the function for each argument in a thread; returns the numbers of errors."""
    errors = []

    def one(argument):
        try:
            function(argument)
        except OSError as reason:
            errors.append(reason.errno)

    threads = [threading.Thread(target=one, args=(a,)) for a in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def new_name(letter):
    return f'{letter}-{os.urandom(6).hex()}'


# The work of cases, in the mount and in the export

def use(export):
    """Small operations, which need no chunks"""
    name = new_name('d')
    os.mkdir(f'{DIR}/{name}')
    put(f'{DIR}/{name}/f', b'some\n')
    same(f'{DIR}/{name}/f', b'some\n')
    lists(f'{DIR}/{name}', 'f')
    same(f'{export}/{name}/f', b'some\n')


def use_chunks(export):
    """Writes, reads and lists files and a long symlink."""
    name, long = new_name('w'), '0' * 4090
    parts = ('f', os.urandom(5120), 512), ('g', os.urandom(100000), 100000)
    here, there = f'{DIR}/{name}', f'{export}/{name}'
    os.mkdir(here)
    for file, data, step in parts:
        direct(f'{here}/{file}', os.O_WRONLY | os.O_CREAT, data, step)
    os.symlink(long, f'{here}/l')
    links(f'{there}/l', long)
    for file, data, step in parts:
        same(f'{there}/{file}', data)
        direct(f'{here}/{file}', 0, data, step)
    lists(here, 'f', 'g', 'l')


def use_all(export):
    """Operations of all kinds, and concurrent ones"""
    name, long, data = f'c-{PORT}', '0' * 4090, os.urandom(100000)
    here, there = f'{DIR}/{name}', f'{export}/{name}'
    try:
        os.mkdir(here)
        put(f'{here}/f', b'some\n')
        put(f'{here}/g', data)
        os.symlink(long, f'{here}/l')
        os.symlink(long[:2000], f'{here}/m')
        same(f'{there}/f', b'some\n')
        links(f'{there}/l', long)
        put('/proc/sys/vm/drop_caches', b'3')
        links(f'{here}/l', long)
        same(f'{here}/g', data)
        same(f'{there}/g', data)
        at_once(os.stat, f'{here}/x', f'{here}/y')
        lists(here, 'f', 'g', 'l', 'm')
    finally:
        at_once(os.stat, *(f'{DIR}/none-{n}' for n in range(1, 9)))


def symlinks(export, made, refused):
    """Three concurrent SYMLINKs, of which so many are made and refused"""
    name = new_name('s')
    for i in '123':
        os.makedirs(f'{DIR}/{name}/{i}')
    errors = at_once(lambda i: os.symlink(f'to-{i}', f'{DIR}/{name}/{i}/l'), *'123')
    found = sum(os.path.islink(f'{export}/{name}/{i}/l') for i in '123')
    must((found, errors.count(errno.EPROTONOSUPPORT)) == (made, refused),
         f'{found} symlinks, errors {errors}')
    use(export)


def refused_symlinks(export):
    """Sequential SYMLINKs, which fail with EIO"""
    for i in range(30):
        must(at_once(lambda i: os.symlink('x', f'{DIR}/never-{i}'), i) == [errno.EIO], 'not EIO')
    use(export)


def rounds(export, count):
    """
    Each round writes files of several lengths in a new folder, and reads other files that were
    created on the server's side.
    """
    for _ in range(count):
        name = new_name('r')
        os.mkdir(f'{DIR}/{name}')
        for n in (700, 1500, 3500, 5000, 7000, 9000):
            put(f'{DIR}/{name}/w-{n}', b'%0*d' % (n, n))
            same(f'{export}/{name}/w-{n}', b'%0*d' % (n, n))
        for n in (1000, 3000, 5000, 12000):
            put(f'{export}/{name}/r-{n}', b'%0*d' % (n, n))
            same(f'{DIR}/{name}/r-{n}', b'%0*d' % (n, n))
    use(export)


def two_at_once(export):
    """Two concurrent Calls after a MKDIR"""
    name = new_name('t')
    os.mkdir(f'{DIR}/{name}')
    at_once(os.stat, f'{DIR}/{name}/x', f'{DIR}/{name}/y')
    use(export)


def no_listing(_):
    """A READDIR that cannot be sent has to fail without a delay."""
    path = f'{DIR}/{new_name("n")}'
    soon(20, os.mkdir, path)
    must(soon(20, at_once, os.listdir, path) == [errno.EIO], 'not EIO')
    soon(20, os.rmdir, path)


def use_long_name(export):
    os.symlink('0' * 1500, f'{DIR}/l-{PORT}')
    use(export)


def make_link(export):
    """Uses neither READ nor READDIR, which some servers leave unanswered."""
    name = new_name('d')
    soon(30, os.mkdir, f'{DIR}/{name}')
    soon(30, os.symlink, 'target', f'{DIR}/{name}/l')
    links(f'{export}/{name}/l', 'target')


def soon(seconds, function, *arguments):
    """The process ends if the function takes longer."""
    signal.alarm(seconds)
    result = function(*arguments)
    signal.alarm(0)
    return result


# By the beginning of the case's name, the first one that matches
WORK = (
    ('client_replies.', use_chunks), ('client_resends.', use_chunks),
    *((name, use_chunks) for name in SESSION_CASES),
    ('client_refused.one_of_three', symlinks, 3, 0),
    ('client_refused.all_of_three', symlinks, 3, 0),
    ('client_refused.vers_for_one_each_time', symlinks, 2, 0),
    ('client_pinned.one_of_three', symlinks, 2, 1),
    ('client_pinned.all_of_three', symlinks, 0, 3),
    ('client_refused.bad_xdr_for_each', refused_symlinks),
    ('client_properties.no_chunks', no_listing),
    ('client_properties.place_of_a_wish', two_at_once),
    ('client_properties.updates', rounds, 3), ('client_properties.', rounds, 2),
    ('client_negotiation.', use_long_name),
    *((f'client_{name}.', use) for name in (
        'fallback', 'hours', 'killed', 'pinned', 'refused', 'storms')),
    ('', use_all))


def of_case(table):
    """Returns the rest of the case's line in the table."""
    return next((rest for start, *rest in table if CASE.startswith(start)), [''])


def work(export):
    """Does the work in a process, which a signal can end while a system call waits."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        function, *arguments = of_case(WORK)
        act(function, export, *arguments)
    return os.waitpid(child, 0)[1] == 0


def act(function, *arguments):
    """Ends the process with the status of the function."""
    try:
        function(*arguments)
    except OSError as reason:
        print(reason, flush=True)
        os._exit(1)
    os._exit(0)


def mount(address, export, options='vers=3'):
    path = '/' if options.startswith('vers=4') else export
    further = of_case(OPTIONS)[0]
    os.makedirs(DIR, exist_ok=True)
    options = ','.join(filter(None, (
        options, '' if 'proto=' in options else 'proto=rdma2', f'nolock,port={PORT}', further)))
    if subprocess.run(['mount', '-t', 'nfs', '-o', options, f'{address}:{path}', DIR], check=False,
                      timeout=60 * float(os.environ.get('WAIT', 1))).returncode:
        return False
    if CASE.startswith('client_killed.'):
        for i in range(1, 13):
            os.makedirs(f'{DIR}/d{i}', exist_ok=True)
        put(f'{export}/data', bytes(65536))
    return True


def umount(*options):
    return not subprocess.run(['umount', *options, DIR], check=False).returncode


def leave():
    return umount() or umount('-f', '-l')


def end(*_):
    umount('-f', '-l')
    os._exit(1)


def ready():
    """Fills the client's caches, so that it sends no other Call before the SYMLINKs."""
    for i in range(1, 13):
        must(os.access(f'{DIR}/d{i}', os.W_OK), f'd{i} is not writable')


def link(number):
    """Makes a symlink after a signal."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    print('ready', flush=True)
    signal.sigwait([signal.SIGUSR1])
    os.symlink('x' * 900, f'{DIR}/d{number}/l')


def read():
    fd = os.open(f'{DIR}/data', os.O_RDONLY | os.O_DIRECT)
    while os.readv(fd, [mmap.mmap(-1, 65536)]):
        pass


def misses():
    for i in range(40):
        os.path.exists(f'{DIR}/no-{os.getpid()}-{i}')


def whole(address, export, *options):
    done = mount(address, export, *options)
    if done:
        done = work(export)
        leave()
    return done


def main(address, export, *options):
    action, _, number = os.environ.get('ACTION', '').partition(' ')
    simple = {
        'stat': lambda: os.stat(f'{DIR}/n{number}'), 'list': lambda: os.listdir(f'{DIR}/d{number}'),
        'make': lambda: make_link(export), 'force': lambda: umount('-i', '-f'), 'misses': misses,
        'ready': ready, 'read': read, 'link': lambda: link(number)}
    if action in simple:
        act(simple[action])
    signal.signal(signal.SIGTERM, end)
    if action == 'mount':
        return mount(address, export, *options)
    if action == 'work':
        return work(export)
    if action == 'unmount':
        return leave()
    if action:
        sys.exit(f'no action {action}')
    return whole(address, export, *options)


if __name__ == '__main__':
    sys.exit(not main(*sys.argv[1:]))
