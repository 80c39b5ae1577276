-- sleepers.lua - a million actors that each wait for a timer of their own.
--
-- With form=timer an actor is a behavior that sets its timer and is told when the time has come;
-- with form=process it is a body that sleeps. All sleepers share one function. What they have to
-- remember is in the timer's message, or in two local variables of the sleeping body.
--
-- Each tells its nursery when it should have woken and when it did, and ends. The memory is read
-- when all of them have begun to wait.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local gather = require "shared.gather"
local send, ask, now = actor.send, actor.ask, actor.now

local BATCH <const> = 100

-- Told first where to report and how long to sleep, then by the timer where to report and what was
-- due.
local function sleeper(nursery, time, starts)
  if starts then
    actor.after(time, nursery, now() + time)
  else
    send(nursery, "woke", time, now())
    actor.exit()
  end
end

local function sleep_body(nursery, ms)
  local due = now() + ms
  actor.sleep(ms)
  send(nursery, "woke", due, now())
end

local forms = {
  timer = function(me, ms) send(actor.spawn(sleeper), me, ms, true) end,
  process = function(me, ms) actor.process(sleep_body, me, ms) end,
}

local function make_batch(self)
  local put_to_sleep, me, ms = self.put_to_sleep, actor.self(), self.ms
  local last = math.min(self.made + BATCH, self.actors)
  for _ = self.made + 1, last do put_to_sleep(me, ms) end
  self.made = last
  if last < self.actors then send(me, "more") else self.born:reply(last) end
end

-- Makes sleepers and counts how many woke, and how many of them early. There is one in each vat
-- that has sleepers, with nothing beside them that sets timers.
local Nursery = actor.behavior("sleepers.nursery", {
  init = function(self, actors, ms, form)
    self.actors, self.ms, self.put_to_sleep = actors, ms, forms[form]
    self.made, self.woke, self.early = 0, 0, 0
  end,
  receive = {
    sleep = function(self) -- answered when all are made
      self.born = actor.later()
      make_batch(self)
    end,
    more = make_batch,
    woke = function(self, due, time)
      self.woke = self.woke + 1
      if time < due then self.early = self.early + 1 end
      if self.woke == self.actors and self.request then
        self.request:reply(self.woke, self.early)
      end
    end,
    count = function(self) return self.woke, actor.stats().timers end,
    wait = function(self) -- answered when all have woken
      if self.woke == self.actors then return self.woke, self.early end
      self.request = actor.later()
    end,
  },
})

local function spawn_nurseries(p)
  local behavior = p.behavior == "native" and actor.native("bench.nursery") or Nursery
  local vats, nurseries, last = p.far and actor.stats().vats or 1, {}, 0
  for vat = 1, vats do
    local first = last
    last = p.actors * vat // vats
    nurseries[vat] = actor.spawn_on(vat - 1, behavior, last - first, p.wait, p.form)
  end
  return nurseries
end

-- Waits until all have begun to wait. Returns whether none has woken, or should have, by then.
local function wait_for_silence(p, nurseries)
  local deadline = now() + p.wait
  while now() < deadline do
    local woke, asleep = 0, 0
    for _, nursery in ipairs(nurseries) do
      local w, a = ask(nursery, "count")
      woke, asleep = woke + w, asleep + a
    end
    if woke > 0 then break end
    if asleep >= p.actors then return true end
  end
  return false
end

return {
  name = "sleepers",
  about = "A million actors wait for a timer each.",
  params = {
    actors = 1000000,
    wait = 5000, -- milliseconds
    form = "timer",
    behavior = "lua",
    far = false,
  },
  refuse = function(p)
    if not forms[p.form] then return "form is timer or process" end
    if p.form == "process" and p.behavior == "native" then
      return "a process has a body in Lua: form=process goes with behavior=lua"
    end
    if p.actors < 1 or p.wait < 1 then return "actors and wait are 1 or more" end
  end,
  run = function(p, report)
    local nurseries = spawn_nurseries(p)
    local all_slept, resident, held
    local woke, early = 0, 0
    report.clock(function()
      gather(nurseries, "sleep")
      all_slept = wait_for_silence(p, nurseries)
      resident, held = report.memory()
      for _, nursery in ipairs(nurseries) do
        local w, e = ask { nursery, "wait", timeout = math.huge }
        woke, early = woke + w, early + e
      end
    end)
    report.figure("resident while waiting", resident, "bytes")
    report.figure("allocated while waiting", held, "bytes")
    report.check("the memory was read while all waited", all_slept)
    report.check("none woke early", early == 0)
    report.check("all have ended", function(stats) return stats.alive == #nurseries end)
    return { requested = p.actors, done = woke, unit = "actor" }
  end,
}
