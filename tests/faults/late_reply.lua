-- late_reply.lua - a client sends a request, and takes the next message that comes for its answer.
--
-- Fault: when it has given up on an answer, that answer is still on its way, and is taken for the one to
-- the next request. (`actor.ask` drops late answers; this is what happens to those who do without.)
-- Why the plain order hides it: the answer passes through twenty departments and is there in no time; the
-- client would wait for five milliseconds.
-- Fixed: each request has a number, and what has another number is left aside.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"

local Department = actor.behavior("faults.department", {
  init = function(self, next_one) self.next_one = next_one end,
  receive = {
    price = function(self, item, number, to)
      if self.next_one then
        self.next_one:send("price", item, number, to)
      else
        to:send("is", 100 * item, number)
      end
    end,
  },
})

-- Sends a request for each item, and waits for each answer as long as its patience lasts; then answers
-- with how many prices were wrong. An answer that has not come in time is none.
local function client(shop, items, patience, fixed)
  actor.receive()
  local request, wrong, come = actor.later(), 0, 0
  local function answer(number)
    local deadline = actor.now() + patience
    while true do
      local word, price, of = actor.receive(math.max(0, deadline - actor.now()))
      if not word then return nil end
      come = come + 1
      if not fixed or of == number then return price end
    end
  end

  for item = 1, items do
    shop:send("price", item, item, actor.self())
    local price = answer(item)
    if price and price ~= 100 * item then wrong = wrong + 1 end
  end
  while come < items do
    actor.receive()
    come = come + 1
  end
  request:reply(wrong)
end

return {
  name = "late-reply",
  about = "An answer comes too late, and is taken for another one's.",
  params = { departments = 20, items = 5, patience = 5, fixed = false },
  run = function(p, report)
    local shop
    for _ = 1, p.departments do shop = actor.spawn(Department, shop) end
    local wrong = actor.process(client, shop, p.items, p.patience, p.fixed):ask("go")
    report.check("each price is the item's", wrong == 0)
    return { requested = p.items, done = p.items, unit = "request" }
  end,
}
