#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Tries NFS over the RDMA adapters of this machine, or of this machine and another one: files
that are compared on both sides, then the speed of fio, with rdma2 in both versions beside the
kernel's own rpcrdma. Documentation/adapter.rst describes it.

The export is a tmpfs. The script changes the modules of NFS over RDMA that are loaded, so it
fails while a mount uses them; where it starts nfsd, it fails while nfsd runs.
"""

import argparse
import contextlib
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
NFSD = '/proc/fs/nfsd'
PORT = 20049
PIN = '/sys/module/xprtrdma2/parameters/pin'
OWN = {'client': 'xprtrdma2', 'server': 'svcrdma2'}
CLIENTS = {'v2': 'rdma2, version 2', 'v1': 'rdma2, version 1', 'rpcrdma': 'rpcrdma'}
# Block size in bytes, and operations in flight
SIZES = ((4096, 1), (4096, 32), (65536, 8), (1 << 20, 1), (1 << 20, 8))
REPORTS = re.compile(r'WARNING|BUG|Oops|Call Trace|blocked for more than|general protection')


class Fault(Exception):
    """An error for the user."""


def run(*command, check=True, **options):
    """Returns a command's output; if it fails, its last line becomes the error."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors='replace', check=False, **options)
    except FileNotFoundError:
        raise Fault(f'{command[0]} is not installed') from None
    if check and done.returncode:
        lines = done.stdout.strip().split('\n')
        raise Fault(f'{" ".join(command)}: {lines[-1] or done.returncode}')
    return done.stdout


def read(path):
    with contextlib.suppress(OSError), open(path, encoding='utf-8') as file:
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
    raise Fault(f'{module} is in use; unmount what is mounted over RDMA')


def load(transport, ends):
    """Loads the modules of rdma2 or the kernel's own, instead of the other ones."""
    if transport == 'rdma2':
        unload('rpcrdma')
        for end in ends:
            run('modprobe', OWN[end])
    else:
        for module in OWN.values():
            unload(module)
        run('modprobe', '-C', '/dev/null', 'rpcrdma')


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
        os.makedirs(EXPORT, exist_ok=True)
        run('mount', '-t', 'tmpfs', '-o', f'size={self.size.bytes * 2},mode=1777', 'none', EXPORT)
        self.undo.callback(run, 'umount', EXPORT)
        run('modprobe', 'nfsd')
        if not os.path.exists(f'{NFSD}/threads'):
            run('mount', '-t', 'nfsd', 'nfsd', NFSD)
        run('exportfs', '-o', 'rw,fsid=0,no_root_squash,no_subtree_check,insecure', f'*:{EXPORT}')
        self.undo.callback(run, 'exportfs', '-u', f'*:{EXPORT}')
        if not run('pidof', 'rpc.mountd', check=False):
            run('rpc.mountd')
            self.undo.callback(run, 'pkill', 'rpc.mountd')
        run('rpc.nfsd', '16')
        self.undo.callback(run, 'rpc.nfsd', '0')
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
                                       'kernel': os.uname()[2]})
                    os.pwrite(file.fileno(), text.ljust(STATUS_BYTES).encode(), 0)
                    if self.ended.wait(0.2):
                        return
        except Exception as e:
            self.fault = f'{EXPORT}/{STATUS}: {e!r}'
            self.ended.set()

    def stop(self):
        self.undo.close()


class Size:
    """How much is moved, and where"""

    def __init__(self, arguments):
        self.bytes = arguments.size << 20
        self.seconds = arguments.seconds
        self.loopback = arguments.command == 'loopback'
        available = int(re.search(r'MemAvailable: +(\d+)', read('/proc/meminfo'))[1]) << 10
        if self.bytes * 4 > available:
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
    if client in ('v1', 'v2'):
        pin = read(PIN)
        write(PIN, f'{f"[{address}]" if ":" in address else address}={client[1]}')
    os.makedirs(MOUNT, exist_ok=True)
    try:
        host, proto = (f'[{address}]', 'rdma6') if ':' in address else (address, 'rdma')
        run('mount', '-t', 'nfs', '-o', f'vers=4.2,proto={proto},port={PORT}', f'{host}:/', MOUNT)
        try:
            yield
        finally:
            run('umount', MOUNT)
    finally:
        if pin is not None:
            write(PIN, f'{pin}\n')


