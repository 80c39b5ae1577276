-- near_upvalue.lua - workers add up their results in a local variable of the one who made them.
--
-- Fault: a function that is a behavior shares its upvalues with its maker only where both are in one vat.
-- In another one it has copies, and what it adds there nobody sees.
-- Why the plain order hides it: `actor.spawn` makes its actors in the vat of the caller.
-- Fixed: each worker answers with its result.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"

return {
  name = "near-upvalue",
  about = "Workers add to a variable that they do not always share.",
  params = { workers = 3, fixed = false },
  run = function(p, report)
    local sum, answers = 0, 0
    local function work(n)
      sum = sum + n * n
      return n * n
    end
    for n = 1, p.workers do answers = answers + actor.spawn(work):ask(n) end

    local n = p.workers
    report.check("the sum of the squares is right",
      (p.fixed and answers or sum) == n * (n + 1) * (2 * n + 1) // 6)
    return { requested = n, done = n, unit = "square" }
  end,
}
