# SPDX-License-Identifier: GPL-2.0
"""Servers with one fault each, and the cases that have to detect it"""

import contextlib
import dataclasses

from . import rpc, wire
from .flawed import Peer
from .wire import MSG, REPLY, X_SBSIZ, Error, Prop, Rpc, Segment, u32

FAULTS = []


def fault(*cases):
    """The following class is a server with a fault that these cases have to detect."""
    def add(kind):
        kind.cases = ' '.join(cases).split()
        FAULTS.append(kind)
        return kind
    return add


class Spoiler(Peer):
    """Replaces one message by another"""

    def says(self, data, answers):
        return [pair for message, handle in answers
                for pair in self.instead(data, message, handle)]

    def instead(self, data, message, handle):
        if isinstance(message, Rpc):
            return [(self.reply(message), handle)]
        if isinstance(message, Error):
            return [(self.error(message), handle)]
        return [(self.properties_said(message), handle)]

    @staticmethod
    def reply(message):
        return message

    @staticmethod
    def error(message):
        return message

    @staticmethod
    def properties_said(message):
        return message


class WrongError(Spoiler):
    """Changes the fields of errors with one of these codes"""
    codes = ()

    def error(self, message):
        if message.code not in self.codes:
            return message
        return dataclasses.replace(message, **self.fields(message))

    @staticmethod
    def fields(_message):
        raise NotImplementedError


# Versions and xids

@fault('versions.answer_in_version_one versions.answer_in_version_two',
       'versions.first_message_is_a_call chunks.call_in_memory',
       'silence.error_with_the_xid_of_a_call credits.answers_are_for_their_calls',
       'chunks.only_data_go_in_write_chunks',
       'connection.invalidation_when_both_flags_are_set',
       'connection.memory_that_is_not_there',
       'connection.private_data_mean_nothing_in_version_two',
       'credits.an_answer_that_finds_no_receive',
       'credits.an_answer_that_finds_no_receive_in_version_one',
       'invalidation.handle_of_a_read_chunk invalidation.handle_of_a_reply_chunk',
       'invalidation.handle_of_a_write_chunk layout.gss_behind_a_chunk',
       'layout.gss_behind_a_chunk_in_version_one layout.gss_inline',
       'layout.gss_inline_in_version_one',
       'lost.a_message_that_is_too_long')
class AnotherXid(Spoiler):
    """a Reply has the xid of another Call"""

    @staticmethod
    def reply(message):
        return message.but(number=message.number ^ 1,
                           body=message.body and u32(message.number ^ 1) + message.body[4:])


@fault('versions.answer_in_version_one versions.answer_in_version_two',
       'versions.each_call_in_its_own_version')
class AnotherVersion(Spoiler):
    """a Reply is in the other version"""

    @staticmethod
    def reply(message):
        return message.but(version=3 - message.version)


@fault('versions.unknown_version versions.unknown_version_to_version_one',
       'versions.version_is_judged_before_all_else')
class AnyVersion(Peer):
    """an unknown version is handled as version 2"""

    def answers_to(self, data, version, proc):
        if version not in (1, 2):
            data, version = data[:4] + u32(2) + data[8:], 2
        return super().answers_to(data, version, proc)


@fault('pinned.version_one_only pinned.version_two_only')
class BothVersions(Peer):
    """a disabled version is accepted"""
    speaks = (1, 2)


@fault('versions.unknown_version versions.unknown_version_to_version_one',
       'pinned.version_one_only pinned.version_two_only')
class AnotherRange(WrongError):
    """VERS has one version too many"""
    codes = (wire.VERS,)

    @staticmethod
    def fields(_message):
        return {'arguments': (1, 3)}


@fault('versions.short_messages headers.version_one_short_messages',
       'credits.refused_messages_use_up_nothing versions.short_messages_use_up_nothing')
class AnswersShort(Peer):
    """messages below 16 bytes get an error, and the server stops after 50 errors"""
    refused = 0

    def answers(self, data):
        if len(data) < 16:
            return [(Error(0, wire.BAD_XDR), 0)]
        found = super().answers(data)
        self.refused += any(isinstance(m, Error) for m, _ in found)
        return found if self.refused < 50 else []


# Headers

@fault('headers.unknown_proc headers.unknown_proc_alone headers.order_of_checks',
       'credits.answers_are_for_their_calls')
