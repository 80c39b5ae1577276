-- pairs.lua - clients that each send to an echo of their own, with many messages in flight.
--
-- A client has a window of messages. In ping-pong-pairs each answer is followed by the next
-- message, so that the window is always full; in batches (in-process) the next window goes out
-- when all answers to the last one are there. An answer says how much the echo has heard, so the
-- last one brings both tallies.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local gather = require "shared.gather"
local send = actor.send

local function echo()
  local heard = 0
  return function(from)
    heard = heard + 1
    send(from, heard)
  end
end

local function client(echo, messages, window)
  local sent, got, me, request = 0, 0
  return function(heard)
    if heard == "go" then
      me, request = actor.self(), actor.later()
      sent = math.min(window, messages)
      for _ = 1, sent do send(echo, me) end
      return
    end
    got = got + 1
    if sent < messages then
      sent = sent + 1
      send(echo, me)
    elseif got == messages then
      request:reply(got, heard)
    end
  end
end

local function batch_client(echo, messages, window)
  local sent, got, me, request = 0, 0
  return function(heard)
    if heard == "go" then
      me, request = actor.self(), actor.later()
    else
      got = got + 1
      if got < sent then return end
      if got == messages then return request:reply(got, heard) end
    end
    local batch = math.min(window, messages - sent)
    sent = sent + batch
    for _ = 1, batch do send(echo, me) end
  end
end

-- Gives back the client.
local function spawn_pair(p, i, vats, messages, window, in_batches)
  local here, there = i % vats, (p.far and i + 1 or i) % vats
  if p.behavior == "native" then
    local echo = actor.spawn_on(there, actor.native("bench.echo"))
    return actor.spawn_on(here, actor.native("bench.client"), echo, messages, window, in_batches)
  end
  local echo = actor.spawn_on(there, echo())
  return actor.spawn_on(here, (in_batches and batch_client or client)(echo, messages, window))
end

-- Runs `n` pairs, of so many messages there and back each; returns what a scenario's `run` does.
-- Pair i is in vat i; with `far` its echo is in the next one.
return function(p, report, n, messages, window, in_batches)
  local clients, vats = {}, actor.stats().vats
  for i = 1, n do clients[i] = spawn_pair(p, i - 1, vats, messages, window, in_batches) end

  local got, heard
  report.clock(function() got, heard = gather(clients, "go") end)
  report.check("the clients' tallies are right", got == n * messages)
  report.check("the echoes' tallies are right", heard == n * messages)
  return { requested = 2 * n * messages, done = got + heard, unit = "message" }
end
