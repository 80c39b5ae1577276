-- A sleep waits wherever an ask may, for no less than its time; others go on meanwhile.
--
-- args: --vats 2
local actor = require "actor"
local echo = actor.spawn(function(...) return ... end)

local function message(f, ...)
  local ok, text = pcall(f, ...)
  return ok and "no error" or (tostring(text):gsub("^[^:]+:%d+: ", ""))
end

-- Never early, whatever the time is written as.
local function took(ms)
  local start = actor.now()
  local n = select("#", actor.sleep(ms))
  return n == 0 and actor.now() - start >= ms
end
print(took(0), took(1), took(0.25), took(12.5), took(20))      -- expect: true	true	true	true	true
print(actor.spawn_on(1, function() local t = actor.now() actor.sleep(10) return actor.now() - t >= 10 end):ask())
-- expect: true

-- Inside pcall, coroutines, iterators, metamethods
print(pcall(function() actor.sleep(1) error("after", 0) end))  -- expect: false	after
local co = coroutine.wrap(function(x)
  actor.sleep(1)
  local y = coroutine.yield(x + 1)
  actor.sleep(1)
  return y + 1
end)
print(co(1), co(5))                                            -- expect: 2	6
local function slowly(n)
  return coroutine.wrap(function() for i = 1, n do actor.sleep(1) coroutine.yield(i) end end)
end
for i in slowly(3) do io.write(i, " ") end print()             -- expect: 1 2 3
local lazy = setmetatable({}, { __index = function(_, k) actor.sleep(1) return k .. "!" end })
print(lazy.now, pcall(function() return lazy.later end))       -- expect: now!	true	later!
local function nest(n)
  if n == 0 then actor.sleep(1) return "bottom" end
  return coroutine.wrap(nest)(n - 1)
end
print(nest(60))                                                -- expect: bottom

-- Where one cannot wait
print(message(string.gsub, "x", "x", function() actor.sleep(1) end))
-- expect: actor.sleep cannot wait here: inside a function called from C such as table.sort, string.gsub or require
print(message(table.sort, { 1, 2 }, function() actor.sleep(1) end))
-- expect: actor.sleep cannot wait here: inside a function called from C such as table.sort, string.gsub or require

-- Sleepers wake in the order of their times, and each has its own.
local woke, left = {}, 20
local all
for i = 1, 20 do
  local ms = (i * 7) % 20 * 3
  actor.process(function()
    actor.sleep(ms)
    woke[#woke + 1] = ms
    left = left - 1
    if left == 0 then all:send("reply") end
  end)
end
all = actor.spawn(function(word)
  if word == "reply" then Waits:reply() else Waits = actor.later() end
end)
if left > 0 then actor.ask { all, "wait", timeout = 60000 } end
local sorted = true
for i = 2, #woke do sorted = sorted and woke[i - 1] <= woke[i] end
print(#woke, sorted)                                           -- expect: 20	true

-- Messages queue while a handler sleeps; other actors do not.
local log = {}
local sleeper = actor.spawn(function(word, ms)
  log[#log + 1] = word
  actor.sleep(ms)
  log[#log + 1] = word .. " woke"
end)
sleeper:send("one", 20)
sleeper:send("two", 1)
print(echo:ask("others go on"), #log < 4)                      -- expect: others go on	true
sleeper:ask("three", 0)
print(table.concat(log, ", "))
-- expect: one, one woke, two, two woke, three, three woke

-- In init and in a stop hook
local Slow = actor.behavior("slow", {
  init = function(self) actor.sleep(5) self.ready = true end,
  stop = function(self) actor.sleep(5) Stopped = self.ready end,
  receive = { ready = function(self) return self.ready end },
})
local slow = actor.spawn(Slow)
print(slow:ask("ready"))                                       -- expect: true
slow:stop()
print(slow:ask("ready"))                                       -- expect: nil	stopped
while not Stopped do actor.sleep(1) end

-- A stop or a kill ends the sleep, from the innermost coroutine out; what follows never runs.
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
        pcall(actor.sleep, math.huge)
        log[#log + 1] = "never"
      end)()
      log[#log + 1] = "never"
    end)
    log[#log + 1] = "never"
  end },
})
local refused = "actor.sleep cannot wait here: in a __close of a handler that has ended"
for _, how in ipairs { "stop", "now", "kill" } do
  log = {}
  local a = actor.spawn(Sleeps)
  a:send("sleep")
  actor.sleep(5)
  if how == "kill" then a:kill() else a:stop { now = how == "now" } end
  while a:ask("x") do end
  print(how, (table.concat(log, ", "):gsub(refused, "refused")))
end
-- expect: stop	close c, refused, close b, refused, close a, refused, hook normal
-- expect: now	close c, refused, close b, refused, close a, refused, hook normal
-- expect: kill	close c, refused, close b, refused, close a, refused

-- Nothing is left of those that slept.
local function sleepers(n)
  local awake = 0
  for _ = 1, n do actor.process(function() actor.sleep(1) awake = awake + 1 end) end
  while awake < n do actor.sleep(1) end
end
sleepers(2000)
collectgarbage()
local kb, alive, timers = collectgarbage "count", actor.stats().alive, actor.stats().timers
for _ = 1, 5 do sleepers(2000) end
collectgarbage()
print(collectgarbage "count" - kb < 100, actor.stats().alive - alive, actor.stats().timers - timers)
-- expect: true	0	0
