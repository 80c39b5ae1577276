-- An ask that its caller has given up is not handled when its turn comes, near or far.
--
-- args: --vats 2
-- expect-status: 1
-- expect-error: deadlock
local actor = require "actor"

local function circle(spawn)
  local a, b
  a = spawn(function(n) print("a handles", n) return b:ask(n + 1) end)
  b = actor.spawn(function(n)
    print("b handles", n)
    if n > 12 then return "end" end
    return a:ask(n + 1)
  end)
  return a
end

print(circle(actor.spawn):ask(1))
-- expect: a handles	1
-- expect: b handles	2
-- expect: nil	deadlock

-- The far one asks itself by way of this script's vat.
local Far = actor.spawn_on(1, function(first, peer, n)
  if first then return peer:ask(n) end
  return "handled"
end)
local near
near = actor.spawn(function(n) return Far:ask(false, near, n) end)
print(Far:ask(true, near, 1))                -- expect: nil	deadlock
print(Far:ask(false))                        -- expect: handled
