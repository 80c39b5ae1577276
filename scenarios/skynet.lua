-- skynet.lua - a tree of a million actors adds up its leaves' numbers.
--
-- A node spawns ten children, each of those ten more, down to the leaves. Leaf i answers i; a node
-- adds up ten answers and passes the sum on, together with the number of actors that it stands for.
-- Every actor stops itself when it has answered.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local send, ask, exit = actor.send, actor.ask, actor.exit
local spawn, spawn_on = actor.spawn, actor.spawn_on

-- Function behaviors: what a node remembers is in the closure made for it. A leaf has nothing.

local function leaf(parent, number)
  send(parent, number, 1)
  exit()
end

local node

-- Spawns ten children near, or spreads them over the vats: there a function arrives as a copy, and
-- brings the functions along that it calls.
local function spawn_children(number, leaves, vats)
  local me, part = actor.self(), leaves // 10
  for i = 0, 9 do
    local behavior = part == 1 and leaf or node()
    local child = vats and spawn_on(i % vats, behavior) or spawn(behavior)
    send(child, me, number + i * part, part)
  end
end

function node()
  local sum, actors, owed, parent, request = 0, 1, 10
  return function(a, b, leaves, vats)
    if leaves then -- the first message: the parent, the first leaf's number, how many leaves
      parent = a -- false: this is the root
      if not parent then request = actor.later() end -- the root is asked
      return spawn_children(b, leaves, vats)
    end

    sum, actors, owed = sum + a, actors + b, owed - 1
    if owed > 0 then return end
    if parent then send(parent, sum, actors) else request:reply(sum, actors) end
    exit()
  end
end

-- The same as a table behavior: what a node remembers is in `self`, messages have names. `init` is
-- the first thing that an actor handles, so nobody has to tell it to start.

local Node
Node = actor.behavior("skynet.node", {
  init = function(self, parent, number, leaves, vats)
    if leaves == 1 then
      send(parent, "answer", number, 1)
      return exit()
    end

    self.parent, self.sum, self.actors, self.owed = parent, 0, 1, 10
    local me, part = actor.self(), leaves // 10
    for i = 0, 9 do
      if vats then
        spawn_on(i % vats, Node, me, number + i * part, part)
      else
        spawn(Node, me, number + i * part, part)
      end
    end
  end,

  receive = {
    go = function(self) self.request = actor.later() end,
    answer = function(self, sum, actors)
      self.sum, self.actors, self.owed = self.sum + sum, self.actors + actors, self.owed - 1
      if self.owed > 0 then return end
      if self.parent then
        send(self.parent, "answer", self.sum, self.actors)
      else
        self.request:reply(self.sum, self.actors)
      end
      exit()
    end,
  },
})

-- Each starts a tree and gives back the sum and the number of actors.
local grow = {
  lua = function(p, vats)
    if p.named then
      return ask { spawn(Node, nil, 0, p.leaves, vats), "go", timeout = math.huge }
    end
    return ask { spawn(node()), false, 0, p.leaves, vats, timeout = math.huge }
  end,
  native = function(p, vats)
    local root = spawn(actor.native("bench.skynet"), nil, 0, p.leaves, vats)
    return ask { root, "go", timeout = math.huge }
  end,
}

return {
  name = "skynet",
  about = "A tree of a million actors, ten children each, adds up its leaves' numbers.",
  params = { leaves = 1000000, behavior = "lua", named = false, far = false },
  run = function(p, report)
    local rest = p.leaves
    while rest > 1 and rest % 10 == 0 do rest = rest // 10 end
    assert(rest == 1 and p.leaves > 1, "leaves is a power of ten: 10, 100, 1000 ..")
    assert(grow[p.behavior], "behavior is lua or native")
    local vats = p.far and actor.stats().vats or nil
    assert(not vats or vats > 1, "far=true needs two vats: --vats 2")

    local sum, actors
    report.clock(function() sum, actors = grow[p.behavior](p, vats) end)
    report.check("the sum is right", sum == p.leaves * (p.leaves - 1) // 2)
    report.check("no actor is left alive", function(stats) return stats.alive == 0 end)
    return { requested = (10 * p.leaves - 1) // 9, done = actors, unit = "actor" }
  end,
}