class AnotherCode(WrongError):
    """BAD_XDR instead of INVALID_PROC"""
    codes = (wire.INVALID_PROC,)

    @staticmethod
    def fields(_message):
        return {'code': wire.BAD_XDR}


@fault('headers.errors_end_with_their_arguments headers.unknown_proc',
       'options.option_without_info limits.one_argument_each')
class LongErrors(Spoiler):
    """an error has a trailing word"""

    @staticmethod
    def error(message):
        return message.plus(bytes(4))


@fault('headers.discriminators headers.version_one_discriminators',
       'headers.errors_end_with_their_arguments credits.grant_in_errors')
class AnyDiscriminator(Peer):
    """a discriminator above 1 is decoded as 0"""

    @staticmethod
    def decoded(data):
        at = 24 if rpc.number_at(data, 4) == 2 else 16
        for _ in range(3):
            if rpc.number_at(data, 12) or rpc.number_at(data, at) == 1:
                break
            data, at = data[:at] + bytes(4) + data[at + 4:], at + 4
        return wire.decode(data)


@fault('headers.headers_cut_short headers.counts_beyond_the_message headers.two_xids',
       'headers.two_xids_in_memory headers.a_reply_in_memory headers.call_with_a_reply',
       'headers.unreadable_direction headers.lengths_that_overflow',
       'headers.message_without_a_payload headers.position_zero_in_a_msg',
       'headers.nomsg_without_position_zero chunks.misaligned_position',
       'chunks.positions_in_the_rpc_header options.option_cut_short',
       'properties.property_past_the_end properties.properties_cut_short',
       'chunks.a_refused_write_changes_nothing',
       'chunks.a_refused_write_changes_nothing_version_one',
       'headers.headers_cut_within_a_word layout.rpc_header_in_a_chunk',
       'layout.rpc_header_in_a_chunk_in_version_one properties.counts_of_properties')
class AnythingGoes(Peer):
    """malformed messages get a Reply"""

    def says(self, data, answers):
        return [(Rpc(m.xid, rpc.reply(m.xid), m.version, direction=REPLY), 0)
                if isinstance(m, Error) and m.code == wire.BAD_XDR else (m, h)
                for m, h in answers]


@fault('headers.version_one_errors headers.version_one_two_xids',
       'headers.version_one_discriminators')
class CodesOfVersionTwo(Spoiler):
    """a message of version 1 gets an error code of version 2"""

    @staticmethod
    def error(message):
        if message.version != 1:
            return message
        return dataclasses.replace(message, code=wire.INVALID_PROC)


@fault('headers.garbage_in_the_rpc')
class RefusesRpcs(Peer):
    """an RPC Reply with an error becomes a transport error"""

    def says(self, data, answers):
        return [(Error(m.xid, wire.SYSTEM), 0)
                if isinstance(m, Rpc) and m.body and rpc.number_at(m.body, 20) else (m, h)
                for m, h in answers]


@fault('connection.private_data_mean_nothing_in_version_two')
class UsesPrivateData(Peer):
    """the sizes in private data also apply in version 2"""

    def begins(self):
        self.rooms[2] = self.rooms[1]


# Messages without an answer

@fault('silence.reply_to_nothing silence.bad_replies silence.errors_are_not_answered',
       'silence.resprop_to_nothing silence.bad_resprop silence.option_in_a_reply',
       'headers.reply_with_a_call headers.version_one_silence headers.done',
       'pinned.answers_in_a_version_that_is_off silence.reply_with_the_xid_of_a_call')
class AnswersAnswers(Peer):
    """messages that must not be answered get an error"""

    def answers(self, data):
        found = super().answers(data)
        version, _, proc = (rpc.number_at(data, at) for at in (4, 8, 12))
        if found or len(data) < 16 or proc in (wire.CONNPROP, wire.UPDPROP):
            return found
        return [(Error(rpc.number_at(data, 0), wire.BAD_XDR, (), version), 0)]


@fault('silence.updprop silence.second_connprop asked.a_feature_is_known_entirely',
       'properties.updprop_applies')
class AnswersProperties(Peer):
    """every CONNPROP and every UPDPROP gets an answer"""

    def to_properties(self, message):
        self.introduced = False
        found = super().to_properties(message)
        return found or [(wire.connprop(message.xid), 0)]


