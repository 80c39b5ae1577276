-- philosophers.lua - philosophers at a round table, a fork between two of them; each takes the left fork,
-- then the right one (Dijkstra, 1965).
--
-- Fault: when each has taken its left fork, each waits for its right one for ever.
-- Why the plain order hides it: each thinks for some turns before it is hungry, no two for as many, and has
-- eaten before the next one reaches for a fork.
-- Fixed: each takes the fork with the lower number first.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"

local Fork = actor.behavior("faults.fork", {
  init = function(self) self.waiting = {} end,
  receive = {
    take = function(self)
      if self.is_taken then
        self.waiting[#self.waiting + 1] = actor.later()
        return
      end
      self.is_taken = true
      return true
    end,
    put = function(self)
      local waiting = table.remove(self.waiting, 1)
      if waiting then
        waiting:reply(true)
      else
        self.is_taken = false
      end
    end,
  },
})

local Philosopher = actor.behavior("faults.philosopher", {
  receive = {
    dine = function(_, meals, first, second, thinks)
      for meal = 1, meals do
        for _ = 1, thinks do actor.sleep(0) end
        if not actor.ask { first, "take", timeout = math.huge } then return meal - 1 end
        if not actor.ask { second, "take", timeout = math.huge } then return meal - 1 end
        first:send("put")
        second:send("put")
      end
      return meals
    end,
    rest = function() return true end,
  },
})

return {
  name = "philosophers",
  about = "Dining philosophers, each of whom takes the left fork first.",
  params = { philosophers = 3, meals = 1, fixed = false },
  run = function(p)
    local forks, table_round = {}, {}
    for i = 1, p.philosophers do forks[i] = actor.spawn(Fork) end
    for i = 1, p.philosophers do
      local left, right = i, i % p.philosophers + 1
      if p.fixed then left, right = math.min(left, right), math.max(left, right) end
      table_round[i] = actor.spawn(Philosopher)
      table_round[i]:send("dine", p.meals, forks[left], forks[right], 6 * (i - 1))
    end
    for _, philosopher in ipairs(table_round) do
      actor.ask { philosopher, "rest", timeout = math.huge }
    end
    local n = p.philosophers * p.meals
    return { requested = n, done = n, unit = "meal" }
  end,
}
