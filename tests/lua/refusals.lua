-- What cannot be sent is refused at the sender, with the place of the value; nothing is sent then.
--
-- args: --vats 2
local actor = require "actor"

local got = 0
local sink = actor.spawn(function() got = got + 1 end)
local far = actor.spawn_on(1, function() end)

local function message(f, ...)
  local ok, text = pcall(f, ...)
  return ok and "no error" or (tostring(text):gsub("^[^:]+:%d+: ", ""))
end

local function try(...) print(message(actor.send, sink, ...)) end

local deep = {}
for _ = 1, 200 do deep = { deep } end

try(print)                          -- expect: argument 1: a function cannot be sent
try("x", { on_done = print })       -- expect: argument 2: field "on_done": a function cannot be sent
try({ 1, { x = { io.stdout } } })
  -- expect: argument 1: index 2: field "x": index 1: a userdata cannot be sent
try(1, coroutine.create(print))     -- expect: argument 2: a coroutine cannot be sent
try({ [true] = print })             -- expect: argument 1: key true: a function cannot be sent
try({ [1.5] = print })              -- expect: argument 1: key 1.5: a function cannot be sent
try({ [{}] = 1 })                   -- expect: argument 1: a table as a key cannot be sent
try({ a = { [print] = 1 } })
  -- expect: argument 1: field "a": a function as a key cannot be sent
try(actor.other)                    -- expect: argument 1: a light userdata cannot be sent
try(actor.later())                  -- expect: argument 1: a request cannot be sent
try(actor.behavior("nothing", { receive = {} }))
  -- expect: argument 1: a behavior cannot be sent
try(table.unpack({}, 1, 256))
  -- expect: 256 values cannot be sent in one message, 255 at most
print((message(actor.send, sink, deep):gsub("index 1: ", "")))
  -- expect: argument 1: ...: a table nested deeper than 200 cannot be sent

-- Far makes no difference, nor does ask, spawn or a method.
print(message(actor.send, far, print))        -- expect: argument 1: a function cannot be sent
print(message(far.send, far, 1, 2, print))    -- expect: argument 3: a function cannot be sent
print(message(actor.ask, far, { f = print }))
  -- expect: argument 1: field "f": a function cannot be sent
local B = actor.behavior("b", { init = function() end, receive = {} })
print(message(actor.spawn, B, 1, print))      -- expect: argument 2: a function cannot be sent
print(message(actor.spawn_on, 1, B, print))   -- expect: argument 1: a function cannot be sent

-- Not a pid.
print(message(actor.send, nil, 1))            -- expect: actor.send: a pid expected, got nil
print(message(actor.send, "name", 1))         -- expect: actor.send: a pid expected, got a string
print(message(actor.send, io.stdout, 1))      -- expect: actor.send: a pid expected, got a userdata
print(message(actor.send))                    -- expect: actor.send: a pid expected, got nothing
print(message(actor.ask, 12))                 -- expect: actor.ask: a pid expected, got a number
print(message(actor.stop, {}))                -- expect: actor.stop: a pid expected, got a table
print(message(actor.kill, print))             -- expect: actor.kill: a pid expected, got a function
print(message(actor.other.send, actor.other))
  -- expect: actor.send: a pid expected, got a light userdata
print(message(actor.stop, sink, { fast = true }))
  -- expect: actor.stop: option "fast" is not known; there is only "now"
print(message(actor.stop, sink, { now = 1 })) -- expect: actor.stop: now must be true or false, it is a number
print(message(actor.stop, sink, true))
  -- expect: actor.stop: options are a table, as { now = true }, got a boolean

