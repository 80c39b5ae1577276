-- The rest of the module.
--
-- args: --workers 1 --vats 2
local actor = require "actor"
print(actor == package.loaded.actor)              -- expect: true
package.loaded.actor = nil
print(require "actor" == actor)                   -- expect: true

-- pids
local me = actor.self()
print(actor.is_pid(me), actor.is_pid(1), actor.is_pid(nil), actor.is_pid(actor.other), actor.is_pid(io.stdout))
-- expect: true	false	false	false	false
print(pcall(actor.is_pid))                        -- expect: false	bad argument #1 to 'actor.is_pid' (value expected)
local echo = actor.spawn(function(...) return ... end)
print(echo == echo:ask(echo), echo ~= me, ({ [echo] = "key" })[echo:ask(echo)])  -- expect: true	true	key
print(tostring(echo):match "^pid<0%.%d+%.%d+>$" ~= nil)      -- expect: true
print(tostring(actor.spawn_on(1, print)):match "^pid<1%." )  -- expect: pid<1.
print(actor.down, actor.other)                    -- expect: actor.down	actor.other
print(pcall(function() return me.nothing end))    -- expect: true	nil
print(pcall(function() me:nothing() end))
-- expect: false	module.lua:20: attempt to call a nil value (method 'nothing')

-- send, stop, kill, ask of what is gone
local gone = actor.spawn(function() end)
print(gone:stop(), gone:send(1), gone:ask())      -- expect: true	true	nil	stopped
echo:ask()
print(gone:stop(), gone:kill(), gone:send(1), gone:ask())    -- expect: true	true	true	nil	no_actor
print(me:ask())                                   -- expect: nil	self

-- sender
print(actor.spawn(function() return actor.sender() == me end):ask())   -- expect: true

-- exit: of itself, when the handler has returned
local Exits = actor.behavior("exits", {
  stop = function(_, reason) print("reason", reason) end,
  receive = { now = function(_, why) actor.exit(why) return "returned" end },
})
print(actor.spawn(Exits):ask("now"))              -- expect: reason	normal
                                                  -- expect: returned
print(actor.spawn(Exits):ask("now", "enough"))    -- expect: reason	enough
                                                  -- expect: returned

-- now
local t = actor.now()
print(math.type(t), actor.now() >= t)             -- expect: float	true

-- stats
local s = actor.stats()
print(s.workers, s.vats, s.vat, math.type(s.spawned), s.alive <= s.spawned, s.dead_letters.no_actor >= 1)
-- expect: 1	2	0	integer	true	true
for _, name in ipairs { "spawned", "stopped", "alive", "peak_alive", "failed", "messages", "far_messages",
                        "late_replies", "deadlocks", "steals", "parks", "turns" } do
  if math.type(s[name]) ~= "integer" then print("missing", name) end
end

-- log
actor.log("plain", 1, nil, true)
actor.log("warn", "a warning", echo ~= nil)
actor.log("error")
actor.log(setmetatable({}, { __tostring = function() return "an object" end }))
warn("a ", "warning in pieces")
warn("@off")
warn("not shown")
warn("@on")
-- expect-error: info: plain 1 nil true
-- expect-error: warning: a warning true
-- expect-error: info: error
-- expect-error: info: an object
-- expect-error: warning: a warning in pieces

-- A loop that only sends lets others run, also inside coroutines; where it cannot, it goes on.
local count = 0
local sink = actor.spawn(function() count = count + 1 return count end)
local function flood()
  for _ = 1, 5000 do sink:send(1) end
  return count
end
local function seen(f)
  count = 0
  local n = actor.spawn(f):ask()
  sink:ask()
  return n
end
local n = seen(flood)
print(n > 0, n < 5000)                            -- expect: true	true
n = seen(function() return coroutine.wrap(flood)() end)
print(n > 0, n < 5000)                            -- expect: true	true
print(seen(function()
  local n
  string.gsub("x", "x", function() n = flood() end)
  return n
end))                                             -- expect: 0
