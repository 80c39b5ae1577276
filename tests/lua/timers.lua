-- Timers: their order, never early, cancelled for good, and gone with their actor.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

-- Runs f in a process, near or far, and returns what it returns.
local function run(place, f)
  local function body()
    actor.receive()
    local request = actor.later()
    request:reply(f())
  end
  local p = place == "near" and actor.process(body) or actor.process_on(1, body)
  return actor.ask { p, "go", timeout = 60000 }
end

-- A case for each place.
local function both(name, f)
  for _, place in ipairs { "near", "far" } do
    test.it(name .. ", " .. place, function() f(place) end)
  end
end

-- In the order of their times, not of their making; those of one time in the order made.
local function order(is_plain)
  local at, due = {}, {}
  for i, ms in ipairs { 300, 100, 200.5, 300, 0 } do
    at[i], due[i] = actor.now() + ms, ms
    actor.after(ms, "due", i)
  end
  local got, before = {}, 0
  for n = 1, 5 do
    local word, i = actor.receive(60000)
    if word ~= "due" or actor.sender() ~= actor.self() then return "another message" end
    if actor.now() < at[i] then return "early" end
    if due[i] < before then return "in another order" end
    got[n], before = i, due[i]
  end
  table.sort(got, function(a, b) return due[a] < due[b] or (due[a] == due[b] and is_plain and a < b) end)
  return table.concat(got, " ")
end

both("fire in the order of their times, and never early", function(place)
  local is_plain = test.seed == nil
  local got = run(place, function() return order(is_plain) end)
  -- Those of one time in the order made, unless a seed decides it.
  test.ok(got == "5 2 3 1 4" or (test.seed and got == "5 2 3 4 1"), got)
end)

both("carry what a message may", function(place)
  local function carries()
    local shared = { "x" }
    actor.after(1, nil, "a longer string", { shared, shared, pid = actor.self() }, 2.5, nil)
    local t = table.pack(actor.receive())
    return t.n, t[1], t[2], t[3][1] == t[3][2], t[3].pid == actor.self(), t[4], t[5]
  end
  test.equal(table.pack(run(place, carries)), table.pack(5, nil, "a longer string", true, true, 2.5, nil))
end)

local Ignores = actor.behavior("ignores", {
  init = function(self) self.timer = actor.after(0, "ignored") end,
  receive = { timer = function(self) return self.timer end },
})

test.it("are integers, and their messages like any other", function()
  test.equal(math.type(actor.spawn(Ignores):ask("timer")), "integer")
  test.expect_log 'has no handler for "ignored"'
  test.advance(10)
end)

test.describe("cancel", function()
  both("is final, also when the message waits already", function(place)
    local function cancels()
      local pending, waits = actor.after(60000, "pending"), actor.after(1, "waits")
      actor.sleep(20)
      return actor.cancel(pending), actor.cancel(pending), actor.cancel(waits), actor.cancel(waits),
        actor.receive(0)
    end
    test.equal({ run(place, cancels) }, { true, false, true, false, nil, "timeout" })
  end)

  test.it("does nothing to a timer that has fired, or is none", function()
    local function cancels()
      local handled = actor.after(1, "handled")
      local word = actor.receive()
      return word, actor.cancel(handled), actor.cancel(0), actor.cancel(-1), actor.cancel(handled + 1)
    end
    test.equal({ run("near", cancels) }, { "handled", false, false, false, false })
  end)

  test.it("does nothing to a timer of another actor", function()
    local mine = actor.after(60000, "mine")
    for _, place in ipairs { "near", "far" } do
      test.equal(run(place, function() return actor.cancel(mine) end), false)
    end
    test.equal(actor.cancel(mine), true)
  end)

  test.it("finds a repeating timer whose message is being handled, and not one that came once", function()
    local function within()
      local once, every = actor.after(1, "once"), nil
      actor.receive()
      local was = actor.cancel(once)
      every = actor.every(1, "every")
      actor.receive()
      return was, actor.cancel(every), actor.cancel(every), actor.receive(20)
    end
    test.equal({ run("near", within) }, { false, true, false, nil, "timeout" })
  end)
end)

