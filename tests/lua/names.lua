-- Strings that are often sent travel as names; made-up ones fill nothing. Either way they arrive.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

local function echo(...) return ... end

local Far = [[
  local actor = require "actor"
  return actor.behavior("declares", { receive = {
    first = function() return 1 end,
    a_name_that_is_longer_than_seven_bytes = function() return 2 end,
  } })
]]

test.it("brings each string once, far more than there can be names", function()
  local near = actor.spawn(echo)
  for i = 1, test.seed and 700 or 70000 do test.equal(near:ask("job" .. i), "job" .. i) end
end)

test.it("brings the same ones over and over", function()
  local near, far = actor.spawn(echo), actor.spawn_on(1, echo)
  for _ = 1, 40 do
    for i = 1, test.seed and 5 or 50 do
      test.equal(near:ask("often" .. i), "often" .. i)
      test.equal(far:ask("often" .. i), "often" .. i)
    end
  end
end)

test.it("knows the names that a behavior of another machine declares", function()
  local maker = actor.spawn_on(1, function()
    local made = load(Far)()
    return actor.spawn(made)
  end)
  local declares = maker:ask()
  for _ = 1, 20 do
    test.equal(declares:ask("first"), 1)
    test.equal(declares:ask("a_name_that_is_longer_than_seven_bytes"), 2)
    test.equal({ declares:ask("second") }, { nil, "unhandled" })
  end
  test.expect_log 'has no handler for "second"'
end)

-- The collector moves nothing, but addresses are used again.
test.it("tells strings apart that follow each other at an address", function()
  local counts, near = {}, actor.spawn(echo)
  local counter = actor.spawn(function(s) counts[s] = (counts[s] or 0) + 1 end)
  local tens = test.seed and 3 or 30
  for round = 1, 10 * tens do
    for i = 1, 100 do counter:send(("r%d.%d"):format(round // tens, i)) end
    if round % 10 == 0 then collectgarbage() near:ask() end
  end
  counter:ask("end")
  local n, total = 0, 0
  for s, count in pairs(counts) do
    n = n + 1
    total = total + count
    local round = tonumber(s:match "^r(%d+)%.")
    if round then test.equal(count, round == 0 and tens - 1 or round == 10 and 1 or tens, s) end
  end
  test.equal({ n, total }, { 1101, 1000 * tens + 1 })
end)
