-- "isolate": an actor with a vat and a Lua machine of its own, which ends with it.
--
-- args: --vats 2
local actor = require "actor"

shared = "of vat 0"
local offset = 10
local function who(...)
  shared = (shared or "") .. "x"
  return actor.stats().vat, shared, offset, ...
end

-- Each has its own machine, beyond the vats that the engine began with.
local a, b = actor.spawn_on("isolate", who), actor.spawn_on("isolate", who)
local vat_a, text_a, n = a:ask()
local vat_b, text_b = b:ask()
print(vat_a >= 2, vat_b >= 2, vat_a ~= vat_b, text_a, text_b, n, shared)
-- expect: true	true	true	x	x	10	of vat 0
print((select(2, a:ask())), (select(2, b:ask())))      -- expect: xx	xx

-- What it makes lives with it, and another may be placed there by its number.
local beside = actor.spawn_on(vat_a, function() return actor.stats().vat, shared end)
print(beside:ask() == vat_a, select(2, beside:ask()))   -- expect: true	xx
a:stop()
print(a:ask())                                         -- expect: nil	stopped

-- Processes
local p = actor.process_on("isolate", function(to, t)
  actor.sleep(1)
  to:send("from an isolate", t.x, actor.stats().vat >= 2)
  while true do actor.reply(actor.receive()) end
end, actor.spawn(print), { x = 1 })
print(p:ask("to an isolate"))
-- expect: from an isolate	1	true
-- expect: to an isolate
p:kill()
while p:ask() do end

-- One after the other, and an error in one is its own.
local sum = 0
for i = 1, 20 do
  local one = actor.spawn_on("isolate", function(x) return x end)
  sum = sum + one:ask(i)
  one:stop()
end
print(sum)                                             -- expect: 210
print(actor.spawn_on("isolate", function() error("in an isolate", 0) end):ask())   -- expect: nil	failed
print(b:ask() == vat_b)                                -- expect: true
-- expect-error: in an isolate
-- expect-status: 1
