# SPDX-License-Identifier: GPL-2.0
"""RDMA2_OPTIONAL"""

from ..registry import case
from ..rpc import call
from ..wire import BAD_XDR, INVALID_OPTION, Option


@case('C-011 C-012')
def unknown_option(t):
    """An unknown opttype gets INVALID_OPTION"""
    for opttype in (0, 5, 0x7fffff01, 0xffffff7f, 0xffffffff):
        t.error(Option(t.xid(), opttype, bytes.fromhex('deadbeef0102')), INVALID_OPTION)
    t.alive()


@case('C-011 C-012')
def option_without_info(t):
    """An unknown option without bytes gets INVALID_OPTION"""
    t.error(Option(t.xid(), 0x7fffff01), INVALID_OPTION)


@case('C-012 C-003')
def long_option(t):
    """An unknown option that fills a Receive gets INVALID_OPTION"""
    t.error(Option(t.xid(), 0x7fffff01, bytes(4096 - 28)), INVALID_OPTION)


@case('C-012 C-004')
def option_of_several_pages(t):
    """An unknown option that fills a Receive of the announced size gets INVALID_OPTION"""
    size = t.receive_size()
    t.again(size=max(size, 16384))
    t.error(Option(t.xid(), 0x7fffff01, bytes(size - 28)), INVALID_OPTION)


@case('S40 C-063')
def option_with_a_payload(t):
    """An unknown option with an RPC, or a part of one, gets one INVALID_OPTION"""
    for length in (1, 4, 40):
        xid = t.xid()
        t.error(Option(xid, 0x7fffff01, b'info', payload=call(xid)[:length]),
                INVALID_OPTION)
        t.nothing()


@case('C-081 S05')
def option_cut_short(t):
    """A truncated option gets BAD_XDR"""
    whole = Option(t.xid(), 0x7fffff01, bytes(8))
    for length in (24, 28, 32):
        t.error(whole.cut(length), BAD_XDR)
    t.error(whole.with_word(6, 0xfffffffc), BAD_XDR)
    t.alive()
