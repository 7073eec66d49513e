# SPDX-License-Identifier: GPL-2.0
"""A client over hours: how long it remembers a server's version, and when it probes again."""

from ..many import serves
from ..observe import decisions
from ..registry import case, check
from ..wire import VERS, Error

IDLE = 400              # seconds after which a client has no connection
HOUR = 3600


def speaks_one(c, message):
    """Manners of a server that refuses version 2"""
    if message.vers == 1:
        return serves(c, message)
    return c.send(Error(message.xid, VERS, (1, 1), 2))


def is_silent(c, message):
    """Manners of a server that is silent in version 2"""
    if message.vers == 1:
        serves(c, message)


def closes(c, message):
    """Manners of a server that closes a connection that begins with version 2"""
    if message.vers == 1:
        return serves(c, message)
    return c.hang_up()


def speaks_one_and_closes(c, message):
    """Manners of a server that refuses version 2 and then disconnects"""
    speaks_one(c, message)
    if message.vers != 1:
        c.hang_up()


def visited(t, *manners):
    """Starts a server; the client mounts and uses it."""
    t.up(*manners)
    t.does('mount', 'work')


def replaced(t, *manners):
    """Replaces the server immediately."""
    t.down()
    t.up(*manners)


def asked(t):
    """Returns the number of connections that began with version 2 since the last call."""
    number = sum(m.vers == 2 for m in t.first)
    t.first.clear()
    return number


def known_for_an_hour(t, manners, *numbers):
    """Two transports share the result of one probe."""
    visited(t, manners)
    for seconds, number in zip((0, IDLE, HOUR), numbers):
        if seconds:
            t.attend(seconds)
            t.does('work')
        t.attend(0.2)           # for further connections
        t.look()
        found = asked(t)
        check(found == number, f'{found} probes, not {number}, after {seconds} s')
    t.does('unmount')


@case('S34', plays='server', many=True,
      looks=['1,1 ERR_VERS>version_1 1', '1,1,1,1 ERR_VERS>version_1 1',
             '1,1,1,1,1,1 ERR_VERS>version_1,ERR_VERS>version_1 2'])
def refused(t):
    """A server that refuses version 2 is probed again after an hour, once"""
    known_for_an_hour(t, speaks_one, 1, 0, 1)


@case('S34 C-103', plays='server', many=True,
      looks=['1,1 silence>try_version_2,silence>connect_again,_version_1 1',
             '1,1,1,1 silence>try_version_2,silence>connect_again,_version_1 1',
             '1,1,1,1,1,1 silence>try_version_2,silence>connect_again,_version_1,'
             'silence>connect_again,_version_1 2'])
def silent(t):
    """A server that is silent in version 2 is probed again after an hour, once"""
    known_for_an_hour(t, is_silent, 1, 0, 1)


@case('S34 C-103', plays='server', many=True,
      looks=['1,1 lost>connect_later,lost>connect_later,lost>connect_again,_version_1 1',
             '1,1,1,1 lost>connect_later,lost>connect_later,lost>connect_again,'
             '_version_1 1',
             '1,1,1,1,1,1 lost>connect_later,lost>connect_later,lost>connect_again,'
             '_version_1,lost>connect_later 1'])
def closing(t):
    """A server that closes each connection in version 2 is probed again after an hour, once"""
    known_for_an_hour(t, closes, 3, 0, 1)


@case('S34', plays='server', many=True,
      looks=['1,1 silence>try_version_2,silence>connect_again,_version_1 1',
             '1,1,2 silence>try_version_2,silence>connect_again,_version_1,'
             'CONNPROP>version_2 1',
             '1,1,2,2 silence>try_version_2,silence>connect_again,_version_1,'
             'CONNPROP>version_2,CONNPROP>version_2 1'])
def not_under_an_rpc(t):
    """An RPC that has lost its connection does not wait for a probe; the next connection probes"""
    def is_dead(c, message):
        out.append(message)

    out = []
    visited(t, is_silent)
    t.manners = is_dead
    waiter = t.begin('stat absent')
    check(t.attend(10, lambda: out), 'no RPC is out')
    t.down()
    t.attend(HOUR + 100)
    t.up()
    t.ends(waiter)
    t.look()
    for _ in range(2):
        t.attend(IDLE)
        t.does('work')
        t.look()
    t.does('unmount')


