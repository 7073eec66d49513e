#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Tries NFS over the RDMA adapters of this machine, or of this machine and another one: files
that are compared on both sides, then the speed of fio, with rdma2 in both versions beside the
kernel's own rpcrdma. Documentation/adapter.rst describes it.

The export is a tmpfs. The script changes the modules of NFS over RDMA that are loaded, so it
fails while a mount uses them; where it starts nfsd, it fails while nfsd runs. At its end the
modules that were loaded before are loaded again.
"""

import argparse
import contextlib
import ipaddress
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BASE = '/run/rdma2-adapter'
EXPORT, MOUNT = f'{BASE}/export', f'{BASE}/mnt'
STATUS = '.server'
STATUS_BYTES = 256
# Bytes of the largest files that fs-exercise.py has at a time, and some more
TREE = 128 << 20
NFSD = '/proc/fs/nfsd'
PORT = 20049
PIN = '/sys/module/xprtrdma2/parameters/pin'
OWN = {'client': 'xprtrdma2', 'server': 'svcrdma2'}
CLIENTS = {'v2': 'rdma2, version 2', 'v1': 'rdma2, version 1', 'rpcrdma': 'rpcrdma'}
# Block size in bytes, and operations in flight
SIZES = ((4096, 1), (4096, 32), (65536, 8), (1 << 20, 1), (1 << 20, 8))
ROWS = [(way, *size) for way in ('write', 'read') for size in SIZES]
# Commands of each role, and Debian's packages of them
COMMANDS = {'both': {'modprobe': 'kmod', 'mount': 'mount', 'dmesg': 'util-linux', 'ip': 'iproute2',
                     'rdma': 'iproute2'},
            'server': {'exportfs': 'nfs-kernel-server', 'rpc.mountd': 'nfs-kernel-server',
                       'rpc.nfsd': 'nfs-kernel-server', 'pidof': 'sysvinit-utils',
                       'pkill': 'procps'},
            'client': {'mount.nfs': 'nfs-common', 'fio': 'fio'}}
# Findings of "rdma2 doctor" that end the script before it begins
OBSTACLES = re.compile(r'^FAIL ((?:kernel|device|route): .*)(?:\n +-> (.*))?', re.M)
OVER_RDMA = re.compile(r'^\S+ (\S+) nfs4? \S*\bproto=rdma', re.M)
REPORTS = re.compile(r'WARNING|\bBUG\b|Oops|Call Trace|blocked for more than|general protection')


class Fault(Exception):
    """An error for the user."""


class Cleaning(contextlib.ContextDecorator):
    """Has a signal wait until everything is undone"""

    depth = 0
    signalled = False

    def __enter__(self):
        Cleaning.depth += 1

    def __exit__(self, *_):
        Cleaning.depth -= 1
        if Cleaning.signalled and not Cleaning.depth:
            Cleaning.signalled = False
            raise KeyboardInterrupt


def execute(*command):
    """
    Runs a command and returns its status and output. Ctrl-C reaches this script alone, which then
    ends the command with all that it has started.
    """
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors='replace',
                                   start_new_session=True)
    except FileNotFoundError:
        raise Fault(f'{command[0]} is not installed') from None
    try:
        said = process.communicate()[0]
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        # With I/O of a server that does not answer, it ends once the mount is forced to.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        raise
    return process.returncode, said


def run(*command, check=True):
    """Returns a command's output; if it fails, its last line becomes the error."""
    status, said = execute(*command)
    if check and status:
        raise Fault(f'{" ".join(command)}: {(said.strip().splitlines() or [status])[-1]}')
    return said


def read(path):
    with contextlib.suppress(OSError), open(path, encoding='utf-8', errors='replace') as file:
        return file.read().strip()
    return ''


def write(path, text):
    try:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
    except OSError as e:
        raise Fault(f'{path}: {e.strerror}') from None


