#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Tests the tool rdma2 (utils/rdma2) on machines that consist of files, without a kernel; the
listener, the arguments and the plan of adapter.py; and the form in which check.sh prints results.

        tool_test.py [TOOL]
"""

import contextlib
import errno
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
TOOL = f'{HERE}/../utils/rdma2'


def load(path=None):
    loader = importlib.machinery.SourceFileLoader('rdma2_tool', path or TOOL)
    spec = importlib.util.spec_from_loader('rdma2_tool', loader)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


class Machine(unittest.TestCase):
    """Files below a folder, and the output of commands"""

    def setUp(self):
        self.tool = load()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.tool.ROOT = self.folder.name
        self.said = {}
        self.commands = self.tool.run
        self.tool.run = lambda *command: self.said.get(' '.join(command))

    def file(self, path, text=''):
        os.makedirs(os.path.dirname(self.folder.name + path), exist_ok=True)
        with open(self.folder.name + path, 'wb') as f:
            f.write(text if isinstance(text, bytes) else text.encode())

    def device(self, name, *netdevs, state='4: ACTIVE', link='Ethernet'):
        port = f'/sys/class/infiniband/{name}/ports/1'
        self.file(f'{port}/state', state)
        self.file(f'{port}/link_layer', link)
        for n, netdev in enumerate(netdevs):
            self.file(f'{port}/gid_attrs/ndevs/{n}', netdev)

    def route(self, netdev):
        """Returns grade and text of the verdict on a route through this interface."""
        self.said['ip -o route get 192.0.2.1'] = \
            f'192.0.2.1 dev {netdev} src 192.0.2.2 uid 0 \\    cache'
        options = types.SimpleNamespace(server='192.0.2.1')
        (grade, text, _), = self.tool.check_route(options)
        return grade, text

    def findings(self, check):
        return [finding[:2] for finding in check(None)]


class Views(Machine):
    def past(self, line):
        conn, = self.tool.connections(line)
        list(self.tool.details(conn))
        return self.tool.summary(conn)

    def test_a_connection(self):
        self.assertEqual(self.past('peer=192.0.2.1:20049 state=down errors=VERS:1,CHUNK:2 '
                                   'ended=no-memory ended_ago=61 error=111 error_ago=5'),
                         '192.0.2.1:20049  down  errors VERS:1,CHUNK:2  '
                         'ended 1 min ago: no memory  failed 5 s ago: Connection refused')

    def test_words_that_are_not_expected(self):
        many = '9' * 5000
        for line, said in (
                ('peer=a state=up errors=VERS', 'errors VERS'),
                ('peer=a state=up errors=VERS:1,X', 'errors VERS:1,X'),
                (f'peer=a errors=VERS:{many}', 'errors VERS:9'),
                ('peer=a state=down ended=peer', 'ended: peer'),
                ('peer=a state=down error=EAGAIN', 'failed: EAGAIN'),
                ('peer=a state=down error=4294967296', 'failed: 4294967296'),
                ('peer=a state=down error=-1', 'failed: -1'),
                ('peer=a state=up device=5', r'\Aa  up  5\Z'),
                ('ended=7 ended_ago=soon', r'\?  \?'),
                *((f'peer=a ended=peer error=5 {key}={many}', 'failed') for key in (
                    'error', 'error_ago', 'ended_ago', 'device', 'waiting', 'credits'))):
            with self.subTest(line[:60]):
                self.assertRegex(self.past(line), said)
                json.dumps(self.tool.connections(line))

    def test_history_is_a_note(self):
        self.file('/proc/net/rpc/svcrdma2', 'peer=a state=ended ended=peer\nstate=refused error=12\n')
        self.assertEqual(self.findings(self.tool.check_history),
                         [('note', 'server: a ended: peer'),
                          ('note', 'server: ? failed: Cannot allocate memory')])


class Sample(Machine):
    """The output of "rdma2 show" in the guide is that of these connections."""

    def is_in_the_guide(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.tool.show(types.SimpleNamespace(json=False, verbose=False))
        block = ''.join(f'\t{line}' for line in printed.getvalue().splitlines(True))
        with open(f'{HERE}/../Documentation/admin-guide.rst', encoding='utf-8') as f:
            self.assertTrue(block in f.read(), block)

    def test_a_client(self):
        self.file('/proc/net/rpc/xprtrdma2', """\
peer=192.0.2.1:20049 state=up device=rxe0 version=2 credits=32 why=CONNPROP used=3 waiting=0
peer=192.0.2.7:20049 state=up device=rxe0 version=1 credits=64 why=ERR_VERS used=0 waiting=0
peer=192.0.2.9:20049 state=down used=0 waiting=0 ended=peer ended_ago=95 error=111 error_ago=5
""")
        self.is_in_the_guide()

    def test_a_server(self):
        self.file('/proc/net/rpc/svcrdma2', """\
