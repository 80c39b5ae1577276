-- ping-pong-pairs.lua - a pair of actors for each worker, with a thousand messages in flight in
-- each.
--
-- Pair i is in vat i: with --vats 2 and two workers both have a pair to themselves.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local run_pairs = require "shared.pairs"

local WINDOW <const> = 1000

return {
  name = "ping-pong-pairs",
  about = "A client and an echo for each worker, a thousand messages in flight in each pair.",
  params = { exchanges = 15000000, pairs = 0, behavior = "lua", far = false },
  run = function(p, report)
    local n = p.pairs > 0 and p.pairs or actor.stats().workers
    assert(p.exchanges >= n, "each pair has at least one of the exchanges")
    return run_pairs(p, report, n, p.exchanges // n, WINDOW, false)
  end,
}
