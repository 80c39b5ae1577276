-- What a message may carry arrives as it was sent, near and far.
--
-- args: --vats 2
local actor = require "actor"

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

local function echo(...) return ... end

local near = actor.spawn(echo)
local far = actor.spawn_on(1, echo)

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
  { "own pid", actor.self() },
  { "far pid", far },
  { "empty table", {} },
  { "array", { 1, "two", 3.5, true, false } },
  { "array with holes", { 1, nil, 3, nil, nil, 6 } },
  { "pairs", { a = 1, b = "two", [1.5] = 3, [true] = false, [far] = near } },
  { "array and pairs", { 1, 2, 3, n = 3, [-1] = "minus", [1000000] = "big" } },
  { "nested", { { { { {} } } }, { x = { y = { z = 1 } } } } },
  { "long string in a table", { ("y"):rep(300) } },
  { "cyclic", cyclic },
  { "200 deep", deep },
}

local wrong = 0
for _, peer in ipairs { near, far } do
  for i, case in ipairs(values) do
    -- In each of three places: only the first value of a message may be sent as a name.
    local a, b, c = peer:ask(case[2], case[2], case[2])
    if not (same(case[2], a) and same(case[2], b) and same(case[2], c)) then
      wrong = wrong + 1
      print("changed on the way", peer == far and "far" or "near", i, case[1], a, b, c)
    end
  end
end
print(#values, wrong)                                      -- expect: 31	0

local function check(peer)
  local copy = peer:ask(cyclic)
  print(copy ~= cyclic, copy.self == copy, copy.list[1] == copy, copy.list[2] == copy.list[3],
        #copy.list[2])
  print(1 / peer:ask(-0.0), math.type(peer:ask(1.0)), math.type(peer:ask(1)))
  print(#peer:ask { 1, nil, 3 })
  print(getmetatable(peer:ask(setmetatable({}, { __index = {} }))))
  print(select("#", peer:ask()), select("#", peer:ask(nil)), select("#", peer:ask(nil, nil)))
  local many = {}
  for i = 1, 255 do many[i] = i % 3 == 0 and "s" .. i or i end
  print(same(many, { peer:ask(table.unpack(many)) }))
end

check(near)
-- expect: true	true	true	true	3
-- expect: -inf	float	integer
-- expect: 3
-- expect: nil
-- expect: 0	1	2
-- expect: true
check(far)
-- expect: true	true	true	true	3
-- expect: -inf	float	integer
-- expect: 3
-- expect: nil
-- expect: 0	1	2
-- expect: true

-- What is sent is what it was when it was sent.
local t = { 1 }
local counts = {}
local counter = actor.spawn(function(list) counts[#counts + 1] = #list return #list end)
counter:send(t)
t[2] = 2
counter:send(t)
print(counter:ask { 1, 2, 3 }, table.concat(counts, " "))  -- expect: 3	1 2 3

-- A mutation of the copy does not reach the original.
local mutator = actor.spawn(function(list) list[1] = "changed" return list[1] end)
print(mutator:ask(t), t[1])                                -- expect: changed	1
