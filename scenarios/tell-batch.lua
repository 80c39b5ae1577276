-- tell-batch.lua - from outside the actors: a batch of messages to one counter, then an ask for
-- the sum.
--
-- A plain thread of the host program tells the counter a thousand times and then asks it, which
-- reads the counter and sets it back to zero. That is one batch, and the next begins with the
-- answer.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"

-- A number below zero asks for the sum and resets it.
local function counter()
  local count = 0
  return function(n)
    if n > 0 then
      count = count + n
      return
    end
    local sum = count
    count = 0
    return sum
  end
end

return {
  name = "tell-batch",
  about = "A plain thread tells one actor in batches, and asks for the sum after each.",
  params = { messages = 1000, batches = 100, warm_up = 50, behavior = "lua" },
  run = function(p, report)
    assert(p.messages > 0 and p.batches > 0, "messages and batches are 1 or more")
    local is_native = p.behavior == "native"
    local counter = actor.spawn(is_native and actor.native("bench.counter") or counter())
    local thread = actor.spawn(actor.native("bench.outside"), "batch", counter)
    local function play(batches)
      return actor.ask { thread, batches, false, p.messages, timeout = math.huge }
    end

    local warm = play(p.warm_up)
    local right, _, sum
    report.clock(function() right, _, sum = play(p.batches) end)
    report.check("each batch was counted whole", warm == p.warm_up and right == p.batches)
    return { requested = p.batches * p.messages, done = sum, unit = "message" }
  end,
}
