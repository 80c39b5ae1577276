-- A sleep waits wherever an ask may, for no less than its time; others go on meanwhile.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

local function message(f, ...)
  local ok, text = pcall(f, ...)
  return ok and "no error" or (tostring(text):gsub("^[^:]+:%d+: ", ""))
end

-- Why there is no answer of an actor that has been told to stop: the ask comes before its end, or after it.
local function gone(why) return why == "stopped" or why == "no_actor" end

test.it("is never early, whatever the time is written as", function()
  for _, ms in ipairs { 0, 1, 0.25, 12.5, 20 } do
    local start = actor.now()
    test.equal(select("#", actor.sleep(ms)), 0)
    test.ok(actor.now() - start >= ms, ms)
  end
  local far = actor.spawn_on(1, function()
    local t = actor.now()
    actor.sleep(10)
    return actor.now() - t >= 10
  end)
  test.equal(far:ask(), true)
end)

test.it("may stand inside pcall, coroutines, iterators and metamethods", function()
  test.equal({ pcall(function() actor.sleep(1) error("after", 0) end) }, { false, "after" })

  local co = coroutine.wrap(function(x)
    actor.sleep(1)
    local y = coroutine.yield(x + 1)
    actor.sleep(1)
    return y + 1
  end)
  test.equal({ co(1), co(5) }, { 2, 6 })

  local function slowly(n)
    return coroutine.wrap(function() for i = 1, n do actor.sleep(1) coroutine.yield(i) end end)
  end
  local got = {}
  for i in slowly(3) do got[#got + 1] = i end
  test.equal(got, { 1, 2, 3 })

  local lazy = setmetatable({}, { __index = function(_, k) actor.sleep(1) return k .. "!" end })
  test.equal({ lazy.now, pcall(function() return lazy.later end) }, { "now!", true, "later!" })

  local function nest(n)
    if n == 0 then actor.sleep(1) return "bottom" end
    return coroutine.wrap(nest)(n - 1)
  end
  test.equal(nest(60), "bottom")
end)

test.it("is refused where one cannot wait", function()
  local text = "actor.sleep cannot wait here: inside a function called from C such as table.sort, "
    .. "string.gsub or require"
  test.equal(message(string.gsub, "x", "x", function() actor.sleep(1) end), text)
  test.equal(message(table.sort, { 1, 2 }, function() actor.sleep(1) end), text)
end)

test.it("has its own time, each", function()
  local woke, probe = {}, test.probe()
  local to = probe.pid
  for i = 1, 20 do
    local ms = (i * 7) % 20 * 3
    actor.process(function()
      local start = actor.now()
      actor.sleep(ms)
      to:send(actor.now() - start >= ms and ms or -1)
    end)
  end
  for i = 1, 20 do woke[i] = probe:receive() end
  -- A seed may let one that woke earlier run later.
  if test.seed then table.sort(woke) end
  for i = 1, 20 do test.equal(woke[i], 3 * (i - 1)) end
end)

test.it("lets others go on, and messages queue", function()
  local log = {}
  local sleeper = actor.spawn(function(word, ms)
    log[#log + 1] = word
    actor.sleep(ms)
    log[#log + 1] = word .. " woke"
  end)
  local echo = actor.spawn(function(...) return ... end)
  sleeper:send("one", 1000)
  sleeper:send("two", 1)
  test.equal(echo:ask("others go on"), "others go on")
  test.ok(#log <= 1, "it sleeps")
  sleeper:ask("three", 0)
  test.equal(log, { "one", "one woke", "two", "two woke", "three", "three woke" })
end)

local Slow = actor.behavior("slow", {
  init = function(self, to) self.to = to actor.sleep(5) self.ready = true end,
  stop = function(self) actor.sleep(5) self.to:send("stopped", self.ready) end,
  receive = { ready = function(self) return self.ready end },
})

test.it("may stand in init and in a stop hook", function()
  local probe = test.probe()
  local slow = actor.spawn(Slow, probe.pid)
  test.equal({ slow:ask("ready") }, { true })
  slow:stop()
  test.equal({ slow:ask("ready") }, { nil, gone })
  probe:expect("stopped", true)
end)

local log

local function closing(name)
  return setmetatable({}, { __close = function()
    log[#log + 1] = "close " .. name
    log[#log + 1] = message(actor.sleep, 1)
  end })
end

local Sleeps = actor.behavior("sleeps", {
  stop = function(_, reason) log[#log + 1] = "hook " .. reason end,
  receive = { sleep = function()
    local a <close> = closing "a"
    pcall(function()
      local b <close> = closing "b"
      coroutine.wrap(function()
        local c <close> = closing "c"
        log[#log + 1] = "sleeps"
        pcall(actor.sleep, math.huge)
        log[#log + 1] = "went on"
      end)()
      log[#log + 1] = "went on"
    end)
    log[#log + 1] = "went on"
  end },
})

test.describe("a sleep ends, and what follows never runs, with a", function()
  local refused = "actor.sleep cannot wait here: in a __close of a handler that has ended"
  local function ends(how, hook)
    log = {}
    local a = actor.spawn(Sleeps)
    a:send("sleep")
    test.eventually(function() return log[1] == "sleeps" end)
    how(a)
    test.eventually(function() return select(2, a:ask("x")) == "no_actor" end)
    test.equal(log, { "sleeps", "close c", refused, "close b", refused, "close a", refused, hook })
  end

  test.it("stop", function() ends(actor.stop, "hook normal") end)
  test.it("stop ahead of the queue", function()
    ends(function(a) a:stop { now = true } end, "hook normal")
  end)
  test.it("kill", function() ends(actor.kill) end)
end)

test.it("leaves nothing behind", function()
  local n = test.seed and 200 or 2000
  local function sleepers()
    local probe = test.probe()
    local to = probe.pid
    for _ = 1, n do actor.process(function() actor.sleep(1) to:send("awake") end) end
    for _ = 1, n do probe:expect("awake") end
    probe:stop()
  end
  local function alive() return actor.stats().alive end
  sleepers()
  collectgarbage()
  local kb, before, timers = collectgarbage "count", alive(), actor.stats().timers
  for _ = 1, 5 do sleepers() end
  collectgarbage()
  test.ok(collectgarbage "count" - kb < 100, "memory")
  test.eventually(function() return alive() <= before end)
  test.equal(actor.stats().timers, timers)
end)
