-- Each actor has a self of its own, also when others die in between and their places are used again.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

local Counter = actor.behavior("counter", {
  init = function(self, id) self.id, self.n = id, 0 end,
  receive = {
    add = function(self, id)
      assert(self.id == id, "another actor's self")
      self.n = self.n + 1
      return self.n
    end,
    last = function(self, id)
      assert(self.id == id, "another actor's self")
      actor.exit()
      return self.n
    end,
  },
})

test.it("has a self of its own", function()
  for round = 1, test.seed and 50 or 2000 do
    local a, b = actor.spawn(Counter, -round), actor.spawn(Counter, round)
    for _ = 1, 3 do a:send("add", -round) end
    if round % 2 == 0 then b:send("add", round) end
    test.equal(a:ask("last", -round), 3)
    test.equal(b:ask("last", round), round % 2 == 0 and 1 or 0)
  end
end)
