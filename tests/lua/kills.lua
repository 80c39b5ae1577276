-- A handler that waits when its actor is stopped or killed never goes on: what it holds is closed,
-- from the innermost coroutine out.
local actor = require "actor"

local log = {}
local function note(...) log[#log + 1] = table.concat({ ... }, " ") end
local function show() print(table.concat(log, ", ")) log = {} end

local requests = {}
local silent = actor.spawn(function(answer)
  if answer then return requests[#requests]:reply() end
  requests[#requests + 1] = actor.later()
end)
local echo = actor.spawn(function(...) return ... end)
local listener = actor.spawn(function(...) note("heard", ...) end)

local function closing(name)
  return setmetatable({}, { __close = function(_, e)
    note("close", name, tostring(e))
    listener:send(name)
    note((pcall(actor.ask, echo)) and "waited" or "no wait")
    note((pcall(actor.spawn, print)) and "spawned" or "no spawn")
  end })
end

local Waits = actor.behavior("waits", {
  stop = function(_, reason) note("hook", reason) end,
  receive = {
    plain = function() silent:ask() note "never" end,
    caught = function() pcall(function() silent:ask() end) note "never" end,
    closed = function()
      local outer <close> = closing "outer"
      pcall(function()
        local inner <close> = closing "inner"
        silent:ask()
        note "never"
      end)
      note "never"
    end,
    nested = function()
      local a <close> = closing "a"
      coroutine.wrap(function()
        local b <close> = closing "b"
        for _ in coroutine.wrap(function()
          local c <close> = closing "c"
          pcall(silent.ask, silent)
          note "never"
        end) do note "never" end
        note "never"
      end)()
      note "never"
    end,
    failing = function()
      local f <close> = setmetatable({}, { __close = function() error("in close", 0) end })
      silent:ask()
    end,
  },
})

-- Lets others run until `reached` says so, and then for a while.
local function run_until(reached)
  while not reached() do echo:ask() end
  for _ = 1, 30 do echo:ask() end
end

local function try(how, message)
  local a, n = actor.spawn(Waits), #requests
  a:send(message)
  run_until(function() return #requests > n end)
  how(a)
  run_until(function() return true end)
  listener:ask("end")
  show()
  print(a:ask("plain"))
end

try(actor.kill, "plain")             -- expect: heard end
                                     -- expect: nil	no_actor
try(function(a) a:stop { now = true } end, "plain")
                                     -- expect: hook normal, heard end
                                     -- expect: nil	no_actor
try(actor.kill, "caught")            -- expect: heard end
                                     -- expect: nil	no_actor
try(actor.kill, "closed")
-- expect: close inner nil, no wait, no spawn, close outer nil, no wait, no spawn, heard inner, heard outer, heard end
-- expect: nil	no_actor
try(function(a) actor.stop(a, { now = true }) end, "nested")
-- expect: close c nil, no wait, no spawn, close b nil, no wait, no spawn, close a nil, no wait, no spawn, hook normal, heard c, heard b, heard a, heard end
-- expect: nil	no_actor
try(actor.kill, "failing")           -- expect: heard end
                                     -- expect: nil	no_actor
-- expect-error: error in a __close: in close

-- A stop in order, too, ends a wait that nothing is queued before.
local a, n = actor.spawn(Waits), #requests
a:send("plain")
run_until(function() return #requests > n end)
a:stop()
run_until(function() return true end)
show()                               -- expect: hook normal
silent:ask(true)
show()                               -- expect:

-- Behind another message it waits for the handler.
a, n = actor.spawn(Waits), #requests
a:send("plain")
run_until(function() return #requests > n end)
a:send("plain")
a:stop()
run_until(function() return true end)
show()                               -- expect:
silent:ask(true)
run_until(function() return log[2] end)
show()                               -- expect: never, hook normal
