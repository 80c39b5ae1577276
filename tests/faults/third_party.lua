-- third_party.lua - a door is told to unlock, and then a visitor is told to open it.
--
-- Fault: order is kept between one sender and one receiver. What the visitor sends may reach the door
-- ahead of what was sent to the door before the visitor was told.
-- Why the plain order hides it: in one vat a message is in the mailbox as soon as it is sent.
-- Fixed: the door is asked to unlock, and the visitor is told after the answer.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"

local Door = actor.behavior("faults.door", {
  init = function(self) self.is_locked = true end,
  receive = {
    unlock = function(self) self.is_locked = false end,
    open = function(self) return not self.is_locked end,
  },
})

local Visitor = actor.behavior("faults.visitor", {
  receive = { visit = function(_, door) return door:ask("open") end },
})

return {
  name = "third-party",
  about = "A door is opened before it has been unlocked.",
  params = { doors = 5, fixed = false },
  run = function(p, report)
    for _ = 1, p.doors do
      local door, visitor = actor.spawn(Door), actor.spawn(Visitor)
      if p.fixed then
        door:ask("unlock")
      else
        door:send("unlock")
      end
      report.check("the door was open", visitor:ask("visit", door))
    end
    return { requested = p.doors, done = p.doors, unit = "visit" }
  end,
}
