# SPDX-License-Identifier: GPL-2.0
"""Clients with one fault each, and the cases that have to detect it"""

from . import faults, rpc, wire
from .faults import fault
from .visitor import LONG, Stop, Visitor
from .wire import BRS, BRS_NONE, CALL, NOMSG, RBSIZ, Error, Prop

# Connections

@fault('client_backward.as_many_calls_as_are_granted client_backward.calls_after_a_reconnect')
class FewReceives(Visitor):
    """the grant exceeds the number of Receives"""
    receives = 8
    loses = True

    def to_call(self, call):
        # A Receive that is reposted between two of these Calls would hide the fault.
        self.endpoint.keep_receives()
        return super().to_call(call)


@fault('client_codes.vers client_codes.invalid_proc client_negotiation.lost_after_err_vers',
       'client_fallback.lost_during_the_probe client_backward.calls_after_a_reconnect',
       'client_refused.one_of_three')
class StaysAway(Visitor):
    """the client does not reconnect"""
    loses = True

    def leave(self, version):
        raise Stop('the connection has ended')


@fault('client_codes.vers client_codes.invalid_proc client_refused.invalid_proc_for_the_first',
       'client_refused.all_of_three client_backward.calls_after_a_reconnect',
       'client_fallback.silence')
class AnotherXidAgain(Visitor):
    """a Call has another xid on the next connection"""

    def leave(self, version):
        super().leave(version)
        for task in self.tasks:
            task.number = self.xid()


@fault('client_negotiation.private_data')
class FlagOfAnother(Visitor):
    """a reserved flag of the private data is set"""
    private = faults.ReservedFlag.private


@fault('client_negotiation.foreign_private_data',
       'client_negotiation.private_data_of_another_format')
class AnyPrivateData(Visitor):
    """the sizes in private data of any format apply"""

    def connect(self):
        super().connect()
        if len(self.endpoint.private) >= 8:
            self.rooms[1] = (self.endpoint.private[7] + 1) * 1024


# Versions

@fault('client_negotiation.version_one_after_err_vers client_negotiation.use_of_version_one',
       'client_negotiation.version_one_in_err_vers client_negotiation.no_common_version')
class IgnoresErrVers(Visitor):
    """ERR_VERS is ignored, and version 2 stays in use"""

    def version_refused(self, message):
        self.settled = True


@fault('client_negotiation.version_one_after_err_vers client_fallback.reply_in_version_one',
       'client_negotiation.version_one_in_err_vers client_fallback.lost_each_time',
       'client_refused.invalid_proc_for_the_first')
class VersionTwoAgain(Visitor):
    """the third Call is in version 2 although version 1 is in use"""
    count = 0

    def form(self, task):
        self.count += self.version == 1
        call = super().form(task)
        return call.but(version=2, inv_handle=0) if self.count == 3 else call


@fault('client_codes.answers_in_another_version')
class AnyVersionOfReply(Visitor):
    """an answer in another version ends the RPC"""

    def answered(self, message, number, version):
        return super().answered(message, number, self.version)


# Properties

@fault('client_negotiation.what_the_client_says')
class WrongConnprop(Visitor):
    """CONNPROP contains a property twice"""

    def properties(self):
        return [*super().properties(), Prop(RBSIZ, self.receive_size)]


@fault('client_negotiation.what_the_client_says')
class NoBackward(Visitor):
    """CONNPROP has BRS NONE"""

    def properties(self):
        return [Prop(RBSIZ, self.receive_size), Prop(BRS, BRS_NONE)]


@fault('client_calls.long_calls client_properties.large_receives client_properties.updates',
       'client_properties.second_connprop client_properties.a_server_that_has_no_answer',
       'client_negotiation.use_of_version_one client_negotiation.threshold_by_private_data',
       'client_calls.first_rpc_of_a_connection')
class BeyondRbsiz(Visitor):
    """Sends are longer than the server's Receives"""

    def most(self):
        return 10000


@fault('client_properties.nothing_of_a_bad_update_applies client_errors.bad_properties')
class TakesAnyValue(faults.AnyValue, Visitor):
    """a malformed property is accepted"""


@fault('client_errors.wishes')
class LosesAWish(faults.LosesWishes, Visitor):
    """the first request is in none of the three sets"""


@fault('client_errors.odd_properties client_backward.a_feature_is_known_entirely',
       'client_properties.experimental_properties')
class AnswersUpdates(faults.AnswersProperties, Visitor):
    """every CONNPROP and every UPDPROP gets an answer"""


# Credits and xids

@fault('client_calls.calls_within_the_grant client_calls.a_grant_wakes_calls',
       'client_calls.one_of_several_before_the_first_grant')
class BeyondTheGrant(Visitor):
    """the grant does not limit the outstanding Calls"""

    def credits(self):
        return 100


@fault('client_calls.calls_within_the_grant client_calls.a_grant_wakes_calls')
class XidTwice(Visitor):
    """two outstanding Calls have the same xid"""

    def form(self, task):
        task.number = self.tasks[0].number
        return super().form(task)


