-- lost_wakeup.lua - a consumer looks whether there is something, and if not asks to be woken.
--
-- Fault: what is put between the look and the wait wakes nobody, as nobody waits yet; the consumer then
-- waits for ever for a wake-up that has been and gone.
-- Why the plain order hides it: the consumer is resumed with the answer at once and waits before the
-- producer runs, or the producer has put everything before the consumer looks.
-- Fixed: the wait itself looks once more, in the handler that would otherwise make the consumer wait.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"

local Queue = actor.behavior("faults.queue", {
  init = function(self) self.items = {} end,
  receive = {
    put = function(self, item)
      self.items[#self.items + 1] = item
      if self.waiting then
        self.waiting:reply("woken")
        self.waiting = nil
      end
    end,
    take = function(self) return table.remove(self.items, 1) end,
    wait = function(self, looks)
      if looks and #self.items > 0 then return "woken" end
      self.waiting = actor.later()
    end,
  },
})

local Consumer = actor.behavior("faults.consumer", {
  receive = {
    consume = function(_, queue, n, fixed)
      local sum = 0
      for _ = 1, n do
        local item = queue:ask("take")
        while not item do
          if not actor.ask { queue, "wait", fixed, timeout = math.huge } then return sum end
          item = queue:ask("take")
        end
        sum = sum + item
      end
      return sum
    end,
  },
})

local Producer = actor.behavior("faults.producer", {
  receive = {
    produce = function(_, queue, n)
      for i = 1, n do queue:ask("put", i) end
    end,
  },
})

return {
  name = "lost-wakeup",
  about = "A consumer looks, and then waits to be woken.",
  params = { items = 3, fixed = false },
  run = function(p, report)
    local queue = actor.spawn(Queue)
    local consumer, producer = actor.spawn(Consumer), actor.spawn(Producer)
    producer:send("produce", queue, p.items)
    local sum = actor.ask { consumer, "consume", queue, p.items, p.fixed, timeout = math.huge }
    report.check("all items were consumed", sum == p.items * (p.items + 1) // 2)
    return { requested = p.items, done = p.items, unit = "item" }
  end,
}