def busy():
    """Returns the seconds that all processors have worked."""
    user, nice, system, _, _, irq, softirq = map(int, read('/proc/stat').split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf('SC_CLK_TCK')


def unload(module):
    """Unloads a module. The last transport of a mount ends a moment after the mount."""
    for _ in range(600):
        if not os.path.isdir(f'/sys/module/{module}'):
            return
        if read(f'/sys/module/{module}/refcnt') in ('0', ''):
            run('rmmod', module)
        time.sleep(0.1)
    advice = 'stop nfs-server' if module == 'svcrdma2' else 'unmount what is mounted over RDMA'
    raise Fault(f'{module} is in use; {advice}')


def modprobe(module, *options):
    """Loads a module by its own name: modprobe.d leads from rpcrdma to rdma2."""
    config = ('-C', '/dev/null') if module == 'rpcrdma' else ()
    return run('modprobe', *config, *options, module)


def load(transport, ends):
    """Loads the modules of rdma2 or the kernel's own, instead of the other ones."""
    if transport == 'rdma2':
        unload('rpcrdma')
        for end in ends:
            modprobe(OWN[end])
    else:
        for module in OWN.values():
            unload(module)
        modprobe('rpcrdma')


@contextlib.contextmanager
def same_modules():
    """Has the modules loaded afterwards that were loaded before, and no others."""
    def loaded():
        return [module for module in ('rpcrdma', *OWN.values(), 'rpcrdma2')
                if os.path.isdir(f'/sys/module/{module}')]

    before = loaded()
    try:
        yield
    finally:
        with Cleaning():
            for module in loaded():
                if module not in before:
                    unload(module)
            for module in before:
                # The core comes with either end, and its name is an alias.
                if module != 'rpcrdma2':
                    modprobe(module)


class Server:
    """nfsd on this machine, with one listener over RDMA; the export is a tmpfs"""

    def __init__(self, size):
        self.size = size
        self.undo = contextlib.ExitStack()
        self.ended = threading.Event()
        self.fault = None       # of publish()

    def start(self, transport):
        if read(f'{NFSD}/threads') not in ('', '0'):
            raise Fault('nfsd runs: systemctl stop nfs-server')
        load(transport, ('client', 'server') if self.size.loopback else ('server',))
        # A signal may end a command that has had its effect, so each is undone from its beginning.
        self.undo.callback(unmount, EXPORT)
        os.makedirs(EXPORT, exist_ok=True)
        run('mount', '-t', 'tmpfs', '-o', f'size={max(self.size.bytes * 2, self.size.bytes + TREE)},mode=1777', 'none', EXPORT)
        modprobe('nfsd')
        if not os.path.exists(f'{NFSD}/threads'):
            self.undo.callback(unmount, NFSD)
            run('mount', '-t', 'nfsd', 'nfsd', NFSD)
        self.undo.callback(run, 'exportfs', '-u', f'*:{EXPORT}', check=False)
        run('exportfs', '-o', 'rw,fsid=0,no_root_squash,no_subtree_check,insecure', f'*:{EXPORT}')
        if not run('pidof', 'rpc.mountd', check=False):
            self.undo.callback(run, 'pkill', 'rpc.mountd', check=False)
            run('rpc.mountd')
        self.undo.callback(run, 'rpc.nfsd', '0')
        run('rpc.nfsd', '16')
        # With rdma=y in nfs.conf rpc.nfsd has opened a listener, perhaps on this port.
        if f'rdma {PORT}' not in read(f'{NFSD}/portlist').split('\n'):
            write(f'{NFSD}/portlist', f'rdma {PORT}')
        # Nobody has state to reclaim; the grace period may be over.
        with contextlib.suppress(Fault):
            write(f'{NFSD}/v4_end_grace', 'Y')
        self.fault = None
        self.ended.clear()
        thread = threading.Thread(target=self.publish, args=(transport,))
        thread.start()
        self.undo.callback(thread.join)
        self.undo.callback(self.ended.set)

    def publish(self, transport):
        """Keeps the transport and the work of this machine's processors in a file. If this fails,
        the figures of the server are wrong, so that the run has failed."""
        try:
            with open(f'{EXPORT}/{STATUS}', 'wb', buffering=0) as file:
                while True:
                    text = json.dumps({'transport': transport, 'busy': busy(),
                                       'kernel': os.uname()[2], 'bytes': self.size.bytes})
                    os.pwrite(file.fileno(), text.ljust(STATUS_BYTES).encode(), 0)
                    if self.ended.wait(0.2):
                        return
        except Exception as e:
            self.fault = f'{EXPORT}/{STATUS}: {e!r}'
            self.ended.set()

    @Cleaning()
    def stop(self):
        self.undo.close()


def unmount(folder, *options):
    """Unmounts a file system if it is mounted, and removes the script's folder for it. A daemon
    that has got a signal may use it a moment longer."""
    for left in range(100, -1, -1):
        if f' {folder} ' not in read('/proc/mounts'):
            break
        run('umount', *options, folder, check=not left)
        time.sleep(0.1)
    if folder.startswith(BASE):
        with contextlib.suppress(OSError):
            os.removedirs(folder)


class Size:
    """How much is moved, and where"""

    def __init__(self, arguments):
        self.bytes = arguments.size << 20
        self.seconds = getattr(arguments, 'seconds', None)
        self.loopback = arguments.command == 'loopback'
        available = int(re.search(r'MemAvailable: +(\d+)', read('/proc/meminfo'))[1]) << 10
        if arguments.command != 'client' and self.bytes * 4 > available:
            raise Fault(f'--size {arguments.size} needs {arguments.size * 4} MiB of memory')


def server_status():
    """Returns the server's file; it changes under the client, so the cache is of no use."""
    try:
        fd = os.open(f'{MOUNT}/{STATUS}', os.O_RDONLY)
        try:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            return json.loads(os.pread(fd, STATUS_BYTES, 0))
        finally:
            os.close(fd)
    except FileNotFoundError:
        raise Fault('this script has not started the server') from None
    except (OSError, ValueError) as e:
        raise Fault(f'{MOUNT}/{STATUS}: {e}') from None


@contextlib.contextmanager
def mounted(client, address):
    """Mounts the server's export with this client, or, if it is None, with any version."""
    pin = None
    load('rpcrdma' if client == 'rpcrdma' else 'rdma2', ('client',))
    try:
        if client in ('v1', 'v2'):
            pin = read(PIN)
            write(PIN, f'{f"[{address}]" if ":" in address else address}={client[1]}')
        os.makedirs(MOUNT, exist_ok=True)
        host, proto = (f'[{address}]', 'rdma6') if ':' in address else (address, 'rdma')
        try:
            # The first mount only reads the server's file: it gives up if there is no answer.
            soft = '' if client else ',soft,timeo=100,retrans=1'
            run('mount', '-t', 'nfs', '-o', f'vers=4.2,proto={proto},port={PORT},retry=0{soft}',
                f'{host}:/', MOUNT)
        except Fault as e:
            hint = '' if client else f' (does "adapter.py server" run on {address}?)'
            raise Fault(f'{e}{hint}') from None
        yield
        run('umount', MOUNT)
    finally:
        with Cleaning():
            try:
                # After an error, RPCs may be in flight whose server does not answer.
                unmount(MOUNT, '-f', '-l')
            finally:
                if pin is not None:
                    write(PIN, f'{pin}\n')


def compare(size):
    """Returns the number of right and of wrong results of fs-exercise.py and load.sh."""
    export = [EXPORT] if size.loopback else []
    said = run(f'{TOP}/scripts/fs-exercise.py', '4.2', MOUNT, *export, check=False)
    right, wrong = (re.findall(rf'^{word} .*', said, re.M) for word in ('ok', 'FAIL'))
    os.makedirs(f'{MOUNT}/load', exist_ok=True)
    status, loaded = execute(f'{TOP}/scripts/load.sh', f'{MOUNT}/load',
                             f'{EXPORT}/load' if export else '-', str(size.seconds), '2')
    (wrong if status else right).append(f'load of fio: {loaded.strip()[-300:]}')
    shutil.rmtree(f'{MOUNT}/load')
    if not right:
        wrong.append(f'fs-exercise.py: {said.strip()[-300:]}')
    return len(right), wrong


def measure(size, way, block, depth):
    """Returns the figures of one run of fio."""
    before, server = busy(), server_status()['busy']
    said = run('fio', '--thread', '--name=x', f'--filename={MOUNT}/fio', f'--rw=rand{way}', f'--bs={block}',
               f'--iodepth={depth}', '--ioengine=libaio', '--direct=1', f'--size={size.bytes}',
               '--time_based', f'--runtime={size.seconds}', '--randrepeat=0', '--fallocate=none',
               '--output-format=json')
    after = busy()
    try:
        job = json.JSONDecoder().raw_decode(said, said.index('{'))[0]['jobs'][0]
    except (ValueError, LookupError):
        raise Fault(f'fio: {said.strip()[-300:]}') from None
    server = server_status()['busy'] - server
    figures = job[way]
    if job['error'] or not figures['total_ios']:
        raise Fault(f'fio: error {job["error"]}, {figures["total_ios"]} operations')
    per_op = 1e6 / figures['total_ios']
    return {'iops': figures['iops'], 'mb': figures['bw_bytes'] / 1e6,
            'mean': figures['clat_ns']['mean'] / 1e3,
            'p99': figures['clat_ns']['percentile']['99.000000'] / 1e3,
            'client': (after - before) * per_op, 'server': server * per_op}


def name_of(way, block, depth):
    return f'{way.upper()} of {block >> 10} KiB, {depth} in flight'


class Report:
    """Lines for the terminal and the file, and the figures for the tables at the end"""

    def __init__(self, name, size):
        try:
            self.file = open(name, 'x', encoding='utf-8')
        except OSError as e:
            raise Fault(f'{name}: {e.strerror}') from None
        self.size = size
        self.figures = {}
        self.failed = False

    def line(self, text=''):
        print(text, flush=True)
        print(text, file=self.file, flush=True)

    def fail(self, text):
        self.failed = True
        self.line(f'FAILED: {text}')

    def machine(self):
        release = dict(re.findall(r'^(\w+)="?([^"\n]*)', read('/etc/os-release'), re.M))
        self.line(f'{release.get("PRETTY_NAME")}, Linux {os.uname()[2]}, {os.cpu_count()} processors')
        model = re.search(r'model name\s*: (.*)', read('/proc/cpuinfo'))
        self.line(model[1] if model else os.uname()[4])
        self.line(f'rdma2 {run("modinfo", "-F", "version", "xprtrdma2").strip()}')
        for link in run('rdma', 'link', 'show').splitlines():
            device = link.split()[1].partition('/')[0]
            base = f'/sys/class/infiniband/{device}'
            driver = f'{base}/device/driver'
            driver = os.path.basename(os.path.realpath(driver)) if os.path.exists(driver) else 'none'
            self.line(f'{" ".join(link.split())} driver {driver}'
                      f' firmware {read(f"{base}/fw_ver") or "none"}')

    def tables(self):
        if not self.figures:
            return
        self.line()
        self.line('Latency and processor time in us per operation' +
                  ('; processor time of both ends together' if self.size.loopback else
                   ', of the client / of the server'))
        for row in sorted(ROWS):
            self.line()
            self.line(name_of(*row))
            self.line(f'    {"":38}{"ops/s":>9}{"MB/s":>9}{"mean":>11}{"99 %":>11}  CPU')
            for variant, rows in self.figures.items():
                f = rows[row]
                cpu = f'{f["client"]:.1f}'
                if not self.size.loopback:
                    cpu += f' / {f["server"]:.1f}'
                self.line(f'    {variant:38}{f["iops"]:9.0f}{f["mb"]:9.1f}{f["mean"]:11.1f}'
                          f'{f["p99"]:11.1f}  {cpu}')


def try_client(report, client, address, size):
    """Runs everything with one client."""
    with mounted(client, address):
        variant = CLIENTS[client]
        if not size.loopback:
            variant += f', server {server_status()["transport"]}'
        report.line(f'\n{variant}')
        version = re.findall(r' version=(\d)', read('/proc/net/rpc/xprtrdma2'))
        if client != 'rpcrdma' and version != [client[1]]:
            report.fail(f'{variant}: connections of version {version}')
        right, wrong = compare(size)
        report.line(f'    files: {right} right, {len(wrong)} wrong')
        for text in wrong:
            report.fail(f'{variant}: {text}')
        report.figures[variant] = {row: measure(size, *row) for row in ROWS}
        if client != 'rpcrdma':
            for line in run(f'{TOP}/utils/rdma2', 'show', '-v', check=False).rstrip().split('\n'):
                report.line(f'    {line}')
        os.unlink(f'{MOUNT}/fio')


def kernel_log():
    """Marks the kernel's log; returns a function that returns the lines after the mark."""
    mark = f'rdma2: {os.path.basename(__file__)} {os.getpid()} {time.time()}'
    with open('/dev/kmsg', 'w', encoding='utf-8') as file:
        file.write(mark)
    return lambda: run('dmesg').rpartition(mark)[2].strip().split('\n')


def plan(arguments):
    """Prints the steps that take as long as they are set to."""
    total = 0
    for client in arguments.clients:
        print(CLIENTS[client])
        for step in ('load.sh: fio verifies each block', *(name_of(*row) for row in ROWS)):
            print(f'    {arguments.seconds:5} s  {step}')
            total += arguments.seconds
    print(f'{total} s in all, besides mounts, fs-exercise.py, and files that fio writes and reads '
          'before and after a step')


def check_machine(arguments, size):
    """Raises a Fault if something that the run needs is absent. Nothing is changed."""
    ends = ('client', 'server') if size.loopback else (arguments.command,)
    packages = {package for end in ('both', *ends) for command, package in COMMANDS[end].items()
                if not shutil.which(command)}
    if packages:
        raise Fault('not installed; on Debian: apt install ' + ' '.join(sorted(packages)))
    modules = [OWN[end] for end in ends] + ['nfsd'] * ('server' in ends)
    if 'rpcrdma' in getattr(arguments, 'clients', ()):
        modules.append('rpcrdma')
    if getattr(arguments, 'intree', False):
        modules = ['rpcrdma', 'nfsd']
    for module in modules:
        try:
            modprobe(module, '--dry-run')
        except Fault:
            raise Fault(f'there is no module {module} for Linux {os.uname()[2]}; see '
                        'Documentation/install.rst, and "rdma2 doctor"') from None
    address = getattr(arguments, 'address', None)
    said = run(f'{TOP}/utils/rdma2', 'doctor', *([address] if address else []), check=False)
    for what, advice in OBSTACLES.findall(said):
        raise Fault(what + (f' ({advice})' if advice else ''))
    if size.loopback and not run('ip', '-o', 'route', 'get', address).startswith('local '):
        raise Fault(f'{address} is not an address of this machine')
    mounts = read('/proc/mounts')
    for folder in ([EXPORT] if 'server' in ends else []) + ([MOUNT] if 'client' in ends else []):
        if f' {folder} ' in mounts:
            raise Fault(f'{folder} is mounted: this script runs, or was killed; umount {folder}')
    if 'server' in ends and read(f'{NFSD}/threads') not in ('', '0'):
        raise Fault('nfsd runs: systemctl stop nfs-server')
    for folder in OVER_RDMA.findall(mounts) if ends != ('server',) or arguments.intree else ():
        raise Fault(f'{folder} is mounted over RDMA: umount {folder}')


def clients_of(report, arguments):
    """Returns the clients that a server on another machine supports."""
    with mounted(None, arguments.address):
        status = server_status()
    report.line(f'server: {status["transport"]}, Linux {status["kernel"]}')
    if status.get('bytes', 0) < report.size.bytes:
        raise Fault(f'the server has --size {status.get("bytes", 0) >> 20}, less than '
                    f'{report.size.bytes >> 20}')
    if status['transport'] != 'rpcrdma' or 'v2' not in arguments.clients:
        return arguments.clients
    report.line('The server is rpcrdma and has no version 2.')
    clients = [client for client in arguments.clients if client != 'v2']
    if not clients:
        report.fail('no client is left')
    return clients


def interrupted(error):
    """Returns whether a signal came before the error, which is then one of cleaning up."""
    while error and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return bool(error)


def try_clients(report, arguments, size):
    """Runs all clients; a fault of one of them does not stop the others."""
    server = Server(size)
    for client in arguments.clients if size.loopback else clients_of(report, arguments):
        try:
            if size.loopback:
                server.start('rpcrdma' if client == 'rpcrdma' else 'rdma2')
            try_client(report, client, arguments.address, size)
        except (Fault, OSError) as e:
            if interrupted(e):
                raise
            report.fail(f'{CLIENTS[client]}: {e}')
        finally:
            server.stop()
        if server.fault:
            report.fail(f'{CLIENTS[client]}: {server.fault}')


def trial(arguments):
    """Runs all clients, and returns whether everything was right."""
    size = Size(arguments)
    check_machine(arguments, size)
    name = arguments.output or f'rdma2-{os.uname()[1]}-{time.strftime("%Y%m%d-%H%M%S")}.txt'
    log = kernel_log()
    report = Report(name, size)
    try:
        report.line(f'rdma2, {arguments.command}, {time.strftime("%F %H:%M")}')
        report.machine()
        with same_modules():
            try_clients(report, arguments, size)
    except (Fault, OSError, KeyboardInterrupt) as e:
        # With the first reason, if cleaning up has failed, too
        while e:
            report.fail('ended by a signal' if isinstance(e, KeyboardInterrupt) else e)
            e = None if e.__suppress_context__ else e.__context__
    report.tables()
    report.line('\nKernel log')
    for line in log():
        report.line(f'    {line}')
        if REPORTS.search(line):
            report.failed = True
    report.line(f'\n{"FAILED" if report.failed else "All right"}: {os.path.abspath(name)}')
    report.file.close()
    return not report.failed


def serve(arguments):
    """Runs the server until a signal."""
    size = Size(arguments)
    check_machine(arguments, size)
    server = Server(size)
    log = kernel_log()
    with same_modules():
        try:
            server.start('rpcrdma' if arguments.intree else 'rdma2')
            print(f'The server listens on port {PORT}; Ctrl-C ends it.', flush=True)
            server.ended.wait()
        except KeyboardInterrupt:
            pass
        finally:
            server.stop()
    if server.fault:
        raise Fault(server.fault)
    for line in filter(REPORTS.search, log()):
        raise Fault(f'the kernel\'s log has a report: {line}')
    return True


def end_at_signals():
    """Has the first signal undo all that was done; neither it nor later ones interrupt that."""
    numbers = [number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
               if signal.getsignal(number) != signal.SIG_IGN]

    def handler(*_):
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        # The signal may have interrupted a write to sys.stderr, so this does not use it.
        with contextlib.suppress(OSError):
            os.write(2, b'\nCleaning up, please wait.\n')
        Cleaning.signalled = Cleaning.depth > 0
        if not Cleaning.signalled:
            raise KeyboardInterrupt

    for number in numbers:
        signal.signal(number, handler)


def address_of(text):
    """Checks an address; the pin of a server and the mount need numbers."""
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f'{text} is not an IP address') from None


