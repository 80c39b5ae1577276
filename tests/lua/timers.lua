-- Timers: their order, never early, cancelled for good, and gone with their actor.
--
-- args: --vats 2
local actor = require "actor"

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
local places = { "near", "far" }

-- In the order of their times, not of their making; those of one time in the order made.
local function order()
  local at = {}
  for i, ms in ipairs { 30, 10, 20.5, 30, 0 } do
    at[i] = actor.now() + ms
    actor.after(ms, "due", i)
  end
  local got = {}
  for n = 1, 5 do
    local word, i = actor.receive(60000)
    assert(word == "due" and actor.sender() == actor.self())
    if actor.now() < at[i] then return "early", i end
    got[n] = i
  end
  return table.concat(got, " ")
end
for _, place in ipairs(places) do print(run(place, order)) end
-- expect: 5 2 3 1 4
-- expect: 5 2 3 1 4

-- What the message carries
local function carries()
  local shared = { "x" }
  actor.after(1, nil, "a longer string", { shared, shared, pid = actor.self() }, 2.5, nil)
  local t = table.pack(actor.receive())
  return t.n, t[1], t[2], t[3][1] == t[3][2], t[3].pid == actor.self(), t[4], t[5]
end
for _, place in ipairs(places) do print(run(place, carries)) end
-- expect: 5	nil	a longer string	true	true	2.5	nil
-- expect: 5	nil	a longer string	true	true	2.5	nil
print(math.type(actor.after(0, "ignored")))    -- expect: integer
-- expect-error: has no handler for "ignored"

-- Cancelling: before, after, twice, when the message waits already, and those of others.
local function cancelling()
  local pending, waits, handled = actor.after(60000, "pending"), actor.after(1, "waits"), nil
  actor.sleep(20)
  local first = { actor.cancel(pending), actor.cancel(pending), actor.cancel(waits), actor.cancel(waits) }
  print(table.unpack(first))
  print(actor.receive(0))
  handled = actor.after(1, "handled")
  print(actor.receive())
  print(actor.cancel(handled), actor.cancel(0), actor.cancel(-1), actor.cancel(handled + 1))
end
run("near", cancelling)
-- expect: true	false	true	false
-- expect: nil	timeout
-- expect: handled
-- expect: false	false	false	false
local mine = actor.after(60000, "mine")
print(run("near", function() return actor.cancel(mine) end), run("far", function() return actor.cancel(mine) end))
-- expect: false	false
print(actor.cancel(mine))                      -- expect: true

-- A timer that cancels itself while its message is handled: a repeating one lives, one that came once not.
local function within()
  local once, every = actor.after(1, "once"), nil
  actor.receive()
  local was = actor.cancel(once)
  every = actor.every(1, "every")
  actor.receive()
  return was, actor.cancel(every), actor.cancel(every), actor.receive(20)
end
print(run("near", within))                     -- expect: false	true	false	nil	timeout

-- Repeating: never more often than its period, and at most one waits.
local function repeating()
  local start = actor.now()
  local timer = actor.every(5, "tick")
  for n = 1, 10 do
    assert(actor.receive(60000) == "tick")
    if actor.now() - start < 5 * n then return "early", n end
  end
  actor.sleep(100)
  local woke, n = actor.now(), 0
  while actor.receive(0) do n = n + 1 end
  local waited = n <= 2 + (actor.now() - woke) / 5
  return n >= 1, waited, actor.cancel(timer)
end
for _, place in ipairs(places) do print(run(place, repeating)) end
-- expect: true	true	true
-- expect: true	true	true

-- With delay the next period begins when the message has been handled.
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
print(run("near", delayed))                    -- expect: true

-- Behaviors: the message has a handler by its name, and answers nobody.
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
print(actor.spawn(Clock, 3):ask("six"))        -- expect: 6

-- Timers end with their actor, however it ends.
local function timers() return actor.stats().timers end
local before = timers()
local Ends = actor.behavior("ends", {
  init = function() for _ = 1, 10 do actor.every(10, "tick") actor.after(60000, "never") end end,
  receive = { tick = function() end, ready = function() return timers() - before end,
              fail = function() error("failed", 0) end, exit = function() actor.exit() end },
})
for _, how in ipairs { "fail", "exit", "stop", "kill" } do
  local a = actor.spawn(Ends)
  local n = a:ask("ready")
  if actor[how] and how ~= "exit" then actor[how](a) else a:send(how) end
  a:ask("ready")
  while timers() > before do actor.sleep(1) end
  print(how, n, timers() - before)
end
-- expect: fail	20	0
-- expect: exit	20	0
-- expect: stop	20	0
-- expect: kill	20	0
-- expect-error: failed
-- expect-status: 1

-- Very many: each is handled or cancelled, and nothing is left of them.
local function many()
  local fired, pending = actor.stats().fired, timers()
  local list, sum = {}, 0
  local function round(n)
    for i = 1, n do list[i] = actor.after(i % 7 == 0 and 3 or 60000 + i, "due", i) end
    local made = timers()
    for i = n, 1, -1 do if i % 7 ~= 0 then assert(actor.cancel(list[i])) end end
    for _ = 1, n // 7 do
      local _, i = actor.receive()
      sum = sum + i
    end
    return made
  end
  round(7000)
  collectgarbage()
  local kb = collectgarbage "count"
  local made = round(7000)
  for _ = 1, 4 do round(7000) end
  collectgarbage()
  return made - pending, timers() - pending, actor.stats().fired - fired, sum,
    collectgarbage "count" - kb < 64
end
print(run("near", many))                       -- expect: 7000	0	6000	21021000	true

-- One in the background does not keep the run going; the one of a stopped actor is gone.
actor.every({ 1, background = true }, "ignored")
actor.process(function() actor.every(1, "x") actor.every({ 1, delay = true }, "y") end)
