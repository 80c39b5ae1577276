-- "isolate": an actor with a vat and a Lua machine of its own, which ends with it.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

-- Why there is no answer of an actor that has been told to stop: the ask comes before its end, or after it.
local function gone(why) return why == "stopped" or why == "no_actor" end

local offset = 10
local function who(...)
  shared = (shared or "") .. "x"
  return actor.stats().vat, shared, offset, ...
end

test.it("has its own machine, beyond the vats that the engine began with", function()
  shared = "of vat 0"
  local a, b = actor.spawn_on("isolate", who), actor.spawn_on("isolate", who)
  local vat_a, text_a, n = a:ask()
  local vat_b, text_b = b:ask()
  local vats = actor.stats().vats
  test.ok(vat_a >= vats and vat_b >= vats and vat_a ~= vat_b)
  test.equal({ text_a, text_b, n, shared }, { "x", "x", 10, "of vat 0" })
  test.equal((select(2, a:ask())), "xx")
  test.equal((select(2, b:ask())), "xx")
end)

test.it("may be a place for others, by its number", function()
  local a = actor.spawn_on("isolate", who)
  local vat = a:ask()
  local beside = actor.spawn_on(vat, function() return actor.stats().vat, shared end)
  test.equal({ beside:ask() }, { vat, "x" })
  a:stop()
  test.equal({ a:ask() }, { nil, gone })
end)

test.it("may be a process", function()
  local probe = test.probe()
  local p = actor.process_on("isolate", function(to, t)
    actor.sleep(1)
    to:send("from an isolate", t.x, actor.stats().vat)
    while true do actor.reply(actor.receive()) end
  end, probe.pid, { x = 1 })
  test.equal(p:ask("to an isolate"), "to an isolate")
  local vats = actor.stats().vats
  probe:expect("from an isolate", 1, function(vat) return vat >= vats end)
  p:kill()
  test.eventually(function() return p:ask() == nil end)
end)

test.it("may follow one that has ended", function()
  local sum = 0
  for i = 1, 20 do
    local one = actor.spawn_on("isolate", function(x) return x end)
    sum = sum + one:ask(i)
    one:stop()
  end
  test.equal(sum, 210)
end)

test.it("has its errors for itself", function()
  test.expect_failure "in an isolate"
  local other = actor.spawn_on("isolate", who)
  local vat = other:ask()
  test.equal({ actor.spawn_on("isolate", function() error("in an isolate", 0) end):ask() },
             { nil, "failed" })
  test.equal(other:ask(), vat)
end)
