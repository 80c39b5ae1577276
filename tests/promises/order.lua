-- Messages from one sender to one receiver arrive in the order sent, wherever the two are, and whatever
-- happens in between.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local test = require "actor.test"

-- Notes, for each sender, whether its numbers come as 1, 2, 3 and so on.
local Receiver = actor.behavior("order.receiver", {
  init = function(self) self.last, self.out_of_order, self.n = {}, 0, 0 end,
  receive = {
    number = function(self, i, pause)
      local sender = actor.sender()
      if i ~= (self.last[sender] or 0) + 1 then self.out_of_order = self.out_of_order + 1 end
      self.last[sender] = i
      self.n = self.n + 1
      if pause then actor.sleep(pause) end
      return i
    end,
    result = function(self) return self.n, self.out_of_order end,
  },
})

-- The i-th message has a text of i bytes.
local Long = actor.behavior("order.long", {
  init = function(self) self.n, self.wrong = 0, 0 end,
  receive = {
    take = function(self, i, text, list)
      self.n = self.n + 1
      if i ~= self.n or #text ~= i or (list and list[1] ~= i) then self.wrong = self.wrong + 1 end
    end,
    result = function(self) return self.n, self.wrong end,
  },
})

-- Sends n numbers, several in one handler, and with waits of all kinds in between.
local Sender = actor.behavior("order.sender", {
  receive = {
    send = function(_, to, n)
      for i = 1, n do
        if i % 7 == 3 then
          test.equal(actor.ask { to, "number", i, timeout = math.huge }, i)
        else
          to:send("number", i)
        end
        if i % 5 == 0 then actor.sleep(0) end
        if i % 11 == 0 then actor.sleep(1) end
      end
    end,
    -- One in each delivery, which the actor sends to itself.
    walk = function(_, to, i, n)
      to:send("number", i)
      if i < n then actor.self():send("walk", to, i + 1, n) end
    end,
    is_done = function() return true end,
  },
})

local function result(receiver, n)
  local found
  test.eventually(function()
    found = table.pack(receiver:ask("result"))
    return found[1] == n
  end)
  test.equal(found, { n, 0, n = 2 })
end

-- Where the sender is and where the receiver; "near" is with the case.
local places = {
  { "near", "near" }, { "near", 1 }, { 1, "near" }, { 1, 1 }, { 1, 2 }, { "any", "any" },
  { "isolate", "near" }, { "near", "isolate" }, { "any", "isolate" },
}

local function make(where, behavior)
  if where == "near" then return actor.spawn(behavior) end
  return actor.spawn_on(where, behavior)
end

for _, place in ipairs(places) do
  test.describe(("from %s to %s"):format(place[1], place[2]), function()
    test.it("one sender's messages keep their order", function()
      local receiver, sender = make(place[2], Receiver), make(place[1], Sender)
      sender:send("send", receiver, 60)
      result(receiver, 60)
    end)

    test.it("each of several senders' messages keep theirs", function()
      local receiver = make(place[2], Receiver)
      for i = 1, 4 do make(place[1], Sender):send(i % 2 == 0 and "send" or "walk", receiver,
        i % 2 == 0 and 20 or 1, 20) end
      result(receiver, 80)
    end)
  end)
end

test.it("a receiver that waits gets the rest in order", function()
  for _, where in ipairs { 0, 1 } do
    local receiver = actor.spawn_on(where, Receiver)
    for i = 1, 20 do receiver:send("number", i, i % 4) end
    result(receiver, 20)
  end
end)

test.it("an ask does not overtake what its sender sent before", function()
  for _, where in ipairs { 0, 1, "isolate" } do
    local receiver = actor.spawn_on(where, Receiver)
    for i = 1, 30 do receiver:send("number", i) end
    test.equal({ receiver:ask("result") }, { 30, 0 })
  end
end)

test.it("more than fit one chain, and long values, keep their order", function()
  local receiver = actor.spawn_on(1, Long)
  for i = 1, 200 do receiver:send("take", i, ("x"):rep(i), i % 3 == 0 and { i, i } or nil) end
  test.equal({ receiver:ask("result") }, { 200, 0 })
end)

-- A process takes its messages itself, some of them with a time.
local function collector(n)
  local list = {}
  while #list < n do
    local word, i = actor.receive(#list % 3 == 0 and math.huge or 5)
    if word == "number" then list[#list + 1] = i end
  end
  actor.receive()
  actor.reply(table.concat(list, " "))
end

test.it("a process receives in the order sent", function()
  for _, where in ipairs { 0, 2 } do
    local process = actor.process_on(where, collector, 8)
    for i = 1, 8 do
      process:send("number", i)
      if i % 3 == 0 then actor.sleep(i) end
    end
    test.equal(process:ask("list"), "1 2 3 4 5 6 7 8")
  end
end)
