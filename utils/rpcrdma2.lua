-- SPDX-License-Identifier: GPL-2.0
--
-- RPC-over-RDMA version 2 for Wireshark and tshark. Version 1 is Wireshark's own
-- "rpcordma"; this dissector handles only ERR_VERS of version 1, the Reply of a peer that
-- does not support version 2.
--
--	tshark -X lua_script:/usr/share/rdma2/rpcrdma2.lua -2 -r FILE -Y rpcrdma2
--
-- The dissector reassembles each Send of InfiniBand or RoCE to a message. It inserts the
-- data of RDMA Reads and Writes into the RPC message, and passes that to the RPC
-- dissector. RDMA Reads follow their Call, so the first of two passes (-2; Wireshark
-- always makes two) has zeros in their place.

local rpcrdma2 = Proto("rpcrdma2", "RPC-over-RDMA Version 2")

local MSG, NOMSG, ERROR, OPTIONAL = 0, 1, 4, 5
local procedures = {
	[MSG] = "RDMA2_MSG", [NOMSG] = "RDMA2_NOMSG", [2] = "RDMA_MSGP", [3] = "RDMA_DONE",
	[ERROR] = "RDMA2_ERROR", [OPTIONAL] = "RDMA2_OPTIONAL", [6] = "RDMA2_CONNPROP",
	[7] = "RDMA2_REQPROP", [8] = "RDMA2_RESPROP", [9] = "RDMA2_UPDPROP",
}
local errors = {
	"RDMA2_ERR_VERS", "RDMA2_ERR_BAD_XDR", "RDMA2_ERR_INVALID_PROC",
	"RDMA2_ERR_READ_CHUNKS", "RDMA2_ERR_WRITE_CHUNKS", "RDMA2_ERR_SEGMENTS",
	"RDMA2_ERR_WRITE_RESOURCE", "RDMA2_ERR_REPLY_RESOURCE",
	"RDMA2_ERR_INVALID_OPTION", "RDMA2_ERR_SYSTEM",
}
local opttypes = { "CONNPROP", "REQPROP", "RESPROP", "UPDPROP" }
local properties = {
	"RBSIZ", "BRS", [0xffffff00] = "X_MARK", [0xffffff01] = "X_LIMITS",
	[0xffffff02] = "X_SBSIZ",
}

local f = {}

local function field(kind, name, ...)
	f[name] = ProtoField[kind]("rpcrdma2." .. name, ...)
end

field("uint32", "xid", "Transaction", base.HEX)
field("uint32", "version", "Version")
field("uint32", "credit", "Credits")
field("uint32", "procedure", "Procedure", base.DEC, procedures)
field("uint32", "direction", "Direction", base.DEC, { [0] = "Call", "Reply" })
field("uint32", "inv_handle", "Handle to invalidate", base.HEX)
field("uint32", "read.position", "Position")
for _, list in ipairs { "read", "write", "reply" } do
	field("uint32", list .. ".handle", "Handle", base.HEX)
	field("uint32", list .. ".length", "Length")
	field("uint64", list .. ".offset", "Offset", base.HEX)
end
field("uint32", "reads", "Read segments")
field("uint32", "writes", "Write chunks")
field("uint32", "replies", "Reply chunks")
field("uint32", "error", "Error", base.DEC, errors)
field("uint32", "error.low", "Lowest version")
field("uint32", "error.high", "Highest version")
field("uint32", "error.chunks", "Most chunks")
field("uint32", "error.segments", "Most segments")
field("uint32", "error.index", "Chunk that is too short")
field("uint32", "error.needed", "Bytes needed")
field("uint32", "opttype", "Type of option", base.HEX, opttypes)
field("bytes", "optinfo", "Option")
field("uint32", "property", "Property", base.DEC, properties)
field("bytes", "property.data", "Value")
field("uint32", "property.rbsiz", "Receive buffer size")
field("uint32", "property.brs", "Backward requests", base.DEC,
	{ [0] = "NONE", "INLINE", "GENL" })
