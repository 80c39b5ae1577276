-- latency.lua - sixteen actors are told at a fixed rate, and each notes how late it heard.
--
-- When a message is due follows from the rate alone, however long the one before took (an open
-- loop). The message says when it was due; who handles it notes the time that has passed since
-- then. A teller that is late sends at once, so what piles up is in the figures and not hidden by
-- them.
--
-- Between two looks at the clock a message goes from the teller to an echo and back. An actor that
-- tells itself to go on would be at it for a hundred messages before the listeners have their
-- turn.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local send, ask, now = actor.send, actor.ask, actor.now

local LISTENERS <const>, BATCH <const> = 16, 100

-- Counts latencies in buckets, each half a percent wider than the one before, so that it keeps a
-- small table and not each latency. Asked with a zero, answers how many it has; with "buckets",
-- the buckets.

local STEP <const> = math.log(1.005)

local function listener()
  local heard, buckets, log = 0, {}, math.log
  return function(due_ns)
    if due_ns == 0 then return heard end
    if due_ns == "buckets" then return buckets end
    local bucket = log(now() * 1e6 - due_ns + 1) // STEP
    buckets[bucket] = (buckets[bucket] or 0) + 1
    heard = heard + 1
  end
end

local function echo()
  return function(from) send(from, "look") end
end

local function teller(listeners, messages)
  local sent, n, start_ns, me, request, rate, echo = 0, #listeners
  return function(word, ...)
    local now_ns = now() * 1e6
    if word == "go" then
      me, request, start_ns, rate, echo = actor.self(), actor.later(), now_ns // 1 | 0, ...
    end
    if sent == messages then return end
    send(echo, me) -- first, so that whom it tells now is ahead of the echo
    for i = sent, math.min(sent + BATCH, messages) - 1 do
      local due_ns = start_ns + i * 1000000000 // rate
      if due_ns > now_ns then break end
      send(listeners[i % n + 1], due_ns)
      sent = i + 1
    end
    if sent < messages then return end

    local heard = 0
    for _, pid in ipairs(listeners) do heard = heard + ask { pid, 0, timeout = math.huge } end
    request:reply(heard)
  end
end

-- Each gives back how a listener is placed in a vat, who tells them and its echo, and how the
-- latencies of one are had.
local make = {
  lua = function(messages, report)
    return function(vat) return actor.spawn_on(vat, listener()) end,
      function(listeners) return actor.spawn(teller(listeners, messages)), actor.spawn(echo()) end,
      function(listener)
        for bucket, n in pairs(ask(listener, "buckets")) do
          report.sample(math.exp((bucket + 0.5) * STEP) - 1, n)
        end
      end
  end,
  native = function(messages, report)
    local room = (messages + LISTENERS - 1) // LISTENERS
    return function(vat) return actor.spawn_on(vat, actor.native("bench.listener"), room) end,
      function(listeners)
        local spreader = actor.native("bench.spreader")
        return actor.spawn(spreader, messages, nil, table.unpack(listeners)),
          actor.spawn(actor.native("bench.echo"))
      end,
      function(listener) report.samples(ask(listener, "times")) end
  end,
}

return {
  name = "latency",
  about = "Sixteen actors are told at a fixed rate; from due to handled.",
  params = { rate = 100000, seconds = 5.0, behavior = "lua", far = false },
  run = function(p, report)
    local messages = math.floor(p.rate * p.seconds)
    assert(p.rate > 0 and messages > 0, "rate and seconds are above 0")
    local place, tell, take = make[p.behavior](messages, report)
    local listeners, others = {}, actor.stats().vats - 1
    for i = 1, LISTENERS do listeners[i] = place(p.far and 1 + i % others or 0) end
    local teller, echo = tell(listeners)

    local heard
    report.clock(function() heard = ask { teller, "go", p.rate, echo, timeout = math.huge } end)
    for _, listener in ipairs(listeners) do take(listener) end
    return { requested = messages, done = heard, unit = "message" }
  end,
}
