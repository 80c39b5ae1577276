-- check_then_act.lua - two visitors are counted: each asks for the count, then sets it to one more.
--
-- Fault: between the answer and the `set` the other visitor may have been told the same count, and one of
-- the two is lost. What was checked is old when it is acted on.
-- Why the plain order hides it: the second visitor looks around first, and takes so many turns for it that
-- the first one has been counted by then.
-- Fixed: one message, `add`, in place of two.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"

local Counter = actor.behavior("faults.counter", {
  init = function(self) self.value = 0 end,
  receive = {
    get = function(self) return self.value end,
    set = function(self, value) self.value = value end,
    add = function(self, n) self.value = self.value + n end,
  },
})

local Visitor = actor.behavior("faults.visitor", {
  receive = {
    visit = function(_, counter, looks, fixed)
      for _ = 1, looks do counter:ask("get") end
      if fixed then
        counter:ask("add", 1)
      else
        counter:ask("set", counter:ask("get") + 1)
      end
    end,
    is_done = function() return true end,
  },
})

return {
  name = "check-then-act",
  about = "Two visitors are counted, each in two steps.",
  params = { looks = 3, fixed = false },
  run = function(p, report)
    local counter = actor.spawn(Counter)
    local one, two = actor.spawn(Visitor), actor.spawn(Visitor)
    one:send("visit", counter, 0, p.fixed)
    two:send("visit", counter, p.looks, p.fixed)
    local done = one:ask("is_done") and two:ask("is_done")
    report.check("both visitors were counted", done and counter:ask("get") == 2)
    return { requested = 2, done = 2, unit = "visit" }
  end,
}
