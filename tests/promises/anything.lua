-- Actors that do anything: they spawn, send, ask, wait, compute, set timers, stop and kill each other, fail
-- and leave, as chance has it. Whatever they do, some things hold; an auditor is told what happens.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local test = require "actor.test"

local random = math.random

-- Keeps, for each receiver, what it has handled, in its order: a receiver's reports come in order.
local Auditor = actor.behavior("anything.auditor", {
  init = function(self)
    self.sent, self.handled, self.wrong, self.last, self.over = 0, 0, {}, {}, {}
    self.asked, self.answered, self.alive, self.ended = 0, 0, 0, 0
  end,
  receive = {
    sent = function(self, n) self.sent = self.sent + n end,
    asked = function(self) self.asked = self.asked + 1 end,
    answered = function(self) self.answered = self.answered + 1 end,
    -- `me` handles the i-th message that `from` has sent to it.
    handles = function(self, me, from, i)
      self.handled = self.handled + 1
      if self.over[me] then table.insert(self.wrong, "handled after its end") end
      local key = ("%s %s"):format(me, from)
      if i <= (self.last[key] or 0) then table.insert(self.wrong, "out of order: " .. key) end
      self.last[key] = i
    end,
    ends = function(self, me)
      if self.over[me] then table.insert(self.wrong, "ended twice") end
      self.over[me] = true
    end,
    overlaps = function(self, me) table.insert(self.wrong, "two handlers at once: " .. tostring(me)) end,
    result = function(self) return self.sent, self.handled, self.asked - self.answered, self.wrong end,
  },
})

local Any

local function pick(list) return list[random(#list)] end

-- What an actor may do with its fuel. Each leaves less of it to others.
local deeds

local function number_of(self, to)
  self.sent[to] = (self.sent[to] or 0) + 1
  return self.sent[to]
end

local function know(self, pid)
  if #self.peers < 8 then table.insert(self.peers, pid) else self.peers[random(8)] = pid end
end

local function tell(self, to, fuel)
  self.auditor:send("sent", 1)
  to:send("work", number_of(self, to), fuel, random(3) == 1 and actor.self() or pick(self.peers))
end

deeds = {
  function(self, fuel) tell(self, pick(self.peers), fuel) end,
  function(self, fuel)
    for _ = 1, 3 do tell(self, pick(self.peers), fuel // 3) end
  end,
  function(self, fuel)
    local to = pick(self.peers)
    if to == actor.self() then return end
    self.auditor:send("asked")
    self.auditor:send("sent", 1)
    self.waits = true
    actor.ask { to, "work", number_of(self, to), fuel // 2, pick(self.peers), timeout = random(40) }
    self.waits = false
    self.auditor:send("answered")
  end,
  function(self, fuel)
    local where = pick { 0, 1, 2, 3, "any", "near", "near" }
    local child
    if where == "near" then
      child = actor.spawn(Any, self.auditor, self.root, actor.self())
    else
      child = actor.spawn_on(where, Any, self.auditor, self.root, actor.self())
    end
    know(self, child)
    tell(self, child, fuel // 2)
  end,
  function(_, fuel) actor.after(random(0, 20), "later", fuel // 2) end,
  function(self)
    self.waits = true
    actor.sleep(random(0, 10))
    self.waits = false
  end,
  function()
    local x = 0
    for i = 1, random(200) do x = (x * 31 + i) % 1000003 end
  end,
  function(self)
    local timer = actor.every(random(5), "tick")
    if self.timer then actor.cancel(self.timer) end
    self.timer = timer
  end,
  function(self)
    if not self.request then self.request = actor.later() end
  end,
  function(self)
    if self.request then self.request:reply("late") end
    self.request = nil
  end,
}

-- These end somebody, so they are rare; and never the first one.
local function victim(self)
  local pid = pick(self.peers)
  return pid ~= self.root and pid or nil
end

local ends = {
  function(self) actor.stop(victim(self) or actor.self()) end,
  function(self) actor.stop(victim(self) or actor.self(), { now = true }) end,
  function(self) actor.kill(victim(self) or actor.self()) end,
  function() actor.exit("had enough") end,
  function() error("had too much", 0) end,
}

local function work(self, fuel)
  while fuel > 0 do
    local used = random(fuel)
    if random(12) == 1 and actor.self() ~= self.root then pick(ends)(self) else pick(deeds)(self, used - 1) end
    fuel = fuel - used
  end
end

Any = actor.behavior("anything.any", {
  init = function(self, auditor, root, parent)
    self.auditor, self.root, self.peers, self.sent = auditor, root or actor.self(), {}, {}
    self.peers[1] = parent or self.root
  end,
  stop = function(self)
    if random(4) == 1 then actor.sleep(random(5)) end
    self.auditor:send("ends", actor.self())
  end,
  receive = {
    work = function(self, i, fuel, peer)
      local sender = actor.sender()
      if self.inside then self.auditor:send("overlaps", actor.self()) end
      self.inside = true
      self.auditor:send("handles", actor.self(), sender, i)
      know(self, peer)
      work(self, fuel)
      self.inside = false
      return fuel
    end,
    later = function(self, fuel)
      if self.inside then self.auditor:send("overlaps", actor.self()) end
      self.inside = true
      work(self, fuel)
      self.inside = false
    end,
    tick = function(self)
      self.ticks = (self.ticks or 0) + 1
      if self.ticks == 3 then
        actor.cancel(self.timer)
        self.timer, self.ticks = nil, nil
      end
    end,
  },
})

-- Starts some, lets them work, and ends what is left.
local function run(n, fuel)
  local before = actor.stats()
  local auditor = actor.spawn(Auditor)
  local root = actor.spawn(Any, auditor)
  for i = 1, n do
    auditor:send("sent", 1)
    root:send("work", i, fuel, root)
    if i % 2 == 0 then actor.sleep(random(0, 20)) end
  end
  test.advance(500)
  root:kill()
  test.advance(500)
  local sent, handled, unanswered, wrong = auditor:ask("result")
  auditor:stop()
  test.eventually(function() return actor.stats().alive == before.alive end)
  test.equal(wrong, {})
  return sent, handled, unanswered, before, actor.stats()
end

local function letters(stats)
  local n = 0
  for _, count in pairs(stats.dead_letters) do n = n + count end
  return n
end

test.it("whatever they do, each message has one account", function()
  test.expect_failure "had too much"
  actor.spawn(function() error("had too much", 0) end):send()
  test.advance(1)
  local sent, handled, unanswered, before, after = run(12, 60)
  test.ok(sent > 12 and handled >= 12)
  -- Timers' messages are not counted as sent; their letters, and those of handlers cut short, come on top.
  test.ok(handled + letters(after) - letters(before) >= sent, "some have vanished")
  test.ok(handled <= sent, "some were handled twice")
  test.ok(unanswered >= 0 and unanswered <= after.spawned - before.spawned, "asks of ended actors only")
  test.equal(after.timers, before.timers)
end)