both("repeat no more often than their period, and one message waits at most", function(place)
  local function repeats()
    local start = actor.now()
    local timer = actor.every(5, "tick")
    for n = 1, 10 do
      if actor.receive(60000) ~= "tick" then return "another message" end
      if actor.now() - start < 5 * n then return "early" end
    end
    actor.sleep(100)
    local woke, n = actor.now(), 0
    while actor.receive(0) do n = n + 1 end
    local waited = n <= 2 + (actor.now() - woke) / 5
    return n >= 1, waited, actor.cancel(timer)
  end
  test.equal({ run(place, repeats) }, { true, true, true })
end)

test.it("with delay begin the next period when the message has been handled", function()
  local function delayed()
    actor.every({ 5, delay = true }, "tick")
    local least = math.huge
    for _ = 1, 5 do
      actor.receive()
      local handled = actor.now()
      actor.sleep(7)
      local before = actor.now()
      actor.receive()
      least = math.min(least, actor.now() - before)
      if actor.now() - handled < 12 then return "early" end
    end
    return least >= 4
  end
  test.equal(run("near", delayed), true)
end)

local Clock = actor.behavior("clock", {
  init = function(self, ms) self.timer, self.n = actor.every(ms, "tick", 2), 0 end,
  receive = {
    tick = function(self, by)
      self.n = self.n + by
      if self.waits and self.n >= 6 then
        actor.cancel(self.timer)
        self.waits:reply(self.n)
      end
    end,
    six = function(self) self.waits = actor.later() end,
  },
})

test.it("come to the handler of a behavior, and answer nobody", function()
  for vat = 0, 1 do
    -- It ticks before it is asked, too.
    local n = actor.spawn_on(vat, Clock, 100):ask("six")
    test.ok(n >= 6 and n % 2 == 0, n)
  end
end)

local function timers() return actor.stats().timers end

local Ends = actor.behavior("ends", {
  init = function(self, before)
    self.before = before
    for _ = 1, 10 do actor.every(10, "tick") actor.after(60000, "never") end
  end,
  receive = {
    tick = function() end,
    ready = function(self) return timers() - self.before end,
    fail = function() error("failed", 0) end,
    exit = function() actor.exit() end,
  },
})

test.describe("end with their actor when it", function()
  local ways = {
    fails = function(a) test.expect_failure "failed" a:send("fail") end,
    exits = function(a) a:send("exit") end,
    ["is stopped"] = actor.stop,
    ["is killed"] = actor.kill,
  }
  for _, how in ipairs { "fails", "exits", "is stopped", "is killed" } do
    test.it(how, function()
      local before = timers()
      local a = actor.spawn(Ends, before)
      test.equal(a:ask("ready"), 20)
      ways[how](a)
      a:ask("ready")
      local deadline = actor.now() + 5000
      while timers() > before and actor.now() < deadline do actor.sleep(1) end
      test.equal(timers(), before)
    end)
  end
end)

test.it("leave nothing behind, and each is handled or cancelled, however many", function()
  local size, is_seeded = test.seed and 700 or 7000, test.seed ~= nil
  local function many()
    local fired, pending = actor.stats().fired, timers()
    local list, sum = {}, 0
    local function round(n)
      -- Under a seed the clock goes on while they are made.
      local soon = is_seeded and 3000 or 3
      for i = 1, n do list[i] = actor.after(i % 7 == 0 and soon or 60000 + i, "due", i) end
      local made = timers()
      for i = n, 1, -1 do if i % 7 ~= 0 and not actor.cancel(list[i]) then return "not cancelled" end end
      for _ = 1, n // 7 do
        local _, i = actor.receive()
        sum = sum + i
      end
      return made
    end
    round(size)
    collectgarbage()
    local kb = collectgarbage "count"
    local made = round(size)
    for _ = 1, 4 do round(size) end
    collectgarbage()
    return made - pending, timers() - pending, actor.stats().fired - fired, sum,
      collectgarbage "count" - kb < 64
  end
  local n = size // 7
  test.equal({ run("near", many) }, { size, 0, 6 * n, 6 * 7 * n * (n + 1) // 2, true })
end)
