-- actor.exit where the actor is stopping already.
local actor = require "actor"

local echo = actor.spawn(function(...) return ... end)
local gone = 0

local Leaver = actor.behavior("leaver", {
  init = function(self, word) self.word = word end,
  stop = function(self, reason)
    actor.exit("once more")
    print(self.word, echo:ask(reason))
    actor.exit()
    actor.sleep(1)
    gone = gone + 1
  end,
  receive = { leave = function() actor.exit("by itself") end },
})

local first, second = actor.spawn(Leaver, "first"), actor.spawn(Leaver, "second")
first:stop()
print(first:ask("leave"))   -- expect: nil	stopped
                            -- expect: first	normal
second:send("leave")
print(second:ask("leave"))  -- expect: nil	stopped
                            -- expect: second	by itself
while gone < 2 do actor.sleep(1) end
print(first:ask("leave"))   -- expect: nil	no_actor