@fault('versions.first_connprop credits.all_that_is_granted',
       'chunks.many_read_segments_at_once credits.all_that_is_granted_in_version_one',
       'properties.wish_with_the_xid_of_a_call asked.frozen asked.not_announced',
       'properties.several_wishes_at_once properties.rbsiz_that_is_large',
       'properties.any_readiness_for_callbacks versions.four_thousand_and_ninety_six')
class AnswersTwice(Peer):
    """each answer is sent twice"""

    def says(self, data, answers):
        return [(m, 0) for m, _ in answers for _ in range(2)]


# Credits

@fault('credits.request_for_no_credit credits.request_for_no_credit_in_version_one',
       'versions.first_connprop properties.bitmaps_of_any_length')
class GrantsWhatIsAsked(Peer):
    """the grant equals the request, and CONNPROP gets none"""

    def says(self, data, answers):
        return [(dataclasses.replace(m, credit=rpc.number_at(data, 8) if isinstance(m, Rpc) else 0),
                 h) for m, h in answers]


@fault('credits.grant_in_errors properties.grant_in_connprop')
class AnotherGrant(Spoiler):
    """errors and CONNPROP have another grant than Replies"""

    @staticmethod
    def reply(message):
        return message.but(credit=33)


@fault('credits.all_that_is_granted credits.all_that_is_granted_in_version_one',
       'credits.property_messages_take_no_credit credits.answers_are_for_their_calls',
       'chunks.many_read_segments_at_once properties.messages_as_long_as_a_receive')
class LosesCalls(Peer):
    """every eighth answer is dropped"""
    count = 0

    def says(self, data, answers):
        self.count += 1
        return answers if self.count % 8 else []


# Options and properties

@fault('options.unknown_option options.option_without_info options.long_option',
       'options.option_of_several_pages options.option_with_a_payload')
class NoOptions(WrongError):
    """INVALID_PROC instead of INVALID_OPTION"""
    codes = (wire.INVALID_OPTION,)

    @staticmethod
    def fields(_message):
        return {'code': wire.INVALID_PROC}


@fault('properties.what_the_server_says')
class Experiments(Peer):
    """CONNPROP contains a property of the experimental range for any client"""

    def properties(self):
        return super().properties() + [Prop(X_SBSIZ, u32(65536))]


@fault('properties.what_the_server_says')
class PropertyTwice(Peer):
    """CONNPROP contains a property twice"""

    def properties(self):
        return super().properties() + [Prop(wire.BRS, wire.BRS_INLINE)]


@fault('properties.messages_as_long_as_a_receive options.option_of_several_pages',
       'properties.unknown_property_of_several_pages')
class AnnouncesMore(Peer):
    """the Receives have half the size that CONNPROP announces"""
    loses = True

    def properties(self):
        return [Prop(wire.RBSIZ, 2 * self.receive_size), Prop(wire.BRS, wire.BRS_INLINE)]


@fault('properties.connprop_as_an_option properties.reqprop_as_an_option')
class OneSpelling(Spoiler):
    """the answer to an option is not an option"""

    @staticmethod
    def properties_said(message):
        return dataclasses.replace(message, as_option=False)


@fault('properties.property_that_does_not_decode properties.property_too_short',
       'properties.bad_property_as_an_option properties.bad_wish',
       'properties.nothing_of_a_bad_message_applies')
class AnyValue(Peer):
    """a malformed property is accepted"""

    @staticmethod
    def value(prop):
        return rpc.number_at(prop.data.ljust(4, b'\0'), 0)


@fault('properties.wishes_are_answered properties.unknown_wishes properties.many_wishes',
       'properties.a_wish_changes_nothing_of_the_other_side',
       'properties.wishes_before_connprop properties.wishes_for_a_small_size')
class LosesWishes(Spoiler):
    """the first request is in none of the three sets"""

    @staticmethod
    def properties_said(message):
        if message.proc != wire.RESPROP:
            return message
        return dataclasses.replace(message, sets=(
            message.sets[0] - {0}, message.sets[1] - {0}, message.sets[2]))


@fault('properties.unknown_wishes properties.wishes_for_a_size properties.wishes_twice',
       'properties.a_rejected_wish_leaves_the_receives asked.what_is_announced_is_in_force')
class GrantsWishes(Peer):
    """each request is done"""
    loses = True

    def wishes(self, props):
        return set(range(len(props))), set()


