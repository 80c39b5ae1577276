-- four-into-one.lua - four actors tell one.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local counter = require "shared.counter"
local gather = require "shared.gather"
local producer = require "shared.producer"

local PRODUCERS <const> = 4

-- Each gives back a counter, and how a producer for it is placed in a vat.
local make = {
  lua = function(p)
    local counter = actor.spawn(counter())
    return counter, function(vat)
      return actor.spawn_on(vat, producer(counter, p.messages, 1))
    end
  end,
  native = function(p)
    local counter = actor.spawn(actor.native("bench.counter"))
    return counter, function(vat)
      return actor.spawn_on(vat, actor.native("bench.producer"), counter, p.messages)
    end
  end,
}

return {
  name = "four-into-one",
  about = "Four actors tell one.",
  params = { messages = 500000, behavior = "lua", far = false },
  run = function(p, report)
    assert(p.messages > 0, "messages is 1 or more")
    local counter, place = make[p.behavior](p)
    local producers, others = {}, actor.stats().vats - 1
    for i = 1, PRODUCERS do producers[i] = place(p.far and 1 + i % others or 0) end

    local count
    report.clock(function()
      gather(producers, "go") -- each has its answer when its messages have been handled
      count = actor.ask(counter, 0)
    end)
    return { requested = PRODUCERS * p.messages, done = count, unit = "message" }
  end,
}
