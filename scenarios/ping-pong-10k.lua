-- ping-pong-10k.lua - an ask hands the pinger ten thousand exchanges, one message in flight.
--
-- What counts here is an exchange from the ask to its answer, as a caller sees it: so the pinger
-- is asked some twenty times, after ten that warm up.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local send = actor.send

local function echo()
  return function(from) send(from, true) end
end

local function pinger(echo)
  local left, got, me, request
  return function(word, exchanges)
    if word == "go" then
      me, request = actor.self(), actor.later()
      left, got = exchanges, 0
    else
      left, got = left - 1, got + 1
      if left == 0 then return request:reply(got) end
    end
    send(echo, me)
  end
end

-- Each gives back a pinger whose echo is near, or in the second vat.
local make = {
  lua = function(p) return actor.spawn(pinger(actor.spawn_on(p.far and 1 or 0, echo()))) end,
  native = function(p)
    local echo = actor.spawn_on(p.far and 1 or 0, actor.native("bench.echo"))
    return actor.spawn(actor.native("bench.pinger"), echo, p.exchanges)
  end,
}

return {
  name = "ping-pong-10k",
  about = "Ten thousand exchanges of two actors for one ask.",
  params = { exchanges = 10000, rounds = 20, warm_up = 10, behavior = "lua", far = false },
  run = function(p, report)
    assert(p.exchanges > 0 and p.rounds > 0, "exchanges and rounds are 1 or more")
    local pinger = make[p.behavior](p)

    local tallies_are_right = true
    local function play(rounds)
      local sum = 0
      for _ = 1, rounds do
        local tally = actor.ask { pinger, "go", p.exchanges, timeout = math.huge }
        if tally ~= p.exchanges then tallies_are_right = false end
        sum = sum + tally
      end
      return sum
    end

    play(p.warm_up)
    local done
    report.clock(function() done = play(p.rounds) end)
    report.check("each tally is right", tallies_are_right)
    return { requested = p.rounds * p.exchanges, done = done, unit = "exchange" }
  end,
}
