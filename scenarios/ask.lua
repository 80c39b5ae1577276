-- ask.lua - one caller, one actor, one ask in flight.
--
-- The caller is an actor, or with caller=outside a plain thread of the host program. It asks with
-- a number and expects it back. The rate is that of a pass that does nothing else; the latencies
-- are from a second pass of the same size, which reads the clock before and after each ask.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local answerer = require "shared.answerer"
local ask, now = actor.ask, actor.now

-- Makes n asks; gives the time of each to `sample`, if there is one. Returns how many answers were
-- right.
local function ask_often(target, n, sample)
  local right = 0
  if not sample then
    for i = 1, n do
      if ask(target, i) == i then right = right + 1 end
    end
    return right
  end
  for i = 1, n do
    local start = now()
    local answer = ask(target, i)
    sample((now() - start) * 1e6)
    if answer == i then right = right + 1 end
  end
  return right
end

-- Each gives back a function that makes n asks, with or without taking times.

local function inside_lua(target, report)
  return function(n, is_timed) return ask_often(target, n, is_timed and report.sample) end
end

local function native(caller, report)
  return function(n, is_timed)
    local right, samples = ask { caller, n, is_timed, timeout = math.huge }
    if is_timed then report.samples(samples) end
    return right
  end
end

local function make(p, report)
  local is_native = p.behavior == "native"
  local target = actor.spawn_on(p.far and 1 or 0,
    is_native and actor.native("bench.answerer") or answerer())
  if p.caller == "outside" then
    return target, native(actor.spawn(actor.native("bench.outside"), "ask", target), report)
  elseif is_native then
    return target, native(actor.spawn(actor.native("bench.asker"), target), report)
  end
  return target, inside_lua(target, report)
end

return {
  name = "ask",
  about = "One caller, one actor, one ask in flight.",
  params = { asks = 200000, warm_up = 20000, caller = "inside", behavior = "lua", far = false },
  refuse = function(p)
    if p.caller ~= "inside" and p.caller ~= "outside" then return "caller is inside or outside" end
    if p.asks < 1 or p.warm_up < 0 then return "asks is 1 or more, warm_up is not negative" end
  end,
  run = function(p, report)
    local target, ask_n = make(p, report)
    local warm = ask_n(p.warm_up, false)
    local right, timed
    report.clock(function() right = ask_n(p.asks, false) end)
    timed = ask_n(p.asks, true)
    report.check("each answer is right", warm == p.warm_up and timed == p.asks)
    report.check("each ask was handled once", ask(target) == p.warm_up + 2 * p.asks)
    return { requested = p.asks, done = right, unit = "round trip" }
  end,
}
