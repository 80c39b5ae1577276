-- What cannot be sent is refused at the sender, with the place of the value; nothing is sent then.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

local sink, far, got

test.before(function()
  got = 0
  sink = actor.spawn(function() got = got + 1 end)
  far = actor.spawn_on(1, function() end)
end)

-- Nothing of all that was sent.
test.after(function()
  sink:ask()
  test.equal(got, 1)
end)

-- That f(...) is refused with just this text, behind the place of the caller.
local function refused(text, f, ...)
  local values = table.pack(...)
  local e = test.fails(function() f(table.unpack(values, 1, values.n)) end)
  test.equal((tostring(e):gsub("^[^:]+:%d+: ", "")), text)
end

test.it("names the place of what cannot be sent", function()
  refused("argument 1: a function cannot be sent", actor.send, sink, print)
  refused('argument 2: field "on_done": a function cannot be sent',
          actor.send, sink, "x", { on_done = print })
  refused('argument 1: index 2: field "x": index 1: a userdata cannot be sent',
          actor.send, sink, { 1, { x = { io.stdout } } })
  refused("argument 2: a coroutine cannot be sent", actor.send, sink, 1, coroutine.create(print))
  refused("argument 1: key true: a function cannot be sent", actor.send, sink, { [true] = print })
  refused("argument 1: key 1.5: a function cannot be sent", actor.send, sink, { [1.5] = print })
  refused("argument 1: a table as a key cannot be sent", actor.send, sink, { [{}] = 1 })
  refused('argument 1: field "a": a function as a key cannot be sent',
          actor.send, sink, { a = { [print] = 1 } })
  refused("argument 1: a light userdata cannot be sent", actor.send, sink, actor.other)
  refused("argument 1: a request cannot be sent", actor.send, sink, actor.later())
  refused("argument 1: a behavior cannot be sent",
          actor.send, sink, actor.behavior("nothing", { receive = {} }))
  refused("256 values cannot be sent in one message, 255 at most",
          actor.send, sink, table.unpack({}, 1, 256))
end)

test.it("refuses what is nested too deep", function()
  local deep = {}
  for _ = 1, 200 do deep = { deep } end
  local e = test.fails(function() actor.send(sink, deep) end)
  test.equal((tostring(e):gsub("^[^:]+:%d+: ", ""):gsub("index 1: ", "")),
             "argument 1: ...: a table nested deeper than 200 cannot be sent")
end)

test.it("makes no difference between near and far, nor for ask, spawn and methods", function()
  refused("argument 1: a function cannot be sent", actor.send, far, print)
  refused("argument 3: a function cannot be sent", far.send, far, 1, 2, print)
  refused('argument 1: field "f": a function cannot be sent', actor.ask, far, { f = print })
  local B = actor.behavior("b", { init = function() end, receive = {} })
  refused("argument 2: a function cannot be sent", actor.spawn, B, 1, print)
  refused("argument 1: a function cannot be sent", actor.spawn_on, 1, B, print)
end)

test.it("wants a pid", function()
  refused("actor.send: a pid expected, got nil", actor.send, nil, 1)
  refused("actor.send: a pid expected, got a string", actor.send, "name", 1)
  refused("actor.send: a pid expected, got a userdata", actor.send, io.stdout, 1)
  refused("actor.send: a pid expected, got nothing", actor.send)
  refused("actor.ask: a pid expected, got a number", actor.ask, 12)
  refused("actor.stop: a pid expected, got a table", actor.stop, {})
  refused("actor.kill: a pid expected, got a function", actor.kill, print)
  refused("actor.send: a pid expected, got a light userdata", actor.other.send, actor.other)
  refused('actor.stop: option "fast" is not known; there is only "now"', actor.stop, sink, { fast = true })
  refused("actor.stop: now must be true or false, it is a number", actor.stop, sink, { now = 1 })
  refused("actor.stop: options are a table, as { now = true }, got a boolean", actor.stop, sink, true)
end)

