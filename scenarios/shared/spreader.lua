-- spreader.lua - tells many actors in turn; an ask starts it.
--
-- It sends in batches and tells itself to go on. At its end it asks each of them with a zero and
-- answers with the sum of what they say.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local send, ask = actor.send, actor.ask

local BATCH <const> = 100

return function(targets, messages, value)
  local sent, n, me, request = 0, #targets
  return function(word)
    if word == "go" then me, request = actor.self(), actor.later() end
    local last = math.min(sent + BATCH, messages)
    for i = sent, last - 1 do send(targets[i % n + 1], value) end
    sent = last
    if sent < messages then return send(me, "more") end

    local sum = 0
    for _, pid in ipairs(targets) do sum = sum + ask { pid, 0, timeout = math.huge } end
    request:reply(sum)
  end
end
