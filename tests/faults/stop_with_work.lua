-- stop_with_work.lua - a clerk gives jobs to each worker, and the owner stops the worker when all are given.
--
-- Fault: a stop is handled after what its own sender has sent. The owner has sent nothing, so it may
-- overtake jobs that the clerk has sent, and these are lost.
-- Why the plain order hides it: in one vat a job is in the worker's queue as soon as it is sent.
-- Fixed: the clerk, who sent the jobs, stops the worker.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"

local Worker = actor.behavior("faults.worker", { receive = { job = function() end } })

local Clerk = actor.behavior("faults.clerk", {
  receive = {
    give = function(_, worker, jobs, fixed)
      for i = 1, jobs do worker:send("job", i) end
      if fixed then worker:stop() end
      return jobs
    end,
  },
})

return {
  name = "stop-with-work",
  about = "A worker is stopped while jobs are on their way to it.",
  params = { workers = 5, jobs = 3, fixed = false },
  run = function(p)
    local clerk, given = actor.spawn(Clerk), 0
    for _ = 1, p.workers do
      local worker = actor.spawn(Worker)
      given = given + clerk:ask("give", worker, p.jobs, p.fixed)
      if not p.fixed then worker:stop() end
    end
    return { requested = p.workers * p.jobs, done = given, unit = "job" }
  end,
}
