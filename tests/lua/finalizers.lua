-- Finalizers run between deliveries: they may send, and cannot wait or be anybody.
local actor = require "actor"

local echo = actor.spawn(function(...) return ... end)
local got = {}
local sink = actor.spawn(function(x) got[#got + 1] = x return #got end)
local names = {}

local Meta = { __gc = function(o)
  names[#names + 1] = o.name
  sink:send(o.name)
  names[#names + 1] = select(2, pcall(actor.ask, echo)):gsub("^.*:%d+: ", "")
  names[#names + 1] = select(2, pcall(actor.self)):gsub("^.*:%d+: ", "")
  names[#names + 1] = select(2, pcall(actor.spawn, print)):gsub("^.*:%d+: ", "")
end }
local function make(name) setmetatable({ name = name }, Meta) end

make("one")
collectgarbage()
print(#names)                        -- expect: 0
echo:ask()
echo:ask()
for _, name in ipairs(names) do print(name) end
-- expect: one
-- expect: actor.ask cannot wait here: no actor is running
-- expect: actor.self: no actor is running
-- expect: actor.spawn: no actor is running
print(sink:ask("end"), got[1])       -- expect: 2	one

-- Each object once; those listed are kept whole until then; the order is the collector's.
local order = {}
local Order = { __gc = function(o) order[#order + 1] = o.n + o.link.n end }
for i = 1, 3 do setmetatable({ n = i, link = { n = 10 * i } }, Order) end
collectgarbage()
echo:ask()
echo:ask()
print(table.concat(order, " "))      -- expect: 33 22 11
collectgarbage()
echo:ask()
print(#order)                        -- expect: 3

-- A resurrected object can be set up again.
local saved, times = nil, 0
local Again = { __gc = function(o) saved = o times = times + 1 end }
setmetatable({ "x" }, Again)
collectgarbage() echo:ask() echo:ask()
print(times, saved[1])               -- expect: 1	x
saved = nil
collectgarbage() echo:ask() echo:ask()
print(times)                         -- expect: 1

-- Errors in them are warnings.
setmetatable({}, { __gc = function() error("in gc", 0) end })
setmetatable({}, { __gc = function() error({}) end })
collectgarbage() echo:ask() echo:ask()
-- expect-error: error in a finalizer: in gc
-- expect-error: error in a finalizer: (error object is a table value)

-- setmetatable is Lua's in all else.
print(pcall(setmetatable, 1, {}))    -- expect: false	bad argument #1 to 'setmetatable' (table expected, got number)
print(pcall(setmetatable, {}, 1))    -- expect: false	bad argument #2 to 'setmetatable' (nil or table expected, got number)
print(pcall(setmetatable, {}))       -- expect: false	bad argument #2 to 'setmetatable' (nil or table expected, got no value)
local P = setmetatable({}, { __metatable = "locked" })
print(pcall(setmetatable, P, nil))   -- expect: false	cannot change a protected metatable
print(getmetatable(P))               -- expect: locked
local M = {}
local t = {}
print(setmetatable(t, M) == t, getmetatable(t) == M, setmetatable(t, nil) == t, getmetatable(t))
-- expect: true	true	true	nil
debug.setmetatable(t, { __gc = function() print("by debug") end })
t = nil
collectgarbage() echo:ask() echo:ask()   -- expect: by debug

-- A coroutine in one, and very many of them
setmetatable({}, { __gc = function() coroutine.wrap(function() print(coroutine.isyieldable()) end)() end })
collectgarbage() echo:ask() echo:ask()   -- expect: true
local n = 0
local Count = { __gc = function() n = n + 1 end }
for _ = 1, 10000 do setmetatable({}, Count) end
collectgarbage() echo:ask() echo:ask()
print(n)                             -- expect: 10000

-- The collector's own switch
print(pcall(collectgarbage, "generational"))
-- expect: false	collectgarbage: the generational mode is not available here
print(collectgarbage("incremental"), type(collectgarbage("count")), collectgarbage("step") ~= nil)
-- expect: incremental	number	true
print(pcall(collectgarbage, "nonsense"))
-- expect: false	bad argument #1 to 'collectgarbage' (invalid option 'nonsense')

-- What a finalizer sends comes from nobody.
do
  local heard = {}
  local listener = actor.spawn(function(word)
    if word == "what" then return table.concat(heard, ", ") end
    heard[#heard + 1] = word .. " from " .. tostring(actor.sender())
  end)
  actor.spawn(function()
    setmetatable({}, { __gc = function() listener:send("gone") end })
    collectgarbage()
  end):ask()
  while listener:ask("what") == "" do end
  print(listener:ask("what"))                  -- expect: gone from nil
end

-- What the collector lists while the list itself is made anew is not lost.
do
  local made, ran = 0, 0
  local function new(f)
    made = made + 1
    setmetatable({}, { __gc = function() ran = ran + 1 if f then f() end end })
  end
  local w = actor.spawn(function(n)
    if n == 0 then return end
    for i = 1, n do
      new(i == 1 and function()                -- finalized last
        for _ = 1, 10 do new() end
        collectgarbage("incremental", 100, 1000, 30)
        collectgarbage("restart")              -- the next allocation makes a step
      end)
    end
    collectgarbage()
  end)
  w:ask(300)
  for _ = 1, 3 do w:ask(0) collectgarbage() w:ask(0) end
  collectgarbage("incremental", 200, 100, 13)
  print(made, ran)                             -- expect: 310	310
end

-- What is alive at the end is finalized when the machine is closed.
Last = setmetatable({}, { __gc = function()
  print("last", select(2, pcall(actor.send, sink, 1)))
end })
-- expect: last	actor.send: the engine is being closed
