-- Births: the pid at once, `init` first, what was sent meanwhile behind it; and what happens if it fails.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local test = require "actor.test"

local function ask(...) return actor.ask { timeout = math.huge, ... } end
local places = { 0, 1, 2, "any", "isolate" }

local Slow = actor.behavior("births.slow", {
  init = function(self, ms)
    self.list = { "init begins" }
    if ms then actor.sleep(ms) end
    table.insert(self.list, "init ends")
  end,
  receive = {
    note = function(self, x) table.insert(self.list, x) end,
    list = function(self) return self.list end,
  },
})

for _, where in ipairs(places) do
  test.describe(("in %s"):format(where), function()
    test.it("init comes first, and what is sent meanwhile queues behind it", function()
      for _, ms in ipairs { false, 0, 20 } do
        local a = actor.spawn_on(where, Slow, ms)
        test.ok(actor.is_pid(a))
        a:send("note", 1)
        a:send("note", 2)
        test.equal(ask(a, "list"), { "init begins", "init ends", 1, 2 })
      end
    end)

    test.it("a pid may be handed on before its actor is born", function()
      for i = 1, 5 do
        local a = actor.spawn_on(where, Slow, i % 2 * 3)
        local others = {}
        for j = 1, 3 do
          others[j] = actor.spawn_on(j % 3, function(to)
            to:send("note", "handed on")
            return true
          end)
          others[j]:send(a)
        end
        test.eventually(function()
          local list = ask(a, "list")
          return #list == 5 and list[1] == "init begins" and list[2] == "init ends"
        end)
      end
    end)
  end)
end

local Bad = actor.behavior("births.bad", {
  init = function(_, ms)
    actor.sleep(ms)
    error("bad birth", 0)
  end,
  stop = function() error("a stop hook without a birth", 0) end,
  receive = { ping = function() return "pong" end },
})

for _, where in ipairs(places) do
  test.it(("a failed init is the actor's end, and each message's (in %s)"):format(where), function()
    test.expect_failure "bad birth"
    local letters = actor.stats().dead_letters
    local function lost()
      local now, n = actor.stats().dead_letters, 0
      for reason, count in pairs(now) do n = n + count - letters[reason] end
      return n
    end
    local probe = test.probe()
    for i = 0, 2 do
      local a = actor.spawn_on(where, Bad, i * 5)
      actor.process(function() probe.pid:send("answer", ask(a, "ping")) end)
      a:send("ping")
      probe:expect("answer", nil, function(why) return why == "init" or why == "no_actor" or why == "stopped" end)
    end
    test.eventually(function() return lost() == 6 end)
  end)
end

-- The parent is the spawner, across vats too: its end is the child's.
local Parent = actor.behavior("births.parent", {
  receive = { make = function(_, where) return actor.spawn_on(where, Slow) end },
})

for _, where in ipairs(places) do
  test.it(("who spawns is the parent (child in %s)"):format(where), function()
    for from = 0, 2 do
      local parent = actor.spawn_on(from, Parent)
      local child = ask(parent, "make", where)
      test.equal(ask(child, "list"), { "init begins", "init ends" })
      parent:stop()
      test.eventually(function()
        local list, why = actor.ask { child, "list", timeout = 100 }
        return not list and (why == "no_actor" or why == "stopped")
      end)
    end
  end)
end

test.it("many at once are born once each", function()
  local probe = test.probe()
  local Once = "births.once"
  for i = 1, 60 do
    actor.spawn_on(i % 4 == 3 and "any" or i % 4, function(to, name) to:send(name, to and i) end)
      :send(probe.pid, Once)
  end
  local seen = {}
  for _ = 1, 60 do
    local _, i = probe:expect(Once, test.any)
    test.ok(not seen[i], "twice")
    seen[i] = true
  end
  probe:expect_none()
end)
