-- A stop hook may wait, but not for ever: it is ended after five seconds in all.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

-- Why there is no answer of an actor that has been told to stop: the ask comes before its end, or after it.
local function gone(why) return why == "stopped" or why == "no_actor" end

local Slow = actor.behavior("slow", {
  init = function(self, how, to) self.how, self.to = how, to end,
  stop = function(self)
    local held <close> = setmetatable({}, { __close = function() self.to:send("closed") end })
    self.to:send("begins")
    if self.how == "short" then
      actor.sleep(20)
    elseif self.how == "pieces" then
      pcall(function() while true do actor.sleep(50) end end)
    else
      pcall(actor.sleep, math.huge)
    end
    self.to:send("ends")
  end,
  receive = { hello = function() return "here" end },
})

test.describe("a stop hook", function()
  local probe, slow, begun

  local function stops(how)
    probe = test.probe()
    slow, begun = actor.spawn(Slow, how, probe.pid), actor.now()
    slow:stop()
    test.equal({ slow:ask("hello") }, { nil, gone })
    probe:expect("begins")
  end

  local function is_ended()
    test.expect_log "^warning: slow <.*> is ended: its stop hook waited for more than"
    probe:expect_within(60000, "closed")
    -- Five seconds, and less where a build shrinks them.
    test.ok(actor.now() - begun >= 100)
    probe:expect_none()
    test.eventually(function() return select(2, slow:ask("hello")) == "no_actor" end)
  end

  test.it("may wait", function()
    stops "short"
    probe:expect("ends")
    probe:expect("closed")
  end)

  test.it("is ended when its waits are too long together", function()
    stops "pieces"
    is_ended()
  end)

  test.it("is ended when it waits for ever", function()
    stops "ever"
    is_ended()
  end)
end)
