-- bounded_buffer.lua - a ring of so many places between a producer and a consumer.
--
-- Fault: `put` lets the producer wait when there are more items than places, where it should when there
-- are as many. One item too many lies on top of the oldest, which is lost.
-- Why the plain order hides it: the consumer runs whenever there is something, so that the ring is never
-- full.
-- Fixed: `>=` in place of `>`.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"

local Buffer = actor.behavior("faults.buffer", {
  init = function(self, size, fixed)
    self.size, self.fixed = size, fixed
    self.ring, self.first, self.n = {}, 0, 0
  end,
  receive = {
    put = function(self, item)
      local is_full = self.n > self.size
      if self.fixed then is_full = self.n >= self.size end
      if is_full then
        self.blocked = { item = item, request = actor.later() }
        return
      end
      if self.waiting then
        self.waiting:reply(item)
        self.waiting = nil
        return
      end
      self.ring[(self.first + self.n) % self.size] = item
      self.n = self.n + 1
    end,
    take = function(self)
      if self.n == 0 then
        self.waiting = actor.later()
        return
      end
      local item = self.ring[self.first]
      self.first, self.n = (self.first + 1) % self.size, self.n - 1
      if self.blocked then
        self.ring[(self.first + self.n) % self.size] = self.blocked.item
        self.n = self.n + 1
        self.blocked.request:reply()
        self.blocked = nil
      end
      return item
    end,
  },
})

local Producer = actor.behavior("faults.producer", {
  receive = {
    produce = function(_, buffer, n)
      for item = 1, n do buffer:ask("put", item) end
    end,
  },
})

local Consumer = actor.behavior("faults.consumer", {
  receive = {
    consume = function(_, buffer, n)
      local in_order = true
      for i = 1, n do in_order = buffer:ask("take") == i and in_order end
      return in_order
    end,
  },
})

return {
  name = "bounded-buffer",
  about = "A ring that takes one item more than it has places.",
  params = { places = 2, items = 6, fixed = false },
  run = function(p, report)
    local buffer = actor.spawn(Buffer, p.places, p.fixed)
    local consumer = actor.spawn(Consumer)
    actor.spawn(Producer):send("produce", buffer, p.items)
    report.check("each item came once and in order", consumer:ask("consume", buffer, p.items))
    return { requested = p.items, done = p.items, unit = "item" }
  end,
}
