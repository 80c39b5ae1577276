-- tell.lua - one actor tells one actor, as fast as it can.
--
-- The producer sends in batches of 100 and tells itself to go on, so that the counter has its turn
-- and the queue stays short. The producer's last message is an ask: one sender's messages arrive
-- in the order sent, so the count that comes back is the whole of it. An ask waits for five
-- seconds unless it is made with a time of its own; here nobody knows how long it takes.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local send, ask = actor.send, actor.ask

local BATCH <const> = 100

-- Function behaviors: what an actor remembers is in the closure made for it.

local function counter()
  local count = 0
  return function(n)
    count = count + n
    return count -- what a handler returns answers an ask, and is nothing to a send
  end
end

local function producer(counter, left)
  local me, request
  return function(word)
    if word == "go" then me, request = actor.self(), actor.later() end
    local batch = math.min(left, BATCH)
    for _ = 1, batch do send(counter, 1) end
    left = left - batch
    if left > 0 then
      send(me, "more")
    else
      request:reply(ask { counter, 0, timeout = math.huge })
    end
  end
end

-- The same as table behaviors: what an actor remembers is in `self`, messages have names.

local Counter = actor.behavior("tell.counter", {
  init = function(self) self.count = 0 end,
  receive = {
    add = function(self, n) self.count = self.count + n end,
    count = function(self) return self.count end,
  },
})

local function produce(self)
  local counter, batch = self.counter, math.min(self.left, BATCH)
  for _ = 1, batch do send(counter, "add", 1) end
  self.left = self.left - batch
  if self.left > 0 then
    send(self.me, "more")
  else
    self.request:reply(ask { counter, "count", timeout = math.huge })
  end
end

local Producer = actor.behavior("tell.producer", {
  init = function(self, counter, messages)
    self.me, self.counter, self.left = actor.self(), counter, messages
  end,
  receive = {
    go = function(self)
      self.request = actor.later()
      produce(self)
    end,
    more = produce,
  },
})

-- The counter is near, or in the second vat: there a function arrives as a copy.
local function place(p, behavior)
  if p.far then return actor.spawn_on(1, behavior) end
  return actor.spawn(behavior)
end

local make = {
  lua = function(p)
    if p.named then return actor.spawn(Producer, place(p, Counter), p.messages) end
    return actor.spawn(producer(place(p, counter()), p.messages))
  end,
  native = function(p)
    local counter = place(p, actor.native("bench.counter"))
    return actor.spawn(actor.native("bench.producer"), counter, p.messages)
  end,
}

return {
  name = "tell",
  about = "One actor tells one actor, in batches of 100.",
  params = { messages = 2000000, behavior = "lua", named = false, far = false },
  run = function(p, report)
    assert(p.messages > 0, "messages is 1 or more")
    assert(not p.far or actor.stats().vats > 1, "far=true needs two vats: --vats 2")
    local producer = assert(make[p.behavior], "behavior is lua or native")(p)

    local count
    report.clock(function() count = ask { producer, "go", timeout = math.huge } end)
    report.check("the counter's sum is right", count == p.messages)
    return { requested = p.messages, done = count, unit = "message" }
  end,
}
