-- A coroutine that stopped for the engine is normal to everyone else.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

test.it("is normal while it waits, and dead when its function has returned", function()
  local parked
  local waiter = actor.spawn(function(peer)
    parked = coroutine.create(function() return peer:ask() end)
    return select(2, coroutine.resume(parked))
  end)
  local probe = test.probe()
  waiter:send(probe.pid)
  probe:expect()
  test.equal(coroutine.status(parked), "normal")
  test.equal({ coroutine.resume(parked) }, { false, "cannot resume non-suspended coroutine" })
  test.equal({ pcall(coroutine.close, parked) }, { false, "cannot close a normal coroutine" })
  probe:reply("answer")
  test.eventually(function() return coroutine.status(parked) == "dead" end)
end)
