---@meta actor.test
-- test.d.lua - the module `actor.test` for language servers (LuaCATS annotations). TESTS.md beside it
-- is the reference. Times are milliseconds. A `pattern` is a text, or a Lua pattern.
--
-- SPDX-License-Identifier: MIT

---@class actor.probe
---@field pid actor.pid the actor that keeps what it is sent
---@field sender? actor.pid who sent the message that was taken last
local probe = {}

---The next message has these values, and comes within 5 seconds.
---@param ... any values, test.any, or functions that say whether a value will do
---@return any ... the message's values
function probe:expect(...) end

---The next message has these values, and comes in time.
---@param ms number milliseconds
---@param ... any values, test.any, or functions that say whether a value will do
---@return any ... the message's values
function probe:expect_within(ms, ...) end

---No message comes within the time.
---@param ms? number milliseconds, 100 if not given
function probe:expect_none(ms) end

---Takes the next message.
---@param ms? number milliseconds, 5000 if not given
---@return any ... the message's values, or nil and "timeout"
function probe:receive(ms) end

---Answers the ask that was taken last.
---@param ... actor.value
function probe:reply(...) end

---Lets the ask that was taken last fail.
---@param reason? actor.reason
function probe:fail(reason) end

---Sends the values, with the probe as the sender.
---@param pid actor.pid
---@param ... actor.value
---@return true
function probe:send(pid, ...) end

---Asks in the probe's place.
---@param pid actor.pid
---@param ... actor.value
---@return any ... the answer's values, or nil and an actor.reason
function probe:ask(pid, ...) end

---Stops the actor.
---@return true
function probe:stop() end

---@class actor.test
---@field any any the same as anything
---@field seed? integer of the run; nil with --threaded
local test = {}

---Puts the cases that f makes under a name.
---@param name string
---@param f fun()
function test.describe(name, f) end

---Makes a case.
---@param name string that no other case of the description has
---@param f fun()
function test.it(name, f) end

---Makes a case that is not run.
---@param name string
---@param f fun()
function test.skip(name, f) end

---Calls f before each case of the description.
---@param f fun()
function test.before(f) end

---Calls f after each case of the description.
---@param f fun()
function test.after(f) end

---The two are the same, tables by what they hold.
---@generic T
---@param found T
---@param wanted any a value, test.any, or a function that says whether it will do
---@param note? any said when it fails
---@return T found
function test.equal(found, wanted, note) end

---The value is neither nil nor false.
---@generic T
---@param value T
---@param note? any said when it fails
---@return T value
function test.ok(value, note) end

---The numbers differ by little.
---@param found number
---@param wanted number
---@param within? number 1e-9 if not given
---@param note? any said when it fails
---@return number found
function test.near(found, wanted, within, note) end

---The text has the pattern in it.
---@param text string
---@param pattern string
---@param note? any said when it fails
---@return string text
function test.matches(text, pattern, note) end

---The function raises an error.
---@param f fun()
---@param pattern? string that its text has
---@param note? any said when it fails
---@return any error
function test.fails(f, pattern, note) end

---Announces that an actor fails, or waits in vain, by the end of the case.
---@param pattern string that the log entry has
function test.expect_failure(pattern) end

---Announces an entry in the log by the end of the case.
---@param pattern string that the log entry has
function test.expect_log(pattern) end

---Lets the clock go on.
---@param ms number milliseconds
function test.advance(ms) end

---Calls f until it returns neither nil nor false, and raises no error.
---@param f fun(): any, ...
---@param within? number milliseconds, 5000 if not given
---@param note? any said when it fails
---@return any ... what f returned
function test.eventually(f, within, note) end

---Makes an actor that keeps what it is sent.
---@return actor.probe
function test.probe() end

return test
