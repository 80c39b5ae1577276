-- An actor that gives way again and again holds up neither timers nor other vats.
-- seeds: 1 2 3 4 5 6 7 8
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"

local is_over, is_heard = false, false

actor.process(function()
  while not (is_over and is_heard) do actor.sleep(0) end
  print("both have come")                     -- expect: both have come
end)

actor.process(function()
  actor.sleep(10)
  is_over = true
end)

actor.process(function()
  local me = actor.self()
  actor.process_on(actor.stats().vats - 1, function(to) to:send("from afar") end, me)
  actor.receive()
  is_heard = true
end)
