-- An ask ends with its time: near, far, and wherever it waits.
--
-- args: --vats 2
local actor = require "actor"
local echo = actor.spawn(function(...) return ... end)

local handled = 0
local function make_slow(spawn)
  return spawn(function(ms, x)
    if ms then actor.sleep(ms) end
    return x
  end)
end
local slow, far = make_slow(actor.spawn), make_slow(function(f) return actor.spawn_on(1, f) end)

-- In time, and not
local function timed(pid, ms, timeout)
  local start = actor.now()
  local answer, why = actor.ask { pid, ms, "answer", timeout = timeout }
  return answer, why, answer ~= nil or actor.now() - start >= timeout
end
for _, pid in ipairs { slow, far } do
  print(timed(pid, 1, 60000))
  print(timed(pid, 100, 10))
  print(timed(pid, 1, math.huge))
end
-- expect: answer	nil	true
-- expect: nil	timeout	true
-- expect: answer	nil	true
-- expect: answer	nil	true
-- expect: nil	timeout	true
-- expect: answer	nil	true

-- What is counted: the time-outs, and the answers that came after them.
local before = actor.stats()
print(timed(slow, 30, 0.5))                    -- expect: nil	timeout	true
print(timed(slow, 0, 60000))                   -- expect: answer	nil	true
local after = actor.stats()
print(after.timeouts - before.timeouts, after.late_replies - before.late_replies)   -- expect: 1	1

-- An ask whose time is over before its turn is not handled, but a dead letter.
local counts = actor.spawn(function(ms)
  handled = handled + 1
  if ms then actor.sleep(ms) end
  return handled
end)
counts:send(50)
before = actor.stats().dead_letters.expired
print(actor.ask { counts, timeout = 5 })       -- expect: nil	timeout
print(counts:ask())                            -- expect: 2
print(actor.stats().dead_letters.expired - before)   -- expect: 1

-- The values: all kinds, also nil, with n; the pid may be of anything that can be asked.
print(actor.ask { echo })                      -- expect:
print(actor.ask { echo, "one", 2, timeout = 1000 })  -- expect: one	2
print(actor.ask(table.pack(echo, nil, 2, nil)))      -- expect: nil	2	nil
print(actor.ask { echo, false, n = 4 })        -- expect: false	nil	nil
print(actor.ask { echo, { "a table" }, timeout = 1000 }[1])  -- expect: a table
print(select("#", actor.ask(table.pack(echo, table.unpack({}, 1, 255)))))   -- expect: 255
local question = { echo, "unchanged", timeout = 1000 }
actor.ask(question)
print(question[1] == echo, question[2], question.timeout, #question)   -- expect: true	unchanged	1000	2
print(actor.ask { actor.self(), timeout = 1 }) -- expect: nil	self
local gone = actor.spawn(print)
gone:stop()
gone:ask()
print(actor.ask { gone, timeout = 1000 })      -- expect: nil	no_actor

-- Inside pcall and coroutines
print(pcall(function() return actor.ask { slow, 50, timeout = 1 } end))   -- expect: true	nil	timeout
print(coroutine.wrap(function()
  return select(2, actor.ask { far, 50, timeout = 1 }), coroutine.yield(echo:ask(1))
end)())                                        -- expect: 1

-- Many at a time: each has its own.
local results, left = {}, 40
for i = 1, 40 do
  local target = i % 2 == 0 and slow or far
  actor.process(function()
    local answer, why = actor.ask { target, i % 4 == 0 and 1 or 5, i, timeout = i % 5 == 0 and 1 or 60000 }
    results[i] = answer == i or (i % 5 == 0 and why == "timeout")
    left = left - 1
  end)
end
while left > 0 do actor.sleep(1) end
local fine = 0
for i = 1, 40 do if results[i] then fine = fine + 1 end end
print(fine)                                    -- expect: 40

-- Nothing is left of them: neither of those that were answered nor of those that were not.
local function many(n)
  for i = 1, n do assert(actor.ask { echo, i, timeout = 60000 } == i) end
end
many(500)
collectgarbage()
local kb, timers = collectgarbage "count", actor.stats().timers
for _ = 1, 10 do many(500) end
collectgarbage()
print(collectgarbage "count" - kb < 64, actor.stats().timers - timers)   -- expect: true	0

-- Asks that wait for each other fail at once, whatever time they have.
local a, b
a = actor.spawn(function(word) return actor.ask { b, word, timeout = 60000 } end)
b = actor.spawn(function(word) return actor.ask { a, word, timeout = math.huge } end)
local start = actor.now()
print(actor.ask { a, "round", timeout = 60000 })     -- expect: nil	deadlock
print(actor.now() - start < 30000)                   -- expect: true
-- expect-error: deadlock
-- expect-status: 1
