-- What does not keep a run going: processes that wait for ever, timers in the background, and those of an
-- actor that has ended. A plain script, since what is tested is that it ends.
--
-- seeds: 1 2 3
local actor = require "actor"

actor.process(function() actor.receive() end)
actor.process(function() actor.receive(math.huge) end)
actor.process_on(actor.stats().vats - 1, function() actor.receive() end)
actor.process(function() actor.every(1, "x") actor.every({ 1, delay = true }, "y") end)
actor.spawn(actor.behavior("clock", {
  init = function() actor.every({ 1, background = true }, "tick") end,
  receive = { tick = function() end },
}))
actor.process(function()
  actor.sleep(10)
  print("the last word")                       -- expect: the last word
end)
