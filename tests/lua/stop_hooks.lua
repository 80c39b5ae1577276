-- A stop hook may wait, but not for ever: it is ended after five seconds in all.
local actor = require "actor"

local log = {}
local function note(...) log[#log + 1] = table.concat({ ... }, " ") end

local Slow = actor.behavior("slow", {
  init = function(self, how) self.how = how end,
  stop = function(self)
    local held <close> = setmetatable({}, { __close = function() note("closed", self.how) end })
    note("begins", self.how)
    if self.how == "short" then
      actor.sleep(20)
    elseif self.how == "pieces" then
      pcall(function() while true do actor.sleep(50) end end)
    else
      pcall(actor.sleep, math.huge)
    end
    note("ends", self.how)
  end,
  receive = { hello = function() return "here" end },
})

local begun = actor.now()
for _, how in ipairs { "short", "pieces", "ever" } do
  local slow = actor.spawn(Slow, how)
  slow:stop()
  local answer, reason = slow:ask("hello")
  print(answer, reason)          -- expect: nil	stopped
                                 -- expect: nil	stopped
                                 -- expect: nil	stopped
end
while actor.stats().alive > 1 do actor.sleep(10) end
print(actor.now() - begun < 60000)
-- expect: true
print(table.concat(log, ", "))
-- expect: begins short, begins pieces, begins ever, ends short, closed short, closed pieces, closed ever
-- expect-error: slow <0.3.1> is ended: its stop hook waited for more than
-- expect-error: slow <0.4.1> is ended: its stop hook waited for more than
