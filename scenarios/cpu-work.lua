-- cpu-work.lua - one actor tells 64, and each message costs about two microseconds.
--
-- What two microseconds are is measured at the start: how often the work's loop goes round in
-- them, in this language on this machine. So with Lua and with C behaviors a message costs the
-- same, and what is left is what the messages cost and how well the work spreads over the workers
-- (far=true).
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local spreader = require "shared.spreader"
local send, ask = actor.send, actor.ask

local WORKERS <const>, WORK_NS <const> = 64, 2000
local CALIBRATION_MS <const>, TRIES <const> = 20, 5

-- Steps of a shift register (Marsaglia, 2003).
local function worker()
  local count, x = 0, 1
  return function(rounds)
    if rounds == 0 then return count end
    count = count + 1
    for _ = 1, rounds do
      x = x ~ (x << 13)
      x = x ~ (x >> 7)
      x = x ~ (x << 17)
    end
  end
end

-- Each gives back how a worker is placed in a vat, and who tells all of them.
local make = {
  lua = function(p)
    return function(vat) return actor.spawn_on(vat, worker()) end,
      function(workers, rounds)
        return actor.spawn(spreader(workers, WORKERS * p.messages, rounds))
      end
  end,
  native = function(p)
    return function(vat) return actor.spawn_on(vat, actor.native("bench.worker")) end,
      function(workers, rounds)
        return actor.spawn(actor.native("bench.spreader"), WORKERS * p.messages, rounds,
          table.unpack(workers))
      end
  end,
}

-- How many rounds the worker makes in WORK_NS, and what one costs: the best of several tries, each
-- long enough that the message itself is nothing.
local function calibrate(worker)
  local function try(rounds)
    local start = actor.now()
    send(worker, rounds)
    ask { worker, 0, timeout = math.huge }
    return actor.now() - start
  end
  local rounds = 1000
  while try(rounds) < CALIBRATION_MS do rounds = 2 * rounds end
  local best = math.huge
  for _ = 1, TRIES do best = math.min(best, try(rounds) * 1e6 / rounds) end
  return math.max(1, math.floor(WORK_NS / best + 0.5)), best
end

return {
  name = "cpu-work",
  about = "One actor tells 64; each message costs about 2 us.",
  params = { messages = 2000, behavior = "lua", far = false },
  run = function(p, report)
    assert(p.messages > 0, "messages is 1 or more")
    local place, spread = make[p.behavior](p)
    local rounds, round_ns = calibrate(place(0))
    local workers, vats = {}, actor.stats().vats
    for i = 1, WORKERS do workers[i] = place(p.far and i % vats or 0) end
    local teller = spread(workers, rounds)

    local count
    report.clock(function() count = ask { teller, "go", timeout = math.huge } end)
    report.figure("work", rounds * round_ns, "ns a message")
    return { requested = WORKERS * p.messages, done = count, unit = "message" }
  end,
}
