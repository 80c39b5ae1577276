-- An error ends its actor, with the value's text and a traceback, and nobody else.
--
-- expect-status: 1
local actor = require "actor"

local Object = setmetatable({}, { __tostring = function() return "an object with a text" end })
local Broken = setmetatable({}, { __tostring = function() error("in __tostring") end })
local NoText = setmetatable({}, { __tostring = function() return {} end })

local function fail(value)
  return actor.spawn(function() error(value, 0) end)
end

local function ask(pid, ...) print(pid:ask(...)) end

ask(fail("a string"))            -- expect: nil	failed
ask(fail(nil))                   -- expect: nil	failed
ask(fail(42))                    -- expect: nil	failed
ask(fail(true))                  -- expect: nil	failed
ask(fail({}))                    -- expect: nil	failed
ask(fail(Object))                -- expect: nil	failed
ask(fail(Broken))                -- expect: nil	failed
ask(fail(NoText))                -- expect: nil	failed
ask(fail(io.stdout))             -- expect: nil	failed
ask(fail(print))                 -- expect: nil	failed
ask(fail(coroutine.create(print)))   -- expect: nil	failed
ask(fail(actor.self()))          -- expect: nil	failed
-- expect-error: a string
-- expect-error: (error object is a nil value)
-- expect-error: : 42
-- expect-error: (error object is a boolean value)
-- expect-error: (error object is a table value)
-- expect-error: an object with a text
-- expect-error: (error object is a table value), and its __tostring failed
-- expect-error: (error object is a function value)
-- expect-error: (error object is a thread value)
-- expect-error: pid<0.

-- A place and a traceback
ask(actor.spawn(function()
  local function inner() local t = nil; return t.field end
  inner()
end))                            -- expect: nil	failed
-- expect-error: errors.lua:41: attempt to index a nil value (local 't')
-- expect-error: in local 'inner'
-- expect-error: errors.lua:42: in function <errors.lua:40>

-- Deep recursion, in Lua and through C
ask(actor.spawn(function() local function r() return 1 + r() end r() end))   -- expect: nil	failed
ask(actor.spawn(function()
  local function r() return string.gsub("x", "x", r) end
  r()
end))                            -- expect: nil	failed
ask(actor.spawn(function()
  local t = setmetatable({}, {})
  getmetatable(t).__index = function(_, k) return t[k + 1] end
  return t[1]
end))                            -- expect: nil	failed
-- expect-error: stack overflow
-- expect-error: C stack overflow

-- An error in the handling of an error
ask(actor.spawn(function()
  local function handler() error("again") end
  error((select(2, xpcall(error, handler, "x"))))
end))                            -- expect: nil	failed

-- After a wait, in a coroutine, in pcall and raised again
local echo = actor.spawn(function(...) return ... end)
ask(actor.spawn(function() echo:ask() error("after a wait") end))            -- expect: nil	failed
ask(actor.spawn(function()
  coroutine.wrap(function() echo:ask() error("in a coroutine") end)()
end))                            -- expect: nil	failed
ask(actor.spawn(function()
  local ok, e = pcall(function() echo:ask() error("caught and raised") end)
  error(e, 0)
end))                            -- expect: nil	failed
-- expect-error: after a wait
-- expect-error: in a coroutine
-- expect-error: caught and raised

-- Its to-be-closed variables are closed; they may send but not wait or spawn.
local closed = actor.spawn(function(...) print("closed", ...) end)
local closing = setmetatable({}, { __close = function(_, e)
  closed:send(tostring(e))
  print(select(2, pcall(actor.ask, echo)))
  print(select(2, pcall(actor.spawn, print)))
end })
local answer = table.pack(actor.ask(actor.spawn(function()
  local c <close> = closing
  error("unclosed", 0)
end)))
-- expect: actor.ask cannot wait here: in a __close of a handler that has ended
-- expect: actor.spawn: not in a __close of a handler that has ended
closed:ask("now")                -- expect: closed	unclosed
                                 -- expect: closed	now
print(table.unpack(answer))      -- expect: nil	failed
ask(actor.spawn(function()
  local c <close> = setmetatable({}, { __close = function() error("second", 0) end })
  error("first", 0)
end))                            -- expect: nil	failed
-- expect-error: first
-- expect-error: error in a __close: second

-- What cannot be answered
ask(actor.spawn(function() return 1, print end))                             -- expect: nil	failed
-- expect-error: result 2: a function cannot be sent

-- init
local Init = actor.behavior("init", {
  init = function(self, how) if how then error(how, 0) end self.ok = true end,
  stop = function() print("never after a failed init") end,
  receive = { ok = function(self) return self.ok end },
})
ask(actor.spawn(Init, "init failed"), "ok")                                  -- expect: nil	init
ask(actor.spawn_on(0, Init, "init failed there"), "ok")                      -- expect: nil	init
-- expect-error: init failed
-- expect-error: init failed there

-- The stop hook
local Stop = actor.behavior("stop", {
  stop = function(_, reason) print("stop", (reason:match "^[^\n]*")) error("stop failed", 0) end,
  receive = { fail = function() error("receive failed", 0) end },
})
local s = actor.spawn(Stop)
s:stop()
ask(s)                           -- expect: stop	normal
                                 -- expect: nil	stopped
s = actor.spawn(Stop)
ask(s, "fail")                   -- expect: stop	receive failed
                                 -- expect: nil	failed
-- expect-error: stop failed
-- expect-error: receive failed

-- All the others are as they were.
print(echo:ask("still here"))    -- expect: still here
