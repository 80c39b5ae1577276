-- vat_setting.lua - a setting is stored in a table at the top of the file, and read by actors.
--
-- Fault: each vat loads the file and has a table of its own; in another vat than that in which it was
-- stored the setting is not there.
-- Why the plain order hides it: `actor.spawn` makes its actors in the vat of the caller.
-- Fixed: the setting is given to each actor when it is made.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"

local settings = { rate = 0 }

local Till = actor.behavior("faults.till", {
  init = function(self, rate) self.rate = rate end,
  receive = { tax = function(self, price) return price * (self.rate or settings.rate) // 100 end },
})

return {
  name = "vat-setting",
  about = "A setting is read by actors, some of them in another vat.",
  params = { tills = 2, rate = 20, fixed = false },
  run = function(p, report)
    settings.rate = p.rate
    for _ = 1, p.tills do
      local till = actor.spawn(Till, p.fixed and p.rate or nil)
      report.check("the tax is right", till:ask("tax", 50) == 50 * p.rate // 100)
    end
    return { requested = p.tills, done = p.tills, unit = "sale" }
  end,
}
