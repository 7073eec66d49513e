# SPDX-License-Identifier: GPL-2.0
"""
The tester as a server with concurrent connections, which can go down and come up again.

The command makes the client do one $ACTION at a time. Meanwhile the manners of the case, a
function, handle each message.
"""

import errno
import os
import select
import subprocess
import time

from . import rpc, wire
from .endpoint import Endpoint, Listener, Lost
from .registry import Failure, check
from .server import PRIVATE, Server
from .waits import scaled, until
from .wire import CONNPROP, Error, Rpc

# Errors of accept when the client has given up
GIVEN_UP = (errno.EINVAL, errno.ECONNREFUSED, errno.ECONNRESET, errno.EPIPE,
            errno.ETIMEDOUT)


def serves(c, message):
    """The manners of a server of versions 2 and 1"""
    if isinstance(message, Rpc):
        c.answer(message)
    elif message.proc == CONNPROP:
        c.negotiate()


class Connection(Server):
    """A connection; it forwards Calls of the NFS server to the client, and the Replies back."""

    def __init__(self, many, endpoint):
        super().__init__(many.trigger)
        self.many, self.endpoint, self.grant = many, endpoint, many.grant
        self.is_new = True

    def called(self, call):
        number = rpc.number_at(call, 0)
        self.many.calls += 1
        self.send(Rpc(number, call, credit=self.grant))

    def take_call(self):
        """Takes a Call of the NFS server, which closes idle connections."""
        try:
            call = rpc.record(self.tcp)
        except (rpc.RpcError, OSError):
            self.no_tcp()
        else:
            self.called(call)

    def no_tcp(self):
        self.tcp.close()
        self.tcp = None

    def take_reply(self, reply):
        """Forwards a Reply to the NFS server, unless the connection of its Call is closed."""
        self.many.replies.append(reply)
        try:
            if self.tcp:
                rpc.put_record(self.tcp, reply.body)
        except OSError:
            self.no_tcp()

    def take(self):
        """Handles one message; returns whether there was one."""
        if self.tcp and select.select([self.tcp], [], [], 0)[0]:
            self.take_call()
        got = self.receive(0)
        if got is None:
            return False
        message = got.message
        if self.is_new:
            self.many.first.append(message)
        self.is_new = False
        if isinstance(message, Rpc) and message.direction == wire.REPLY:
            self.take_reply(message)
            return True
        check(not isinstance(message, Error), f'{message}')
        self.held = got
        self.many.manners(self, message)
        self.held = None
        return self.endpoint is not None

    @property
    def descriptors(self):
        return self.endpoint.descriptors + ([self.tcp.fileno()] if self.tcp else [])


class Many(Server):
    """All connections to a port"""

    def __init__(self, trigger):
        super().__init__(trigger)
        self.manners, self.connections, self.commands = serves, [], []
        self.receives = 64
        self.times = []         # of each connection request
        self.first = []         # first message of the client on each connection
        self.calls, self.replies = 0, []        # of nfsd, and of the client

    # The server

    def up(self, manners=serves):
        self.manners = manners
        self.listener = Listener(self.trigger.host, self.trigger.port)

    def down(self):
        """Acts like a server that crashes: stops listening and ends all connections."""
        if self.listener:
            self.listener.close()
        self.listener = None
        for c in self.connections:
            c.close()

    def take_all(self):
        if self.listener:
            while endpoint := Endpoint.request(self.listener.pointer, 0,
                                                receives=self.receives):
                requested = time.monotonic()
                try:
                    endpoint.accept(PRIVATE.encode())
                except OSError as error:
                    endpoint.close()
                    if error.errno not in GIVEN_UP:
                        raise
                    continue
                self.connections.append(Connection(self, endpoint))
                self.times.append(requested)
        for c in self.connections:
            try:
                while c.endpoint and c.take():
                    pass
            except Lost:
                c.close()
        self.connections = [c for c in self.connections if c.endpoint]

    def attend(self, patience, done=lambda: False, *descriptors):
        """Serves until DONE is true or the timeout has passed; returns the last value of DONE."""
        end = until(patience)
        while True:
            self.take_all()
            left = end - time.monotonic()
            if done() or left <= 0:
                return done()
            poll = select.poll()
            for d in [*descriptors, *[d for c in self.connections for d in c.descriptors]]:
                poll.register(d, select.POLLIN)
            if self.listener:
                poll.register(self.listener.descriptor, select.POLLIN)
            poll.poll(left * 1000)

    # The client

    def begin(self, action):
        """Starts the command with this action."""
        self.trigger.action = action
        self.run(subprocess.PIPE)
        self.commands.append(self.process)
        return self.process

    def ends(self, process, patience=600):
        """Returns the command's exit status."""
        if process.poll() is not None:
            return process.returncode
        descriptor = os.pidfd_open(process.pid)
        try:
            if not self.attend(patience, lambda: process.poll() is not None, descriptor):
                raise Failure(f'{self.trigger.action} does not end')
        finally:
            os.close(descriptor)
        return process.returncode

    def line(self, process, patience=60):
        """Returns the next line that the command prints."""
        output = process.stdout
        check(self.attend(patience, lambda: select.select([output], [], [], 0)[0], output),
              f'{self.trigger.action} prints nothing')
        line = output.readline()
        check(line, f'{self.trigger.action} has ended')
        return line

    def does(self, *actions):
        """Runs the command with these actions in sequence; each has to succeed."""
        for action in actions:
            process = self.begin(action)
            status = self.ends(process)
            said = process.stdout.read().decode()
            check(status == 0, f'{action} ends with {status}: {said[-200:]}')

    # Cases that need --observe

    def until(self, done, serves=True):
        """Waits, or serves, until a state of the client is reached."""
        end = until(600 if serves else 60)
        while not done():
            check(time.monotonic() < end, 'the client does not reach the state')
            self.attend(0.05 / scaled(1)) if serves else time.sleep(0.05)

    def rises(self, counter, number, serves=True):
        """Waits until a counter of the client has risen by this number since the last look."""
        self.until(lambda: self.observer.risen(counter) >= number, serves)

    def fault(self, name, times=1):
        self.observer.fault(name, times)

    def faulted(self, name):
        """Waits until the attempts have failed that fault() has named."""
        self.until(lambda: self.observer.faulted(name))

    def close(self):
        self.down()
        for self.process in self.commands:
            self.end_process()
        self.process = None
        super().close()
