-- A hook that a handler sets ends with it: the next actor's handler runs without.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

local function count(n)
  local sum = 0
  for i = 1, n do sum = sum + i end
  return sum
end

test.it("ends with its handler", function()
  local sets = actor.spawn(function()
    debug.sethook(function() error("the hook of another actor") end, "", 1000)
    return debug.gethook() ~= nil
  end)
  local works = actor.spawn(function() return count(100000), debug.gethook() end)
  for _ = 1, 3 do
    test.equal(sets:ask(), true)
    test.equal({ works:ask() }, { 5000050000 })
  end
end)