def clients_in(text):
    clients = list(dict.fromkeys(text.split(',')))
    for client in clients:
        if client not in CLIENTS:
            raise argparse.ArgumentTypeError(
                f'there is no client {client}, only {", ".join(CLIENTS)}')
    return clients


def positive(text):
    if not re.fullmatch('0*[1-9][0-9]{0,8}', text):
        raise argparse.ArgumentTypeError(f'{text} is not a number from 1 on')
    return int(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest='command', required=True)
    for name, text in (('loopback', 'server and client on this machine'),
                       ('server', 'the server, until Ctrl-C'),
                       ('client', 'the client of a server on another machine')):
        sub = commands.add_parser(name, help=text, description=text)
        sub.add_argument('--size', type=positive, default=512, metavar='MiB',
                         help='size of the file for fio (default 512)')
        if name == 'server':
            sub.add_argument('--intree', action='store_true', help="the kernel's own server")
            continue
        sub.add_argument('address', type=address_of, help="the server's address on an RDMA device")
        sub.add_argument('--output', metavar='FILE', help='the report, a new file')
        sub.add_argument('--clients', type=clients_in, default=list(CLIENTS), metavar='LIST',
                         help='some of v2,v1,rpcrdma (default: all)')
        sub.add_argument('--seconds', type=positive, default=10,
                         help='duration of the load and of each row of fio (default 10)')
        sub.add_argument('--dry-run', action='store_true',
                         help='only print the steps that take a fixed time, and their sum')
    arguments = parser.parse_args()
    if getattr(arguments, 'dry_run', False):
        plan(arguments)
        return 0
    if os.geteuid():
        parser.error('this needs root')
    # The PATH of su has no sbin.
    os.environ['PATH'] = f'{os.environ.get("PATH", os.defpath)}:/usr/sbin:/sbin'
    end_at_signals()
    try:
        return 0 if (serve if arguments.command == 'server' else trial)(arguments) else 1
    except (Fault, OSError) as e:
        print(f'{parser.prog}: {e}', file=sys.stderr)
    except KeyboardInterrupt:
        print(f'{parser.prog}: ended by a signal', file=sys.stderr)
    return 1


if __name__ == '__main__':
    sys.exit(main())
