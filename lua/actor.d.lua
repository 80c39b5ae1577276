---@meta actor
-- actor.d.lua - the module `actor` for language servers (LuaCATS annotations). README.md beside it is
-- the reference. Times are milliseconds, integers or floats, which are rounded up.
--
-- SPDX-License-Identifier: MIT

---@alias actor.value nil|boolean|number|string|actor.pid|table what a message may carry
---@alias actor.place integer|"any"|"isolate" a vat's number from 0 on, the emptiest one, a new one
---@alias actor.handler fun(self: table, ...: any): ...: any

---@alias actor.reason
---| "no_actor"
---| "stopped"
---| "killed"
---| "failed"
---| "init"
---| "unhandled"
---| "unanswered"
---| "timeout"
---| "deadlock"
---| "self"
---| "encoding"
---| "memory"
---| "shutdown"
---| "expired"
---| "invalid"

---@alias actor.timer integer a timer of the actor that made it

---@class actor.behavior : userdata

---@class actor.definition
---@field receive table<any, actor.handler> handlers by the first value of their messages
---@field init? fun(self: table, ...: any) the first thing handled, with the values given to spawn
---@field stop? fun(self: table, reason: string) the last thing handled

---@class actor.period
---@field [1] number milliseconds, from 1 on
---@field delay? boolean the next period begins when the message has been handled
---@field background? boolean it does not keep a run going

---@class actor.question
---@field [1] actor.pid
---@field [integer] actor.value
---@field timeout? number milliseconds to wait at most, or math.huge
---@field n? integer how many elements there are, the pid among them

---@class actor.counts
---@field spawned integer
---@field stopped integer
---@field alive integer
---@field peak_alive integer
---@field failed integer
---@field messages integer
---@field far_messages integer
---@field timers integer
---@field fired integer
---@field timeouts integer
---@field late_replies integer
---@field deadlocks integer
---@field dead_letters table<string, integer> by reason
---@field turns integer
---@field steals integer
---@field parks integer
---@field wakes integer
---@field workers integer
---@field vats integer
---@field vat integer

---@class actor.pid : lightuserdata names an actor
local pid = {}

---Sends the values as one message.
---@param ... actor.value
---@return true
function pid:send(...) end

---Sends the values and waits for the answer, for 5 seconds at most.
---@param ... actor.value
---@return any ... the answer's values, or nil and an actor.reason
function pid:ask(...) end

---Stops the actor, after what was sent to it before.
---@param options? { now?: boolean } now: ahead of its queue
---@return true
function pid:stop(options) end

---Stops the actor at once, without its stop hook.
---@return true
function pid:kill() end

---@class actor.request : userdata an ask whose answer is still owed
local request = {}

---Answers it.
---@param ... actor.value
---@return true? done
---@return actor.reason? reason "expired": it was answered before
function request:reply(...) end

---Lets it fail.
---@param reason? string one of the reasons; "failed" if none is given
---@return true? done
---@return actor.reason? reason "expired": it was answered before
function request:fail(reason) end

---@class actor
---@field other userdata a key in `receive`: handles what no other handler does
---@field down userdata a key in `receive`, reserved for news of other actors' ends
local actor = {}

---Makes a behavior.
---@param name string that nothing else of the vat has
---@param definition actor.definition
---@return actor.behavior
function actor.behavior(name, definition) end

---Makes an actor in this vat, a child of the running one.
---@param behavior actor.behavior|fun(...: any): ...: any
---@param ... actor.value for its init
---@return actor.pid
function actor.spawn(behavior, ...) end

---Makes an actor in another vat.
---@param where actor.place
---@param behavior actor.behavior|fun(...: any): ...: any
---@param ... actor.value for its init
---@return actor.pid
function actor.spawn_on(where, behavior, ...) end

---Makes an actor whose life is one call of a function, which takes its messages with actor.receive.
---@param f fun(...: any)
---@param ... actor.value for f
---@return actor.pid
function actor.process(f, ...) end

---Makes a process in another vat.
---@param where actor.place
---@param f fun(...: any)
---@param ... actor.value for f
---@return actor.pid
function actor.process_on(where, f, ...) end

---The behavior that the host program has registered under that name.
---@param name string
---@return actor.behavior
function actor.native(name) end

---Sends the values as one message.
---@param pid actor.pid
---@param ... actor.value
---@return true
function actor.send(pid, ...) end

---Sends the values and waits for the answer, for 5 seconds at most or as the table says.
---@param pid actor.pid
---@param ... actor.value
---@return any ... the answer's values, or nil and an actor.reason
---@overload fun(question: actor.question): ...: any
function actor.ask(pid, ...) end

---Answers the ask that is being handled.
---@param ... actor.value
---@return true? done
---@return actor.reason? reason "expired": answered before; "invalid": no ask
function actor.reply(...) end

---Takes the ask that is being handled, to be answered later.
---@return actor.request
function actor.later() end

---In a process: waits for its next message.
---@param ms? number milliseconds to wait at most; 0: only what is there
---@return any ... the message's values, or nil and "timeout"
function actor.receive(ms) end

---The running actor.
---@return actor.pid
function actor.self() end

---Who sent the message that is being handled; nil: a host program.
---@return actor.pid?
function actor.sender() end

---Whether the value is a pid.
---@param value any
---@return boolean
function actor.is_pid(value) end

---Sends the values to the running actor itself, once.
---@param ms number milliseconds from now, from 0 on
---@param ... actor.value
---@return actor.timer
function actor.after(ms, ...) end

---Sends the values to the running actor itself, again and again.
---@param ms number|actor.period milliseconds, from 1 on
---@param ... actor.value
---@return actor.timer
function actor.every(ms, ...) end

---Ends a timer of the running actor, also one whose message waits already.
---@param timer actor.timer
---@return boolean is_ended false: it had ended before, or is another actor's
function actor.cancel(timer) end

---Waits; messages queue meanwhile.
---@param ms number milliseconds; 0: lets others run once
function actor.sleep(ms) end

---Milliseconds of a clock that never goes back.
---@return number
function actor.now() end

---The running actor stops when its handler returns or waits.
---@param reason? string for its stop hook
function actor.exit(reason) end

---Stops an actor, after what was sent to it before.
---@param pid actor.pid
---@param options? { now?: boolean } now: ahead of its queue
---@return true
function actor.stop(pid, options) end

---Stops an actor at once, without its stop hook.
---@param pid actor.pid
---@return true
function actor.kill(pid) end

---Counts since the engine was made.
---@return actor.counts
function actor.stats() end

---Writes the values to the engine's log.
---@param level "debug"|"info"|"warn"|"error"|any
---@param ... any
function actor.log(level, ...) end

return actor