field("uint32", "property.sbsiz", "Send size")
field("uint32", "nochg", "Will not change", base.HEX)
field("uint32", "done", "Done", base.HEX)
field("uint32", "rejected", "Rejected", base.HEX)
field("bytes", "fragment", "Part of a message")
field("bytes", "data", "Bytes of a chunk")
field("uint32", "cm.format", "Format", base.HEX)
field("uint8", "cm.version", "Version")
field("bool", "cm.invalidate", "Remote invalidation", 8, nil, 1)
field("uint8", "cm.send", "Send size, KiB - 1")
field("uint8", "cm.receive", "Receive size, KiB - 1")

local list = {}
for _, one in pairs(f) do
	list[#list + 1] = one
end
rpcrdma2.fields = list

local short = ProtoExpert.new("rpcrdma2.short", "The message is too short",
	expert.group.MALFORMED, expert.severity.ERROR)
local unknown = ProtoExpert.new("rpcrdma2.unknown", "Not known in this version",
	expert.group.PROTOCOL, expert.severity.WARN)
local absent = ProtoExpert.new("rpcrdma2.absent",
	"Bytes of a chunk are not in the capture, or come later; zeros are shown",
	expert.group.SEQUENCE, expert.severity.NOTE)
rpcrdma2.experts = { short, unknown, absent }

local SHORT = "rpcrdma2: short"

-- A cursor over a message: decodes words and adds them to the tree. A read past the end
-- raises SHORT.

local function cursor(tvb, at, limit)
	local c = { at = at, limit = limit or tvb:len() }

	function c.take(length)
		local range

		if length > c.limit - c.at then
			error(SHORT, 0)
		end
		range = tvb(c.at, length)
		c.at = c.at + length
		return range
	end

	function c.word(tree, name)
		local range = c.take(4)

		return range:uint(), name and tree:add(f[name], range)
	end

	-- Opaque: the length, the bytes, and padding that may be truncated
	function c.opaque(tree, name, length)
		local range = length > 0 and c.take(length)

		c.at = math.min(c.at + (-length) % 4, c.limit)
		return range, range and tree:add(f[name], range)
	end
	return c
end

-- Chunks

local function segment(c, tree, name)
	local from = c.at
	local part = tree:add(rpcrdma2, c.take(16), "Segment")
	local seg = {}

	c.at = from
	seg.handle = c.word(part, name .. ".handle")
	seg.length = c.word(part, name .. ".length")
	part:add(f[name .. ".offset"], c.take(8))
	c.at = c.at - 8
	seg.high, seg.low = c.word(), c.word()
	part:append_text(string.format(": 0x%08x, %d bytes", seg.handle, seg.length))
	return seg
end

local function segments(c, tree, name)
	local chunk = {}

	for _ = 1, c.word() do
		chunk[#chunk + 1] = segment(c, tree, name)
	end
	return chunk
end

local function counted(tree, name, count)
	tree:add(f[name], count):set_generated()
end

local function chunk_lists(c, tree, msg)
	msg.reads, msg.writes = {}, {}
	while c.word() ~= 0 do
		local position = c.word(tree, "read.position")
		local seg = segment(c, tree, "read")

		seg.position = position
		table.insert(msg.reads, seg)
	end
	counted(tree, "reads", #msg.reads)
	while c.word() ~= 0 do
		table.insert(msg.writes, segments(c, tree, "write"))
	end
	counted(tree, "writes", #msg.writes)
	msg.reply = c.word() ~= 0 and segments(c, tree, "reply") or nil
	counted(tree, "replies", msg.reply and 1 or 0)
end

-- Errors

local arguments = {
	{ "low", "high" }, {}, {}, { "chunks" }, { "chunks" }, { "segments" },
	{ "index", "needed" }, { "needed" }, {}, {},
}

local function error_body(c, tree, msg)
	local item

	msg.error, item = c.word(tree, "error")
	if not arguments[msg.error] then
		item:add_proto_expert_info(unknown)
	end
	for _, name in ipairs(arguments[msg.error] or {}) do
		-- ERR_CHUNK of version 1 has no arguments, and is code 2
		c.word(tree, "error." .. name)
	end
end

-- Properties

local words = { "property.rbsiz", "property.brs", [0xffffff02] = "property.sbsiz" }

local function propvals(c, tree)
	for _ = 1, c.word() do
		local which = c.word(tree, "property")
		local length = c.word()
		local range = c.opaque(tree, "property.data", length)

		if words[which] and range then
			if length < 4 then
				error(SHORT, 0)
			end
			tree:add(f[words[which]], range:range(0, 4))
		end
	end
end

local function bits(c, tree, name)
	for _ = 1, c.word() do
		c.word(tree, name)
	end
end

local bodies = {
	function(c, tree)		-- CONNPROP
		propvals(c, tree)
		bits(c, tree, "nochg")
	end,
	propvals,			-- REQPROP
	function(c, tree)		-- RESPROP
		bits(c, tree, "done")
		bits(c, tree, "rejected")
		propvals(c, tree)
	end,
	propvals,			-- UPDPROP
}

local function option(c, tree, msg)
	local item, length, range

	msg.direction = c.word(tree, "direction")
	msg.opttype, item = c.word(tree, "opttype")
	length = c.word()
	range = c.opaque(tree, "optinfo", length)
	if bodies[msg.opttype] and range then
		bodies[msg.opttype](cursor(range:tvb(), 0), tree)
	else
		item:add_proto_expert_info(unknown)
	end
end

-- Data of RDMA Reads and Writes, from the postdissector: a list of ranges per handle

local moved = {}

-- The bytes of a segment; the latest packets take precedence. nil if any are missing
local function content(seg)
	local bytes, have = ByteArray.new(), 0
	local pieces = moved[seg.handle]

	bytes:set_size(seg.length)
	for i = #(pieces or {}), 1, -1 do
		local piece = pieces[i]
		local skip = piece.low - seg.low

		if piece.high == seg.high and skip >= 0 and
				skip + piece.bytes:len() <= seg.length then
			for j = 0, piece.bytes:len() - 1 do
				bytes:set_index(skip + j, piece.bytes:get_index(j))
			end
			have = have + piece.bytes:len()
			if have >= seg.length then
				return bytes, true
			end
		end
	end
	return bytes, seg.length == 0
end

-- The peer chooses the lengths of segments. Payloads of nfsd have at most 4 MiB.
local MESSAGE_MAX = 0x1000000

-- The bytes of a chunk; nil if a message cannot be so long
local function chunk_content(chunk)
	local bytes, whole, length = ByteArray.new(), true, 0

	for _, seg in ipairs(chunk) do
		length = length + seg.length
	end
	if length > MESSAGE_MAX then
		return nil
	end
	for _, seg in ipairs(chunk) do
		local part, there = content(seg)

		bytes:append(part)
		whole = whole and there
	end
	return bytes, whole
end

local function pad(bytes)
	local zeros = ByteArray.new()

	zeros:set_size((-bytes:len()) % 4)
	return bytes .. zeros
end

-- A part of a ByteArray; subset() does not accept the length 0
local function piece(bytes, at, length)
	return length > 0 and bytes:subset(at, length) or ByteArray.new()
end

-- Inserts the data of Read chunks into a Call, each at its position. A position includes
-- the chunks in front of it.
local function with_reads(inline, msg)
	local out, whole, taken = ByteArray.new(), true, 0
	local chunks = {}

	for _, seg in ipairs(msg.reads) do
		if not chunks[1] or chunks[#chunks][1].position ~= seg.position then
			table.insert(chunks, {})
		end
		table.insert(chunks[#chunks], seg)
	end
	for _, chunk in ipairs(chunks) do
		local length = chunk[1].position - out:len()
		local bytes, there = chunk_content(chunk)

		if length < 0 or taken + length > inline:len() or
				not bytes or out:len() + bytes:len() > MESSAGE_MAX then
			return nil
		end
		out = out .. piece(inline, taken, length) .. pad(bytes)
		taken = taken + length
		whole = whole and there
	end
	return out .. piece(inline, taken, inline:len() - taken), whole
end

-- Appends the data of the Write chunk to a Reply, if its last word is the data's length,
-- as in a Reply to READ.
local function with_write(inline, msg)
	local bytes, whole = chunk_content(msg.writes[1])
	local length = inline:len()

	if #msg.writes ~= 1 or length < 4 or not bytes or
			inline:subset(length - 4, 4):tvb("length")(0, 4):uint() ~= bytes:len() then
		return nil
	end
	return inline .. pad(bytes), whole
end

local function used(chunk)
	for _, seg in ipairs(chunk) do
		if seg.length > 0 then
			return true
		end
	end
	return false
end

-- The complete RPC message; nil if it cannot be determined
local function whole_message(tvb, msg)
	local inline = tvb:len() > msg.length and
		tvb(msg.length):bytes() or ByteArray.new()

	if msg.procedure == NOMSG then
		if msg.direction == 1 then
			if msg.reply then
				return chunk_content(msg.reply)
			end
			return nil
		end
		local zero, rest = {}, {}

		for _, seg in ipairs(msg.reads) do
			table.insert(seg.position == 0 and zero or rest, seg)
		end
		if #rest > 0 or #zero == 0 then
			return nil
		end
		return chunk_content(zero)
	end
	if msg.direction == 1 and msg.writes[1] and used(msg.writes[1]) then
		return with_write(inline, msg)
	end
	if msg.direction == 0 and #msg.reads > 0 then
		return with_reads(inline, msg)
	end
	return inline, true
end

local rpc = Dissector.get("rpc")

local function rpc_message(tvb, pinfo, tree, item, msg)
	local chunks = #msg.reads > 0 or #msg.writes > 0 or msg.reply
	local bytes, whole

	if msg.procedure == MSG and not chunks then
		rpc:call(tvb(msg.length):tvb(), pinfo, tree)
		return
	end
	bytes, whole = whole_message(tvb, msg)
	if not bytes then
		return
	end
	if not whole then
		-- A message whose start was not captured is not dissected.
		if msg.procedure == NOMSG then
			return
		end
		item:add_proto_expert_info(absent)
	end
	rpc:call(bytes:tvb("RPC message"), pinfo, tree)
end

local function header(c, tree, msg)
	msg.xid = c.word(tree, "xid")
	msg.version = c.word(tree, "version")
	c.word(tree, "credit")
	local procedure, item = c.word(tree, "procedure")

	msg.procedure = procedure
	if procedure == ERROR then
		error_body(c, tree, msg)
	elseif procedure == MSG or procedure == NOMSG then
		if msg.version > 1 then
			msg.direction = c.word(tree, "direction")
			c.word(tree, "inv_handle")
		end
		chunk_lists(c, tree, msg)
	elseif procedure == OPTIONAL and msg.version > 1 then
		option(c, tree, msg)
	elseif bodies[procedure - 5] and msg.version > 1 then
		bodies[procedure - 5](c, tree)
	else
		item:add_proto_expert_info(unknown)
	end
	msg.length = c.at
	-- In version 1 only the second word of the RPC message has the direction.
	if not msg.direction and procedure == MSG then
		c.word()
		msg.direction = c.word()
	end
end

local function message(tvb, pinfo, tree)
	local item = tree:add(rpcrdma2, tvb())
	local msg = {}
	local good, why = pcall(header, cursor(tvb, 0), item, msg)

	pinfo.cols.protocol = "RPCRDMA2"
	pinfo.cols.info = string.format("%s xid 0x%08x%s",
		procedures[msg.procedure] or "RPC-over-RDMA", msg.xid or 0,
		msg.error and " " .. (errors[msg.error] or msg.error) or "")
	if not good then
		if why ~= SHORT then
			error(why, 0)
		end
		item:add_proto_expert_info(short)
	elseif msg.procedure == MSG or msg.procedure == NOMSG then
		item:set_len(msg.length)
		rpc_message(tvb, pinfo, tree, item, msg)
	end
end

-- Private data of the connection manager

local FORMAT = 0xf6ab0e18

local function private_data(tvb, pinfo, tree)
	local item = tree:add(rpcrdma2, tvb(0, 8), "RPC-over-RDMA private data")

	item:add(f["cm.format"], tvb(0, 4))
	item:add(f["cm.version"], tvb(4, 1))
	item:add(f["cm.invalidate"], tvb(5, 1))
	item:add(f["cm.send"], tvb(6, 1)):append_text(
		string.format(": %d bytes", (tvb(6, 1):uint() + 1) * 1024))
	item:add(f["cm.receive"], tvb(7, 1)):append_text(
		string.format(": %d bytes", (tvb(7, 1):uint() + 1) * 1024))
end

-- By name, for example for a user's link type: a message, or private data
function rpcrdma2.dissector(tvb, pinfo, tree)
	if tvb:len() >= 8 and tvb(0, 4):uint() == FORMAT then
		private_data(tvb, pinfo, tree)
	else
		message(tvb, pinfo, tree)
	end
	return tvb:len()
end

-- InfiniBand and RoCE. On the first visit of each packet a postdissector stores the parts
-- of messages, and the data of RDMA Reads and Writes. It parses packets of RoCE version 2
-- itself, because fields may not exist at that time; the dissector uses fields.

local SEND_FIRST, SEND_MIDDLE = 0, 1
local SEND_LAST = { [2] = true, [3] = true, [22] = true }
local SEND_ONLY = { [4] = true, [5] = true, [23] = true }
local READ_REQUEST, RESPONSE_FIRST, RESPONSE_ONLY = 12, 13, 16

-- Size of the headers after the base transport header, by opcode
local ahead = {
	[0] = 0, [1] = 0, [2] = 0, [3] = 4, [4] = 0, [5] = 4, [22] = 4, [23] = 4,
	[6] = 16, [7] = 0, [8] = 0, [9] = 4, [10] = 16, [11] = 20,
	[READ_REQUEST] = 16, [RESPONSE_FIRST] = 4, [14] = 0, [15] = 4, [RESPONSE_ONLY] = 4,
}

local opcode = Field.new("infiniband.bth.opcode")
local queue = Field.new("infiniband.bth.destqp")

-- By addresses and queue pair: a message whose last part is missing; whether the sender
-- uses version 2. By packet: the message that it completes, or false for an earlier part
local parts, uses_v2, messages = {}, {}, {}
-- By addresses and sequence number: the place of an RDMA Read's data. By addresses and
-- queue pair: the place of the next bytes
local requests, current = {}, {}

local function is_version_two(tvb)
	local vers, proc

	if tvb:len() < 20 then
		return false
	end
	vers, proc = tvb(4, 4):uint(), tvb(12, 4):uint()
	if proc == MSG or proc == NOMSG then
		return vers == 2 and tvb:len() >= 36 and tvb(16, 4):uint() <= 1
	elseif proc == ERROR then
		-- An ERR_VERS echoes the version of the Call, even if it is unknown.
		return vers == 2 and tvb(16, 4):uint() <= 10 or
			vers > 2 and tvb:len() == 28 and tvb(16, 4):uint() == 1
	end
	return vers == 2 and proc > ERROR and procedures[proc] ~= nil
end

local function ends(pinfo, qp)
	return tostring(pinfo.src) .. ">" .. tostring(pinfo.dst) .. ">" .. qp
end

-- Offset of the base transport header of RoCE version 2 on Ethernet
local function roce(tvb)
	local at, kind = 14, tvb:len() > 60 and tvb(12, 2):uint()

	if kind == 0x8100 then
		at, kind = 18, tvb(16, 2):uint()
	end
	if kind == 0x0800 and tvb(at + 9, 1):uint() == 17 then
		at = at + tvb(at, 1):uint() % 16 * 4
	elseif kind == 0x86dd and tvb(at + 6, 1):uint() == 17 then
		at = at + 40
	else
		return nil
	end
	return tvb:len() >= at + 24 and tvb(at + 2, 2):uint() == 4791 and at + 8 or nil
end

local function watch_send(pinfo, code, key, payload)
	if SEND_ONLY[code] or code == SEND_FIRST then
		if not is_version_two(payload:tvb()) then
			parts[key] = nil
			return
		end
		uses_v2[key] = true
		parts[key] = code == SEND_FIRST and payload:bytes() or nil
	elseif parts[key] then
		parts[key] = parts[key] .. payload:bytes()
		messages[pinfo.number] = false
		if SEND_LAST[code] then
			messages[pinfo.number], parts[key] = parts[key], nil
		end
	end
end

local function watch_rdma(pinfo, code, key, number, reth, payload)
	local place = reth and { high = reth(0, 4):uint(), low = reth(4, 4):uint(),
		handle = reth(8, 4):uint() }

	if code == READ_REQUEST then
		requests[ends(pinfo, number)] = place
		return
	end
	if code >= RESPONSE_FIRST and code <= RESPONSE_ONLY then
		key = key .. ">read"
		if code == RESPONSE_FIRST or code == RESPONSE_ONLY then
			place = requests[tostring(pinfo.dst) .. ">" .. tostring(pinfo.src) ..
				">" .. number]
		end
	end
	place = place or current[key]
	current[key] = place
	if place and payload then
		local bytes = payload:bytes()

		moved[place.handle] = moved[place.handle] or {}
		table.insert(moved[place.handle],
			{ high = place.high, low = place.low, bytes = bytes })
		place.low = place.low + bytes:len()
	end
end

local watch = Proto("rpcrdma2_watch", "RPC-over-RDMA Version 2, earlier packets")

function watch.dissector(tvb, pinfo)
	local at = not pinfo.visited and roce(tvb)
	local code = at and tvb(at, 1):uint()
	local from, length, payload

	if not ahead[code] then
		return
	end
	from = at + 12 + ahead[code]
	-- Padding, and the checksum at the end
	length = tvb:len() - from - 4 - math.floor(tvb(at + 1, 1):uint() / 16) % 4
	payload = length > 0 and tvb(from, length) or nil
	local key = ends(pinfo, tvb(at + 5, 3):uint())

	if code < 6 or code > RESPONSE_ONLY then
		if payload then
			watch_send(pinfo, code, key, payload)
		end
	else
		watch_rdma(pinfo, code, key, tvb(at + 9, 3):uint(),
			(ahead[code] >= 16) and tvb(at + 12, 16) or nil,
			code ~= READ_REQUEST and payload or nil)
	end
end

register_postdissector(watch)

local function show_part(tvb, tree, name)
	tree:add(rpcrdma2, tvb()):add(f[name], tvb())
	return true
end

-- Claims all packets to a queue pair that uses version 2: another dissector that handled
-- a part of a message would claim the rest.
local function payload(tvb, pinfo, tree)
	local code, key, whole = opcode(), nil, messages[pinfo.number]

	if not code then
		return false
	end
	code = code.value
	key = ends(pinfo, queue().value)
	if SEND_ONLY[code] or code == SEND_FIRST then
		if not is_version_two(tvb) then
			return false
		end
		if code == SEND_FIRST then
			return show_part(tvb, tree, "fragment")
		end
		message(tvb, pinfo, tree)
		return true
	end
	if code >= 6 and code <= RESPONSE_ONLY then
		return uses_v2[key] and show_part(tvb, tree, "data") or false
	end
	-- On the first visit the postdissector has not seen this packet.
	if whole == nil and not pinfo.visited and parts[key] then
		whole = SEND_LAST[code] and parts[key] .. tvb:bytes()
	end
	if whole == nil then
		return false
	elseif not whole then
		return show_part(tvb, tree, "fragment")
	end
	message(whole:tvb("RPC-over-RDMA message"), pinfo, tree)
	return true
end

local function private(tvb, pinfo, tree)
	if tvb:len() < 8 or tvb(0, 4):uint() ~= FORMAT then
		return false
	end
	private_data(tvb, pinfo, tree)
	return true
end

rpcrdma2:register_heuristic("infiniband.mad.cm.private", private)

-- The last registered heuristic runs first. Wireshark's dissector for version 1 registers
-- before the first capture is read, and claims the last part of any message.
local registered = false

function rpcrdma2.init()
	if not registered then
		rpcrdma2:register_heuristic("infiniband.payload", payload)
		registered = true
	end
	moved, requests, current = {}, {}, {}
	parts, messages, uses_v2 = {}, {}, {}
end