@case('S34', plays='server', many=True, looks=['*,2,2 * *'])
def version_two_now(t):
    """When a server has gained version 2, both transports find it"""
    visited(t, speaks_one)
    replaced(t)
    t.attend(HOUR + 100)
    t.does('work')
    t.attend(IDLE)
    t.does('work')
    t.look()
    t.does('unmount')


def absent(t):
    """Takes the server down, with an RPC that cannot connect."""
    t.down()
    waiter = t.begin('stat absent')
    t.attend(60)
    return waiter


def has_ended(t, waiter):
    t.look(counted=False)
    check(waiter.poll() is not None, 'the RPC waits')
    t.does('unmount')


@case('S34', plays='server', many=True,
      looks=['1 ERR_VERS>version_1 1', '1 ERR_VERS>version_1 1',
             '1,2 ERR_VERS>version_1,CONNPROP>version_2 1'],
      counts={'S34 an RPC waits for a connection': 'connects == 0 and connect_failures > 1'})
def not_in_vain(t):
    """A failed connection attempt is no probe; the next connection probes"""
    visited(t, speaks_one)
    t.down()
    t.attend(HOUR + 100)
    t.look()
    waiter = absent(t)
    t.look()
    t.up()
    t.ends(waiter)
    has_ended(t, waiter)


@case('C-102 S34', plays='server', many=True,
      looks=['2,1,1 CONNPROP>version_2,ERR_VERS>version_1 1'])
def replaced_while_it_was_down(t):
    """ERR_VERS followed by a disconnect counts at the next attempt"""
    visited(t)
    waiter = absent(t)
    t.attend(540)
    t.up(speaks_one_and_closes)
    t.attend(300)
    has_ended(t, waiter)


@case('S34', plays='server', many=True, needs='observe',
      looks=['* *,ERR_VERS>version_1 *',
             '2,1,2 CONNPROP>version_2,ERR_VERS>version_1,CONNPROP>version_2 0'])
def down_with_its_answer(t):
    """An answer does not count after two minutes without the server"""
    def answers(c, message):
        speaks_one_and_closes(c, message)
        answered.append(message)

    answered = []
    visited(t)
    waiter = absent(t)
    t.up(answers)
    check(t.attend(60, lambda: answered), 'the client does not come')
    t.down()
    t.until(lambda: decisions(t.trigger.port).endswith('ERR_VERS>version_1'))
    t.look()
    t.attend(120)
    t.up()
    t.attend(120)
    has_ended(t, waiter)


@case('S34', plays='server', many=True,
      looks=['2,1 CONNPROP>version_2,lost>connect_later,lost>connect_again,_version_1 1'])
def down_by_each_probe(t):
    """Each probe crashes the server for 170 s, the interval of the attempts"""
    def dies(c, message):
        if message.vers == 1:
            serves(c, message)
        else:
            t.down()

    visited(t)
    waiter = absent(t)
    t.attend(540)
    for _ in range(2):
        t.up(dies)
        check(t.attend(200, lambda: not t.listener), 'the client does not come')
        t.attend(170)
    t.up(dies)
    t.attend(200)
    has_ended(t, waiter)


@case('', plays='server', many=True)
def rpc_longer_than_the_idle_timeout(t):
    """A connection with an RPC in flight is not idle"""
    def holds(c, message):
        held.append((c, message))

    held = []
    visited(t)
    t.manners = holds
    waiter = t.begin('stat absent')
    check(t.attend(10, lambda: held), 'no RPC is out')
    t.attend(IDLE)
    check(len(t.times) == 1, f'{len(t.times)} connections')
    t.manners = serves
    for c, message in held:
        c.answer(message)
    t.ends(waiter)
    t.does('unmount')
    check(len(t.times) == 1, f'{len(t.times)} connections')
