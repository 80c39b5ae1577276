-- Behaviors: what a definition may be, and which handler gets a message.
local actor = require "actor"

local function message(f, ...)
  local ok, text = pcall(f, ...)
  return ok and "no error" or (tostring(text):gsub("^[^:]+:%d+: ", ""))
end
local function define(...) print(message(actor.behavior, ...)) end
local function nothing() end

-- Definitions
define()                     -- expect: actor.behavior: the name must be a string, it is nil
define({})                   -- expect: actor.behavior: the name must be a string, it is a table
define("", {})               -- expect: actor.behavior: the name must not be empty or have zero bytes
define("a", 1)               -- expect: actor.behavior "a": the definition must be a table, it is a number
define("a", {})
  -- expect: actor.behavior "a": field "receive" must be a table of functions, it is nil
define("a", { recieve = {} })
  -- expect: actor.behavior "a": field "recieve" is not known; the fields are init, receive, stop
define("a", { init = 1, receive = {} })
  -- expect: actor.behavior "a": field "init" must be a function, it is a number
define("a", { stop = {}, receive = {} })
  -- expect: actor.behavior "a": field "stop" must be a function, it is a table
define("a", { receive = { x = 1 } })
  -- expect: actor.behavior "a": receive.x must be a function, it is a number
define("a", { receive = { nothing } })
  -- expect: actor.behavior "a": a key of "receive" must be a string, actor.down or actor.other, one is a number
local A = actor.behavior("a", { receive = {} })
define("a", { receive = {} })
  -- expect: actor.behavior "a": a behavior of that name was made at behaviors.lua:28
print(A)                     -- expect: behavior<a>

-- Spawning
print(message(actor.spawn))      -- expect: actor.spawn: a behavior or a function expected, got nothing
print(message(actor.spawn, {}))  -- expect: actor.spawn: a behavior or a function expected, got a table
print(message(actor.spawn, "a")) -- expect: actor.spawn: a behavior or a function expected, got a string
print(message(actor.spawn, A, 1))   -- expect: behavior "a" has no init to take arguments
print(message(actor.spawn, nothing, 1))
  -- expect: a function behavior has no init to take arguments; send them
print(message(actor.native, "none"))
  -- expect: actor.native: no native behavior is called "none"

-- Which handler
local long = ("long"):rep(20)
local All = actor.behavior("all", {
  init = function(self, ...) self.args = { ... } end,
  receive = {
    args = function(self) return table.unpack(self.args) end,
    add = function(self, n) self.sum = (self.sum or 0) + n end,
    sum = function(self) return self.sum end,
    [long] = function() return "long" end,
    [""] = function() return "empty" end,
    [actor.down] = nothing,
    [actor.other] = function(_, ...) return "other", select("#", ...), ... end,
  },
})
local a = actor.spawn(All, 1, "two", { 3 }, nil)
local one, two, three, four = a:ask("args")
print(one, two, three[1], four)     -- expect: 1	two	3	nil
a:send("add", 1)
a:send("add", 2)
print(a:ask("sum"))                 -- expect: 3
print(a:ask(long))                  -- expect: long
print(a:ask(long .. "er"))          -- expect: other	1	longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonger
print(a:ask(""))                    -- expect: empty
print(a:ask("nope", 1, nil))        -- expect: other	3	nope	1	nil
print(a:ask())                      -- expect: other	0
print(a:ask(nil))                   -- expect: other	1	nil
print(a:ask(12, "add"))             -- expect: other	2	12	add
print(a:ask(true))                  -- expect: other	1	true

-- Each actor has its own self.
local b = actor.spawn(All)
b:send("add", 10)
print(a:ask("sum"), b:ask("sum"))   -- expect: 3	10
print(b:ask("args"))                -- expect:

-- Without `other`: unhandled, logged once for each behavior and name.
local Strict = actor.behavior("strict", { receive = { ok = function() return "ok" end } })
local s1, s2 = actor.spawn(Strict), actor.spawn(Strict)
print(s1:ask("nope"))               -- expect: nil	unhandled
print(s2:ask("nope"))               -- expect: nil	unhandled
print(s1:ask())                     -- expect: nil	unhandled
print(s1:ask(("n"):rep(100)))       -- expect: nil	unhandled
print(s1:ask("ok"))                 -- expect: ok
-- expect-error: has no handler for "nope"
-- expect-error: has no handler for "(a message without a name)"
-- expect-error: nnn..."

-- A function behavior gets the values and nothing else.
local f = actor.spawn(function(...) return select("#", ...), actor.sender() == nil, ... end)
print(f:ask("x", 1))                -- expect: 2	false	x	1
local me = actor.self()
local g = actor.spawn(function() return actor.sender() == me, actor.self() ~= me end)
print(g:ask())                      -- expect: true	true

-- C functions are functions.
print(actor.spawn(math.max):ask(3, 9, 4))   -- expect: 9
