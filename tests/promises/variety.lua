-- What a seed decides, one kind of choice at a time: prints what came of it in one line. test_variety.sh
-- runs this under many seeds, and looks how many different lines there are.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"

local kinds = {}

-- Which vat runs next: what four of them, with nothing else in common, tell a collector.
function kinds.vat(tell)
  for vat = 0, 3 do
    actor.process_on(vat, function(to, v) for i = 1, 3 do to:send(v) actor.sleep(0) end end, tell, vat)
  end
end

-- Which ready actor of a vat runs next.
function kinds.actor(tell)
  for i = 1, 4 do
    actor.process(function(to, name) for _ = 1, 3 do to:send(name) actor.sleep(0) end end, tell, i)
  end
end

-- Whose message from afar arrives first: each vat is told once, and tells once.
function kinds.chain(tell)
  for vat = 1, 3 do
    actor.process_on(vat, function(to, v) to:send(v) end, tell, vat)
  end
end

-- Which of the timers due in one millisecond fires first.
function kinds.timer(tell)
  for i = 1, 4 do
    actor.process(function(to, name)
      actor.sleep(50)
      to:send(name)
    end, tell, i)
  end
end

-- Where "any" puts an actor. One tells after the other.
function kinds.place(tell)
  for _ = 1, 6 do
    tell:send(actor.spawn_on("any", function() return actor.stats().vat end):ask())
  end
end

-- Where a handler that computes is interrupted: how far each has come when the other looks.
function kinds.preempt(tell)
  local counts = { 0, 0 }
  for i = 1, 2 do
    actor.process(function()
      for _ = 1, 2000 do counts[i] = counts[i] + 1 end
      tell:send(counts[3 - i])
    end)
  end
end

-- How far a handler that computes has come when a kill ends it.
function kinds.kill(tell)
  local count = 0
  local computes = actor.process(function()
    for _ = 1, 2000 do count = count + 1 end
  end)
  actor.sleep(0)
  computes:kill()
  actor.sleep(100)
  tell:send(count)
end

-- How much time passes beside the work.
function kinds.clock(tell)
  local echo = actor.spawn_on(1, function(x) return x end)
  local begun = actor.now()
  for i = 1, 20 do echo:ask(i) end
  tell:send(math.floor(actor.now() - begun))
end

local kind = ...
local list = {}
local collector = actor.spawn(function(word, ...)
  if word == "list" then return table.concat(list, " ") end
  list[#list + 1] = tostring(word)
end)
kinds[kind](collector)
actor.sleep(1000)
print(collector:ask("list"))
