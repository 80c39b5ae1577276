-- ping-pong.lua - two actors, one message in flight.
--
-- The pinger sends its pid; the echo answers with how many messages it has heard. The pinger counts
-- the answers, so the last one brings both tallies together.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local send = actor.send

-- Function behaviors: what an actor remembers is in the closure made for it.

local function echo()
  local heard = 0
  return function(from)
    heard = heard + 1
    send(from, heard)
  end
end

local function pinger(echo, exchanges)
  local got, me, request = 0
  return function(heard)
    if heard == "go" then
      me, request = actor.self(), actor.later()
    else
      got = got + 1
      if got == exchanges then return request:reply(got, heard) end
    end
    send(echo, me)
  end
end

-- The same as table behaviors: what an actor remembers is in `self`, messages have names.

local Echo = actor.behavior("ping-pong.echo", {
  init = function(self) self.heard = 0 end,
  receive = {
    ping = function(self, from)
      local heard = self.heard + 1
      self.heard = heard
      send(from, "pong", heard)
    end,
  },
})

local Pinger = actor.behavior("ping-pong.pinger", {
  init = function(self, echo, exchanges)
    self.me, self.echo, self.exchanges, self.got = actor.self(), echo, exchanges, 0
  end,
  receive = {
    go = function(self)
      self.request = actor.later()
      send(self.echo, "ping", self.me)
    end,
    pong = function(self, heard)
      local got = self.got + 1
      self.got = got
      if got == self.exchanges then return self.request:reply(got, heard) end
      send(self.echo, "ping", self.me)
    end,
  },
})

-- The echo is near, or in the second vat: there a function arrives as a copy.
local function place(p, behavior)
  if p.far then return actor.spawn_on(1, behavior) end
  return actor.spawn(behavior)
end

local make = {
  lua = function(p)
    if p.named then return actor.spawn(Pinger, place(p, Echo), p.exchanges) end
    return actor.spawn(pinger(place(p, echo()), p.exchanges))
  end,
  native = function(p)
    local echo = place(p, actor.native("bench.echo"))
    return actor.spawn(actor.native("bench.pinger"), echo, p.exchanges)
  end,
}

return {
  name = "ping-pong",
  about = "Two actors, one message in flight.",
  params = { exchanges = 1000000, behavior = "lua", named = false, far = false },
  run = function(p, report)
    assert(p.exchanges > 0, "exchanges is 1 or more")
    assert(not p.far or actor.stats().vats > 1, "far=true needs two vats: --vats 2")
    local pinger = assert(make[p.behavior], "behavior is lua or native")(p)

    local got, heard
    report.clock(function()
      got, heard = actor.ask { pinger, "go", timeout = math.huge }
    end)
    report.check("the pinger's tally is right", got == p.exchanges)
    report.check("the echo's tally is right", heard == p.exchanges)
    return { requested = p.exchanges, done = got, unit = "round trip" }
  end,
}
