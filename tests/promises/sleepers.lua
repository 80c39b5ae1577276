-- Very many that sleep, under a virtual clock: each wakes at its time, and it takes the time of the work.
--
-- seeds: 5
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local test = require "actor.test"

local Counter = actor.behavior("sleepers.counter", {
  init = function(self) self.n, self.early, self.latest = 0, 0, 0 end,
  receive = {
    woke = function(self, ms, took)
      self.n = self.n + 1
      if took < ms then self.early = self.early + 1 end
      self.latest = math.max(self.latest, took - ms)
    end,
    result = function(self) return self.n, self.early, self.latest end,
  },
})

local Sleeper = actor.behavior("sleepers.sleeper", {
  init = function(self, ms, counter)
    self.counter, self.ms, self.begun = counter, ms, actor.now()
    actor.after(ms, "wake")
  end,
  receive = {
    wake = function(self)
      self.counter:send("woke", self.ms, actor.now() - self.begun)
      actor.exit()
    end,
  },
})

local function process(ms, counter)
  local begun = actor.now()
  actor.sleep(ms)
  counter:send("woke", ms, actor.now() - begun)
end

-- On threads time passes.
local LONG = test.seed and 5000 or 200

local function run(n, make)
  local counter, start = actor.spawn(Counter), actor.now()
  for i = 1, n do make(i, LONG + i % (LONG // 5), counter) end
  test.eventually(function() return counter:ask("result") == n end, 60000)
  test.equal(select(2, counter:ask("result")), 0)
  -- Each has three deliveries, for each of which a turn, and a millisecond, may pass.
  local most = 2 * LONG + 3 * n
  if test.seed then test.ok(actor.now() - start < most, "the clock went on with the work") end
  test.eventually(function() return actor.stats().alive < 20 end)
end

test.it("100,000 actors with a timer", function()
  run(100000, function(_, ms, counter) actor.spawn(Sleeper, ms, counter) end)
end)

test.it("20,000 processes that sleep, in several vats", function()
  run(20000, function(i, ms, counter) actor.process_on(i % 3, process, ms, counter) end)
end)
