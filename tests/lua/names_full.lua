-- Data that is sent often cannot use up the names: behaviors can still be declared.
--
-- args: --steps 10000000
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

test.it("leaves names for behaviors", function()
  -- A million messages, and no seed changes what they do to the names.
  if (test.seed or 1) > 1 then return end
  local got = 0
  local sink = actor.spawn(function(word)
    if word == "how many" then return got end
    got = got + 1
  end)
  for i = 1, 66000 do
    local word = "data" .. i
    for _ = 1, 16 do sink:send(word) end
    if i % 1000 == 0 then sink:ask("how many") end
  end
  test.equal(sink:ask("how many"), 1056000)

  local Late = actor.behavior("late", { receive = { hello = function() return "here" end } })
  test.equal(actor.spawn(Late):ask("hello"), "here")
end)
