-- A coroutine that stopped for the engine is normal to everyone else.
local actor = require "actor"
local echo = actor.spawn(function(...) return ... end)

local parked
local waiter = actor.spawn(function(peer)
  parked = coroutine.create(function() return peer:ask() end)
  return select(2, coroutine.resume(parked))
end)
local request
local slow = actor.spawn(function(go) if go then request:reply("answer") else request = actor.later() end end)
waiter:send(slow)
echo:ask()
print(coroutine.status(parked))            -- expect: normal
print(coroutine.resume(parked))            -- expect: false	cannot resume non-suspended coroutine
print(pcall(coroutine.close, parked))      -- expect: false	cannot close a normal coroutine
slow:ask(true)
print(coroutine.status(parked))            -- expect: dead
