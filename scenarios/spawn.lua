-- spawn.lua - actors by the hundred thousand, with one message each.
--
-- The spawner makes its actors in batches of 100. Each is told its number, adds it to its state and
-- tells the spawner what it has then: so the spawner knows that all have handled their message, and
-- the sum of the numbers shows that each did so once. The time ends before the actors do.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local send, spawn = actor.send, actor.spawn

local BATCH <const> = 100

-- Function behaviors: what an actor remembers is in the closure made for it.

local function newborn(spawner)
  local sum = 0
  return function(n)
    sum = sum + n
    send(spawner, sum)
  end
end

local function spawner(actors)
  local born, handled, sum, me, request = 0, 0, 0
  return function(number)
    if number == "go" then
      me, request = actor.self(), actor.later()
    elseif number ~= "more" then
      handled, sum = handled + 1, sum + number
      if handled == actors then request:reply(handled, sum) end
      return
    end

    for _ = 1, math.min(BATCH, actors - born) do
      born = born + 1
      send(spawn(newborn(me)), born)
    end
    if born < actors then send(me, "more") end
  end
end

-- The same as table behaviors: what an actor remembers is in `self`, messages have names.

local Newborn = actor.behavior("spawn.newborn", {
  receive = {
    add = function(self, spawner, n)
      self.sum = (self.sum or 0) + n
      send(spawner, "handled", self.sum)
    end,
  },
})

local function spawn_batch(self)
  local me, born = self.me, self.born
  local last = math.min(born + BATCH, self.actors)
  for n = born + 1, last do send(spawn(Newborn), "add", me, n) end
  self.born = last
  if last < self.actors then send(me, "more") end
end

local Spawner = actor.behavior("spawn.spawner", {
  init = function(self, actors)
    self.me, self.actors, self.born, self.handled, self.sum = actor.self(), actors, 0, 0, 0
  end,
  receive = {
    go = function(self)
      self.request = actor.later()
      spawn_batch(self)
    end,
    more = spawn_batch,
    handled = function(self, number)
      self.handled, self.sum = self.handled + 1, self.sum + number
      if self.handled == self.actors then self.request:reply(self.handled, self.sum) end
    end,
  },
})

local make = {
  lua = function(p)
    if p.named then return spawn(Spawner, p.actors) end
    return spawn(spawner(p.actors))
  end,
  native = function(p) return spawn(actor.native("bench.spawner"), p.actors) end,
}

return {
  name = "spawn",
  about = "Many actors are made and handle one message each.",
  params = { actors = 100000, behavior = "lua", named = false },
  run = function(p, report)
    assert(p.actors > 0, "actors is 1 or more")
    local spawner = assert(make[p.behavior], "behavior is lua or native")(p)

    local handled, sum
    report.clock(function() handled, sum = actor.ask(spawner, "go") end)
    report.check("each handled its message once", sum == p.actors * (p.actors + 1) // 2)
    report.check("the actors are still there", function(stats)
      return stats.alive == p.actors + 1
    end)
    return { requested = p.actors, done = handled, unit = "actor" }
  end,
}
