-- after_stop.lua - a log that closes its file, flushes its disk, and then tells itself to stop.
--
-- Fault: `actor.stop` of oneself is a message in one's own queue. What came in before it, while the log
-- waited for the disk, is still handled, by an actor that believes it is gone and whose file is closed.
-- Why the plain order hides it: the writers are told first, and have written when the disk has answered,
-- after which the log is told to close.
-- Fixed: each writer tells the log when it has nothing more to write, and the log closes after all of these.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"

local Disk = actor.behavior("faults.disk", { receive = { flush = function() return true end } })

local function close(self)
  self.file = nil
  self.disk:ask("flush")
  actor.stop(actor.self())
end

local Log = actor.behavior("faults.log", {
  init = function(self, disk, writers)
    self.disk, self.open = disk, writers
    self.file = {}
  end,
  receive = {
    write = function(self, line) table.insert(self.file, line) end,
    finish = function(self)
      self.open = self.open - 1
      if self.open > 0 or not self.closing then return end
      close(self)
      self.closing:reply()
    end,
    close = function(self, fixed)
      if not fixed or self.open == 0 then return close(self) end
      self.closing = actor.later()
    end,
  },
})

local Writer = actor.behavior("faults.writer", {
  receive = {
    write = function(_, log, i)
      log:send("write", "the line of writer " .. i)
      log:send("finish")
    end,
  },
})

return {
  name = "after-stop",
  about = "A log is written to after it has closed its file.",
  params = { writers = 2, fixed = false },
  run = function(p)
    local disk = actor.spawn(Disk)
    local log = actor.spawn(Log, disk, p.writers)
    for i = 1, p.writers do actor.spawn(Writer):send("write", log, i) end
    disk:ask("flush")
    log:ask("close", p.fixed)
    return { requested = p.writers, done = p.writers, unit = "writer" }
  end,
}
