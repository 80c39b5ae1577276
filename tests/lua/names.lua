-- Strings that are often sent travel as names; made-up ones fill nothing. Either way they arrive.
--
-- args: --vats 2
local actor = require "actor"

local wrong = 0
local function check(expected, got) if expected ~= got then wrong = wrong + 1 end end
local near = actor.spawn(function(...) return ... end)
local far = actor.spawn_on(1, function(...) return ... end)

-- Each string once, far more than there can be names
for i = 1, 70000 do check("job" .. i, (near:ask("job" .. i))) end
-- The same ones over and over
for _ = 1, 40 do
  for i = 1, 50 do
    check("often" .. i, (near:ask("often" .. i)))
    check("often" .. i, (far:ask("often" .. i)))
  end
end
print(wrong)                                  -- expect: 0

-- Names that a behavior declares, sent by a machine that does not know them
local Far = [[
  local actor = require "actor"
  return actor.behavior("declares", { receive = {
    first = function() return 1 end,
    a_name_that_is_longer_than_seven_bytes = function() return 2 end,
  } })
]]
local maker = actor.spawn_on(1, function()
  local made = load(Far)()
  return actor.spawn(made)
end)
local declares = maker:ask()
for _ = 1, 20 do
  check(1, declares:ask("first"))
  check(2, declares:ask("a_name_that_is_longer_than_seven_bytes"))
  check(nil, (declares:ask("second")))
end
print(wrong)                                  -- expect: 0
-- expect-error: has no handler for "second"

-- The collector moves nothing, but addresses are used again.
local counts = {}
local counter = actor.spawn(function(s) counts[s] = (counts[s] or 0) + 1 end)
for round = 1, 300 do
  for i = 1, 100 do counter:send(("r%d.%d"):format(round // 30, i)) end
  if round % 10 == 0 then collectgarbage() near:ask() end
end
counter:ask("end")
local n, total = 0, 0
for s, count in pairs(counts) do
  n = n + 1
  total = total + count
  local round = tonumber(s:match "^r(%d+)%.")
  if round then check(round == 0 and 29 or round == 10 and 1 or 30, count) end
end
print(n, total, wrong)                        -- expect: 1101	30001	0
