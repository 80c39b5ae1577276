-- producer.lua - tells one actor the same again and again; an ask starts it.
--
-- It sends in batches and tells itself to go on, so that others have their turn. Its last message
-- is an ask, whose answer is its own: one sender's messages arrive in the order sent, so by then
-- all have been handled. What asks is what adds nothing: a zero, or an empty string.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local send, ask = actor.send, actor.ask

local BATCH <const> = 100

return function(target, left, value)
  local nothing = type(value) == "string" and "" or 0
  local me, request
  return function(word)
    if word == "go" then me, request = actor.self(), actor.later() end
    local batch = math.min(left, BATCH)
    for _ = 1, batch do send(target, value) end
    left = left - batch
    if left > 0 then
      send(me, "more")
    else
      request:reply(ask { target, nothing, timeout = math.huge })
    end
  end
end
