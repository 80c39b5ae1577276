-- Each actor has a self of its own, also when others die in between and their places are used again.
local actor = require "actor"

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

local right, lives = 0, 0
for round = 1, 2000 do
  local a, b = actor.spawn(Counter, -round), actor.spawn(Counter, round)
  for _ = 1, 3 do a:send("add", -round) end
  if round % 2 == 0 then b:send("add", round) end
  lives = lives + 2
  if a:ask("last", -round) == 3 then right = right + 1 end
  if b:ask("last", round) == (round % 2 == 0 and 1 or 0) then right = right + 1 end
end
print(lives, right)                    -- expect: 4000	4000
