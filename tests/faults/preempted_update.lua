-- preempted_update.lua - two actors of one vat add to one variable that both see.
--
-- Fault: a handler that computes may be interrupted between any two instructions, so also between reading
-- the variable and writing it. What the other one added meanwhile is lost.
-- Why the plain order hides it: a handler is interrupted only when it runs for longer than a slice.
-- Fixed: each adds to a number of its own, and the two are asked for theirs.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"

local shared = { sum = 0 }

local Adder = actor.behavior("faults.adder", {
  init = function(self) self.sum = 0 end,
  receive = {
    add = function(self, n, fixed)
      local where = fixed and self or shared
      for _ = 1, n do where.sum = where.sum + 1 end
    end,
    sum = function(self, fixed) return fixed and self.sum or shared.sum end,
  },
})

return {
  name = "preempted-update",
  about = "Two actors add to one variable, and interrupt each other.",
  params = { additions = 1000, fixed = false },
  run = function(p, report)
    local one, two = actor.spawn_on(0, Adder), actor.spawn_on(0, Adder)
    one:send("add", p.additions, p.fixed)
    two:send("add", p.additions, p.fixed)
    local first, second = one:ask("sum", p.fixed), two:ask("sum", p.fixed)
    local sum = p.fixed and first + second or math.max(first, second)
    report.check("no addition was lost", sum == 2 * p.additions)
    return { requested = 2 * p.additions, done = 2 * p.additions, unit = "addition" }
  end,
}
