-- actor.exit where the actor is stopping already.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

-- Why there is no answer of an actor that has been told to stop: the ask comes before its end, or after it.
local function gone(why) return why == "stopped" or why == "no_actor" end

local Leaver = actor.behavior("leaver", {
  init = function(self, to, echo) self.to, self.echo = to, echo end,
  stop = function(self, reason)
    actor.exit("once more")
    self.to:send("stops", self.echo:ask(reason))
    actor.exit()
    actor.sleep(1)
    self.to:send("gone")
  end,
  receive = { leave = function() actor.exit("by itself") end },
})

test.describe("actor.exit in a stop hook does nothing", function()
  local probe, leaver
  test.before(function()
    probe = test.probe()
    leaver = actor.spawn(Leaver, probe.pid, actor.spawn(function(...) return ... end))
  end)
  test.after(function()
    probe:expect("gone")
    test.eventually(function() return select(2, leaver:ask("leave")) == "no_actor" end)
    probe:expect_none()
  end)

  test.it("after a stop", function()
    leaver:stop()
    test.equal({ leaver:ask("leave") }, { nil, gone })
    probe:expect("stops", "normal")
  end)

  test.it("after an exit", function()
    leaver:send("leave")
    test.equal({ leaver:ask("leave") }, { nil, gone })
    probe:expect("stops", "by itself")
  end)
end)