-- Times
local function time(...) print(message(...)) end
time(actor.after)                   -- expect: actor.after: milliseconds expected, got nothing
time(actor.after, "10")             -- expect: actor.after: milliseconds expected, got a string
time(actor.after, -1)               -- expect: actor.after: milliseconds from 0 on expected, got -1
time(actor.after, -0.5)             -- expect: actor.after: milliseconds from 0 on expected, got -0.5
time(actor.after, 0 / 0)            -- expect: actor.after: milliseconds expected, got NaN
time(actor.after, math.huge)        -- expect: actor.after: less than a thousand years expected
time(actor.after, math.maxinteger)  -- expect: actor.after: less than a thousand years expected
time(actor.after, 1, print)         -- expect: argument 1: a function cannot be sent
time(actor.every, 0)                -- expect: actor.every: milliseconds from 1 on expected, got 0
time(actor.every, -math.huge)       -- expect: actor.every: milliseconds from 1 on expected, got -inf
time(actor.every, math.huge)        -- expect: actor.every: less than a thousand years expected
time(actor.every, {})               -- expect: actor.every: milliseconds expected, got nil
time(actor.every, { 0 })            -- expect: actor.every: milliseconds from 1 on expected, got 0
time(actor.every, { 1, 2 })
  -- expect: actor.every: option "2" is not known; there are "delay" and "background"
time(actor.every, { 1, dely = true })
  -- expect: actor.every: option "dely" is not known; there are "delay" and "background"
time(actor.every, { 1, delay = 1 })   -- expect: actor.every: delay must be true or false, it is a number
time(actor.every, { 1 }, {}, print)   -- expect: argument 2: a function cannot be sent
time(actor.cancel)                  -- expect: actor.cancel: a timer expected, got nothing
time(actor.cancel, 1.5)             -- expect: actor.cancel: a timer expected, got a number
time(actor.cancel, sink)            -- expect: actor.cancel: a timer expected, got a pid
time(actor.sleep)                   -- expect: actor.sleep: milliseconds expected, got nothing
time(actor.sleep, -1)               -- expect: actor.sleep: milliseconds from 0 on expected, got -1
time(actor.sleep, {})               -- expect: actor.sleep: milliseconds expected, got a table
time(actor.receive, "1")            -- expect: actor.receive: milliseconds expected, got a string

-- Asks in a table
time(actor.ask, {})                 -- expect: actor.ask: a pid expected, got nothing
time(actor.ask, { 1, 2 })           -- expect: actor.ask: a pid expected, got a number
time(actor.ask, { sink }, 1)        -- expect: actor.ask: a table as the first argument is to be the only one
time(actor.ask, { sink, time = 1 })
  -- expect: actor.ask: option "time" is not known; there are "timeout" and "n"
time(actor.ask, { sink, [0] = 1 })
  -- expect: actor.ask: option "0" is not known; there are "timeout" and "n"
time(actor.ask, { sink, [true] = 1 })
  -- expect: actor.ask: option "true" is not known; there are "timeout" and "n"
time(actor.ask, { sink, timeout = "1" })
  -- expect: actor.ask: timeout: milliseconds expected, got a string
time(actor.ask, { sink, timeout = -1 })
  -- expect: actor.ask: timeout: milliseconds from 0 on expected, got -1
time(actor.ask, { sink, nil, 1 })
  -- expect: actor.ask: a value before index 3 is nil; to send nil give n, how many values there are with the pid
time(actor.ask, { sink, 1, 2, n = 2 })    -- expect: actor.ask: there is a value at 3, beyond n
time(actor.ask, { sink, n = "1" })  -- expect: actor.ask: n must be an integer, it is a string
time(actor.ask, { sink, n = -1 })   -- expect: actor.ask: there is a value at 1, beyond n
time(actor.ask, { sink, n = 1000000000 })
  -- expect: 999999999 values cannot be sent in one message, 255 at most
time(actor.ask, { sink, print, timeout = 1 })   -- expect: argument 1: a function cannot be sent

-- An error has the place of the caller.
print(select(2, pcall(function() actor.send(sink, print) end)))
  -- expect: refusals.lua:117: argument 1: a function cannot be sent

-- Nothing of all that was sent.
sink:ask()
print(got)                                    -- expect: 1
