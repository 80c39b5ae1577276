-- Quiet: who waits for what can never come is told so at once, by name; who waits for nothing is not.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local test = require "actor.test"

local function ask(...) return actor.ask { timeout = math.huge, ... } end
local places = { 0, 1, "isolate" }

-- Asks the next one when it is asked.
local Link = actor.behavior("quiet.link", {
  receive = {
    next = function(self, pid) self.next_one = pid return true end,
    pass = function(self, timeout)
      return actor.ask { self.next_one, "pass", timeout, timeout = timeout or math.huge }
    end,
  },
})

-- A ring of n, of which each asks the next.
local function ring(n, where)
  local links = {}
  for i = 1, n do links[i] = actor.spawn_on(where == "spread" and i % 3 or where, Link) end
  for i = 1, n do ask(links[i], "next", links[i % n + 1]) end
  return links
end

for _, where in ipairs { 0, 1, "spread", "isolate" } do
  test.it(("a ring of asks ends as a deadlock, at once (in %s)"):format(where), function()
    test.expect_failure "deadlock: quiet.link <.*> waits at quiet.lua:%d+ for an answer of quiet.link"
    test.expect_failure "deadlock: actor.test.case <.*> waits at quiet.lua:%d+ for an answer of quiet.link"
    for n = 2, 4 do
      local links, before, found = ring(n, where), actor.now(), actor.stats().deadlocks
      test.equal({ ask(links[1], "pass") }, { [2] = "deadlock" })
      if test.seed then test.ok(actor.now() - before < 1000, "not at once") end
      test.eventually(function() return actor.stats().deadlocks - found >= 2 end)
    end
  end)

  test.it(("asks with a time do not wait for it (in %s)"):format(where), function()
    test.expect_failure "deadlock"
    local links, before = ring(3, where), actor.now()
    test.equal({ ask(links[1], "pass", 60000) }, { [2] = "deadlock" })
    if test.seed then test.ok(actor.now() - before < 1000, "not at once") end
  end)
end

-- While a timer is pending something may still come.
local Late = actor.behavior("quiet.late", {
  receive = {
    get = function(self, ms)
      self.request = actor.later()
      actor.after(ms, "answer")
    end,
    answer = function(self) self.request:reply("late") end,
    background = function()
      actor.later()
      actor.every({ 1, background = true }, "tick")
    end,
    tick = function() end,
    repeating = function(self)
      self.request, self.n = actor.later(), 0
      self.timer = actor.every(1000, "count")
    end,
    count = function(self)
      self.n = self.n + 1
      if self.n < 5 then return end
      actor.cancel(self.timer)
      self.request:reply(self.n)
    end,
  },
})

for _, where in ipairs(places) do
  test.it(("a pending timer is no deadlock (in %s)"):format(where), function()
    local late = actor.spawn_on(where, Late)
    if test.seed then test.equal(ask(late, "get", 3600 * 1000), "late") end
    test.equal(ask(late, "get", 50), "late")
    if test.seed then test.equal(ask(late, "repeating"), 5) end
  end)

  test.it(("a receive without a deadline and an idle actor do not wait (in %s)"):format(where), function()
    local probe = test.probe()
    local p = actor.process_on(where, function(to)
      to:send("got", actor.receive())
    end, probe.pid)
    actor.spawn_on(where, Late)
    test.advance(10000 // (test.seed and 1 or 100))
    p:send("word")
    probe:expect("got", "word")
  end)
end

test.it("others go on when a ring has ended", function()
  test.expect_failure "deadlock"
  local links = ring(3, "spread")
  local probe = test.probe()
  -- Only asks wait now: a probe that waits has a timer.
  for i = 2, 3 do
    actor.process(function() probe.pid:send("ended", select(2, ask(links[i], "pass"))) end)
  end
  test.equal({ ask(links[1], "pass") }, { [2] = "deadlock" })
  for _ = 2, 3 do probe:expect("ended", "deadlock") end
  for i = 1, 3 do ask(links[i], "next", probe.pid) end
  actor.process(function() probe.pid:send("ended", ask(links[2], "pass")) end)
  probe:expect("pass")
  probe:reply("through")
  probe:expect("ended", "through")
end)
