-- actor.later: an ask answered later, once.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

local kept, server

local Server = actor.behavior("server", {
  receive = {
    keep = function() kept[#kept + 1] = actor.later() return "not this" end,
    reply = function(_, i, ...) return kept[i]:reply(...) end,
    fail = function(_, i, why) return kept[i]:fail(why) end,
    drop = function(_, i) kept[i] = nil collectgarbage() collectgarbage() end,
    twice = function() local r = actor.later() r:reply(1) return r:reply(2) end,
    both = function() local r, again = actor.later(), actor.later() again:reply("no") r:reply("yes") end,
    forget = function() actor.later() collectgarbage() end,
    exit = function() actor.exit("bye") end,
  },
})

test.before(function() kept, server = {}, actor.spawn(Server) end)

-- Asks the server to keep an ask, and returns a table that gets the answer.
local function keep()
  local result, n = {}, #kept
  actor.process(function()
    local answer = table.pack(server:ask("keep"))
    result.answer = answer
  end)
  test.eventually(function() return #kept > n end)
  return result
end

-- The answer that came, as table.pack has it.
local function answer(result)
  return test.eventually(function() return result.answer end)
end

test.it("is owed until it is answered, in any order", function()
  local first, second = keep(), keep()
  test.equal(tostring(kept[1]), "request<owed>")
  test.equal(first.answer, nil)
  test.equal({ server:ask("reply", 2, "second") }, { true })
  test.equal(answer(second), table.pack "second")
  test.equal(first.answer, nil)
  test.equal({ server:ask("reply", 1, "first") }, { true })
  test.equal(answer(first), table.pack "first")
  test.equal(tostring(kept[1]), "request<answered>")
end)

test.it("is answered once", function()
  keep()
  test.equal({ server:ask("reply", 1, "first") }, { true })
  test.equal({ server:ask("reply", 1, "again") }, { nil, "expired" })
  test.equal({ server:ask("fail", 1) }, { nil, "expired" })
  test.equal({ server:ask("twice") }, { 1 })
  test.equal({ server:ask("both") }, { "yes" })
end)

test.it("is answered with any values", function()
  local result = keep()
  test.equal({ server:ask("reply", 1, nil, 2, nil) }, { true })
  test.equal(answer(result), table.pack(nil, 2, nil))
end)

test.it("may fail", function()
  for i, case in ipairs { { "my own words", "failed" }, { "timeout", "timeout" }, { nil, "failed" } } do
    local result = keep()
    test.equal({ server:ask("fail", i, case[1]) }, { true })
    test.equal(answer(result), table.pack(nil, case[2]))
  end
end)

test.it("is of use to its own actor only", function()
  keep()
  test.equal({ pcall(kept[1].reply, kept[1]) },
             { false, "only the actor that took a request can answer it" })
  test.equal({ pcall(kept[1].reply, 1) }, { false, "a request expected, got a number" })
  test.equal(getmetatable(kept[1]), false)
end)

test.it("fails its ask at once when it is dropped", function()
  test.equal({ server:ask("forget") }, { nil, "unanswered" })
  local result = keep()
  server:ask("drop", 1)
  test.equal(answer(result), table.pack(nil, "unanswered"))
end)

test.it("is answered already where nobody waits", function()
  local said
  actor.spawn(function() said = table.pack(actor.later():reply(1)) end):send()
  test.equal(test.eventually(function() return said end), table.pack(nil, "expired"))
end)

test.it("fails when its actor ends", function()
  local result = keep()
  server:send("exit")
  test.equal(answer(result), table.pack(nil, "stopped"))
end)
