-- spawn_on: behaviors by name, functions with what they refer to.
--
-- args: --vats 2
local actor = require "actor"
local helper = {
  double = function(x) return 2 * x end,
}

local function message(f, ...)
  local ok, text = pcall(f, ...)
  return ok and "no error" or (tostring(text):gsub("^[^:]+:%d+: ", ""))
end

-- Functions and their upvalues
local n, text, list, pid = 5, "five", { 1, { x = 2 } }, actor.self()
local f = actor.spawn_on(1, function(k)
  n = n + (k or 0)
  return n, text, list[2].x, pid, actor.stats().vat
end)
print(f:ask(1) == 6, select(2, f:ask()), select(3, f:ask()), select(4, f:ask()) == pid, select(5, f:ask()))
-- expect: true	five	2	true	1
print(n, f:ask())                    -- expect: 5	6	five	2	pid<0.1.1>	1

-- Globals, modules and their functions are the other machine's.
local format, insert, str, G, p = string.format, table.insert, string, _G, pairs
g_here = "only here"
local probe = actor.spawn_on(1, function()
  local t = {}
  insert(t, format("%d", 7))
  for k in p { a = 1 } do insert(t, k) end
  return t[1], t[2], str == require "string", G == _ENV, g_here, actor == require "actor"
end)
print(probe:ask())                   -- expect: 7	a	true	true	nil	true
local A = actor
local other = actor.other
print(actor.spawn_on(1, function() return other == A.other end):ask())    -- expect: true

-- Other functions go along, also recursive ones and ones in tables.
local function fib(i) return i < 2 and i or fib(i - 1) + fib(i - 2) end
local even, odd
even = function(i) return i == 0 or odd(i - 1) end
odd = function(i) return i ~= 0 and even(i - 1) end
print(actor.spawn_on(1, function(i) return fib(i), even(i), odd(i), helper.double(i) end):ask(10))
-- expect: 55	true	false	20
print(actor.spawn_on("any", function() return "any" end):ask())          -- expect: any
print(actor.spawn_on(0, function() n = n + 1 return n end):ask(), n)     -- expect: 6	5
print(actor.spawn_on(1, print) ~= nil)                                   -- expect: true
print(actor.spawn_on(1, math.max):ask(3, 4))                             -- expect: 4

-- What cannot go along
local file, co, nested = io.stdout, coroutine.create(print), { a = { io.stderr } }
print(message(actor.spawn_on, 1, function() return file end))
-- expect: no error
print(message(actor.spawn_on, 1, function() return co end))
-- expect: upvalue "co": a coroutine cannot be sent
local opened = io.tmpfile()
print(message(actor.spawn_on, 1, function() return opened end))
-- expect: upvalue "opened": a userdata cannot be sent
nested.a[1] = opened
print(message(actor.spawn_on, 1, function() return nested end))
-- expect: upvalue "nested": field "a": index 1: a userdata cannot be sent
local function inner() return opened end
print(message(actor.spawn_on, 1, function() return inner() end))
-- expect: upvalue "inner": upvalue "opened": a userdata cannot be sent
local wrapped = coroutine.wrap(print)
print(message(actor.spawn_on, 1, function() return wrapped() end))
-- expect: upvalue "wrapped": a C function cannot be sent
print(message(actor.spawn_on, 1, coroutine.wrap(print)))                 -- expect: a C function cannot be sent

-- Where
print(message(actor.spawn_on, 2, print))     -- expect: actor.spawn_on: there is no vat 2; 0 to 1 are always there
print(message(actor.spawn_on, -1, print))    -- expect: actor.spawn_on: there is no vat -1; 0 to 1 are always there
print(message(actor.spawn_on, "here", print))
-- expect: actor.spawn_on: a vat's number, "any" or "isolate" expected, got "here"
print(message(actor.spawn_on, {}, print))
-- expect: actor.spawn_on: a vat's number, "any" or "isolate" expected, got a table
print(message(actor.spawn_on, 0.5, print))
-- expect: actor.spawn_on: a vat's number, "any" or "isolate" expected, got a number
print(message(actor.spawn_on, 1, {}))
-- expect: actor.spawn_on: a behavior or a function expected, got a table
print(message(actor.spawn_on, 1, print, 1))
-- expect: a function behavior has no init to take arguments; send them

-- Behaviors by name, in this vat and where nobody has made them
local Here = actor.behavior("here", {
  init = function(self, ...) self.args = { ... } actor.spawn(function() end):ask() end,
  receive = { args = function(self) return actor.stats().vat, table.unpack(self.args) end },
})
print(actor.spawn_on(0, Here, 1, "two", nil):ask("args"))                -- expect: 0	1	two
print(actor.spawn_on(1, Here):ask("args"))                               -- expect: nil	init
print(actor.spawn_on(1, function() return Here end):ask())               -- expect: nil	init
-- expect-status: 1
-- expect-error: failed in init: no behavior is called "here" in this vat; what makes it must be loaded here too
