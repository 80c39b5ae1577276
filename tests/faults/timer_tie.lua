-- timer_tie.lua - a keeper opens a gate at a time, and a train is there at that same time.
--
-- Fault: timers of two actors that are due in one millisecond may fire in any order.
-- Why the plain order hides it: they fire in the order in which they were set.
-- Fixed: the train waits for the gate.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"

local Gate = actor.behavior("faults.gate", {
  receive = {
    open = function(self)
      self.is_open = true
      if self.waiting then self.waiting:reply(true) end
    end,
    pass = function(self, waits)
      if self.is_open or not waits then return self.is_open or false end
      self.waiting = actor.later()
    end,
  },
})

local Keeper = actor.behavior("faults.keeper", {
  receive = {
    open_in = function(self, ms, gate)
      self.gate = gate
      actor.after(ms, "open")
    end,
    open = function(self) self.gate:send("open") end,
  },
})

local Train = actor.behavior("faults.train", {
  receive = {
    arrive_in = function(self, ms, gate, waits)
      self.request, self.gate, self.waits = actor.later(), gate, waits
      actor.after(ms, "arrive")
    end,
    arrive = function(self) self.request:reply(self.gate:ask("pass", self.waits)) end,
  },
})

return {
  name = "timer-tie",
  about = "A gate is opened in the millisecond in which a train comes.",
  params = { ms = 10, fixed = false },
  run = function(p, report)
    local gate = actor.spawn(Gate)
    actor.spawn(Keeper):send("open_in", p.ms, gate)
    local passed = actor.spawn(Train):ask("arrive_in", p.ms, gate, p.fixed)
    report.check("the gate was open", passed)
    return { requested = 1, done = 1, unit = "train" }
  end,
}
