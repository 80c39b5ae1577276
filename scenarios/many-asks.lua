-- many-asks.lua - a thousand callers ask sixteen actors, each with one ask in flight.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local answerer = require "shared.answerer"
local gather = require "shared.gather"
local ask = actor.ask

local TARGETS <const> = 16

-- Asked with a number, asks its target that often and answers how many answers were right.
local function caller(target)
  return function(n)
    local right = 0
    for i = 1, n do
      if ask(target, i) == i then right = right + 1 end
    end
    return right
  end
end

-- Each gives back how one that answers is placed in a vat, and how one that asks it is made.
local make = {
  lua = function()
    return function(vat) return actor.spawn_on(vat, answerer()) end,
      function(target) return actor.spawn(caller(target)) end
  end,
  native = function()
    return function(vat) return actor.spawn_on(vat, actor.native("bench.answerer")) end,
      function(target) return actor.spawn(actor.native("bench.asker"), target) end
  end,
}

return {
  name = "many-asks",
  about = "A thousand callers ask sixteen actors, one ask in flight each.",
  params = { callers = 1000, asks = 500, behavior = "lua", far = false },
  run = function(p, report)
    assert(p.callers > 0 and p.asks > 0, "callers and asks are 1 or more")
    local place, call = make[p.behavior]()
    local targets, callers, others = {}, {}, actor.stats().vats - 1
    for i = 1, TARGETS do targets[i] = place(p.far and 1 + i % others or 0) end
    for i = 1, p.callers do callers[i] = call(targets[i % TARGETS + 1]) end

    local right, asked = nil, 0
    report.clock(function() right = gather(callers, p.asks) end)
    for _, target in ipairs(targets) do asked = asked + ask(target) end
    report.check("each answer is right", right == p.callers * p.asks)
    return { requested = p.callers * p.asks, done = asked, unit = "ask" }
  end,
}
