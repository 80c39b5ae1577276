-- mesh.lua - a thousand actors pass messages on at random.
--
-- Every node starts with one message, which says how many hops it has left, and passes what it gets
-- on to a random other. Each node counts what it gets; the sum of the counts is what was done.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local send, ask, random = actor.send, actor.ask, math.random

local SEED <const> = 20240229

-- Function behaviors: what a node remembers is in the closure made for it. `peers` is one table for
-- all nodes of a vat, which nobody changes once they run.

local function node(place, peers, others, referee)
  local got = 0
  return function(hops)
    if hops == "tally" then return got end
    got = got + 1
    if hops == 1 then return send(referee, "ended") end
    local i = random(others)
    if i >= place then i = i + 1 end
    send(peers[i], hops - 1)
  end
end

-- The same as a table behavior: what a node remembers is in `self`, messages have names.

local named_peers = {} -- this vat's `peers`, filled by its corner

local Node = actor.behavior("mesh.node", {
  init = function(self, place, others, referee)
    self.place, self.others, self.referee, self.got = place, others, referee, 0
  end,
  receive = {
    hop = function(self, hops)
      self.got = self.got + 1
      if hops == 1 then return send(self.referee, "ended") end
      local i = random(self.others)
      if i >= self.place then i = i + 1 end
      send(named_peers[i], "hop", hops - 1)
    end,
    tally = function(self) return self.got end,
  },
})

-- A corner is the part of the mesh that is in one vat. It makes the nodes there, its children.
local Corner = actor.behavior("mesh.corner", {
  init = function(self, p, first, step, referee)
    self.peers, self.nodes = p.named and named_peers or {}, {}
    for place = first, p.actors, step do
      local pid
      if p.named then
        pid = actor.spawn(Node, place, p.actors - 1, referee)
      else
        pid = actor.spawn(node(place, self.peers, p.actors - 1, referee))
      end
      table.insert(self.nodes, pid)
    end
  end,
  receive = {
    nodes = function(self) return self.nodes end,
    meet = function(self, peers)
      table.move(peers, 1, #peers, 1, self.peers)
      math.randomseed(SEED, actor.stats().vat)
      return true
    end,
    tally = function(self)
      local sum = 0
      for _, pid in ipairs(self.nodes) do sum = sum + ask(pid, "tally") end
      return sum
    end,
  },
})

-- The referee gives every node its message, and answers when all messages have made their last hop.
local Referee = actor.behavior("mesh.referee", {
  receive = {
    go = function(self, p, peers)
      self.request, self.left, self.ended = actor.later(), #peers, 0
      for _, pid in ipairs(peers) do
        if p.named then send(pid, "hop", p.hops) else send(pid, p.hops) end
      end
    end,
    ended = function(self)
      self.left, self.ended = self.left - 1, self.ended + 1
      if self.left == 0 then self.request:reply(self.ended) end
    end,
  },
})

-- Each makes a mesh over `vats` vats and gives back two functions: the one runs it and returns how
-- many messages ended, the other returns how many all nodes together have got.
local make = {}

function make.lua(p, vats)
  local referee, corners, peers = actor.spawn(Referee), {}, {}
  for vat = 0, vats - 1 do
    local corner = actor.spawn_on(vat, Corner, p, vat + 1, vats, referee)
    for i, pid in ipairs(ask(corner, "nodes")) do peers[vat + 1 + (i - 1) * vats] = pid end
    corners[vat + 1] = corner
  end
  for _, corner in ipairs(corners) do ask(corner, "meet", peers) end

  local function tally()
    local sum = 0
    for _, corner in ipairs(corners) do sum = sum + ask(corner, "tally") end
    return sum
  end
  return function() return ask { referee, "go", p, peers, timeout = math.huge } end, tally
end

function make.native(p, vats)
  local mesh = actor.spawn(actor.native("bench.mesh"), p.actors, p.hops, vats)
  return function() return ask { mesh, "go", timeout = math.huge } end,
    function() return ask(mesh, "tally") end
end

return {
  name = "mesh",
  about = "A thousand actors pass a thousand messages on at random.",
  params = { actors = 1000, hops = 2000, behavior = "lua", named = false, far = false },
  run = function(p, report)
    local vats = p.far and actor.stats().vats or 1
    assert(not p.far or vats > 1, "far=true needs two vats: --vats 2")
    assert(p.actors > 1 and p.hops > 0, "a message needs another actor to go to, and a hop")
    local go, tally = assert(make[p.behavior], "behavior is lua or native")(p, vats)

    local ended
    report.clock(function() ended = go() end)
    report.check("every message made its last hop", ended == p.actors)
    return { requested = p.actors * p.hops, done = tally(), unit = "message" }
  end,
}
