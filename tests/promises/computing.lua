-- A handler that computes for long gives way to others; to its own actor it is one piece.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local test = require "actor.test"

local function ask(...) return actor.ask { timeout = math.huge, ... } end
local places = { 0, 1, "isolate" }

local function compute(n)
  local x = 0
  for i = 1, n do x = (x * 31 + i) % 1000003 end
  return x
end

-- Says of each message when it begins and ends, and counts what it finds changed in between.
local Worker = actor.behavior("computing.worker", {
  init = function(self) self.list, self.changed = {}, 0 end,
  receive = {
    work = function(self, i, n)
      self.current, self.sum = i, 0
      for _ = 1, 10 do
        compute(n)
        self.sum = self.sum + 1
        if self.current ~= i or actor.self() ~= self.pid then self.changed = self.changed + 1 end
      end
      if self.sum ~= 10 then self.changed = self.changed + 1 end
      table.insert(self.list, i)
    end,
    begin = function(self) self.pid = actor.self() return true end,
    result = function(self) return table.concat(self.list, " "), self.changed end,
  },
})

local function order(n)
  local list = {}
  for i = 1, n do list[i] = i end
  return table.concat(list, " ")
end

for _, where in ipairs(places) do
  test.it(("its actor's messages stay in order, and self is its own (in %s)"):format(where), function()
    local workers = {}
    for i = 1, 3 do
      workers[i] = actor.spawn_on(where, Worker)
      ask(workers[i], "begin")
    end
    for i = 1, 10 do
      for _, worker in ipairs(workers) do worker:send("work", i, i * 100) end
    end
    for _, worker in ipairs(workers) do test.equal({ ask(worker, "result") }, { order(10), 0 }) end
  end)
end

-- In coroutines, iterators, pcall and metamethods, too.
local function nested(n)
  local sum = 0
  local mt = { __add = function(a, b) return { x = a.x + compute(20) * 0 + b } end }
  local iterate = coroutine.wrap(function()
    for i = 1, n do
      local ok, x = pcall(function() return (setmetatable({ x = compute(30) * 0 }, mt) + i).x end)
      coroutine.yield(ok and x)
    end
  end)
  for x in iterate do sum = sum + x end
  return sum
end

local Nesting = actor.behavior("computing.nesting", {
  receive = { sum = function(_, n) return nested(n) end },
})

for _, where in ipairs(places) do
  test.it(("what it computes is right, wherever it gives way (in %s)"):format(where), function()
    local probe = test.probe()
    for i = 1, 4 do
      local a = actor.spawn_on(where, Nesting)
      actor.process(function() probe.pid:send("sum", i, ask(a, "sum", 40 + i)) end)
    end
    for _ = 1, 4 do
      local _, i, sum = probe:expect("sum", test.any, test.any)
      test.equal(sum, (40 + i) * (41 + i) // 2)
    end
  end)
end

-- A long handler, and what has been told by the time it ends.
local Long = actor.behavior("computing.long", {
  init = function(self, probe) self.probe = probe end,
  stop = function(self) self.probe:send("hook") end,
  receive = {
    compute = function(self, n)
      self.probe:send("begins")
      for _ = 1, n do compute(100) end
      self.probe:send("ends")
      return "answer"
    end,
    ping = function() return "pong" end,
  },
})

for _, where in ipairs(places) do
  test.it(("a stop waits for it, also one ahead of the queue (in %s)"):format(where), function()
    for _, now in ipairs { false, true } do
      local probe = test.probe()
      local long = actor.spawn_on(where, Long, probe.pid)
      long:send("compute", 50)
      probe:expect("begins")
      long:stop { now = now }
      probe:expect("ends")
      probe:expect("hook")
      probe:expect_none()
    end
  end)

  test.it(("a kill ends it where it is, or not before its end (in %s)"):format(where), function()
    local probe = test.probe()
    local long = actor.spawn_on(where, Long, probe.pid)
    long:send("compute", 200)
    probe:expect("begins")
    long:kill()
    local word, why = probe:receive(1000)
    test.ok(word == "ends" or why == "timeout", word)
    probe:expect_none(1000)
    test.equal({ ask(long, "ping") }, { [2] = function(reason)
      return reason == "stopped" or reason == "no_actor" end })
  end)

  test.it(("an ask of it is answered once (in %s)"):format(where), function()
    local probe = test.probe()
    local long = actor.spawn_on(where, Long, probe.pid)
    test.equal({ ask(long, "compute", 100) }, { "answer" })
    test.equal({ ask(long, "ping") }, { "pong" })
    probe:expect("begins")
    probe:expect("ends")
    probe:expect_none()
  end)
end