@fault('client_negotiation.what_is_no_answer client_errors.reply_with_another_xid')
class TakesAnyReply(Visitor):
    """any answer is matched with CONNPROP or with the oldest Call, regardless of its xid"""

    def of_number(self, number):
        return next((t for t in self.tasks if t.call and t.results is None), None)

    def answered(self, message, number, version):
        return super().answered(message, number if self.settled else self.asked, version)


@fault('client_errors.a_call_is_no_reply')
class TakesCalls(Visitor):
    """a Call with the xid of an RPC is handled as its Reply"""

    @staticmethod
    def is_reply(_message):
        return True

    def take_results(self, task, message):
        if message.direction != CALL:
            return super().take_results(task, message)
        task.results = bytes(400)
        return None


# Errors

@fault('client_errors.system client_errors.bad_xdr client_errors.unknown_code',
       'client_errors.read_chunks client_codes.segments client_refused.bad_xdr_for_the_first')
class IgnoresErrors(Visitor):
    """RDMA2_ERROR does not end the RPC"""

    def refused_call(self, task, message):
        """Ignores the error and continues to wait."""


@fault('client_errors.system client_errors.bad_xdr client_errors.reply_resource_again',
       'client_errors.write_resource_again client_refused.bad_xdr_for_the_first')
class SendsAgain(Visitor):
    """a refused Call is always sent again"""

    def refused_call(self, task, message):
        self.release(task)
        task.call = None


@fault('client_codes.what_was_learnt_is_kept client_resends.no_write_chunks_is_kept')
class Forgets(Visitor):
    """a limit from an error applies to one Call only"""

    def ended(self, task, message):
        super().ended(task, message)
        if not isinstance(message, Error):
            self.learnt.clear()


@fault('client_errors.errors_for_nothing client_errors.unknown_option',
       'client_errors.what_is_no_message client_errors.odd_properties')
class AnswersAll(Visitor):
    """messages that must not be answered get an error"""

    def answered(self, message, number, version):
        if not super().answered(message, number, version):
            return False
        if not self.of_number(number) and self.settled:
            self.post(Error(number, wire.BAD_XDR, (), version))
        return True


# Calls of the server

@fault('client_backward.a_call_of_a_server_without_brs client_errors.a_call_to_the_client',
       'client_backward.as_many_calls_as_are_granted client_codes.chunks_of_a_call')
class AnswersNoCall(Visitor):
    """a Call of the server gets no answer"""

    def to_call(self, call):
        return []


@fault('client_codes.bad_calls')
class GrantsNothing(faults.Spoiler, Visitor):
    """an error has no grant"""

    @staticmethod
    def error(message):
        return Error(message.number, message.code, message.arguments, message.version, 0)


@fault('client_backward.a_call_of_a_server_without_brs client_errors.a_call_to_the_client')
class AnotherXidOfAReply(faults.AnotherXid, Visitor):
    """the Reply to a Call of the server has another xid"""


# Chunks

@fault('client_calls.positions')
class InlinePadding(Visitor):
    """the padding of a Read chunk is inline"""

    @staticmethod
    def inline(body, at):
        return body[:at] + bytes(-rpc.number_at(body, at - 4) % 4)


@fault('client_calls.handles_die_with_their_rpc client_codes.memory_of_a_refused_write',
       'client_codes.memory_of_a_refused_read')
class KeepsMemory(Visitor):
    """the memory of an RPC stays exposed after its end or its repetition"""

    def release(self, task):
        task.regions = []


@fault('client_calls.invalidation_of_one_handle')
class BelievesAll(Visitor):
    """after the server invalidated one handle of an RPC, the others stay valid"""

    def release(self, task):
        if self.invalidated is None:
            super().release(task)
        task.regions = []


@fault('client_calls.every_call_is_well_formed client_calls.nominated_handles_are_of_one_rpc')
class NominatesAnyHandle(Visitor):
    """the Call nominates a handle that it does not contain"""

    def form(self, task):
        call = super().form(task)
        return call.but(inv_handle=call.inv_handle ^ 0x100)


@fault('client_calls.no_reply_chunk_for_small_replies')
class ReplyChunkAlways(Visitor):
    """each Call has a Reply chunk"""

    def form(self, task):
        call = super().form(task)
        return call if call.handles() else call.but(reply=self.expose(task, bytes(512)))


@fault('client_calls.reply_chunk_for_large_replies client_errors.write_chunks')
class NoReplyChunk(Visitor):
    """no Call has a Reply chunk"""

    def form(self, task):
        return super().form(task).but(reply=None, inv_handle=0)


@fault('client_calls.only_data_go_in_chunks')
class ChunksForAll(Visitor):
    """Read chunks also contain arguments that are not data"""

    def all(self, *tasks):
        for task in tasks:
            if len(task.arguments) == LONG:
                task.arguments, task.data = b'', task.arguments
        return super().all(*tasks)


@fault('client_errors.reply_with_a_read_list client_errors.reply_with_a_bad_list',
       'client_errors.nomsg_without_a_reply_chunk client_errors.foreign_reply_chunk')
class PassesOver(Visitor):
    """a Reply that violates the protocol does not end the RPC"""

    def ended(self, task, message):
        if message and (isinstance(message, Error) or not message.reads and
                        message.proc != NOMSG):
            super().ended(task, message)
