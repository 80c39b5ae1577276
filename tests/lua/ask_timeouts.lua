-- An ask ends with its time: near, far, and wherever it waits.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

local function echo(...) return ... end
local function slow(ms, x)
  if ms then actor.sleep(ms) end
  return x
end

local near, far = actor.spawn, function(f) return actor.spawn_on(1, f) end

-- The answer, and that an ask which had none was not given up early.
local function timed(pid, ms, timeout)
  local start = actor.now()
  local answer, why = actor.ask { pid, ms, "answer", timeout = timeout }
  test.ok(answer ~= nil or actor.now() - start >= timeout, "given up early")
  return answer, why
end

for _, spawn in ipairs { near, far } do
  test.describe("an ask to a " .. (spawn == near and "near" or "far") .. " actor", function()
    test.it("is answered in time", function()
      local pid = spawn(slow)
      test.equal({ timed(pid, 1, 60000) }, { "answer" })
      test.equal({ timed(pid, 1, math.huge) }, { "answer" })
    end)

    test.it("fails when its time is over", function()
      test.equal({ timed(spawn(slow), 1000, 10) }, { nil, "timeout" })
    end)
  end)
end

test.it("counts time-outs, and the answers that came after them", function()
  local pid = actor.spawn(slow)
  local before = actor.stats()
  test.equal({ timed(pid, 200, 0.5) }, { nil, "timeout" })
  test.equal({ timed(pid, 0, 60000) }, { "answer" })
  local after = actor.stats()
  test.equal(after.timeouts - before.timeouts, 1)
  test.equal(after.late_replies - before.late_replies, 1)
end)

test.it("does not handle an ask whose time was over before its turn", function()
  local handled = 0
  local counts = actor.spawn(function(ms)
    handled = handled + 1
    if ms then actor.sleep(ms) end
    return handled
  end)
  counts:send(200)
  local before = actor.stats().dead_letters.expired
  test.equal({ actor.ask { counts, timeout = 5 } }, { nil, "timeout" })
  test.equal(counts:ask(), 2)
  test.equal(actor.stats().dead_letters.expired - before, 1)
end)

test.describe("an ask in a table", function()
  local pid
  test.before(function() pid = actor.spawn(echo) end)

  local function answer(...) return table.pack(actor.ask(...)) end

  test.it("sends all its values, nil among them", function()
    test.equal(answer { pid }, table.pack())
    test.equal(answer { pid, "one", 2, timeout = 1000 }, table.pack("one", 2))
    test.equal(answer(table.pack(pid, nil, 2, nil)), table.pack(nil, 2, nil))
    test.equal(answer { pid, false, n = 4 }, table.pack(false, nil, nil))
    test.equal(answer { pid, { "a table" }, timeout = 1000 }, table.pack { "a table" })
    test.equal(answer(table.pack(pid, table.unpack({}, 1, 255))).n, 255)
  end)

  test.it("is left as it was", function()
    local question = { pid, "unchanged", timeout = 1000 }
    actor.ask(question)
    test.equal(question, { pid, "unchanged", timeout = 1000 })
  end)

  test.it("fails like any other", function()
    test.equal({ actor.ask { actor.self(), timeout = 1 } }, { nil, "self" })
    pid:stop()
    pid:ask()
    test.equal({ actor.ask { pid, timeout = 1000 } }, { nil, "no_actor" })
  end)
end)

test.it("may stand inside pcall and coroutines", function()
  local pid, other = near(slow), far(slow)
  test.equal({ pcall(function() return actor.ask { pid, 200, timeout = 1 } end) },
             { true, nil, "timeout" })
  local why
  local co = coroutine.wrap(function()
    why = select(2, actor.ask { other, 200, timeout = 1 })
    coroutine.yield(actor.spawn(echo):ask(1))
  end)
  test.equal(co(), 1)
  test.equal(why, "timeout")
end)

test.it("has its own time among many", function()
  local even, odd = near(slow), far(slow)
  local results, probe = {}, test.probe()
  for i = 1, 40 do
    local target = i % 2 == 0 and even or odd
    actor.process(function()
      local timeout = i % 5 == 0 and 1 or 60000
      local answer, why = actor.ask { target, i % 4 == 0 and 1 or 5, i, timeout = timeout }
      results[i] = answer == i or (i % 5 == 0 and why == "timeout")
      probe.pid:send("done")
    end)
  end
  for _ = 1, 40 do probe:expect_within(60000, "done") end
  for i = 1, 40 do test.ok(results[i], i) end
end)

test.it("leaves nothing behind", function()
  local pid = actor.spawn(echo)
  local function many(n)
    for i = 1, n do test.equal(actor.ask { pid, i, timeout = 60000 }, i) end
  end
  many(500)
  collectgarbage()
  local kb, timers = collectgarbage "count", actor.stats().timers
  for _ = 1, test.seed and 2 or 10 do many(500) end
  collectgarbage()
  test.ok(collectgarbage "count" - kb < 64, "memory")
  test.equal(actor.stats().timers, timers)
end)

test.it("fails at once in a circle, whatever time it has", function()
  test.expect_failure "deadlock"
  local a, b
  a = actor.spawn(function(word) return actor.ask { b, word, timeout = 60000 } end)
  b = actor.spawn(function(word) return actor.ask { a, word, timeout = math.huge } end)
  local start = actor.now()
  test.equal({ actor.ask { a, "round", timeout = 60000 } }, { nil, "deadlock" })
  test.ok(actor.now() - start < 30000)
end)