test.it("wants times", function()
  refused("actor.after: milliseconds expected, got nothing", actor.after)
  refused("actor.after: milliseconds expected, got a string", actor.after, "10")
  refused("actor.after: milliseconds from 0 on expected, got -1", actor.after, -1)
  refused("actor.after: milliseconds from 0 on expected, got -0.5", actor.after, -0.5)
  refused("actor.after: milliseconds expected, got NaN", actor.after, 0 / 0)
  refused("actor.after: less than a thousand years expected", actor.after, math.huge)
  refused("actor.after: less than a thousand years expected", actor.after, math.maxinteger)
  refused("argument 1: a function cannot be sent", actor.after, 1, print)
  refused("actor.every: milliseconds from 1 on expected, got 0", actor.every, 0)
  refused("actor.every: milliseconds from 1 on expected, got -inf", actor.every, -math.huge)
  refused("actor.every: less than a thousand years expected", actor.every, math.huge)
  refused("actor.every: milliseconds expected, got nil", actor.every, {})
  refused("actor.every: milliseconds from 1 on expected, got 0", actor.every, { 0 })
  refused('actor.every: option "2" is not known; there are "delay" and "background"', actor.every, { 1, 2 })
  refused('actor.every: option "dely" is not known; there are "delay" and "background"',
          actor.every, { 1, dely = true })
  refused("actor.every: delay must be true or false, it is a number", actor.every, { 1, delay = 1 })
  refused("argument 2: a function cannot be sent", actor.every, { 1 }, {}, print)
  refused("actor.cancel: a timer expected, got nothing", actor.cancel)
  refused("actor.cancel: a timer expected, got a number", actor.cancel, 1.5)
  refused("actor.cancel: a timer expected, got a pid", actor.cancel, sink)
  refused("actor.sleep: milliseconds expected, got nothing", actor.sleep)
  refused("actor.sleep: milliseconds from 0 on expected, got -1", actor.sleep, -1)
  refused("actor.sleep: milliseconds expected, got a table", actor.sleep, {})
  refused("actor.receive: milliseconds expected, got a string", actor.receive, "1")
end)

test.it("wants an ask in a table to be right", function()
  refused("actor.ask: a pid expected, got nothing", actor.ask, {})
  refused("actor.ask: a pid expected, got a number", actor.ask, { 1, 2 })
  refused("actor.ask: a table as the first argument is to be the only one", actor.ask, { sink }, 1)
  refused('actor.ask: option "time" is not known; there are "timeout" and "n"',
          actor.ask, { sink, time = 1 })
  refused('actor.ask: option "0" is not known; there are "timeout" and "n"', actor.ask, { sink, [0] = 1 })
  refused('actor.ask: option "true" is not known; there are "timeout" and "n"',
          actor.ask, { sink, [true] = 1 })
  refused("actor.ask: timeout: milliseconds expected, got a string", actor.ask, { sink, timeout = "1" })
  refused("actor.ask: timeout: milliseconds from 0 on expected, got -1", actor.ask, { sink, timeout = -1 })
  refused("actor.ask: a value before index 3 is nil; to send nil give n, how many values there are with the pid",
          actor.ask, { sink, nil, 1 })
  refused("actor.ask: there is a value at 3, beyond n", actor.ask, { sink, 1, 2, n = 2 })
  refused("actor.ask: n must be an integer, it is a string", actor.ask, { sink, n = "1" })
  refused("actor.ask: there is a value at 1, beyond n", actor.ask, { sink, n = -1 })
  refused("999999999 values cannot be sent in one message, 255 at most",
          actor.ask, { sink, n = 1000000000 })
  refused("argument 1: a function cannot be sent", actor.ask, { sink, print, timeout = 1 })
end)

test.it("begins with the place of the caller", function()
  local line = debug.getinfo(1, "l").currentline + 1
  local e = test.fails(function() actor.send(sink, print) end)
  test.equal(e, ("refusals.lua:%d: argument 1: a function cannot be sent"):format(line))
end)
