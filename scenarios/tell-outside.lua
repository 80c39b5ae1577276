-- tell-outside.lua - a plain thread of the host program tells a hundred actors in turn.
--
-- The thread is no actor: it belongs to one that starts it when asked. Its last message to each
-- counter has the counter tell its sum to that actor, which answers when it has heard all of them.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"

local COUNTERS <const> = 100

local function counter()
  local count = 0
  return function(n, teller)
    count = count + n
    if teller then actor.send(teller, count) end
  end
end

return {
  name = "tell-outside",
  about = "A plain thread tells a hundred actors in turn.",
  params = { messages = 2000000, behavior = "lua", far = false },
  run = function(p, report)
    assert(p.messages > 0, "messages is 1 or more")
    local counters, vats = {}, actor.stats().vats
    for i = 1, COUNTERS do
      counters[i] = actor.spawn_on(p.far and i % vats or 0,
        p.behavior == "native" and actor.native("bench.counter") or counter())
    end
    local thread = actor.spawn(actor.native("bench.outside"), "tell", table.unpack(counters))

    local count
    report.clock(function() count = actor.ask { thread, p.messages, timeout = math.huge } end)
    return { requested = p.messages, done = count, unit = "message" }
  end,
}
