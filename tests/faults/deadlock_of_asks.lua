-- deadlock_of_asks.lua - two accounts that pay each other, each asking the other to take the money.
--
-- Fault: an actor that waits for an answer handles nothing else. When both have begun to pay, each waits
-- for the other, which cannot answer.
-- Why the plain order hides it: the second clerk asks whether there is enough before it lets its account
-- pay, and by then the first payment is through.
-- Fixed: the account keeps the clerk's request, and answers it when it hears that the money was taken;
-- between the two it handles what else comes.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"

local function ask(...) return actor.ask { timeout = math.huge, ... } end

local Account = actor.behavior("faults.account", {
  init = function(self, balance) self.balance = balance end,
  receive = {
    pay = function(self, n, to, fixed)
      self.balance = self.balance - n
      if fixed then
        self.request = actor.later()
        to:send("take", n, actor.self())
      else
        return ask(to, "take", n)
      end
    end,
    take = function(self, n, from)
      self.balance = self.balance + n
      if from then from:send("taken") end
      return true
    end,
    taken = function(self) self.request:reply(true) end,
    balance = function(self) return self.balance end,
  },
})

local Clerk = actor.behavior("faults.clerk", {
  receive = {
    pay = function(_, n, from, to, checks, fixed)
      if not checks or ask(from, "balance") >= n then ask(from, "pay", n, to, fixed) end
    end,
    is_done = function() return true end,
  },
})

return {
  name = "deadlock-of-asks",
  about = "Two accounts pay each other, and each waits for the other.",
  params = { fixed = false },
  run = function(p, report)
    local ada, bob = actor.spawn(Account, 10), actor.spawn(Account, 10)
    local one, two = actor.spawn(Clerk), actor.spawn(Clerk)
    one:send("pay", 3, ada, bob, false, p.fixed)
    two:send("pay", 5, bob, ada, true, p.fixed)
    ask(one, "is_done")
    ask(two, "is_done")
    report.check("each has been paid", ask(ada, "balance") == 12 and ask(bob, "balance") == 8)
    return { requested = 2, done = 2, unit = "payment" }
  end,
}
