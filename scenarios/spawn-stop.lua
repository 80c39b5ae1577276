-- spawn-stop.lua - a hundred actors at a time are made and stopped, and every start and stop
-- confirmed.
--
-- A child tells the nursery from its init that it has started, and from its stop hook that it has
-- stopped. When all have started the nursery stops them; when all have stopped it answers the ask
-- that began the round.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local send = actor.send

local Child = actor.behavior("spawn-stop.child", {
  init = function(self, nursery)
    self.nursery = nursery
    send(nursery, "started")
  end,
  stop = function(self) send(self.nursery, "stopped") end,
  receive = {},
})

local Nursery = actor.behavior("spawn-stop.nursery", {
  init = function(self, actors, vat) self.actors, self.vat = actors, vat end,
  receive = {
    round = function(self)
      self.request, self.started, self.stopped = actor.later(), 0, 0
      local me, children = actor.self(), {}
      for i = 1, self.actors do children[i] = actor.spawn_on(self.vat, Child, me) end
      self.children = children
    end,
    started = function(self)
      self.started = self.started + 1
      if self.started < self.actors then return end
      for _, child in ipairs(self.children) do actor.stop(child) end
    end,
    stopped = function(self)
      self.stopped = self.stopped + 1
      if self.stopped == self.actors then self.request:reply(self.started, self.stopped) end
    end,
  },
})

return {
  name = "spawn-stop",
  about = "A hundred actors at a time are made and stopped.",
  params = { actors = 100, rounds = 100, warm_up = 50, behavior = "lua", far = false },
  run = function(p, report)
    assert(p.actors > 0 and p.rounds > 0, "actors and rounds are 1 or more")
    local behavior = p.behavior == "native" and actor.native("bench.stopper") or Nursery
    local nursery = actor.spawn(behavior, p.actors, p.far and 1 or 0)

    local all_confirmed = true
    local function play(rounds)
      local sum = 0
      for _ = 1, rounds do
        local started, stopped = actor.ask { nursery, "round", timeout = math.huge }
        if started ~= p.actors or stopped ~= p.actors then all_confirmed = false end
        sum = sum + stopped
      end
      return sum
    end

    play(p.warm_up)
    local done
    report.clock(function() done = play(p.rounds) end)
    report.check("all started and all stopped, in each round", all_confirmed)
    report.check("no child is left alive", function(stats) return stats.alive == 1 end)
    return { requested = p.rounds * p.actors, done = done, unit = "actor" }
  end,
}
