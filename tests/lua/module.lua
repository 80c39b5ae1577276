-- The rest of the module.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

local function echo(...) return ... end

-- Why there is no answer of an actor that has been told to stop: the ask comes before its end, or after it.
local function gone(why) return why == "stopped" or why == "no_actor" end

test.it("is found again when it is required anew", function()
  test.ok(rawequal(actor, package.loaded.actor))
  package.loaded.actor = nil
  test.ok(rawequal(require "actor", actor))
end)

test.describe("a pid", function()
  test.it("is told from all else", function()
    test.equal(actor.is_pid(actor.self()), true)
    for _, value in ipairs { 1, "pid", actor.other, io.stdout, {} } do
      test.equal(actor.is_pid(value), false)
    end
    test.equal(actor.is_pid(nil), false)
    test.fails(actor.is_pid, "bad argument #1 to 'actor.is_pid' (value expected)")
  end)

  test.it("is a value", function()
    local me, pid = actor.self(), actor.spawn(echo)
    test.ok(pid == pid:ask(pid) and pid ~= me)
    test.equal(({ [pid] = "key" })[pid:ask(pid)], "key")
    test.ok(tostring(pid):find "^pid<%d+%.%d+%.%d+>$", tostring(pid))
    test.matches(tostring(actor.spawn_on(1, print)), "^pid<1%.")
  end)

  test.it("has no other fields", function()
    local me = actor.self()
    test.equal(me.nothing, nil)
    test.fails(function() me:nothing() end,
               "^module.lua:%d+: attempt to call a nil value %(method 'nothing'%)")
  end)
end)

test.it("shows its keys by their names", function()
  test.equal({ tostring(actor.down), tostring(actor.other) }, { "actor.down", "actor.other" })
end)

test.it("sends to what is gone, stops and kills it", function()
  local pid = actor.spawn(function() end)
  test.equal({ pid:stop(), pid:send(1), pid:ask() }, { true, true, nil, gone })
  test.eventually(function() return select(2, pid:ask()) == "no_actor" end)
  test.equal({ pid:stop(), pid:kill(), pid:send(1), pid:ask() }, { true, true, true, nil, "no_actor" })
end)

test.it("does not ask oneself", function() test.equal({ actor.self():ask() }, { nil, "self" }) end)

test.it("knows the sender", function()
  local me = actor.self()
  test.equal(actor.spawn(function() return actor.sender() == me end):ask(), true)
end)

test.it("exits when the handler has returned", function()
  local Exits = actor.behavior("exits", {
    init = function(self, to) self.to = to end,
    stop = function(self, reason) self.to:send("reason", reason) end,
    receive = { now = function(_, why) actor.exit(why) return "returned" end },
  })
  local probe = test.probe()
  test.equal(actor.spawn(Exits, probe.pid):ask("now"), "returned")
  probe:expect("reason", "normal")
  test.equal(actor.spawn(Exits, probe.pid):ask("now", "enough"), "returned")
  probe:expect("reason", "enough")
end)

test.it("has a clock that does not go back", function()
  local t = actor.now()
  test.equal(math.type(t), "float")
  test.ok(actor.now() >= t)
end)

test.it("counts", function()
  local gone = actor.spawn(echo)
  gone:stop()
  test.eventually(function() return select(2, gone:ask()) == "no_actor" end)
  gone:send(1)
  local s = actor.stats()
  test.equal({ s.vats, s.vat }, { 4, 0 })
  test.ok(s.workers >= 1 and s.alive <= s.spawned and s.dead_letters.no_actor >= 1)
  for _, name in ipairs {
    "spawned", "stopped", "alive", "peak_alive", "failed", "messages", "far_messages", "late_replies",
    "deadlocks", "timeouts", "timers", "fired", "steals", "parks", "turns", "wakes",
  } do test.equal(math.type(s[name]), "integer", name) end
end)

test.it("logs", function()
  actor.log("plain", 1, nil, true)
  actor.log("warn", "a warning", true)
  actor.log("error")
  actor.log("error", "an error")
  actor.log("debug", "a detail")
  actor.log(setmetatable({}, { __tostring = function() return "an object" end }))
  for _, text in ipairs {
    "info: plain 1 nil true", "warning: a warning true", "info: error", "error: an error",
    "debug: a detail", "info: an object",
  } do test.expect_log(text) end
end)

test.it("logs Lua's warnings", function()
  warn("a ", "warning in pieces")
  warn("@off")
  warn("not shown")
  warn("@on")
  test.expect_log "^warning: a warning in pieces$"
end)

test.describe("a loop that only sends", function()
  local count, sink
  test.before(function()
    count = 0
    sink = actor.spawn(function() count = count + 1 return count end)
  end)

  local function flood()
    for _ = 1, 5000 do sink:send(1) end
    return count
  end

  -- How many were handled when f's handler returned.
  local function seen(f) return actor.spawn(f):ask() end

  test.it("lets others run", function()
    local n = seen(flood)
    test.ok(n > 0 and n < 5000, n)
  end)

  test.it("lets others run from a coroutine", function()
    local n = seen(function() return coroutine.wrap(flood)() end)
    test.ok(n > 0 and n < 5000, n)
  end)

  test.it("goes on where it cannot stop", function()
    test.equal(seen(function()
      local n
      string.gsub("x", "x", function() n = flood() end)
      return n
    end), 0)
  end)
end)
