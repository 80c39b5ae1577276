-- memory.lua - what an actor costs in memory: before its first message, and after it.
--
-- The actors are made, and nothing is sent to them: the first pair of figures. Then each is told a
-- number and asked for its sum: the second. Each pair is bytes of the process that are resident,
-- and bytes that the engine has from its allocator, both for one actor and more than before any
-- was made.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local counter = require "shared.counter"
local send, ask, spawn = actor.send, actor.ask, actor.spawn

local BATCH <const> = 1000

-- With named=false what an actor remembers is in the closure that is made for it (shared/counter);
-- with a table behavior it is in `self`, which there is from its first message on.
local Counter = actor.behavior("memory.counter", {
  receive = {
    add = function(self, n)
      self.count = (self.count or 0) + n
      return self.count
    end,
  },
})

-- Each gives back how an actor is made, and how it is told and asked with a number.
local kinds = {
  lua = function(p)
    if not p.named then return function() return spawn(counter()) end, send, ask end
    return function() return spawn(Counter) end,
      function(pid, n) send(pid, "add", n) end,
      function(pid, n) return ask(pid, "add", n) end
  end,
  native = function()
    local behavior = actor.native("bench.counter")
    return function() return spawn(behavior) end, send, ask
  end,
}

return {
  name = "memory",
  about = "What idle actors cost in memory, and after one message each.",
  params = { actors = 100000, behavior = "lua", named = false },
  run = function(p, report)
    assert(p.actors > 0, "actors is 1 or more")
    local make, tell, ask_with = kinds[p.behavior](p)

    -- The table is there before the first reading, and so is what a first actor of its kind needs.
    local pids = {}
    for i = 1, p.actors do pids[i] = false end
    ask_with(make(), 0)
    collectgarbage()
    local resident, held = report.memory()
    local function read(when)
      local resident_now, held_now = report.memory()
      report.figure("resident " .. when, (resident_now - resident) / p.actors, "bytes an actor")
      report.figure("allocated " .. when, (held_now - held) / p.actors, "bytes an actor")
    end

    local handled = 0
    report.clock(function()
      for i = 1, p.actors do pids[i] = make() end
    end)
    read("when idle")
    for first = 1, p.actors, BATCH do
      local last = math.min(first + BATCH - 1, p.actors)
      for i = first, last do tell(pids[i], 1) end
      for i = first, last do handled = handled + ask_with(pids[i], 0) end
    end
    read("after a message")
    return { requested = p.actors, done = handled, unit = "actor" }
  end,
}
