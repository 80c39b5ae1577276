-- ask-p50.lua - the scenario ask with the sizes of a published comparison of latencies.
--
-- SPDX-License-Identifier: MIT

local ask = require "ask"

return {
  name = "ask-p50",
  about = "One ask at a time, from outside or from an actor.",
  params = { asks = 5000, warm_up = 2000, caller = "inside", behavior = "lua", far = false },
  refuse = ask.refuse,
  run = ask.run,
}
