-- What a message may carry arrives as it was sent, near and far.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

local function echo(...) return ... end

-- Sharper than test.equal: integers and floats differ, and what is one table on one side is one on the
-- other.
local function same(a, b, seen)
  if type(a) ~= type(b) or math.type(a) ~= math.type(b) then return false end
  if type(a) ~= "table" then return a == b or (a ~= a and b ~= b) end
  seen = seen or {}
  if seen[a] then return seen[a] == b end
  seen[a] = b
  for k, v in pairs(a) do
    if not same(v, b[k], seen) then return false end
  end
  for k in pairs(b) do
    if a[k] == nil then return false end
  end
  return true
end

local shared = { 1, 2, 3 }
local cyclic = { name = "cycle" }
cyclic.self = cyclic
cyclic.list = { cyclic, shared, shared }
local deep = {}
do
  local t = deep
  for _ = 1, 199 do t.next = {}; t = t.next end
end

local every_byte = {}
for i = 0, 255 do every_byte[#every_byte + 1] = string.char(i) end
every_byte = table.concat(every_byte)

local values = {
  { "nil", nil },
  { "true", true },
  { "false", false },
  { "zero", 0 },
  { "least integer", math.mininteger },
  { "greatest integer", math.maxinteger },
  { "float", 0.1 },
  { "integral float", 1.0 },
  { "negative zero", -0.0 },
  { "infinity", math.huge },
  { "nan", 0 / 0 },
  { "empty string", "" },
  { "7 bytes", "1234567" },
  { "8 bytes", "12345678" },
  { "39 bytes", ("x"):rep(39) },
  { "40 bytes", ("x"):rep(40) },
  { "41 bytes", ("x"):rep(41) },
  { "100 kB", ("0123456789"):rep(10000) },
  { "zero bytes", "a\0b\0" },
  { "every byte", every_byte },
  { "empty table", {} },
  { "array", { 1, "two", 3.5, true, false } },
  { "array with holes", { 1, nil, 3, nil, nil, 6 } },
  { "pairs", { a = 1, b = "two", [1.5] = 3, [true] = false } },
  { "array and pairs", { 1, 2, 3, n = 3, [-1] = "minus", [1000000] = "big" } },
  { "nested", { { { { {} } } }, { x = { y = { z = 1 } } } } },
  { "long string in a table", { ("y"):rep(300) } },
  { "cyclic", cyclic },
  { "200 deep", deep },
}

for _, place in ipairs { "near", "far" } do
  test.describe("sent " .. place, function()
    local peer
    test.before(function()
      peer = place == "near" and actor.spawn(echo) or actor.spawn_on(1, echo)
    end)

    test.it("values arrive as they were", function()
      values[#values + 1] = { "own pid", actor.self() }
      values[#values + 1] = { "peer's pid", peer }
      values[#values + 1] = { "pids in a table", { [peer] = actor.self() } }
      for _, case in ipairs(values) do
        -- In each of three places: only the first value of a message may be sent as a name.
        local a, b, c = peer:ask(case[2], case[2], case[2])
        test.ok(same(case[2], a) and same(case[2], b) and same(case[2], c), case[1])
      end
    end)

    test.it("tables keep their shape, and not their metatables", function()
      local copy = peer:ask(cyclic)
      test.ok(copy ~= cyclic and copy.self == copy and copy.list[1] == copy)
      test.ok(copy.list[2] == copy.list[3] and #copy.list[2] == 3)
      test.equal(#peer:ask { 1, nil, 3 }, 3)
      test.equal(getmetatable(peer:ask(setmetatable({}, { __index = {} }))), nil)
    end)

    test.it("numbers keep their kind", function()
      test.equal(1 / peer:ask(-0.0), -math.huge)
      test.equal({ math.type(peer:ask(1.0)), math.type(peer:ask(1)) }, { "float", "integer" })
    end)

    test.it("messages have from none to 255 values", function()
      test.equal(select("#", peer:ask()), 0)
      test.equal(select("#", peer:ask(nil)), 1)
      test.equal(select("#", peer:ask(nil, nil)), 2)
      local many = {}
      for i = 1, 255 do many[i] = i % 3 == 0 and "s" .. i or i end
      test.ok(same(many, { peer:ask(table.unpack(many)) }))
    end)
  end)
end

test.it("what is sent is what it was when it was sent", function()
  local t, counts = { 1 }, {}
  local counter = actor.spawn(function(list) counts[#counts + 1] = #list return #list end)
  counter:send(t)
  t[2] = 2
  counter:send(t)
  test.equal(counter:ask { 1, 2, 3 }, 3)
  test.equal(counts, { 1, 2, 3 })
end)

test.it("a change of the copy does not reach the original", function()
  local t = { 1, 2 }
  local mutator = actor.spawn(function(list) list[1] = "changed" return list[1] end)
  test.equal({ mutator:ask(t), t[1] }, { "changed", 1 })
end)
