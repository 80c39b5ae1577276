-- in-process.lua - a pair of actors for each worker; the client waits for a hundred answers at a
-- time.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local run_pairs = require "shared.pairs"

local BATCH <const> = 100

return {
  name = "in-process",
  about = "A client and an echo for each worker; batches of 100 that wait for their answers.",
  params = { messages = 1000000, pairs = 0, behavior = "lua", far = false },
  run = function(p, report)
    assert(p.messages > 0, "messages is 1 or more")
    local n = p.pairs > 0 and p.pairs or actor.stats().workers
    return run_pairs(p, report, n, p.messages, BATCH, true)
  end,
}
