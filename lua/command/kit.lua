-- kit.lua: the module `actor.test`, and the actor that runs a case.
--
-- A test file is loaded in each vat, so that the behaviors it names exist there; describe, it and the
-- like only register meanwhile. In vat 0 the command then sends this file's actor "list", or "run"
-- and the name of a case. What comes of it is handed back through the functions of `host` (trial.c).
--
-- SPDX-License-Identifier: MIT
local host, same, source = ...
local actor = require "actor"

local WITHIN = 5000      -- milliseconds that a probe waits for a message, and `eventually` for its end
local QUIET = 100        -- and for which nothing comes, where it is not said otherwise
local NEAR = 1e-9

local test = { any = same.any, seed = host.seed }
local show, show_list, differ = same.show, same.show_list, same.differ

---------------------------------------------------------------------------------------------------
-- What goes wrong in a case: a table with the line of the test that says so. To others, who may catch
-- it or die of it, it is a text.

local Failure = { __name = "failed assertion" }

function Failure.__tostring(self)
  return self.line and ("%s:%d: %s"):format(self.file, self.line, self.message) or self.message
end

-- Without what is below the case; nil where it is one line, which the failure has anyway.
local function traceback(level)
  local text = debug.traceback("", level):gsub("^\nstack traceback:\n", "")
  text = text:gsub("\n\t%[C%]: in function 'xpcall'\n\t%[actor%.test%].*", ""):gsub("\n\t%[C%]: in %?$", "")
  return text:find "\n" and text:gsub("\t", "") or nil
end

-- The place and the traceback of the innermost function that is the test's own. `level` 2 is the
-- caller of who calls this.
local function place(failure, level)
  local info = debug.getinfo(level, "Sl")
  while info do
    if info.currentline > 0 and info.source ~= source then
      failure.file = info.source:match "^@(.*)" or info.short_src
      failure.line = info.currentline
      failure.traceback = traceback(level + 1)
      return
    end
    level = level + 1
    info = debug.getinfo(level, "Sl")
  end
end

local function fail(note, message, found, wanted)
  local failure = setmetatable({
    kind = "assertion",
    message = note ~= nil and ("%s: %s"):format(note, message) or message,
    found = found,
    wanted = wanted,
  }, Failure)
  place(failure, 3)
  error(failure, 0)
end

-- A mistake of the test's author.
local function refuse(text, ...) error(text:format(...), 3) end

local function check_ms(ms, what)
  if math.type(ms) == nil or ms ~= ms or ms < 0 then
    error(("%s: milliseconds from 0 on expected, got %s"):format(what, show(ms)), 3)
  end
end

-- A part of the text, or a Lua pattern that it has.
local function has(text, pattern)
  return text:find(pattern, 1, true) ~= nil or text:find(pattern) ~= nil
end

local function check_pattern(pattern, what)
  if type(pattern) ~= "string" then
    error(("%s: a text or a pattern expected, got %s"):format(what, show(pattern)), 3)
  end
  local ok, why = pcall(string.find, "", pattern)
  if not ok then error(("%s: %s"):format(what, why), 3) end
end

---------------------------------------------------------------------------------------------------
-- Registering

local cases, by_name = {}, {}
local group = { name = "", before = {}, after = {} }   -- the innermost `describe`
local is_loading = true

local function check_function(what, f)
  if not is_loading then
    error(("test.%s: cases are made while the file is loaded, not by a case"):format(what), 4)
  end
  if type(f) ~= "function" then
    error(("test.%s: a function expected, got %s"):format(what, show(f)), 4)
  end
end

local function check_hook(what, f) check_function(what, f) end

local function check_case(what, name, f)
  if type(name) ~= "string" or not name:find "%S" then
    error(("test.%s: a name expected first, got %s"):format(what, show(name)), 3)
  end
  check_function(what, f)
end

local function full_name(name)
  return group.name == "" and name or group.name .. " > " .. name
end

