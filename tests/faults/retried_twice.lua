-- retried_twice.lua - a buyer whose order is not confirmed in time orders once more.
--
-- Fault: no answer does not mean that nothing was done. The first order may have been taken, and only its
-- confirmation was late.
-- Why the plain order hides it: the confirmation takes forty messages and no time; the buyer would wait for
-- five milliseconds.
-- Fixed: the second order has the number of the first, and the shop takes each number once.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"

local Shop = actor.behavior("faults.shop", {
  init = function(self) self.sold, self.taken = 0, {} end,
  receive = {
    order = function(self, number)
      if number and self.taken[number] then return "taken" end
      if number then self.taken[number] = true end
      self.sold = self.sold + 1
      return "taken"
    end,
    sold = function(self) return self.sold end,
  },
})

-- Passes an order on, and the answer back.
local Agent = actor.behavior("faults.agent", {
  init = function(self, shop) self.shop = shop end,
  receive = { order = function(self, number) return self.shop:ask("order", number) end },
})

return {
  name = "retried-twice",
  about = "A buyer asks again, and is sold the same thing twice.",
  params = { agents = 20, orders = 5, patience = 5, fixed = false },
  run = function(p, report)
    local shop = actor.spawn(Shop)
    local agent = shop
    for _ = 1, p.agents do agent = actor.spawn(Agent, agent) end
    for i = 1, p.orders do
      local number = p.fixed and i or nil
      local answer = actor.ask { agent, "order", number, n = 3, timeout = p.patience }
      if not answer then answer = agent:ask("order", number) end
      report.check("the order was taken", answer == "taken")
    end
    report.check("each order was taken once", shop:ask("sold") == p.orders)
    return { requested = p.orders, done = p.orders, unit = "order" }
  end,
}
