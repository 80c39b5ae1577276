-- one-into-64.lua - one actor tells 64 in turn.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local counter = require "shared.counter"
local spreader = require "shared.spreader"

local TARGETS <const> = 64

-- Each gives back how a counter is placed in a vat, and who tells all of them.
local make = {
  lua = function(p)
    return function(vat) return actor.spawn_on(vat, counter()) end,
      function(counters) return actor.spawn(spreader(counters, TARGETS * p.messages, 1)) end
  end,
  native = function(p)
    return function(vat) return actor.spawn_on(vat, actor.native("bench.counter")) end,
      function(counters)
        return actor.spawn(actor.native("bench.spreader"), TARGETS * p.messages, 1,
          table.unpack(counters))
      end
  end,
}

return {
  name = "one-into-64",
  about = "One actor tells 64 in turn.",
  params = { messages = 20000, behavior = "lua", far = false },
  run = function(p, report)
    assert(p.messages > 0, "messages is 1 or more")
    local place, spread = make[p.behavior](p)
    local counters, others = {}, actor.stats().vats - 1
    for i = 1, TARGETS do counters[i] = place(p.far and 1 + i % others or 0) end
    local teller = spread(counters)

    local count
    report.clock(function() count = actor.ask { teller, "go", timeout = math.huge } end)
    return { requested = TARGETS * p.messages, done = count, unit = "message" }
  end,
}