local function add(name, f, is_skipped)
  local info = debug.getinfo(3, "Sl")
  local case = { name = full_name(name), f = f, group = group, is_skipped = is_skipped,
                 line = info.currentline }
  local first = by_name[case.name]
  if first then
    error(("a case \"%s\" was made in line %d"):format(case.name, first.line), 3)
  end
  by_name[case.name] = case
  cases[#cases + 1] = case
end

function test.describe(name, f)
  check_case("describe", name, f)
  local outer = group
  group = { name = full_name(name), before = {}, after = {}, outer = outer }
  f()
  group = outer
end

function test.it(name, f)
  check_case("it", name, f)
  add(name, f, false)
end

function test.skip(name, f)
  check_case("skip", name, f)
  add(name, f, true)
end

function test.before(f)
  check_hook("before", f)
  group.before[#group.before + 1] = f
end

function test.after(f)
  check_hook("after", f)
  group.after[#group.after + 1] = f
end

---------------------------------------------------------------------------------------------------
-- Assertions

function test.equal(found, wanted, note)
  local at, x, y = differ(found, wanted)
  if not at then return found end
  local message = ("found %s, wanted %s"):format(show(x), show(y))
  if at ~= "" then message = ("at %s: %s"):format(at, message) end
  fail(note, message, show(found), show(wanted))
end

function test.ok(value, ...)
  if value then return value, ... end
  local note = (...)
  fail(type(note) == "string" and note or nil, ("found %s, wanted a true value"):format(show(value)),
       show(value), "a true value")
end

function test.near(found, wanted, within, note)
  if math.type(wanted) == nil then refuse("test.near: a number expected second, got %s", show(wanted)) end
  within = within or NEAR
  if math.type(found) and (found == wanted or math.abs(found - wanted) <= within) then return found end
  fail(note, ("found %s, wanted %s, give or take %s"):format(show(found), show(wanted), show(within)),
       show(found), show(wanted))
end

function test.matches(text, pattern, note)
  check_pattern(pattern, "test.matches")
  if type(text) == "string" and has(text, pattern) then return text end
  fail(note, ("found %s, wanted a text with %s"):format(show(text), show(pattern)), show(text),
       show(pattern))
end

function test.fails(f, pattern, note)
  if pattern ~= nil then check_pattern(pattern, "test.fails") end
  local results = table.pack(pcall(f))
  if results[1] then
    fail(note, ("no error, wanted one%s"):format(pattern and " with " .. show(pattern) or ""),
         show_list(table.pack(table.unpack(results, 2, results.n))), "an error")
  end
  local text = tostring(results[2])
  if pattern == nil or has(text, pattern) then return results[2] end
  fail(note, ("found the error %s, wanted one with %s"):format(show(text), show(pattern)), show(text),
       show(pattern))
end

function test.expect_failure(pattern)
  check_pattern(pattern, "test.expect_failure")
  host.expect("failure", pattern)
end

function test.expect_log(pattern)
  check_pattern(pattern, "test.expect_log")
  host.expect("log", pattern)
end

---------------------------------------------------------------------------------------------------
-- Time

function test.advance(ms)
  check_ms(ms, "test.advance")
  actor.sleep(ms)
  -- What is due at the same time may come behind us.
  for _ = 1, 3 do actor.sleep(0) end
end

function test.eventually(f, within, note)
  within = within or WITHIN
  check_ms(within, "test.eventually")
  local deadline, pause = actor.now() + within, 1
  while true do
    local results = table.pack(pcall(f))
    if results[1] and results[2] then return table.unpack(results, 2, results.n) end
    local left = deadline - actor.now()
    if left <= 0 then
      local last = results[1] and show(results[2]) or tostring(results[2])
      fail(note, ("not within %s ms: %s%s"):format(within, results[1] and "found " or "", last), last,
           "a true value")
    end
    actor.sleep(math.min(pause, left))
    pause = math.min(2 * pause, 50)
  end
end

---------------------------------------------------------------------------------------------------
-- Probes: an actor that keeps what it gets. It is told what to do by messages, so that it may live in
-- any vat; their names are nobody else's.

local TAKE, LATE, SEND, ASK, REPLY, FAIL = "actor.test: take", "actor.test: late", "actor.test: send",
  "actor.test: ask", "actor.test: reply", "actor.test: fail"

local function hand_out(self, got)
  self.last = got.request
  return got.values, got.sender
end

-- Requests that nobody answers are kept, so that who asked waits and is not told that they are gone.
local function take_in(self, ...)
  local got = { values = table.pack(...), sender = actor.sender() }
  local request = actor.later()
  if tostring(request) == "request<owed>" then
    got.request = request
    self.kept[#self.kept + 1] = request
  end
  if not self.taker then
    self.n = self.n + 1
    self.queue[self.n] = got
    return
  end
  local taker = self.taker
  self.taker = nil
  actor.cancel(self.timer)
  taker:reply(hand_out(self, got))
end

local keeps = actor.behavior("actor.test.probe", {
  init = function(self) self.queue, self.taken, self.n, self.kept = {}, 0, 0, {} end,
  receive = {
    [TAKE] = function(self, ms)
      if self.taken < self.n then
        self.taken = self.taken + 1
        local got = self.queue[self.taken]
        self.queue[self.taken] = nil
        return hand_out(self, got)
      end
      self.taker = actor.later()
      self.timer = actor.after(ms, LATE)
    end,
    [LATE] = function(self)
      local taker = self.taker
      self.taker = nil
      taker:reply(false)
    end,
    [SEND] = function(_, ...) return actor.send(...) end,
    [ASK] = function(_, ...) return actor.ask(...) end,
    [REPLY] = function(self, ...)
      if not self.last then return nil, "expired" end
      return self.last:reply(...)
    end,
    [FAIL] = function(self, reason)
      if not self.last then return nil, "expired" end
      return self.last:fail(reason)
    end,
    [actor.other] = take_in,
  },
})

local Probe = { __name = "probe" }
Probe.__index = Probe
function Probe.__tostring(self) return "probe of " .. tostring(self.pid) end

function test.probe()
  return setmetatable({ pid = actor.spawn(keeps) }, Probe)
end

local function tell(self, what, ...)
  return actor.ask { self.pid, what, timeout = math.huge, n = 2 + select("#", ...), ... }
end

-- The next message, as table.pack has it; nil: none came within the time.
local function take(self, ms)
  local values, sender = actor.ask { self.pid, TAKE, ms, timeout = math.huge }
  if values == nil then error(("the probe is gone: %s"):format(sender), 3) end
  self.sender = sender
  return values or nil
end

local function expect(self, ms, ...)
  local wanted, found = table.pack(...), take(self, ms)
  local shown = "the message " .. show_list(wanted)
  if not found then
    fail(nil, ("no message came within %s ms, wanted %s"):format(ms, shown), "no message", shown)
  end
  local text = "the message " .. show_list(found)
  local is_right = found.n == wanted.n
  for i = 1, wanted.n do is_right = is_right and not differ(found[i], wanted[i]) end
  if not is_right then fail(nil, ("found %s, wanted %s"):format(text, shown), text, shown) end
  return table.unpack(found, 1, found.n)
end

function Probe:expect(...) return expect(self, WITHIN, ...) end

function Probe:expect_within(ms, ...)
  check_ms(ms, "probe:expect_within")
  return expect(self, ms, ...)
end

function Probe:expect_none(ms)
  ms = ms or QUIET
  check_ms(ms, "probe:expect_none")
  local found = take(self, ms)
  if not found then return end
  local text = "the message " .. show_list(found)
  fail(nil, ("found %s, wanted none within %s ms"):format(text, ms), text, "no message")
end

function Probe:receive(ms)
  ms = ms or WITHIN
  check_ms(ms, "probe:receive")
  local found = take(self, ms)
  if not found then return nil, "timeout" end
  return table.unpack(found, 1, found.n)
end

function Probe:reply(...)
  local ok, why = tell(self, REPLY, ...)
  if not ok then fail(nil, "there is no ask to answer: " .. tostring(why)) end
end

function Probe:fail(reason)
  local ok, why = tell(self, FAIL, reason)
  if not ok then fail(nil, "there is no ask to fail: " .. tostring(why)) end
end

function Probe:send(pid, ...) return tell(self, SEND, pid, ...) end
function Probe:ask(pid, ...) return tell(self, ASK, pid, ...) end
function Probe:stop() return self.pid:stop() end

---------------------------------------------------------------------------------------------------
-- Running a case

-- The handler of errors.
local function note(e)
  host.fault()
  if getmetatable(e) == Failure then return e end
  local is_text = type(e) == "string" or type(e) == "number"
  local failure = setmetatable({ kind = "error", message = is_text and tostring(e) or show(e) }, Failure)
  place(failure, 2)
  return failure
end

-- The groups that a case is in, the outermost first.
local function groups_of(case)
  local list, at = {}, case.group
  while at do
    table.insert(list, 1, at)
    at = at.outer
  end
  return list
end

-- Calls the functions until one fails; returns what it failed of.
local function attempt(functions)
  for _, f in ipairs(functions) do
    local ok, failure = xpcall(f, note)
    if not ok then return failure end
  end
end

-- What has been sent is handled, and what that leads to, as far as nobody waits for the clock.
local function settle()
  local before
  for _ = 1, 50 do
    local now = actor.stats().messages
    if now == before then return end
    before = now
    actor.sleep(1)
  end
end

local function report(failure)
  if type(failure) ~= "table" then failure = { kind = "error", message = tostring(failure) } end
  host.failed(failure.kind, failure.message, failure.file, failure.line, failure.found, failure.wanted,
              failure.traceback)
end

local function run(case)
  local groups, failure = groups_of(case), nil
  for _, g in ipairs(groups) do failure = failure or attempt(g.before) end
  failure = failure or attempt { case.f }
  for i = #groups, 1, -1 do
    for _, f in ipairs(groups[i].after) do
      local late = attempt { f }
      failure = failure or late
    end
  end
  settle()
  if failure then report(failure) end
  host.finish()
end

actor.behavior("actor.test.case", {
  receive = {
    list = function()
      for _, case in ipairs(cases) do host.case(case.name, case.line, case.is_skipped) end
      host.finish()
    end,
    run = function(_, name)
      if by_name[name] then return run(by_name[name]) end
      host.failed("error", "the file does not make this case now: it did when the cases were listed")
      host.finish()
    end,
  },
})

-- The second is called once the file has been loaded.
return test, function() is_loading = false end
