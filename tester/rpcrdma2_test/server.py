# SPDX-License-Identifier: GPL-2.0
"""
The tester as a server: checks of a client's messages, and of its reactions to answers.

A command makes the client under test connect, for example by a mount. An NFS server over TCP
answers the Calls that a case does not answer itself, so that the client can continue.
"""

import dataclasses
import os
import signal
import socket
import struct
import subprocess
import time

from . import rpc, wire
from .client import Answer
from .endpoint import Endpoint, Listener, Lost, PrivateData
from .registry import Failure, NoConnection, NotApplicable, check
from .settings import Settings
from .waits import scaled, until
from .wire import BRS, RBSIZ, Prop, Rpc, u32

PATIENCE = 10
SILENCE = 0.1
PRIVATE = PrivateData(1, 4096, 4096)


@dataclasses.dataclass
class Trigger:
    """The clients under test, and the command that makes them connect"""
    host: str
    port: int               # of the first case; each case has one
    command: str
    backend: str            # an NFS server over TCP
    setter: str = ''        # command that changes a setting of the clients
    actions: bool = False   # the command supports all actions
    case: str = ''
    action: str = ''        # an action of a case; '' for all that is needed

    @property
    def environment(self):
        return {'PORT': str(self.port), 'CASE': self.case, 'ACTION': self.action,
                'WAIT': str(scaled(1))}

    def run(self, output):
        """Runs the command."""
        return subprocess.Popen(
            ['sh', '-c', self.command], start_new_session=True,
            env=dict(os.environ, **self.environment),
            bufsize=0, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)


def contents(endpoint, call):
    """Returns the RPC Call with the data of its Read chunks in their positions."""
    chunks = {}
    for position, segment in call.reads:
        region = endpoint.region(segment.length)
        endpoint.rdma(region, segment.length, segment.handle, segment.offset, True)
        chunks[position] = chunks.get(position, b'') + region.read()
    body = chunks.pop(0, b'') if call.proc == wire.NOMSG else call.body
    for position in sorted(chunks):
        data = chunks[position]
        body = body[:position] + data + bytes(-len(data) % 4) + body[position:]
    return body


