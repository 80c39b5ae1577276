-- spawn.lua - actors by the hundred thousand, with one message each.
--
-- The spawner makes its actors in batches of 100. Each is told its number, adds it to its state
-- and tells the spawner what it has then: so the spawner knows that all have handled their
-- message, and the sum of the numbers shows that each did so once. The time ends before the actors
-- do; how long it takes to stop them is a figure of its own.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local send, ask, spawn = actor.send, actor.ask, actor.spawn

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

-- An actor stops after its children, so the root's stop hook runs when all others have ended: the
-- spawner and what it made. It says so to the witness.

local Root = actor.behavior("spawn.root", {
  init = function(self, p) self.spawner = make[p.behavior](p) end,
  stop = function(self) send(self.witness, "ended") end,
  receive = {
    start = function(self, witness)
      self.witness = witness
      return self.spawner
    end,
  },
})

local function witness()
  local has_ended, request = false
  return function(word)
    if word == "ended" then
      has_ended = true
      if request then request:reply(true) end
    else
      if has_ended then return true end
      request = actor.later()
    end
  end
end

return {
  name = "spawn",
  about = "Many actors are made and handle one message each.",
  params = { actors = 100000, behavior = "lua", named = false },
  run = function(p, report)
    assert(p.actors > 0, "actors is 1 or more")
    local root, witness = spawn(Root, p), spawn(witness())
    local spawner = actor.ask(root, "start", witness)
    local before = actor.stats().alive

    local handled, sum
    report.clock(function() handled, sum = ask { spawner, "go", timeout = math.huge } end)
    report.check("each handled its message once", sum == p.actors * (p.actors + 1) // 2)
    report.check("the actors are still there", actor.stats().alive == before + p.actors)

    local start = actor.now()
    actor.stop(root)
    ask { witness, "wait", timeout = math.huge }
    report.figure("teardown", (actor.now() - start) * 1e6 / p.actors, "ns an actor")
    report.check("all have ended", function(stats) return stats.alive == 1 end)
    return { requested = p.actors, done = handled, unit = "actor" }
  end,
}