peer=192.0.2.2:52118 state=up device=rxe0 version=2 credits=32 used=1
peer=192.0.2.5:40213 state=ended version=2 ended=peer ended_ago=250
""")
        self.is_in_the_guide()


class Printed(Machine):
    def printed(self, encoding, *arguments):
        before = sys.stdout, sys.argv
        sys.stdout = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        sys.argv = ['rdma2', *arguments]
        try:
            self.status = self.tool.status_of_main()
            return sys.stdout.buffer.getvalue().decode(encoding)
        finally:
            sys.stdout, sys.argv = before

    def test_letters_that_the_locale_lacks(self):
        self.file('/proc/net/rpc/xprtrdma2', b'peer=\xfc state=up\n')
        self.assertIn('  \\ufffd  up', self.printed('latin-1', 'show'))

    def test_an_output_that_is_closed_or_full(self):
        for command in 'show', 'show --json', 'doctor', '--version', '--help':
            for output, why in (('>&-', 'Bad file descriptor'),
                                ('>/dev/full', 'No space left on device')):
                ran = subprocess.run(['sh', '-c', f'"$0" {command} {output}', TOOL],
                                     capture_output=True, text=True)
                self.assertEqual((ran.returncode, ran.stderr),
                                 (1, f'rdma2: standard output: {why}\n'), (command, output))
                both = subprocess.run(['sh', '-c', f'"$0" {command} {output} 2>&-', TOOL])
                self.assertEqual(both.returncode, 1, (command, output))

    def test_ctrl_c_leaves_the_findings_so_far(self):
        def slow(_):
            yield 'FAIL', 'module: none', 'install one'
            raise KeyboardInterrupt

        self.tool.CHECKS = (slow,)
        self.assertEqual(self.printed('utf-8', 'doctor'), 'FAIL module: none\n     -> install one\n')
        self.assertEqual(self.status, 130)

    def test_another_error_is_one_line(self):
        for error, line in (
                (OSError(errno.EMFILE, os.strerror(errno.EMFILE)), 'Too many open files'),
                (OSError(errno.ENOMEM, os.strerror(errno.ENOMEM), '/sys/a'),
                 '/sys/a: Cannot allocate memory'),
                (OSError('unexpected'), 'unexpected')):
            self.tool.views = unittest.mock.Mock(side_effect=error)
            with unittest.mock.patch('os._exit', side_effect=AssertionError), \
                    contextlib.redirect_stderr(io.StringIO()) as errors:
                self.assertEqual(self.printed('utf-8', 'show'), '')
            self.assertEqual((self.status, errors.getvalue()), (1, f'rdma2: {line}\n'))

    def test_another_error_without_standard_error(self):
        self.tool.views = unittest.mock.Mock(side_effect=OSError(errno.EMFILE, 'x'))
        with unittest.mock.patch('sys.stderr', None):
            self.printed('utf-8', 'show')
        self.assertEqual(self.status, 1)

    def test_the_findings_before_an_error(self):
        def fails(_):
            raise OSError(errno.EMFILE, 'x')
            yield
        self.tool.CHECKS = self.tool.check_netconfig, fails
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertIn('note netconfig: ', self.printed('utf-8', 'doctor'))
        self.assertEqual(self.status, 1)

    def test_a_state_that_is_empty(self):
        self.device('mlx5_0', state='\n')
        self.assertIn('note device: mlx5_0, ?', self.printed('ascii', 'doctor'))

    def test_names_that_no_server_has(self):
        for name in ('a' * 64 + '.example', 'a..example', '\udcfc'):
            self.assertIn('FAIL route: ', self.printed('utf-8', 'doctor', name))


class Route(Machine):
    def test_devices(self):
        ib0 = '/sys/class/net/ib0/device/infiniband/mlx5_0/node_type'
        eth0 = '/sys/class/net/eth0/device/infiniband/mlx5_0/node_type'
        lower = ('/sys/class/net/eth1.5/lower_eth1/type', '/sys/class/net/bond0.7/lower_bond0/type',
                 '/sys/class/net/bond0/lower_eth0/type', '/sys/class/net/bond0/lower_eth1/type')
        rows = (
            # A device of Ethernet, its interfaces, VLANs and bonds
            (('mlx5_0', 'eth1'), 'Ethernet', lower, {
                'eth1': 'ok ', 'eth0': 'FAIL route: 192.0.2.1 by eth0, which has no RDMA device$',
                'eth1.5': 'note route: 192.0.2.1 by eth1.5, on eth1, which has an RDMA device$',
                'bond0.7': 'note route: 192.0.2.1 by bond0.7, on eth1, which has an RDMA device$'}),
            (('mlx5_0', 'eth1', 'eth1', 'eth1.5', ''), 'Ethernet', (), {'eth1.5': 'ok '}),
            (('mlx5_bond_0', 'bond0'), 'Ethernet', (), {'bond0': 'ok '}),
            # InfiniBand, also with an Ethernet card on the same chip
            (('mlx5_0', ''), 'InfiniBand', (ib0,), {'ib0': 'ok ', 'eth0': 'FAIL '}),
            (('mlx5_0', ''), 'InfiniBand', (eth0,), {'eth0': 'note '}),
            # iWARP by "rdma link", and a device whose interface is not known
            (('siw0',), 'Ethernet', (), {'eth0': 'ok ', 'eth1': 'FAIL '}),
            (('cxgb4_0',), 'Ethernet', (), {'eth0': 'note '}))
        for names, link, files, routes in rows:
            with self.subTest(names=names, link=link, files=files):
                self.setUp()
                self.device(*names, link=link)
                for netdev in routes if link == 'InfiniBand' else ():
                    self.file(f'/sys/class/net/{netdev}/type', '32\n' if netdev == 'ib0' else '1\n')
                for path in files:
                    self.file(path)
                self.said['rdma -j link show siw0/1'] = \
                    '[{"ifname":"siw0","port":1,"netdev":"eth0"}]'
                for netdev, verdict in routes.items():
                    self.assertRegex(' '.join(self.route(netdev)), f'^{verdict}')

    def test_no_rxe_on_a_vlan(self):
        for netdev, below in ('bond0.7.8', 'bond0.7'), ('bond0.7', 'bond0'):
            self.file(f'/sys/class/net/{netdev}/lower_{below}/type')
            self.file(f'/sys/class/net/{netdev}/uevent', f'DEVTYPE=vlan\nINTERFACE={netdev}\n')
        self.file('/sys/class/net/bond0/lower_eth1/type')
        self.file('/sys/class/net/bond0/uevent', 'DEVTYPE=bond\nINTERFACE=bond0\n')
        for netdev in 'bond0.7.8', 'bond0.7', 'bond0':
            self.route(netdev)
            (_, text, advice), = self.tool.check_route(types.SimpleNamespace(server='192.0.2.1'))
            self.assertIn(f'by {netdev}, which has no RDMA device', text)
            self.assertIn('rxe netdev bond0;', advice)

    def by(self, server, *addresses):
        """Returns the interfaces on the way to a server, which has these addresses."""
        found = [(socket.AF_INET6, 1, 6, '', (a, 0, 0, 0)) if ':' in a else
                 (socket.AF_INET, 1, 6, '', (a, 0)) for a in addresses]
        with unittest.mock.patch.object(socket, 'getaddrinfo', return_value=found):
            return [text.split(' by ')[-1].split(',')[0] for _, text, _ in
                    self.tool.check_route(types.SimpleNamespace(server=server))]

    def test_a_server_with_several_addresses(self):
        self.assertEqual(self.by('s', '2001:db8::1', '192.0.2.1'), ['route: none to s'])
        self.said['ip -o route get 2001:db8::1'] = '2001:db8::1 dev eth6 src 2001:db8::2'
        self.assertEqual(self.by('s', '2001:db8::1', '192.0.2.1'), ['eth6'])
        self.said['ip -o route get 192.0.2.9'] = '192.0.2.9 dev eth4 src 192.0.2.2'
        self.assertEqual(self.by('s', '2001:db8::1', '192.0.2.1', '192.0.2.9'), ['eth4'])

    def test_a_link_local_address(self):
        self.said['ip -o route get fe80::1 oif lo'] = 'fe80::1 dev eth1 src fe80::2'
        self.device('mlx5_0', 'eth1')
        for server in 'fe80::1%lo', '[fe80::1%lo]':
            (grade, text, _), = self.tool.check_route(types.SimpleNamespace(server=server))
            self.assertEqual((grade, text), (
                'ok', f'route: {server} by eth1, which has an RDMA device'))
        self.said['ip -o route get 2001:db8::1'] = '2001:db8::1 dev eth1 src 2001:db8::2'
        (grade, _, _), = self.tool.check_route(types.SimpleNamespace(server='[2001:db8::1]'))
        self.assertEqual(grade, 'ok')

    def test_infiniband_without_a_subnet_manager(self):
        self.device('mlx5_0', state='2: INIT', link='InfiniBand')
        (grade, text, advice), (failure, _, _) = self.tool.check_device(None)
        self.assertEqual((grade, text, failure), ('note', 'device: mlx5_0, INIT', 'FAIL'))
        self.assertIn('subnet manager', advice)


class Kernel(Machine):
    def setUp(self):
        super().setUp()
        self.release = os.uname().release
        self.modules = f'/lib/modules/{self.release}'
        self.said['modinfo -n sunrpc'] = f'{self.modules}/kernel/net/sunrpc/sunrpc.ko\n'

    def test_modules_of_the_kernel_and_of_a_vendor(self):
        for path, verdict in (
                (f'{self.modules}/kernel/drivers/infiniband/core/ib_core.ko.xz',
                 ('ok', f'kernel: Linux {self.release}')),
                (f'{self.modules}/updates/dkms/mlx_compat.ko',
                 ('FAIL', f'Linux {self.release} has the RDMA modules of a vendor: '
                  f'{self.modules}/updates/dkms/mlx_compat.ko'))):
            self.setUp()
            self.file(path)
            self.assertEqual(self.findings(self.tool.check_kernel), [verdict])

    def test_a_build_of_the_kernel(self):
        self.file('/usr/src/linux/drivers/infiniband/core/ib_core.ko')
        self.file(f'{self.modules}/source/drivers/infiniband/core/rdma_cm.ko')
        for name in ('build', 'updates/linux'):
            link = f'{self.folder.name}{self.modules}/{name}'
            os.makedirs(os.path.dirname(link), exist_ok=True)
            os.symlink(f'{self.folder.name}/usr/src/linux', link)
        self.assertEqual(self.findings(self.tool.check_kernel),
                         [('ok', f'kernel: Linux {self.release}')])


class Modules(Machine):
    def test_commands_of_root_are_found_by_others(self):
        before = os.environ['PATH']
        os.environ['PATH'] = '/nonexistent'
        try:
            self.assertIn('kmod', self.commands('modinfo', '--version') or '')
        finally:
            os.environ['PATH'] = before

    def test_a_command_that_prints_any_bytes(self):
        self.assertEqual(self.commands('printf', '\\374\\n'), '\ufffd\n')

    def test_a_kernel_without_the_modules(self):
        self.file('/sys/module/rpcrdma/refcnt')
        found = self.findings(self.tool.check_module)
        self.assertEqual([grade for grade, _ in found], ['FAIL', 'FAIL'])
        self.assertRegex(found[0][1], '^module: there is no xprtrdma2 for Linux .*, '
                         'rpcrdma is used in its place$')

    def test_why_dkms_passed_over_it(self):
        script = '/var/lib/dkms/rdma2/0.10.0/source/packaging/supported.sh'
        self.file(script)
        self.file(script.replace('0.10.0', '0.9.0'))
        # A failed "make dkms-install" leaves sources that DKMS does not use.
        self.file('/usr/src/rdma2-0.11.0/packaging/supported.sh')
        release = os.uname().release
        self.said[f'sh -c "$0" "$1" || : {self.folder.name}{script} {release}'] = 'not tested\n'
        self.assertEqual(next(self.tool.check_module(None))[2], 'not tested')

    def test_rpcrdma_where_xprtrdma2_is_there(self):
        self.file('/sys/module/rpcrdma/refcnt')
        self.said['modinfo -n xprtrdma2'] = '/lib/modules/xprtrdma2.ko\n'
        self.assertEqual(self.findings(self.tool.check_module), [
            ('FAIL', 'module: the kernel\'s own rpcrdma is loaded instead of xprtrdma2'),
            ('ok', 'module: xprtrdma2 is installed, and not loaded'),
            ('FAIL', f'module: there is no svcrdma2 for Linux {os.uname().release}, rpcrdma is '
             'used in its place')])

    def test_rpcrdma_where_svcrdma2_is_there(self):
        self.file('/sys/module/rpcrdma/refcnt')
        self.file('/sys/module/xprtrdma2/version', '0.10.0\n')
        self.said['modinfo -n svcrdma2'] = '/lib/modules/svcrdma2.ko\n'
        finding = next(self.tool.check_module(None))
        self.assertEqual(finding[:2], (
            'FAIL', 'module: the kernel\'s own rpcrdma is loaded instead of svcrdma2'))
        self.assertIn('modprobe svcrdma2;', finding[2])

    def test_rpcrdma_where_both_modules_are_there(self):
        self.file('/sys/module/rpcrdma/refcnt')
        for module in ('xprtrdma2', 'svcrdma2'):
            self.said[f'modinfo -n {module}'] = f'/lib/modules/{module}.ko\n'
        finding = next(self.tool.check_module(None))
        self.assertEqual(finding[:2], (
            'FAIL', 'module: the kernel\'s own rpcrdma is loaded instead of xprtrdma2, svcrdma2'))
        self.assertIn('modprobe -a xprtrdma2 svcrdma2;', finding[2])

    def test_rpcrdma_where_a_signature_prevents_xprtrdma2(self):
        self.file('/sys/module/rpcrdma/refcnt')
        self.said['modinfo -n xprtrdma2'] = '/lib/modules/xprtrdma2.ko\n'
        (text, _), = self.notes('Y')
        self.assertIn('signed by DKMS module signing key', text)

    def test_names_that_lead_elsewhere(self):
        for module in ('xprtrdma2', 'svcrdma2'):
            self.file(f'/sys/module/{module}/version', '0.10.0\n')
        self.said['modprobe --show-depends rpcrdma'] = 'insmod /net/xprtrdma/rpcrdma.ko\n'
        self.assertIn(('FAIL', 'module: proto=rdma would load the kernel\'s own rpcrdma'),
                      self.findings(self.tool.check_module))
        self.said['modprobe --show-depends rpcrdma'] = 'install /sbin/modprobe -q xprtrdma2\n'
        self.assertEqual({grade for grade, _ in self.findings(self.tool.check_module)}, {'ok'})

    def test_parameters_that_select_a_version(self):
        def notes(**values):
            for name in ('xprtrdma2 versions', 'xprtrdma2 pin', 'svcrdma2 versions'):
                value = values.get(name.replace(' ', '_'), '' if 'pin' in name else 'any')
                self.file(f'/sys/module/{name.replace(" ", "/parameters/")}', f'{value}\n')
            return [text for grade, text in self.findings(self.tool.check_module)
                    if grade == 'note']
        self.assertEqual(notes(), [])
        self.assertEqual(notes(svcrdma2_versions='1'), ['module: svcrdma2 has versions=1'])
        self.assertEqual(notes(xprtrdma2_versions='2', xprtrdma2_pin='192.0.2.1=1 [fd00::2]=2'),
                         ['module: xprtrdma2 has versions=2',
                          'module: xprtrdma2 has pin=192.0.2.1=1 [fd00::2]=2'])

    def notes(self, enforced, lockdown=None):
        """Returns text and advice of each note about a kernel with these settings."""
        self.said['modinfo -F signer xprtrdma2'] = 'DKMS module signing key\n'
        self.file('/sys/module/module/parameters/sig_enforce', f'{enforced}\n')
        if lockdown:
            self.file('/sys/kernel/security/lockdown', f'{lockdown}\n')
        return [finding[1:] for finding in self.tool.check_module(None) if finding[0] == 'note']

    def test_signed_modules(self):
        for required, *state in (
                (0, 'N'), (1, 'Y'), (0, 'N', '[none] integrity confidentiality'),
                (1, 'N', 'none [integrity] confidentiality'),
                (1, 'N', 'none integrity [confidentiality]')):
            with self.subTest(state):
                texts = [text for text, _ in self.notes(*state)]
                self.assertEqual(len(texts), required)
                self.assertIn('signed by DKMS module signing key' if required else '',
                              ''.join(texts))

    def trust(self, secure_boot=None, parameters=''):
        """Returns the advice for a kernel that is locked down, with this value of SecureBoot."""
        self.file('/proc/cmdline', f'BOOT_IMAGE=/vmlinuz ro {parameters} quiet\n')
        if secure_boot is not None:
            self.file(self.tool.SECURE_BOOT, b'\x06\0\0\0' + bytes([secure_boot]))
        (_, advice), = self.notes('N', 'none [integrity] confidentiality')
        return advice

    def test_secure_boot(self):
        for parameters in ('', 'lockdown=integrity'):
            self.assertIn('mokutil --import', self.trust(1, parameters))

    def test_a_kernel_that_is_locked_down_without_secure_boot(self):
        for secure_boot in (None, 0):
            for words in ('lockdown=integrity', 'module.sig_enforce',
                          'lockdown=confidentiality module.sig-enforce=1'):
                advice = self.trust(secure_boot, f'other {words}')
                self.assertEqual(
                    advice, f'remove {words} from the kernel\'s command line, and reboot')
            advice = self.trust(secure_boot, 'no_lockdown=1 module.sig_enforced_by=x')
            self.assertIn('does not help without Secure Boot', advice)


class Listener(Machine):
    def advice(self, options=None, **settings):
        """Returns the advice if nfsd listens on TCP only, with these settings of [nfsd]."""
        self.file('/proc/fs/nfsd/portlist', 'tcp 2049\n')
        options = options or {f'--get nfsd {key.replace("_", "-")}': value
                              for key, value in settings.items()}
        self.said = {f'nfsconf {words}': f'{value}\n' for words, value in options.items()}
        (grade, _, advice), = self.tool.check_listener(None)
        self.assertEqual(grade, 'FAIL')
        return advice

    def test_advice(self):
        for word in 'n', 'No', '0', 'false', 'off', 'please', '':
            self.assertIn('rdma=y', self.advice(rdma=word, rdma_port=20049), word)
        for word in 'y', 'Y', 'yes', '1', 't', 'True', 'on':
            self.assertIn('has no nfsrdma', self.advice(rdma=word), word)
            self.assertIn('restart', self.advice(rdma=word, rdma_port=20049), word)
        self.file('/etc/services', 'nfs 2049/tcp\nnfsrdma 20049/tcp\n')
        self.assertIn('restart', self.advice(rdma='y'))

    def test_a_machine_without_nfsconf(self):
        for path, advice in (('/etc/nfs.conf.d/rdma.conf', 'rdma=y.* /etc/nfs.conf$'),
                             ('/etc/nfs.conf', 'rdma=y.* in /etc/nfs.conf.d$')):
            self.setUp()
            self.file(path, '[nfsd]\nrdma=y\nrdma-port=20049\n')
            self.assertRegex(self.advice(), advice)

    def test_nfsd_uses_nfs_conf_d_without_nfs_conf(self):
        def advice(*values):
            settings = {}
            for n, value in enumerate(values):
                path = f'/etc/nfs.conf.d/{n}.conf'
                self.file(path)
                for key, text in ('rdma', value), ('rdma-port', 20049):
                    settings[f'--file {self.folder.name}{path} --get nfsd {key}'] = text
            return self.advice(settings)

        self.assertIn('restart', advice('y'))
        self.assertIn('restart', advice('n', 'y'))
        self.assertRegex(advice('y', 'n'), 'rdma=y.* /etc/nfs.conf$')
        self.file('/etc/nfs.conf')
        self.assertIn('rdma=y', advice('y'))


class Netconfig(Machine):
    def test_both_files_have_a_line(self):
        self.file('/etc/netconfig', 'rdma2      tpi_cots_ord  -     inet     rdma    -       -\n')
        self.assertIn('/etc/protocols', next(self.tool.check_netconfig(None))[2])
        self.file('/etc/protocols', 'rdma       3939          RDMA\n')
        self.assertEqual([('ok', 'netconfig: has rdma2, for proto=rdma2', None)],
                         list(self.tool.check_netconfig(None)))


class Adapter(unittest.TestCase):
    """The server of adapter.py, on a machine where commands have no effect"""

    def portlist(self, before):
        """Returns the text that the server has written to a list of ports with these lines."""
        adapter = load(f'{HERE}/adapter.py')
        with tempfile.TemporaryDirectory() as folder:
            adapter.NFSD = adapter.EXPORT = folder
            adapter.run = lambda *_, **__: ''
            for name, text in ('threads', '0\n'), ('portlist', before), ('v4_end_grace', ''):
                with open(f'{folder}/{name}', 'w', encoding='utf-8') as f:
                    f.write(text)
            adapter.load = lambda *_: None
            server = adapter.Server(types.SimpleNamespace(loopback=False, bytes=0))
            server.start('rdma2')
            server.stop()
            with open(f'{folder}/portlist', encoding='utf-8') as f:
                return f.read()

    def test_a_listener_of_nfs_conf(self):
        for ports in 'rdma 20049\ntcp 2049\n', 'tcp 2049\nrdma 20049\n':
            self.assertEqual(self.portlist(ports), ports)

    def test_no_listener(self):
        for ports in '', 'tcp 2049\n', 'rdma 20050\n', 'tcp 20049\n':
            self.assertEqual(self.portlist(ports), 'rdma 20049')


class AdapterSignals(unittest.TestCase):
    """A signal that comes while adapter.py undoes what it did"""

    def setUp(self):
        self.adapter = load(f'{HERE}/adapter.py')
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            self.addCleanup(signal.signal, number, signal.getsignal(number))
        self.adapter.end_at_signals()
        self.done = []
        self.written = []
        mock = unittest.mock.patch('os.write', lambda fd, text: self.written.append((fd, text)))
        mock.start()
        self.addCleanup(mock.stop)

    def signalled(self, *command, **_):
        """Stands in for a command during which the signal comes."""
        os.kill(os.getpid(), signal.SIGTERM)
        self.done.append(command[0])
        return ''

    def test_the_other_steps_of_a_server(self):
        server = self.adapter.Server(None)
        for step in 'first', 'second':
            server.undo.callback(self.signalled, step)
        with self.assertRaises(KeyboardInterrupt):
            server.stop()
        self.assertEqual(self.done, ['second', 'first'])
        self.assertEqual(self.written, [(2, b'\nCleaning up, please wait.\n')])

    def test_a_signal_before_any_of_them(self):
        with self.assertRaises(KeyboardInterrupt):
            self.signalled()
        self.assertEqual(len(self.written), 1)

    def test_a_signal_without_a_terminal(self):
        server = self.adapter.Server(None)
        server.undo.callback(self.signalled, 'a step')
        with unittest.mock.patch('os.write', side_effect=OSError(errno.EIO, '')), \
                self.assertRaises(KeyboardInterrupt):
            server.stop()

    def test_the_pin_of_a_mount(self):
        pins = []
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.multiple(
                self.adapter, MOUNT=f'{folder}/mnt', load=lambda *_: None, read=lambda _: 'before',
                run=lambda *_: '', unmount=self.signalled, write=lambda _, text: pins.append(text)):
            with self.assertRaises(KeyboardInterrupt), self.adapter.mounted('v1', '192.0.2.1'):
                self.done.append('a step')
        self.assertEqual(self.done, ['a step', f'{folder}/mnt'])
        self.assertEqual(pins, ['192.0.2.1=1', 'before\n'])

    def test_the_pin_of_a_mount_that_stays(self):
        pins = []
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.multiple(
                self.adapter, MOUNT=f'{folder}/mnt', load=lambda *_: None, read=lambda _: 'before',
                run=lambda *_: '', unmount=unittest.mock.Mock(side_effect=self.adapter.Fault),
                write=lambda _, text: pins.append(text)):
            with self.assertRaises(self.adapter.Fault), self.adapter.mounted('v1', '192.0.2.1'):
                pass
        self.assertEqual(pins, ['192.0.2.1=1', 'before\n'])

    def test_modules(self):
        loaded = ['xprtrdma2', 'svcrdma2']
        with unittest.mock.patch.multiple(self.adapter, unload=self.signalled,
                                          modprobe=self.signalled), \
                unittest.mock.patch('os.path.isdir', lambda path: os.path.basename(path) in loaded), \
                self.assertRaises(KeyboardInterrupt), self.adapter.same_modules():
            loaded[:] = ['rpcrdma']
        self.assertEqual(self.done, ['rpcrdma', 'xprtrdma2', 'svcrdma2'])

    def test_an_error_before(self):
        def fails():
            self.signalled('fails')
            raise self.adapter.Fault('why')

        server = self.adapter.Server(None)
        server.undo.callback(fails)
        with self.assertRaises(KeyboardInterrupt) as caught:
            server.stop()
        self.assertIsInstance(caught.exception.__context__, self.adapter.Fault)


class AdapterPlan(unittest.TestCase):
    """The steps that adapter.py plans, takes and documents; no step waits"""

    def said(self, *arguments):
        """Returns the status and the output of the script, which must end at its arguments."""
        done = subprocess.run([f'{HERE}/adapter.py', *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        self.assertNotIn('Traceback', done.stdout)
        return done.returncode, done.stdout

    def planned(self, *arguments):
        """Returns the sum that the script prints, which is that of the lines before it."""
        status, said = self.said(*arguments, '--dry-run')
        self.assertEqual(status, 0)
        total = int(re.search(r'^(\d+) s in all', said, re.M)[1])
        self.assertEqual(sum(map(int, re.findall(r'^ +(\d+) s  ', said, re.M))), total)
        return total

    def taken(self, *arguments):
        """Returns the seconds that a run sets for its commands, which have no effect."""
        adapter = load(f'{HERE}/adapter.py')
        seconds = []

        def execute(*command):
            if command[0].endswith('load.sh'):
                seconds.append(int(command[-2]))
            elif command[0] == 'fio':
                runtime, = (word for word in command if word.startswith('--runtime='))
                self.assertIn('--time_based', command)
                seconds.append(int(runtime.partition('=')[2]))
                job = {'total_ios': 1, 'iops': 1, 'bw_bytes': 1,
                       'clat_ns': {'mean': 1, 'percentile': {'99.000000': 1}}}
                return 0, json.dumps({'jobs': [{'error': 0, 'read': job, 'write': job}]})
            elif command[0].endswith('fs-exercise.py'):
                return 0, 'ok a file'
            return 0, ''

        def mounted(*_):
            with open(f'{adapter.MOUNT}/fio', 'w', encoding='utf-8'):
                return contextlib.nullcontext()

        with tempfile.TemporaryDirectory() as folder, \
                contextlib.redirect_stdout(io.StringIO()), \
                unittest.mock.patch('sys.argv', ['adapter.py', *arguments, '--output',
                                                 f'{folder}/report']):
            for name, value in {'MOUNT': folder, 'EXPORT': folder, 'execute': execute,
                                'mounted': mounted, 'check_machine': lambda *_: None,
                                'same_modules': contextlib.nullcontext,
                                'server_status': lambda: {'transport': 'rdma2', 'busy': 0,
                                                          'kernel': '', 'bytes': 1 << 40},
                                'kernel_log': lambda: list, 'end_at_signals': lambda: None,
                                'Server': unittest.mock.Mock(
                                    return_value=unittest.mock.Mock(fault=None))}.items():
                setattr(adapter, name, value)
            with unittest.mock.patch('os.geteuid', return_value=0), \
                    unittest.mock.patch.dict(os.environ):
                adapter.main()
            return sum(seconds)

    def test_a_run_takes_what_is_planned(self):
        for arguments in (('loopback', '192.0.2.1'), ('client', '192.0.2.1'),
                          ('client', '2001:db8::1', '--clients', 'v1,rpcrdma'),
                          ('loopback', '192.0.2.1', '--seconds', '7', '--clients', 'v2,v2')):
            self.assertEqual(self.taken(*arguments), self.planned(*arguments), arguments)

    def test_the_document_has_the_plan(self):
        one = self.planned('loopback', '192.0.2.1')
        two = self.planned('client', '192.0.2.1') + \
            self.planned('client', '192.0.2.1', '--clients', 'v1,rpcrdma')
        with open(f'{HERE}/../Documentation/adapter.rst', encoding='utf-8') as f:
            self.assertIn(f'take {one} s on one machine and {two} s on two', f.read())

    def test_arguments(self):
        for arguments, error in (
                ((), 'usage: '), (('client',), 'required: address'),
                (('client', 'server.example'), 'server.example is not an IP address'),
                (('loopback', '192.0.2.1', '--clients', 'v2,v3'), 'there is no client v3'),
                (('loopback', '192.0.2.1', '--clients', ''), 'there is no client '),
                (('loopback', '192.0.2.1', '--seconds', '0'), '0 is not a number from 1 on'),
                (('server', '--size', '-1'), '-1 is not a number from 1 on'),
                (('server', '192.0.2.1'), 'unrecognized arguments: 192.0.2.1')):
            status, said = self.said(*arguments)
            self.assertEqual((status, error in said), (2, True), said)

    def test_help(self):
        for arguments, words in (((), ('loopback', 'server', 'client')),
                                 (('client',), ('address', '--clients', '--dry-run')),
                                 (('server',), ('--intree', '--size'))):
            status, said = self.said(*arguments, '--help')
            self.assertEqual((status, [word for word in words if word not in said]), (0, []))


class Documents(unittest.TestCase):
    """The sources and the documents have to agree."""

    def text(self, *paths):
        found = ''
        for path in paths:
            with open(f'{HERE}/../{path}', encoding='utf-8') as f:
                found += f.read()
        return found

    def test_each_word_of_proc_is_explained(self):
        views = self.text('rpcrdma2/module.c', 'xprtrdma2/module.c', 'svcrdma2/module.c')
        words = set(re.findall(r'[ "]([a-z_0-9]+)=%', views)) | {'errors', 'why'}
        self.assertGreater(len(words), 30)
        explained = self.text('Documentation/troubleshooting.rst')
        self.assertEqual([word for word in sorted(words) if f'``{word}``' not in explained], [])
        # The tool's details and its summary together show every word.
        tool = load()
        shown = {key for _, keys in tool.DETAILS for key in keys}
        self.assertEqual(words - shown - {'peer', 'state', 'device', 'version', 'why'}, set())

    def test_the_line_about_an_untested_kernel(self):
        line = subprocess.run([f'{HERE}/../packaging/supported.sh', '7.4.1-amd64'],
                              env={**os.environ, 'RDMA2_LINUX': ''}, capture_output=True,
                              text=True).stdout
        self.assertIn('allows the build', line)
        self.assertTrue(f'\t{line}' in self.text('Documentation/install.rst'), line)
        line = re.sub('only with .*;', 'only with SERIES;', line.strip())
        line = line.replace('7.4.1-amd64', 'RELEASE').replace('7.4', 'SERIES')
        row = ' '.join(self.text('Documentation/troubleshooting.rst').split())
        self.assertTrue(f'``{line}``' in row, line)

    def test_no_figure_of_the_tester_s_cases(self):
        documents = self.text('Documentation/conformance.rst', 'Documentation/testing.rst',
                              'tester/README', 'tester/rpcrdma2-test.1')
        self.assertEqual(re.findall(r'\b\d+\s+cases\b', documents), [])

    def test_each_parameter_is_in_the_guide(self):
        for module, end in (('xprtrdma2', 'client'), ('svcrdma2', 'server')):
            sources = self.text(*(f'{module}/{name}' for name in os.listdir(f'{HERE}/../{module}')
                                  if name.endswith('.c')))
            names = re.findall(r'^(?:RPCRDMA2_PARAM\(\w+, |MODULE_PARM_DESC\(|module_param\w*\()'
                               r'(\w+),', sources, re.M)
            self.assertGreater(len(set(names)), 5)
            guide = self.text('Documentation/admin-guide.rst')
            guide = guide[guide.index(f'.. begin-{end}-parameters'):
                          guide.index(f'.. end-{end}-parameters')]
            missing = [name for name in sorted(set(names))
                       if not name.startswith('_') and f'``{name}``' not in guide]
            self.assertEqual(missing, [], module)


class Guests(unittest.TestCase):
    """nfs-test.sh and the exit status of a guest, which a script stands in for"""

    def test_a_guest_that_runs_again(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(HERE, f'{folder}/scripts')
            with open(f'{folder}/scripts/vm.sh', 'w', encoding='utf-8') as guest:
                guest.write(f'#!/bin/sh\necho x >>{folder}/runs\necho "$SAYS"\nexit $ENDS\n')
            for kernel, ends, says, runs in (
                    ('kcsan', 0, 'ok a', 1), ('kcsan', 126, 'ok a', 1), ('kcsan', 123, 'ok a', 2),
                    ('kcsan', 123, 'FAIL a', 1), ('uml', 123, 'ok a', 1)):
                with self.subTest(kernel=kernel, ends=ends, says=says):
                    ran = subprocess.run(
                        [f'{folder}/scripts/nfs-test.sh', '--built', kernel, 'files'],
                        env={**os.environ, 'ENDS': str(ends), 'SAYS': says},
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    self.assertEqual(ran.returncode, int(ends > 0))
                    with open(f'{folder}/runs', encoding='utf-8') as lines:
                        self.assertEqual(len(list(lines)), runs)
                    os.unlink(f'{folder}/runs')


class Reports(unittest.TestCase):
    """Reports in the log of a guest, as vm.sh detects them"""

    def found(self, log, report=''):
        with open(f'{HERE}/vm.sh', encoding='utf-8') as script:
            part = re.search('^other=.*?^}$', script.read(), re.M | re.S)[0]
        with tempfile.TemporaryDirectory() as folder:
            with open(f'{folder}/log', 'w', encoding='utf-8') as lines:
                lines.write(log)
            ran = subprocess.run(['bash', '-c', f'{part}\nlog_reports'], text=True,
                                 capture_output=True, check=False,
                                 env={**os.environ, 'run': folder, 'log': f'{folder}/log',
                                      'allow': '', 'report': report})
        self.assertEqual(ran.stderr, '')
        return re.findall('^.*?(WARNING|BUG)', ran.stdout, re.M)

    def test_a_report_that_has_to_be_there(self):
        one = ('--[ cut here ]--\na text\nWARNING: CPU: 0 PID: 7 at a.h:5 {}\n'
               'Modules linked in: m\nCall Trace:\n  g+0x1\n---[ end trace 0 ]---\n')
        wanted = 'WARNING: .* at a.h:[0-9]+ f'
        for log, report, count in (
                ('a line\n', '', 0), (one.format('f'), '', 1), (one.format('f'), wanted, 0),
                (one.format('f') * 2, wanted, 1), ('a line\n', wanted, 1),
                (one.format('g'), wanted, 2), (one.format('f') + one.format('g'), wanted, 1),
                (one.format('g'), r'g\+0x1', 2), (one.format(r'f\b'), r'f\\b', 0)):
            self.assertEqual(self.found(log, report), ['WARNING'] * count,
                             f'{report!r} of {log!r}')

    def test_other_reports_in_its_block(self):
        begin, end = '--[ cut here ]--\nWARNING: at a.h:5 f\n', '---[ end trace 0 ]---\n'
        other = 'general protection fault', 'list_add corruption', 'unreferenced object'
        for report in (f'BUG: KASAN: in g\n{end}', 'BUG: KASAN: in g\n', f'WARNING: h\n{end}',
                       f'{begin}{end}', '', *(f'{line}\n{end}' for line in other)):
            for known in 'a.h:5 f', '':
                log = f'No virtio device ID configured for PCI\n{report}'
                log = begin + (report if known else log)
                self.assertEqual(self.found(log, known), re.findall('WARNING|BUG', log), log)
        self.assertEqual(self.found(f'{begin}{end}BUG: KASAN: in g\n', 'a.h:5 f'), ['BUG'])
        died = 'traps: fio[7] general protection fault ip:1 sp:2 error:0'
        self.assertEqual(self.found(f'{begin}{died}\n{end}', 'a.h:5 f'), [])
        title = begin[begin.index('WARNING'):]
        self.assertEqual(self.found(f'--[ cut here ]--\nBUG: KASAN: in g\n{title}{end}', 'a.h:5 f'),
                         ['BUG', 'WARNING'])


class GuestFunctions(unittest.TestCase):
    """Functions of the guests' scripts, on files that stand in for those of a kernel"""

    def run_bash(self, script, **words):
        """Runs the script behind the functions, and returns its output."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in words.items():
                with open(f'{folder}/{name}', 'w', encoding='utf-8') as file:
                    file.write(text)
            ran = subprocess.run(
                ['bash', '-uc', f'. {HERE}/vm/cases.sh\nfor i in view storm callback; do\n'
                 f'. {HERE}/vm/$i-cases.sh\ndone\nproto=rdma2\nawait() {{ "$@"; }}\n{script}'],
                cwd=folder, env={**os.environ, 'VM_TOP': f'{HERE}/..', 'VM_BUILD': folder,
                                 'VM_CLOCK': 'guest', 'VM_KERNEL': 'uml'},
                capture_output=True, text=True)
        self.assertEqual(ran.stderr, '')
        return ran.stdout

    def ended(self, ago, ends):
        """ended_for, 10 s after $before, with a row of this age and this number of ends"""
        return self.run_bash('''
            module_counters() { echo "uptime $time"; echo "s_ended_PEER $peers"; }
            uptime() { now=$time; }
            peers=3 time=8050 before=$(module_counters)
            peers=$(cat peers) time=9010
            mkdir svc && mv svcrdma2 svc
            ended_for one "$PWD/svc/svcrdma2" peer
            ended_for two "$PWD/svc/svcrdma2" peer
            ''', svcrdma2=f'peer=a state=ended ended=peer ended_ago={ago}\n', peers=str(ends))

    def test_an_end_in_a_view_is_the_one_that_is_counted(self):
        for ago, ends, passes in (10, 4, True), (0, 4, True), (11, 4, False), (0, 3, False):
            with self.subTest(ago=ago, ends=ends):
                first, second = self.ended(ago, ends).splitlines()
                self.assertEqual(first.split()[0], 'ok' if passes else 'FAIL')
                self.assertEqual(second.split()[0], 'FAIL')

    def test_delays_that_no_program_judges(self):
        for program, result in ('', 'ok S34'), ('{ why = "late" }', 'FAIL'), ('BEGIN {', 'FAIL'):
            with self.subTest(program=program):
                said = self.run_bash(f"delays() {{ echo 1 1 0; }}; port_of() {{ echo 1; }}\n"
                                     f"has_delays case words '{program}' 2>/dev/null")
                self.assertTrue(said.startswith(result), said)

    def test_a_restart_that_no_client_notices(self):
        said = self.run_bash('''
            client_counter() { counter=3; }
            rpc.nfsd() { echo "nfsd $1"; }
            listen_on() { echo "listens on $1"; }
            server_restart rdma2 || echo fails
            ''')
        self.assertEqual(said, 'nfsd 0\nnfsd 8\nlistens on rdma2\nfails\n')

    def test_a_counter_that_is_missing(self):
        said = self.run_bash('''
            risen_now() { rose=([a]=1); }
            for i in a b; do has_risen "$i" -ge 1 2>&1 || echo "not $i"; done
            ''')
        self.assertEqual(said, 'there is no counter b\nnot b\n')

    def test_a_command_that_fails_during_a_recall(self):
        said = self.run_bash('''
            recalling() { sleep 0 & recaller=$!; }
            export_dir=$PWD
            for i in true false; do while_recalling 1 "$i"; done
            echo "$failed"
            ''')
        self.assertEqual(said, 'FAIL while callbacks are outstanding: false\n1\n')


class Jobs(unittest.TestCase):
    """The output of a job of check.sh, as TAP"""

    def tap(self, *lines, plan='?', status=0):
        """Returns whether the job has failed, and its results."""
        with tempfile.NamedTemporaryFile('r') as names:
            ran = subprocess.run(
                ['awk', '-v', 'job=a/job', '-v', f'plan={plan}', '-v', f'names={names.name}', '-f',
                 f'{HERE}/tap.awk'], input='\n'.join([*lines, f'ended {status}\n']),
                capture_output=True, text=True)
            self.names = names.read().split('\n')[:-1]
        return ran.returncode != 0, ran.stdout.split('\n')[:-1]

    def test_cases_that_pass(self):
        self.assertEqual(self.tap('ok one in 3.5 s', 'a line', 'ok two', plan=2),
                         (False, ['ok one in 3.5 s', 'ok two', '1..2']))
        self.assertEqual(self.names, ['one in N s', 'two'])

    def test_a_case_that_fails(self):
        self.assertEqual(self.tap('FAIL one: why', 'a line', status=1),
                         (True, ['not ok one: why', '# a line', '1..1']))

    def test_a_skipped_case_has_a_reason(self):
        self.assertEqual(self.tap('skip one # no tool 7'),
                         (False, ['ok one # SKIP no tool 7', '1..1']))
        self.assertEqual(self.names, ['one'])
        for line in 'skip one', 'skip one: no tool', 'skip one # ', 'skip one #':
            failed, (first, _) = self.tap(line)
            self.assertTrue(failed, line)
            self.assertRegex(first, '^not ok one.*: skipped without a reason$')

    def test_a_job_that_ends_early(self):
        for lines, words in (['ok one'], {'status': 1}), ([], {}), (['ok one'], {'plan': 2}):
            failed, results = self.tap(*lines, **words)
            self.assertTrue(failed, results)
            self.assertIn('not ok a/job: ', '\n'.join(results))

    def test_a_skipped_case_of_ktap(self):
        ran = subprocess.run(['awk', '-v', 'group=kunit', '-f', f'{HERE}/ktap.awk'], text=True,
                             capture_output=True, input='    # Subtest: sq\n'
                             '    ok 1 first # SKIP no device\n    ok 2 second\n')
        self.assertEqual(ran.stdout, 'skip kunit sq: first # no device\nok kunit sq: second\n')


if __name__ == '__main__':
    if len(sys.argv) > 1:
        TOOL = sys.argv.pop(1)
    unittest.main()