@fault('properties.rbsiz_bounds_replies properties.properties_are_of_one_connection',
       'properties.rbsiz_that_is_small properties.properties_twice',
       'chunks.replies_of_a_client_without_properties',
       'connection.default_threshold_of_version_one connection.sizes_are_of_one_connection')
class LongSends(Peer):
    """Sends are longer than the client's Receives"""

    def to_call(self, call):
        self.rooms = {1: 8192, 2: 8192}
        return super().to_call(call)


@fault('properties.order_of_properties properties.updprop_applies',
       'properties.unknown_properties properties.property_longer_than_its_type',
       'connection.sizes_are_of_one_connection')
class ShortSends(Peer):
    """Sends never exceed the minimum size"""

    def to_call(self, call):
        self.rooms = {1: 1024, 2: 4096}
        return super().to_call(call)


# Chunks

@fault('chunks.unused_write_chunks chunks.unused_write_chunks_version_one',
       'chunks.write_chunk_without_segments limits.as_many_write_chunks_as_there_may_be',
       'limits.as_many_segments_as_there_may_be chunks.largest_payload',
       'chunks.write_chunk_and_an_error_of_nfs')
class LosesWriteList(Spoiler):
    """a Reply has no Write list"""

    @staticmethod
    def reply(message):
        return message.but(writes=())


@fault('chunks.reply_chunk_is_not_needed')
class ReturnsReplyChunk(Peer):
    """an unused Reply chunk is returned"""

    def says(self, data, answers):
        return [(m.but(reply=(Segment(1, 0),)) if isinstance(m, Rpc) and m.proc == MSG else m, h)
                for m, h in answers]


@fault('chunks.no_padding')
class WritesPadding(Peer):
    """the Write chunk contains padding"""

    def write(self, data, segments):
        used = super().write(data, segments)
        first = segments[0]
        self.endpoint.rdma(self.region, -len(data) % 4, first.handle,
                           first.offset + len(data), at=len(data))
        return used


@fault('chunks.write_chunk chunks.write_chunk_version_one chunks.reply_chunk_is_needed',
       'chunks.reply_chunk_of_version_one')
class AnotherLength(Peer):
    """chunks are returned with their original lengths"""

    def write(self, data, segments):
        super().write(data, segments)
        return list(segments)


@fault('chunks.write_chunk chunks.write_chunk_version_one invalidation.after_the_data',
       'chunks.reply_chunk_is_needed chunks.reply_chunk_of_version_one chunks.no_padding',
       'chunks.readdir_in_the_reply_chunk chunks.what_is_done_once_and_a_long_reply',
       'chunks.what_is_done_once_and_a_long_reply_in_version_one')
class WritesNothing(Peer):
    """no data are written, but the lengths are correct"""

    def write(self, data, segments):
        return super().write(bytes(len(data)), segments)


@fault('chunks.reply_too_long chunks.write_chunk_too_small')
class NeedsLess(WrongError):
    """codes 7 and 8 have too small a length"""
    codes = (wire.WRITE_RESOURCE, wire.REPLY_RESOURCE)

    @staticmethod
    def fields(message):
        return {'arguments': (*message.arguments[:-1], message.arguments[-1] - 4)}


@fault('chunks.call_in_memory chunks.call_in_memory_version_one chunks.empty_segments',
       'chunks.read_chunk chunks.read_chunk_version_one')
class ReadsOneSegment(Peer):
    """only the first segment of a Read chunk is read"""

    def contents(self, call):
        first = {}
        for position, segment in call.reads:
            first.setdefault(position, segment)
        return super().contents(call.but(reads=tuple(first.items())))


@fault('chunks.read_chunk chunks.read_chunk_version_one chunks.read_chunk_without_padding',
       'chunks.nomsg_with_a_read_chunk')
class AnotherPosition(Peer):
    """a Read chunk is inserted one word before its position"""

    def contents(self, call):
        return super().contents(call.but(reads=tuple(
            (position and position - 4, segment) for position, segment in call.reads)))


@fault('layout.lacks_its_last_word layout.lacks_its_last_word_in_version_one')
class FillsUp(Peer):
    """a Position-Zero chunk has an additional word"""

    def contents(self, call):
        found = super().contents(call)
        return found if call.proc == MSG else found + bytes(4)


@fault('limits.too_many_segments_of_a_reply_chunk',
       'limits.as_many_write_chunks_as_there_may_be limits.as_many_segments_as_there_may_be',
       'limits.as_many_segments_of_a_read_chunk limits.segments_of_several_chunks')
