-- Nothing vanishes: what is sent is handled once, or is a dead letter with its reason.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local test = require "actor.test"

local function ask(...) return actor.ask { timeout = math.huge, ... } end

local function letters()
  local list, all = actor.stats().dead_letters, 0
  for _, n in pairs(list) do all = all + n end
  return all, list
end

-- Counts at somebody who stays, since who is stopped takes its counts with it.
local Counter = actor.behavior("accounts.counter", {
  init = function(self) self.n = 0 end,
  receive = { one = function(self) self.n = self.n + 1 end, n = function(self) return self.n end },
})

local Worker = actor.behavior("accounts.worker", {
  init = function(self, counter) self.counter = counter end,
  receive = {
    work = function(self, pause)
      self.counter:send("one")
      if pause then actor.sleep(pause) end
    end,
    fail = function(self)
      self.counter:send("one")
      error("worker", 0)
    end,
  },
})

local Sender = actor.behavior("accounts.sender", {
  receive = {
    send = function(_, to, n)
      for i = 1, n do
        to:send("work", i % 4 == 0 and 1 or nil)
        if i % 3 == 0 then actor.sleep(0) end
      end
      return n
    end,
    is_done = function() return true end,
  },
})

-- How a worker ends, and what its end adds: the message whose handler is cut short has been counted at the
-- counter, and is a dead letter besides.
local ends = {
  { "none", function() end, 0, 0 },
  { "stop", function(worker) worker:stop() end, 0, 1 },
  { "stop with now", function(worker) worker:stop { now = true } end, 0, 1 },
  { "kill", function(worker) worker:kill() end, 0, 1 },
  { "failure", function(worker) worker:send("fail") end, 2, 2 },
}

for _, how in ipairs(ends) do
  for _, where in ipairs { 0, 1, "any", "isolate" } do
    local name, finish, least, most = table.unpack(how)
    test.it(("three send to one that ends meanwhile: %s (in %s)"):format(name, where), function()
      if name == "failure" then test.expect_failure "worker" end
      local counter = actor.spawn(Counter)
      local worker = actor.spawn_on(where, Worker, counter)
      local senders, before = {}, letters()
      for i = 1, 3 do
        senders[i] = actor.spawn_on(i % 3, Sender)
        senders[i]:send("send", worker, 10)
      end
      actor.sleep(2)
      finish(worker)
      for _, sender in ipairs(senders) do ask(sender, "is_done") end
      test.advance(200)
      local handled, dead = ask(counter, "n"), letters() - before
      test.equal(handled + dead - 30, function(n) return n >= least and n <= most end)
      if name == "none" then test.equal({ handled, dead }, { 30, 0 }) end
    end)
  end
end

test.it("each reason has its count", function()
  test.expect_failure "worker"
  local _, before = letters()
  local function counts(reason) return select(2, letters())[reason] - before[reason] end

  for _, where in ipairs { 0, 1, 2 } do
    local counter = actor.spawn(Counter)
    local gone = actor.spawn_on(where, Worker, counter)
    gone:stop()
    gone:send("work")
    local fails = actor.spawn_on(where, Worker, counter)
    fails:send("fail")
    actor.spawn_on(where, Worker, counter):send("a name that nobody handles")
    local slow = actor.spawn_on(where, Worker, counter)
    slow:send("work", 100)
    actor.ask { slow, "work", timeout = 10 }
    test.advance(200)
    slow:kill()
    test.advance(50)
    slow:send("work")
    test.advance(50)
  end
  test.equal(counts "failed", 3)
  test.equal(counts "unhandled", 3)
  test.equal(counts "expired", 3)
  test.equal(counts "stopped" + counts "no_actor", 6)
end)

test.it("what is asked is answered or fails, each once", function()
  for _, where in ipairs { 0, 1, "any", "isolate" } do
    local counter = actor.spawn(Counter)
    local worker = actor.spawn_on(where, Worker, counter)
    local probe = test.probe()
    for i = 1, 6 do
      actor.process_on(i % 3, function(w, to)
        to:send("ended", select("#", ask(w, "work", 5)))
      end, worker, probe.pid)
    end
    actor.sleep(7)
    worker:stop { now = true }
    for _ = 1, 6 do probe:expect("ended", test.any) end
    probe:expect_none(100)
  end
end)
