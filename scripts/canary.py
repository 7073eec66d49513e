#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Tests of properties of the guests that all tests rely on. Each detector works: a guest with one
fault has to report exactly this fault and fail, and a guest without a fault has to pass. Guests
do not see the machine's files in the folders that tests write to. One line per case.

    canary.py [uml-debug|uml-dma|kcsan]
"""

import atexit
import concurrent.futures
import contextlib
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
END_OF_RACE = 'Reported by Kernel Concurrency Sanitizer on:', '=========================='
# The boot alone has taken 15 s of a processor.
TIMEOUT = {'idle': 60, 'spins': 30, 'ends': 60}
CLOCK = {'waits': 'guest'}
PF_EXITING = 4          # include/linux/sched.h
SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP


def logs(*lines):
    return '\n'.join(f"echo '{line}' >/dev/kmsg" for line in lines)


def race(functions, *lines):
    """Logs a report of a race with these functions in the title, and with these lines."""
    return logs(f'BUG: KCSAN: data-race in {functions}', ' schedule+0x10/0x20', *lines)


def death(flags, rcx='00000000ffffa202'):
    return logs('Oops: double fault: 0000 [#1]', f'RSP: 0018:ffa00000000fbc40 EFLAGS: {flags}',
                f'RAX: 0000000000000001 RBX: ffa00000000fbc58 RCX: {rcx}', 'Call Trace:',
                'Kernel panic - not syncing: Fatal exception in interrupt')


# Kind, exit status, pattern of the report, command; without a command the kind is a fault of
# kunit/canary.c. The hung-task detector checks once per timeout.
CANARIES = {'uml-debug': [
    ('none', 0, ''),
    ('warn', 126, 'WARNING: .*canary'),
    ('leak', 126, 'unreferenced object'),
    ('locks', 126, 'possible circular locking dependency detected'),
    ('bounds', 126, 'KASAN: slab-out-of-bounds in .*canary'),
    ('shift', 126, 'UBSAN: shift-out-of-bounds in .*canary'),
    ('sleep', 126, 'sleeping function called from invalid context'),
    ('hung', 126, 'INFO: task canary:[0-9]* blocked for more than'),
    ('killable', 126, 'init: BUG: task canary:[0-9]* blocked for more than'),
    ('unlocked', 126, 'init: BUG: lockdep is off'),
    ('kmemleak-off', 126, 'init: BUG: kmemleak is off',
     'echo off >/sys/kernel/debug/kmemleak'),
    ('double', 126, 'Oops: double fault', death('0a22a202')),
    ('process', 126, 'a process died: .* segfault at',
     'python3 -c "import ctypes; ctypes.string_at(1 << 63)"'),
    ('idle', 124, 'no end after 60 s without work', 'sleep 9999'),
    ('spins', 124, 'no end after 30 s of a processor', 'while :; do :; done'),
    ('waits', 126, 'init: BUG: the command has not ended within a day', 'sleep infinity'),
    # The guest has a result, but does not power off; only a test of the end fails by this.
    ('stays', 0, '', 'echo 0 >/run/vm/rc; while :; do :; done'),
    ('ends', 124, 'no end after 60 s without work, not switched off behind its result',
     'touch /run/vm/ends; echo 0 >/run/vm/rc; sleep 9999'),
], 'uml-dma': [
    # The kernel's checks of the DMA API, and those of the device, of which the last one is alone
    ('unmapped', 0, ''),
    ('direction', 126, 'DMA-API: .*frees DMA memory with different direction'),
    ('length', 126, 'DMA-API: .*frees DMA memory with different size'),
    ('twice', 126, 'DMA-API: .*tries to free DMA memory it has not allocated'),
    ('mapped', 126, 'WARNING: .*rxe_dma_cleanup'),
], 'kcsan': [
    # The detector of data races, with several processors
    ('none', 0, ''),
    ('race', 126, 'KCSAN: data-race in .*canary'),
    ('theirs', 0, '', race('schedule / schedule', *END_OF_RACE)),
    ('below', 0, '', race('schedule / schedule', ' rpcrdma2_one+0x10/0x20 [rpcrdma2]',
                          *END_OF_RACE)),
    ('ours', 126, 'KCSAN: data-race in rpcrdma2_one .rpcrdma2. / schedule',
     race('rpcrdma2_one [rpcrdma2] / schedule', *END_OF_RACE)),
    ('beside', 126, 'WARNING: beside', race('schedule / schedule', 'WARNING: beside',
                                            *END_OF_RACE)),
    ('cut', 126, 'KCSAN: data-race in schedule', race('schedule / schedule', END_OF_RACE[1])),
    # A fault of QEMU, and deaths that differ from it
    ('emulator', 123, 'the emulator failed, no processor has EFLAGS: 0a22a202',
     death('0a22a202')),
    ('flags', 126, 'Oops: double fault', death('0021a202')),
    ('registers', 126, 'Oops: double fault', death('0a22a202', '00000000ffffa203')),
    ('earlier', 126, 'WARNING: before', logs('WARNING: before') + '\n' + death('0a22a202')),
    ('later', 126, 'WARNING: behind', death('0a22a202') + '\n' + logs('WARNING: behind')),
]}


def said(name):
    with open(f'{work}/{name}.said', errors='replace') as opened:
        return opened.read()


def is_ending(process):
    """Whether a process in /proc is certain to end: it exits, or SIGKILL is pending. The kernel
    also makes this signal pending for another one that ends the process; SIGTERM itself stays
    pending in a process that blocks it or is stopped."""
    with open(f'{process}/status') as opened:
        pending = re.findall(r'^S..Pnd:\t(\w+)$', opened.read(), re.M)
    with open(f'{process}/stat') as opened:
        flags = int(opened.read().rpartition(') ')[2].split()[6])
    return flags & PF_EXITING or any(int(mask, 16) >> signal.SIGKILL - 1 & 1 for mask in pending)


def left(path):
    """Returns the processes that have the file open and are not certain to end."""
    found, file = [], os.stat(path)
    for link in glob.glob('/proc/[0-9]*/fd/*'):
        process = link.partition('/fd/')[0]
        with contextlib.suppress(OSError):      # it may have ended by now
            if os.path.samestat(os.stat(link), file) and not is_ending(process):
                found.append(process)
    return found


def guest(name, *command, here=TOP, cwd=None):
    """Runs a guest. Afterwards no process of it is left, which could hold a lock of vm.sh."""
    mark = f'{work}/{name}.mark'
    with open(mark, 'w') as opened, open(f'{work}/{name}.said', 'w') as output, starting:
        if stopping:
            return 1
        if not left(mark):      # this process has it open
            return 'no process found'
        process = subprocess.Popen(
            [f'{here}/scripts/vm.sh', kernel, '--no-modules', '--mem', '512', '--timeout',
             str(TIMEOUT.get(name, 600)), '--clock', CLOCK.get(name, 'host'),
             '--out', f'{work}/{name}', '--', 'sh', '-c', *command],
            stdout=output, stderr=subprocess.STDOUT, cwd=cwd, pass_fds=[opened.fileno()],
            start_new_session=True)
        running.append(process)
    status = process.wait()
    still = left(mark)
    return f'{status}, and {still} left' if still else status


def run(kind, status, report, command=None):
    """Returns a line about a canary."""
    command = command or f'insmod {built}/src/kunit/canary.ko trouble={kind}'
    if kernel == 'uml-dma':
        command = f"bash -c '. {TOP}/scripts/vm/nfs.sh && device_up' && {command}"
    if kind == 'hung':
        command = f'echo 2 >/proc/sys/kernel/hung_task_timeout_secs; {command} && sleep 5'
    rc = guest(kind, command)
    if rc != status:
        return f'FAIL canary: {kind}: the run ends with {rc}, not {status}, see {work}'
    if not re.search(report, said(kind)):
        return f'FAIL canary: {kind}: the run did not report it, see {work}'
    if status:
        return f'ok canary: {kind}: the run fails, "{report}"'
    return 'ok canary: ' + ('without a fault' if kind == 'none' else f'{kind}:') + ' the run passes'


def folders(name, case, *command, **options):
    rc = guest(name, *command, **options)
    if not rc:
        return f'ok canary: {case}'
    return '\n# '.join([f'FAIL canary: {case}: ends with {rc}', *said(name).splitlines()[-30:]])


def clean_up():
    for folder in (clone, f'{clone}.beside'):
        shutil.rmtree(folder, ignore_errors=True)


def stop(*_):
    """Each guest is a process group. No other one begins."""
    global stopping
    for which in SIGNALS:
        signal.signal(which, signal.SIG_IGN)
    with starting:
        stopping = True
    for process in running:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
    for process in running:
        process.wait()
    clean_up()
    os._exit(130)


kernel = (sys.argv[1:] or ['uml-debug'])[0]
if kernel not in CANARIES:
    sys.exit(f"no canaries for '{kernel}': {' '.join(CANARIES)}")
# Only threads of the pool start guests, and hold the lock for this.
running, starting, stopping = [], threading.Lock(), False
cache = os.environ.get('RPCRDMA2_CACHE') or (
    os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')) + '/rpcrdma2'
os.makedirs(f'{cache}/run', exist_ok=True)
work = tempfile.mkdtemp(prefix=time.strftime('canary-%H%M%S-'), dir=f'{cache}/run')
clone = tempfile.mkdtemp(prefix='canary-', dir='/tmp')
atexit.register(clean_up)
# The guests sleep most of the time.
pool = concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0)) + 1)
for name in SIGNALS:
    signal.signal(name, stop)
built = subprocess.run([f'{TOP}/scripts/vm/modules.sh', kernel], stdout=subprocess.PIPE, text=True,
                       check=True).stdout.strip()
own = []
if kernel == 'uml-debug':
    # A checkout in the machine's /tmp, beside another file; and /tmp as the current folder
    shutil.copytree(f'{TOP}/scripts', f'{clone}/scripts')
    os.mkdir(f'{clone}.beside')
    own = [('folders', '/tmp of a guest has its checkout, and no other files',
            f'ls -A /tmp; test -x scripts/canary.py && test ! -e {clone}.beside',
            {'here': '.', 'cwd': clone}),
           ('tmp', 'a guest that is started in /tmp has a private /tmp',
            f'ls -A /tmp; test "$PWD" = /tmp && test ! -e {clone}.beside', {'cwd': '/tmp'})]
with pool:
    cases = [pool.submit(folders, *words, **options) for *words, options in own]
    cases += [pool.submit(run, *row) for row in CANARIES[kernel]]
    lines = [case.result() for case in cases]
print(*lines, sep='\n')
sys.exit(any(line.startswith('FAIL') for line in lines))