class Server:
    """A listener, and one connection at a time"""
    backend_patience = 5
    observer = None         # of the client under test, with --observe

    def __init__(self, trigger, version=2):
        self.trigger, self.version = trigger, version
        self.endpoint = self.listener = self.process = self.tcp = None
        self.grant, self.own, self.peer = 32, 4096, 4096
        self.takes = wire.BRS_INLINE        # BRS of the client, for Calls of a server, C-036
        self.others = []        # messages that are not Calls
        self.held = None        # a message that the next receive() returns again
        self.largest = 4096     # largest message of the client
        self.settings = Settings(trigger.setter, **trigger.environment)
        self.set = self.settings.set

    # Connections

    def start(self):
        if not self.listener:
            self.listener = Listener(self.trigger.host, self.trigger.port)
            if not self.trigger.action:
                self.look()
            self.run(subprocess.PIPE)

    def look(self, **options):
        """Has the state of the client recorded for --observe."""
        if self.observer:
            self.observer.look(**options)

    def run(self, output=subprocess.DEVNULL):
        """Runs the command that makes the client connect."""
        self.process = self.trigger.run(output)

    def request(self, patience=PATIENCE, **options):
        """Returns the next connection request, and closes the current connection."""
        self.start()
        self.hang_up()
        endpoint = Endpoint.request(self.listener.pointer, patience, **options)
        if endpoint is None:
            raise NoConnection(f'no connection in {scaled(patience):g} s')
        return endpoint

    def refuse(self):
        """Rejects the next connection request."""
        self.request().close()

    def accept(self, private=PRIVATE, patience=PATIENCE, receives=64, retries=7, **options):
        """Accepts the next connection, which replaces the current one."""
        self.endpoint = endpoint = self.request(patience, receives=receives, **options)
        data = private.encode() if isinstance(private, PrivateData) else private
        endpoint.accept(data, retries)
        self.largest = self.peer = 4096
        return self

    def come_again(self):
        """Runs the command again after its end, and accepts its first connection."""
        self.run(subprocess.PIPE)
        return self.accept()

    def hang_up(self):
        if self.endpoint:
            self.endpoint.close()
        self.endpoint = None

    def close(self):
        self.hang_up()
        if self.tcp:
            self.tcp.close()
        if self.process:
            self.end_process()
        if self.listener:
            self.listener.close()
        self.listener = self.process = self.tcp = None

    def clean_up(self):
        try:
            if self.observer:
                self.observer.end(self.process)
        finally:
            self.settings.restore()

    def end_process(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                break
            try:
                self.process.communicate(timeout=scaled(5))
                break
            except subprocess.TimeoutExpired:
                continue

    # Messages

    def receive(self, patience=PATIENCE):
        """Returns the client's next message, or None after the timeout."""
        if not self.endpoint:
            self.accept()
        if self.held:
            held, self.held = self.held, None
            return held
        got = self.endpoint.receive(patience)
        if got is None:
            return None
        data, invalidated = got
        check(invalidated is None, 'a Call with invalidation')
        message = wire.decode(data)
        check(len(data) <= self.largest,
              f'a Send of {len(data)} bytes, more than {self.largest}')
        check(message.credit > 0, 'rdma_credit is 0')
        return Answer(message, len(data), None)

    def send(self, *messages, invalidate=0):
        self.endpoint.send(*(message.encode() for message in messages),
                           invalidate=invalidate, patience=PATIENCE)

    def probe(self):
        """Returns the first message of a client of version 2: its CONNPROP."""
        got = self.receive()
        check(got is not None, 'the client sends nothing')
        if got.message.version != 2:
            raise NotApplicable('the client does not support version 2')
        return got

    def any_version(self):
        """Accepts a client of either version."""
        got = self.receive()
        check(got is not None, 'the client sends nothing')
        self.held = got
        if got.message.version == 2:
            self.negotiate()

    def negotiate(self, *props, frozen=True):
        """Answers the client's CONNPROP, and returns it."""
        said = self.probe().message
        if isinstance(said, Rpc):
            raise NotApplicable('the client has no properties')
        check(said.proc == wire.CONNPROP, f'{said}')
        props = props or (Prop(RBSIZ, self.own), Prop(BRS, wire.BRS_INLINE))
        nochg = range(len(props)) if frozen else ()
        self.send(wire.connprop(said.xid, props, nochg, credit=self.grant))
        for prop in props:
            if prop.which == RBSIZ and len(prop.data) == 4:
                self.largest = max(4096, prop.word)
        if RBSIZ in said.values:
            self.peer = said.values[RBSIZ].word
        if BRS in said.values:
            self.takes = said.values[BRS].word
        return said

    def next_call(self, patience=PATIENCE):
        """Returns the next Call, ignoring other messages."""
        end = until(patience)
        while time.monotonic() < end:
            got = self.receive(0.2)
            if got and isinstance(got.message, Rpc):
                return got.message
        raise Failure('no Call')

    def serve(self, wanted=lambda call: False, patience=PATIENCE):
        """
        Answers Calls until one matches, which is returned without an answer.

        Returns None if the command ends before.
        """
        end = until(patience)
        while time.monotonic() < end:
            try:
                got = self.receive(0.2)
            except Lost:
                if self.ends(3):
                    return None
                raise
            if got is None:
                if self.process.poll() is not None:
                    return None
            elif isinstance(got.message, Rpc):
                if wanted(got.message):
                    return got.message
                self.answer(got.message)
            else:
                check(not isinstance(got.message, wire.Error), f'{got.message}')
                self.others.append(got.message)
        raise Failure(f'no matching Call within {scaled(patience):g} s')

    def ends(self, patience):
        """Whether the command ends, which takes a while after the end of the connection."""
        try:
            self.process.wait(scaled(patience))
        except subprocess.TimeoutExpired:
            return False
        return True

    def resume(self):
        """Accepts the next connection, on which the client may send CONNPROP or not."""
        self.accept()
        got = self.receive()
        check(got is not None, 'the client sends nothing')
        self.held = got
        if not isinstance(got.message, Rpc):
            self.negotiate()

    def comes_again(self, number, patience=PATIENCE):
        """
        Returns the Call when it is repeated, on this or a later connection; answers others.

        Returns None if the command ends before.
        """
        end = until(patience)
        while time.monotonic() < end:
            try:
                got = self.receive(0.2)
            except Lost:
                self.resume()
                continue
            if got is None and self.process.poll() is not None:
                return None
            if got and isinstance(got.message, Rpc):
                if got.message.number == number:
                    return got.message
                self.answer(got.message)
        raise Failure(f'xid {number:#x} did not come again in {scaled(patience):g} s')

    def is_left(self, patience=5):
        """The client has to close the connection without another message."""
        try:
            got = self.endpoint.receive(patience)
        except Lost:
            return
        raise Failure(f'the connection goes on, with {got}')

    def serve_until(self, procedure):
        call = self.serve(lambda c: self.procedure(c) == procedure)
        if call is None:
            raise NotApplicable('the command sends no such Call')
        return call

    def succeeds(self, patience=20):
        """Serves until the command ends, which has to succeed."""
        self.serve(patience=patience)
        said, _ = self.process.communicate(timeout=scaled(patience))
        check(self.process.returncode == 0,
              f'the command ends with {self.process.returncode}: {said.decode()[-200:]}')

    def goes_on(self, version, patience=20):
        """Serves until the command succeeds; all Calls have to be of this version."""
        other = self.serve(lambda call: call.version != version, patience)
        check(other is None, f'a Call in version {other and other.version}')
        self.succeeds(patience)

    def given_up(self, patience=15):
        """The client has to close the connection without another message."""
        try:
            got = self.receive(patience)
        except Lost:
            return
        raise Failure(f'the connection goes on: {got}')

    def in_vain(self, patience=20):
        """The command has to fail, without another Call or another connection."""
        call = self.serve(lambda call: True, patience)
        check(call is None, f'another Call: {call}')
        check(self.process.wait(scaled(patience)) != 0, 'the command ends well')
        self.hang_up()
        check(Endpoint.request(self.listener.pointer, 0.05) is None, 'another connection')

    def fails(self, patience=20):
        """Serves until the command ends, which has to fail."""
        self.serve(patience=patience)
        check(self.process.wait(scaled(patience)) != 0, 'the command ends well')

    # Calls

    def contents(self, call):
        return contents(self.endpoint, call)

    def procedure(self, call):
        return struct.unpack_from('>I', self.contents(call), 20)[0]

    def answer(self, call, body=None):
        """Answers a Call with these bytes, or with the NFS server's reply."""
        message = self.contents(call)
        if body is None:
            body = self.ask_backend(message)
        procedure = rpc.number_at(message, 20)
        reply = Rpc(call.number, body, call.version, self.grant, direction=wire.REPLY)
        if call.writes:
            reply = self.place(call, reply, procedure)
        if call.version == 1 and call.reply:
            reply = reply.but(reply=[dataclasses.replace(s, length=0) for s in call.reply])
        if len(reply.encode()) <= max(self.peer, 1024):
            return self.send(reply)
        if sum(s.length for s in call.reply or ()) < len(reply.body):
            return self.send(wire.Error(call.number, wire.ERR_CHUNK, (), 1, self.grant)
                             if call.version == 1 else
                             wire.Error(call.number, wire.REPLY_RESOURCE,
                                        (len(reply.body),), call.version, self.grant))
        used = self.write(reply.body, call.reply)
        return self.send(reply.but(body=b'', proc=wire.NOMSG, reply=used))

    def place(self, call, reply, procedure):
        """Places data of READ and READLINK in the first Write chunk, if it has segments."""
        writes = [[dataclasses.replace(s, length=0) for s in c] for c in call.writes]
        body = reply.body
        if procedure in (rpc.READ, rpc.READLINK) and writes[0] and not rpc.number_at(body, 24):
            at = rpc.post_op_attr(body, 28) + (8 if procedure == rpc.READ else 0)
            writes[0] = self.write(rpc.opaque_at(body, at), call.writes[0])
            body = body[:at + 4]
        return reply.but(body=body, writes=tuple(writes))

    def write(self, data, segments):
        """Writes to the client's memory; returns the segments with the lengths that were used."""
        region, used, at = self.endpoint.region(max(len(data), 1)).write(data), [], 0
        for segment in segments:
            length = min(segment.length, len(data) - at)
            if length:
                self.endpoint.rdma(region, length, segment.handle, segment.offset, at=at)
            used.append(dataclasses.replace(segment, length=length))
            at += length
        return used

    def ask_backend(self, message):
        if not self.tcp:
            self.tcp = socket.create_connection((self.trigger.backend, 2049),
                                                scaled(self.backend_patience))
        rpc.put_record(self.tcp, message)
        while rpc.number_at(answer := rpc.record(self.tcp), 4) != wire.REPLY:
            self.called(answer)
        return answer

    def called(self, call):
        """Answers a Call of the NFS server, which probes the callback path."""
        rpc.put_record(self.tcp, rpc.reply(rpc.number_at(call, 0)))

    # Expected reactions

    @staticmethod
    def xid():
        return 0x5e000000 | int.from_bytes(os.urandom(3), 'big')

    def refused(self, message, code):
        """The client has to answer with this error."""
        got = self.answer_to(message)
        check(isinstance(got, wire.Error) and got.code == code,
              f'code {code} expected, not {got}')
        check(got.xid == message.xid, f'xid {got.xid:#x}, not {message.xid:#x}')
        return got

    def answer_to(self, message):
        """Returns the client's next message that is not a Call; Calls are answered."""
        self.send(message)
        end = until(PATIENCE)
        while time.monotonic() < end:
            got = self.receive(0.2)
            if got is None:
                continue
            if not isinstance(got.message, Rpc) or got.message.xid == message.xid:
                return got.message
            self.answer(got.message)
        raise Failure(f'no answer to {message}')

    def silent(self, *messages):
        """The messages have no answer; Calls are served meanwhile."""
        self.send(*messages)
        end = until(SILENCE)
        while time.monotonic() < end:
            got = self.receive(0.2)
            if got is None:
                return
            check(isinstance(got.message, Rpc) and
                  u32(got.message.xid) not in [m.encode()[:4] for m in messages],
                  f'an answer that must not be: {got.message}')
            self.answer(got.message)


class Kept(Server):
    """A mount for several cases; the command mounts, works and unmounts by its $ACTION."""

    def next_case(self, trigger):
        """Starts the next case, with the port of the mount."""
        port = self.trigger.port if self.listener else trigger.port
        self.trigger = dataclasses.replace(trigger, port=port)
        self.settings = Settings(trigger.setter, **self.trigger.environment)
        self.set = self.settings.set

    def act(self, action):
        self.trigger.action = action
        self.run(subprocess.PIPE)

    def begin(self):
        """Starts the command's work with files, after mounting if necessary."""
        if not self.listener:
            self.trigger.action = 'mount'
            try:
                self.negotiate()
                self.succeeds()
            except NotApplicable:
                super().close()
                raise
        if self.observer and len(self.observer.looks) < 2:      # before and after the first work
            self.look()
        self.act('work')

    def works(self):
        """The command's work with files has to succeed."""
        self.begin()
        self.succeeds()

    def work(self, wanted):
        """Returns the first matching Call of the command's work, without an answer."""
        self.begin()
        call = self.serve(wanted)
        if call is None:
            raise NotApplicable('the command sends no such Call')
        return call

    def close(self):
        if self.listener:
            self.end_process()
            self.act('unmount')
            try:
                self.serve()
            except (Failure, Lost, OSError):
                pass
        super().close()
