-- gather.lua - asks many actors the same at once, and adds up what they answer: a number, or two.
--
--   local sum, other_sum = gather({ a, b, c }, "go")
--
-- A handler that asks waits for its answer, so each actor is asked by a go-between of its own,
-- which tells the referee what it has heard.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local send, ask, spawn = actor.send, actor.ask, actor.spawn

local function go_between(referee, pid, ...)
  send(referee, assert(ask { timeout = math.huge, pid, ... }))
  actor.exit()
end

local function referee(left)
  local sum, other_sum, request = 0, 0
  return function(answer, other)
    if answer == "wait" then
      request = actor.later()
      return
    end
    sum, other_sum, left = sum + answer, other_sum + (other or 0), left - 1
    if left > 0 then return end
    request:reply(sum, other_sum)
    actor.exit()
  end
end

return function(pids, ...)
  local judge = spawn(referee(#pids))
  for _, pid in ipairs(pids) do send(spawn(go_between), judge, pid, ...) end
  return assert(ask { judge, "wait", timeout = math.huge })
end
