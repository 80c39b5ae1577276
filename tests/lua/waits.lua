-- A handler may wait wherever no C function stands in between: inside the script's own coroutines,
-- iterators, pcall, metamethods. Where it cannot wait it says so, before it sends.
--
-- args: --vats 2
local actor = require "actor"

local asked = 0
local echo = actor.spawn(function(...) asked = asked + 1 return ... end)
local far = actor.spawn_on(1, function(...) return ... end)

local function message(f, ...)
  local ok, text = pcall(f, ...)
  return ok and "no error" or (tostring(text):gsub("waits.lua:%d+: ", ""))
end

-- pcall, xpcall, error after a wait
print(pcall(function() return echo:ask(1), far:ask(2) end))             -- expect: true	1	2
print(xpcall(function() return far:ask(3) end, debug.traceback))        -- expect: true	3
print(pcall(function() far:ask() error("after", 0) end))                -- expect: false	after
print(xpcall(function() echo:ask() error("x", 0) end, function(e) return e .. "!" end))
                                                                        -- expect: false	x!

-- Coroutines, also deep ones, and ones that yield in between
local co = coroutine.create(function(a)
  local b = coroutine.yield(echo:ask(a))
  local c = coroutine.yield(far:ask(b))
  return "done", echo:ask(c)
end)
print(coroutine.resume(co, "a"))                                        -- expect: true	a
print(coroutine.resume(co, "b"))                                        -- expect: true	b
print(coroutine.status(co))                                             -- expect: suspended
print(coroutine.resume(co, "c"))                                        -- expect: true	done	c
print(coroutine.resume(co))                 -- expect: false	cannot resume dead coroutine

local function nest(n)
  if n == 0 then return far:ask("bottom") end
  return coroutine.wrap(nest)(n - 1)
end
print(nest(1), nest(50))                                                -- expect: bottom	bottom

-- An iterator that waits; a generic for over a wrapped coroutine
local function answers(n)
  return coroutine.wrap(function()
    for i = 1, n do coroutine.yield(i, (i % 2 == 0 and far or echo):ask(i * 10)) end
  end)
end
for i, v in answers(3) do print(i, v) end
-- expect: 1	10
-- expect: 2	20
-- expect: 3	30
for v in function() return far:ask(asked < 12 and asked or nil) end do asked = 12 end

-- Metamethods
local M = setmetatable({}, {
  __index = function(_, k) return echo:ask(k) end,
  __newindex = function(t, k, v) rawset(t, k, far:ask(v)) end,
  __call = function(_, x) return far:ask(x) end,
  __add = function(_, x) return echo:ask(x) end,
  __eq = function() return far:ask(true) end,
  __lt = function() return far:ask(true) end,
  __concat = function(_, x) return far:ask("cat" .. x) end,
  __len = function() return far:ask(42) end,
  __close = function() print("closed", far:ask("in close")) end,
})
print(M.field, M("called"), M + 5, M == setmetatable({}, getmetatable(M)), M < M, M .. "x", #M)
-- expect: field	called	5	true	true	catx	42
M.set = "stored"
print(rawget(M, "set"))                                                 -- expect: stored
do
  local c <close> = M
end                                                                     -- expect: closed	in close
print(select(2, pcall(function() local c <close> = M error("e", 0) end)))
-- expect: closed	in close
-- expect: e

-- An error goes through coroutines with a wait in between
local ok, e = coroutine.resume(coroutine.create(function() far:ask() error({ code = 7 }, 0) end))
print(ok, e.code)                                                       -- expect: false	7
print(message(coroutine.wrap(function() far:ask() error("in wrap", 0) end)))
                                                                        -- expect: in wrap

-- Where it cannot wait
asked = 0
local inside = ": inside a function called from C such as table.sort, string.gsub or require"
local function refused(f) print((message(f):gsub(inside, ""))) end
refused(function() table.sort({ 2, 1 }, function() return echo:ask() end) end)
refused(function() string.gsub("x", "x", function() return echo:ask() end) end)
refused(function() load(function() return echo:ask() end) end)
refused(function() tostring(setmetatable({}, { __tostring = function() return echo:ask() end })) end)
-- The stop could not pass the gsub below the coroutine.
refused(function()
  string.gsub("x", "x", function() return coroutine.wrap(function() echo:ask() end)() end)
end)
refused(function()
  string.gsub("x", "x", function()
    return coroutine.wrap(function() return coroutine.wrap(function() echo:ask() end)() end)()
  end)
end)
-- expect: actor.ask cannot wait here
-- expect: actor.ask cannot wait here
-- expect: no error
-- expect: actor.ask cannot wait here
-- expect: actor.ask cannot wait here
-- expect: actor.ask cannot wait here
print(asked)                                                            -- expect: 0

-- Sends go on there.
print((string.gsub("x", "x", function() return echo:send(1) and "sent" end)))   -- expect: sent