class AnotherLimit(WrongError):
    """codes 4 to 6 have a limit that is too large by 1"""
    codes = (wire.READ_CHUNKS, wire.WRITE_CHUNKS, wire.SEGMENTS)

    @staticmethod
    def fields(message):
        return {'arguments': (message.arguments[0] + 1,)}


@fault('limits.too_many_read_chunks limits.too_many_write_chunks',
       'limits.too_many_segments_of_a_write_chunk limits.too_many_segments_of_a_read_chunk')
class LowerLimit(AnotherLimit):
    """codes 4 to 6 have a limit that is too small by 1"""
    loses = True

    @staticmethod
    def fields(message):
        return {'arguments': (message.arguments[0] - 1,)}


@fault('limits.too_many_read_chunks limits.too_many_write_chunks limits.order_of_limits',
       'limits.too_many_segments_of_a_read_chunk limits.one_argument_each',
       'limits.a_call_that_is_too_large limits.as_many_segments_of_a_call')
class BeyondItsLimits(WrongError):
    """messages beyond the server's limits get BAD_XDR"""
    codes = range(wire.READ_CHUNKS, wire.SYSTEM + 1)

    @staticmethod
    def fields(_message):
        return {'code': wire.BAD_XDR, 'arguments': ()}


# Connections

@fault('connection.private_data_of_version_two connection.private_data_of_version_one')
class ReservedFlag(Peer):
    """a reserved flag of the private data is set"""
    private = dataclasses.replace(Peer.private, flags=3)


@fault('connection.private_data_of_version_two')
class SmallSizes(Peer):
    """the sizes of the private data are too small for version 2"""
    private = dataclasses.replace(Peer.private, send=2048)


@fault('connection.the_server_does_not_speak_first')
class SpeaksFirst(Peer):
    """the server sends the first message"""

    def begins(self):
        self.endpoint.post(wire.connprop(1).encode())


@fault('connection.no_call_from_the_server_unasked')
class CallsUnasked(Peer):
    """the server sends a Call with each Reply"""

    def says(self, data, answers):
        number = rpc.number_at(data.ljust(16), 0) ^ 0x40000000
        return answers + [(Rpc(number, rpc.call(number), m.version), 0)
                          for m, _ in answers if isinstance(m, Rpc)]


@fault('invalidation.none_without_a_handle invalidation.handle_of_no_chunk',
       'connection.private_data_are_optional',
       'connection.no_invalidation_when_the_flag_is_clear')
class InvalidatesAnyway(Spoiler):
    """another handle than the nominated one is invalidated"""

    def instead(self, data, message, handle):
        handles = self.handles(data)
        return [(message, handle or (handles[0] if handles else 0))]

    @staticmethod
    def handles(data):
        """Returns the handles of a Call."""
        version_two = rpc.number_at(data, 4) == 2 and rpc.number_at(data, 12) == MSG
        call = wire.decode(data[:20] + bytes(4) + data[24:] if version_two else data)
        return call.handles() if isinstance(call, Rpc) else []


@fault('invalidation.one_of_several_handles')
class InvalidatesTheFirst(InvalidatesAnyway):
    """the first handle is invalidated, whichever was nominated"""

    def instead(self, data, message, handle):
        return [(message, self.handles(data)[0] if handle else 0)]


@fault('invalidation.none_with_an_error headers.errors_end_with_their_arguments')
class InvalidatesWithErrors(Spoiler):
    """an error invalidates a handle"""

    def instead(self, data, message, handle):
        if isinstance(message, Error) and len(data) >= 24:
            handle = rpc.number_at(data, 20)
        return [(message, handle)]


@fault('lost.a_write_with_immediate')
class TakesImmediates(Peer):
    """an RDMA Write with Immediate is ignored"""

    def takes_message(self, data, immediate):
        if not immediate:
            super().takes_message(data, False)


@fault('lost.an_rdma_read_is_refused lost.an_rdma_write_is_refused lost.a_send_is_refused')
class CostsForEver(Peer):
    """a Call that ended two connections can end a third one"""
    loses = True

    def to_call(self, call):
        self.costs.clear()
        return super().to_call(call)


@fault('held.reads_without_response')
class HoldsOn(Peer):
    """a connection without a response stays"""
    idle = 100

    def takes_message(self, data, immediate):
        with contextlib.suppress(Exception):
            super().takes_message(data, immediate)
