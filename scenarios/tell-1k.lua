-- tell-1k.lua - one actor tells one actor a thousand bytes at a time.
--
-- As in tell, but each message carries a string of 1,024 bytes, which is copied on its way. The
-- counter adds up the bytes that it got.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local producer = require "shared.producer"

local PAYLOAD <const> = ("0123456789abcdef"):rep(64)

local function counter()
  local bytes = 0
  return function(payload)
    bytes = bytes + #payload
    return bytes
  end
end

-- Each gives back a producer for the counter, which is near or in the second vat.
local make = {
  lua = function(p)
    local counter = actor.spawn_on(p.far and 1 or 0, counter())
    return actor.spawn(producer(counter, p.messages, PAYLOAD))
  end,
  native = function(p)
    local counter = actor.spawn_on(p.far and 1 or 0, actor.native("bench.counter"))
    return actor.spawn(actor.native("bench.producer"), counter, p.messages, PAYLOAD)
  end,
}

return {
  name = "tell-1k",
  about = "One actor tells one actor 1,024 bytes at a time.",
  params = { messages = 500000, behavior = "lua", far = false },
  run = function(p, report)
    assert(p.messages > 0, "messages is 1 or more")
    local producer = make[p.behavior](p)

    local bytes
    report.clock(function() bytes = actor.ask { producer, "go", timeout = math.huge } end)
    report.check("every byte arrived", bytes == p.messages * #PAYLOAD)
    return { requested = p.messages, done = bytes // #PAYLOAD, unit = "message" }
  end,
}
