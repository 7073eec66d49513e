# SPDX-License-Identifier: GPL-2.0
"""RPCSEC_GSS with Kerberos, by the machine's GSS-API: Debian's python3-gssapi, and a ticket."""

try:
    import gssapi
except ImportError:
    gssapi = None

from . import rpc
from .registry import NotApplicable, check
from .wire import Rpc, opaque, u32

DATA, INIT = 0, 1
NONE, INTEGRITY, PRIVACY = 1, 2, 3


class Context:
    """A context of the principal --gss, as nfs@HOST, with one of these services"""

    def __init__(self, t, service):
        if not gssapi:
            raise NotApplicable('no python3-gssapi')
        self.t, self.service, self.number, self.handle = t, service, 0, b''
        try:
            self.context = gssapi.SecurityContext(
                name=gssapi.Name(t.target.gss, gssapi.NameType.hostbased_service),
                mech=gssapi.MechType.kerberos, usage='initiate',
                flags=[gssapi.RequirementFlag.mutual_authentication])
            token = self.context.step()
        except gssapi.exceptions.GSSError as error:
            raise NotApplicable(f'no context of {t.target.gss}: {error}') from error
        number = t.xid()
        answer = t.answered(Rpc(number, rpc.call(
            number, arguments=opaque(token), cred=self.credential(INIT) + u32(0, 0)), t.version))
        self.handle = rpc.opaque_at(answer.results, 0)
        at = 4 + (len(self.handle) + 3 & ~3)
        major, minor = (rpc.number_at(answer.results, at + 4 * i) for i in range(2))
        check(major == 0, f'GSS_S_{major:#x}, {minor:#x}')
        self.context.step(rpc.opaque_at(answer.results, at + 12))

    def credential(self, what):
        return u32(6) + opaque(u32(1, what, self.number, self.service) + opaque(self.handle))

    def call(self, procedure, arguments=b'', vers=3):
        """A Call of NFS, with arguments as the service has them"""
        self.number += 1
        number, data = self.t.xid(), u32(self.number) + arguments
        cred = self.credential(DATA)
        header = rpc.call(number, procedure, vers=vers, cred=cred)
        cred += u32(6) + opaque(self.context.get_signature(header))
        if self.service == PRIVACY:
            arguments = opaque(self.context.wrap(data, True).message)
        elif self.service == INTEGRITY:
            arguments = opaque(data) + opaque(self.context.get_signature(data))
        return Rpc(number, rpc.call(number, procedure, arguments, vers=vers, cred=cred),
                   self.t.version)

    @staticmethod
    def header(message):
        """Where that of an RPC Call ends"""
        at = 24
        for _ in range(2):
            at += 8 + (rpc.number_at(message.body, at + 4) + 3 & ~3)
        return at

    def results(self, message):
        """Those of a Reply to the last Call"""
        self.context.verify_signature(u32(self.number), rpc.opaque_at(message.body, 16))
        results = rpc.results(message.body)
        if self.service == NONE:
            return results
        data = rpc.opaque_at(results, 0)
        if self.service == PRIVACY:
            data = self.context.unwrap(data).message
        else:
            self.context.verify_signature(data, rpc.opaque_at(results, 4 + (len(data) + 3 & ~3)))
        check(rpc.number_at(data, 0) == self.number, f'results of Call {data[:4].hex()}')
        return data[4:]