def compare(size):
    """Returns the number of right and of wrong results of fs-exercise.py and load.sh."""
    export = [EXPORT] if size.loopback else []
    said = run(f'{TOP}/scripts/fs-exercise.py', '4.2', MOUNT, *export, check=False)
    right, wrong = (re.findall(rf'^{word} .*', said, re.M) for word in ('ok', 'FAIL'))
    os.makedirs(f'{MOUNT}/load', exist_ok=True)
    load_of = [f'{TOP}/scripts/load.sh', f'{MOUNT}/load']
    done = subprocess.run([*load_of, *([f'{EXPORT}/load'] if export else '-'),
                           str(size.seconds), '2'], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    (wrong if done.returncode else right).append(f'load of fio: {done.stdout.strip()[-300:]}')
    shutil.rmtree(f'{MOUNT}/load')
    if not right:
        wrong.append(f'fs-exercise.py: {said.strip()[-300:]}')
    return len(right), wrong


def measure(size, way, block, depth):
    """Returns the figures of one run of fio."""
    before, server = busy(), server_status()['busy']
    said = run('fio', '--name=x', f'--filename={MOUNT}/fio', f'--rw=rand{way}', f'--bs={block}',
               f'--iodepth={depth}', '--ioengine=libaio', '--direct=1', f'--size={size.bytes}',
               '--time_based', f'--runtime={size.seconds}', '--randrepeat=0', '--fallocate=none',
               '--output-format=json')
    after, job = busy(), json.loads(said[said.index('{'):])['jobs'][0]
    server = server_status()['busy'] - server
    figures = job[way]
    if job['error'] or not figures['total_ios']:
        raise Fault(f'fio: error {job["error"]}, {figures["total_ios"]} operations')
    per_op = 1e6 / figures['total_ios']
    return {'iops': figures['iops'], 'mb': figures['bw_bytes'] / 1e6,
            'mean': figures['clat_ns']['mean'] / 1e3,
            'p99': figures['clat_ns']['percentile']['99.000000'] / 1e3,
            'client': (after - before) * per_op, 'server': server * per_op}


class Report:
    """Lines for the terminal and the file, and the figures for the tables at the end"""

    def __init__(self, name, size):
        self.file = open(name, 'x', encoding='utf-8')
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
        for link in run('rdma', 'link', 'show').strip().split('\n'):
            if not link:
                raise Fault('there is no RDMA device ("rdma link show")')
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
        for way in 'read', 'write':
            for block, depth in SIZES:
                self.line()
                self.line(f'{way.upper()} of {block >> 10} KiB, {depth} in flight')
                self.line(f'    {"":38}{"ops/s":>9}{"MB/s":>9}{"mean":>11}{"99 %":>11}  CPU')
                for variant, rows in self.figures.items():
                    f = rows[way, block, depth]
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
        rows = {}
        for way in 'write', 'read':
            for block, depth in SIZES:
                rows[way, block, depth] = measure(size, way, block, depth)
        report.figures[variant] = rows
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


def trial(arguments):
    """Runs all clients, and returns whether everything was right."""
    size = Size(arguments)
    server = Server(size)
    name = arguments.output or f'rdma2-{os.uname()[1]}-{time.strftime("%Y%m%d-%H%M%S")}.txt'
    report = Report(name, size)
    log = kernel_log()
    try:
        report.line(f'rdma2, {arguments.command}, {time.strftime("%F %H:%M")}')
        report.machine()
        clients = arguments.clients
        if not size.loopback:
            with mounted(None, arguments.address):
                status = server_status()
                report.line(f'server: {status["transport"]}, Linux {status["kernel"]}')
                if status['transport'] == 'rpcrdma' and 'v2' in clients:
                    report.line('The server is rpcrdma and has no version 2.')
                    clients.remove('v2')
                    if not clients:
                        report.fail('no client is left')
        for client in clients:
            try:
                if size.loopback:
                    server.start('rpcrdma' if client == 'rpcrdma' else 'rdma2')
                try_client(report, client, arguments.address, size)
            except (Fault, OSError) as e:
                report.fail(f'{CLIENTS[client]}: {e}')
            finally:
                server.stop()
            if server.fault:
                report.fail(f'{CLIENTS[client]}: {server.fault}')
        report.tables()
    except (Fault, OSError) as e:
        report.fail(e)
    report.line('\nKernel log')
    for line in log():
        report.line(f'    {line}')
        if REPORTS.search(line):
            report.failed = True
    report.line(f'\n{"FAILED" if report.failed else "All right"}: {os.path.abspath(name)}')
    return not report.failed


def serve(arguments):
    """Runs the server until a signal."""
    for number in signal.SIGTERM, signal.SIGINT:
        signal.signal(number, signal.default_int_handler)
    server = Server(Size(arguments))
    try:
        server.start('rpcrdma' if arguments.intree else 'rdma2')
        print(f'The server listens on port {PORT}; Ctrl-C ends it.', flush=True)
        server.ended.wait()
    except KeyboardInterrupt:
        print()
    finally:
        server.stop()
    if server.fault:
        raise Fault(server.fault)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest='command', required=True)
    for name, text in (('loopback', 'server and client on this machine'),
                       ('server', 'the server, until Ctrl-C'),
                       ('client', 'the client of a server on another machine')):
        sub = commands.add_parser(name, help=text, description=text)
        sub.add_argument('--size', type=int, default=512, metavar='MiB',
                         help='size of the file for fio (default 512)')
        if name == 'server':
            sub.add_argument('--intree', action='store_true', help="the kernel's own server")
        else:
            sub.add_argument('address', help="the server's address on an RDMA device")
            sub.add_argument('--output', metavar='FILE', help='the report, a new file')
            sub.add_argument('--clients', type=lambda s: s.split(','), default=list(CLIENTS),
                             metavar='LIST', help='some of v2,v1,rpcrdma (default: all)')
        sub.add_argument('--seconds', type=int, default=10,
                         help='duration of each row of fio (default 10)')
    arguments = parser.parse_args()
    for client in getattr(arguments, 'clients', []):
        if client not in CLIENTS:
            parser.error(f'there is no client {client}, only {", ".join(CLIENTS)}')
    if os.geteuid():
        parser.error('this needs root')
    for word in 'size', 'seconds':
        if getattr(arguments, word) < 1:
            parser.error(f'--{word} is at least 1')
    try:
        return 0 if (serve if arguments.command == 'server' else trial)(arguments) else 1
    except (Fault, OSError) as e:
        print(f'{parser.prog}: {e}', file=sys.stderr)
        return 1


if __name__ == '__main__':
    sys.exit(main())
