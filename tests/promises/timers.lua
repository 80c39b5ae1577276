-- Timers: never early, in the order of their times, cancelled for good, and in phase.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local test = require "actor.test"

local function ask(...) return actor.ask { timeout = math.huge, ... } end
local places = { 0, 1, "isolate" }

-- So long that what must not come would have come.
local LONG = test.seed and 2000 or 100

-- Runs f(...) in a process in each place; what it returns is for the case to look at.
local function each_place(name, f, check)
  local function body(...)
    actor.receive()
    actor.later():reply(f(...))
  end
  for _, where in ipairs(places) do
    test.it(("%s (in %s)"):format(name, where), function()
      check(ask(actor.process_on(where, body), "go"))
    end)
  end
end

each_place("nothing comes early", function()
  local due = {}
  for i, ms in ipairs { 30, 10, 20.5, 30, 0, 0.1, LONG } do
    due[i] = actor.now() + ms
    actor.after(ms, i)
  end
  local early = 0
  for _ = 1, #due do
    local i = actor.receive()
    if actor.now() < due[i] then early = early + 1 end
  end
  for ms = 0, 20 do
    local before = actor.now()
    actor.sleep(ms + 0.3)
    if actor.now() - before < ms + 0.3 then early = early + 1 end
  end
  local before = actor.now()
  if actor.receive(7.7) or actor.now() - before < 7.7 then early = early + 1 end
  return early
end, function(early) test.equal(early, 0) end)

each_place("an actor's timers fire in the order of their times", function()
  for i, ms in ipairs { 30, 10, 20, 30, 20, 40 } do actor.after(ms, i) end
  local order = {}
  for i = 1, 6 do order[i] = actor.receive() end
  return table.concat(order, " ")
end, function(order) test.equal(order, "2 3 5 1 4 6") end)

-- With a virtual clock nothing takes time but time itself.
each_place("the clock jumps to the next timer", function()
  if not test.seed then return end
  local list, before = {}, actor.now()
  for i, ms in ipairs { 1000, 3600 * 1000, 365.25 * 24 * 3600 * 1000 } do
    actor.after(ms, "due")
    actor.receive()
    list[i] = (actor.now() - before) / ms
    before = actor.now()
  end
  return list
end, function(list) if test.seed then test.equal(list, {
  function(x) return x >= 1 and x < 1.02 end,
  function(x) return x >= 1 and x < 1 + 1e-5 end,
  function(x) return x >= 1 and x < 1 + 1e-9 end,
}) end end)

each_place("a cancel is final, also when the message waits", function()
  local timers = { actor.after(5, "never"), actor.every(5, "never"), actor.every({ 5, delay = true }, "never") }
  actor.sleep(50)
  local wrong = 0
  for _, timer in ipairs(timers) do
    if not actor.cancel(timer) then wrong = wrong + 1 end
    if actor.cancel(timer) then wrong = wrong + 1 end
  end
  while actor.receive(100) do wrong = wrong + 1 end
  return wrong
end, function(wrong) test.equal(wrong, 0) end)

each_place("a cancel spares the others", function()
  local timers = {}
  for i = 1, 10 do timers[i] = actor.after(i // 3, i) end
  for i = 2, 10, 2 do actor.cancel(timers[i]) end
  local order = {}
  while true do
    local i, why = actor.receive(50)
    if why then return table.concat(order, " ") end
    order[#order + 1] = i
  end
end, function(order) test.equal(order, "1 3 5 7 9") end)

-- The n-th comes at n periods after the start, and not one later for what was lost in between.
each_place("a repeating timer keeps its phase, however late it is handled", function()
  local start, early, late = actor.now(), 0, 0
  actor.every(10, "tick")
  local last = 0
  for i = 1, 40 do
    actor.receive()
    local n = (actor.now() - start) / 10
    if n < last + 1 and n < i then early = early + 1 end
    if n - math.floor(n) > 0.7 then late = late + 1 end
    last = math.floor(n)
    if i % 5 == 0 then actor.sleep(3) end
  end
  return early, late
end, function(early, late)
  test.equal(early, 0)
  if test.seed then test.ok(late <= 20, late) end
end)

each_place("a repeating timer skips what it missed, and one message waits at most", function()
  local start = actor.now()
  local timer, n, waited = actor.every(10, "tick"), 0, 0
  for _ = 1, 5 do
    actor.sleep(100)
    local woke = actor.now()
    local here = 0
    while actor.receive(0) do here = here + 1 end
    waited = math.max(waited, here - math.floor((actor.now() - woke) / 10) - 1)
    n = n + here
  end
  actor.cancel(timer)
  return waited, n <= 5 + (actor.now() - start - 500) / 10 + 5, n >= 5
end, function(waited, not_many, not_few)
  test.ok(waited <= 0, waited)
  test.ok(not_many and not_few)
end)

each_place("with a delay the next period begins when the message has been handled", function()
  actor.every({ 10, delay = true }, "tick")
  local least = math.huge
  for i = 1, 10 do
    actor.receive()
    actor.sleep(i % 3 * 7)
    local handled = actor.now()
    actor.receive()
    least = math.min(least, actor.now() - handled)
  end
  return least
end, function(least) test.ok(least >= 10 - 1, least) end)

-- An actor's end ends its timers: its messages come to nobody, and nothing waits for them.
local Clock = actor.behavior("timers.clock", {
  init = function(_, probe)
    actor.every(10, "tick", probe)
    actor.after(LONG // 2, "tick", probe)
  end,
  receive = {
    tick = function(_, probe) probe:send("tick") end,
    fail = function() error("clock", 0) end,
    leave = function() actor.exit() end,
  },
})

for _, how in ipairs { "stop", "kill", "fail", "leave" } do
  test.it(("timers end with their actor (%s)"):format(how), function()
    if how == "fail" then test.expect_failure "clock" end
    for _, where in ipairs(places) do
      local probe = test.probe()
      local clock = actor.spawn_on(where, Clock, probe.pid)
      probe:expect("tick")
      probe:expect("tick")
      if how == "stop" or how == "kill" then actor[how](clock) else clock:send(how) end
      test.advance(100)
      repeat local word = probe:receive(0) until not word
      probe:expect_none(LONG)
    end
  end)
end

test.it("a time-out of an ask and a sleep end together with their time", function()
  local probe = test.probe()
  local start = actor.now()
  for i = 1, 20 do
    actor.process_on(i % 3, function(ms, to)
      local before = actor.now()
      actor.sleep(ms)
      to:send("slept", ms, actor.now() - before)
    end, i * 50, probe.pid)
  end
  for _ = 1, 20 do
    local _, ms, took = probe:expect("slept", test.any, test.any)
    test.ok(took >= ms, "early")
    if test.seed then test.ok(took < ms + 60, "late") end
  end
  if test.seed then test.near(actor.now() - start, 1000, 100) end
end)
