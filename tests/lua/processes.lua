-- Processes: a body that takes its messages itself, near and far.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

local function echo(...) return ... end

local function message(f, ...)
  local ok, text = pcall(f, ...)
  return ok and "no error" or (tostring(text):gsub("^[^:]+:%d+: ", ""))
end

local function far(...) return actor.process_on(1, ...) end

-- Why there is no answer of an actor that has been told to stop: the ask comes before its end, or after it.
local function gone(why) return why == "stopped" or why == "no_actor" end

-- Waits until it has ended.
local function ended(p)
  test.eventually(function() return select(2, p:ask("x")) == "no_actor" end)
end

local makers = { { "near", actor.process, 0 }, { "far", far, 1 } }

for _, maker in ipairs(makers) do
  local place, make, vat = table.unpack(maker)

  test.it("gets the values given and the messages in order, " .. place, function()
    local probe = test.probe()
    local p = make(function(to, ...)
      to:send(actor.stats().vat, select("#", ...), ...)
      while true do
        local word, x = actor.receive()
        if word == "end" then return "nobody's answer" end
        if word == "get" then actor.reply(x, actor.self()) end
        if word == "tell" then to:send(x) end
      end
    end, probe.pid, 1, nil, "three", nil)
    probe:expect(vat, 4, 1, nil, "three", nil)
    test.ok(actor.is_pid(p))
    test.equal({ p:ask("get", 5) }, { 5, p })
    p:send("tell", "a")
    p:send("tell", "b")
    test.equal((p:ask("get", "c")), "c")
    probe:expect("a")
    probe:expect("b")
    test.equal({ p:ask("end") }, { nil, "unanswered" })
    ended(p)
  end)
end

test.it("gets tables; a near body shares its upvalues, a far one has copies", function()
  local count, probe = 0, test.probe()
  local function counts(t, to)
    count = count + 1
    to:send("counted", t.n + #t[1], count)
  end
  actor.process(counts, { n = 1, { 1, 2 } }, probe.pid)
  probe:expect("counted", 3, 1)
  actor.process_on(0, counts, { n = 2, { 1, 2 } }, probe.pid)
  probe:expect("counted", 4, 2)
  far(counts, { n = 3, { 1, 2 } }, probe.pid)
  probe:expect("counted", 5, 2)
  test.equal(count, 1)
end)

test.describe("receive", function()
  test.it("takes a time", function()
    local probe = test.probe()
    local to = probe.pid
    local p = actor.process(function()
      to:send("0", actor.receive(0))
      to:send(pcall(actor.receive, 5))
      local start = actor.now()
      local _, why = actor.receive(12.5)
      to:send(why, actor.now() - start >= 12.5, actor.sender())
      to:send("60000", actor.receive(60000))
    end)
    probe:expect("0", nil, "timeout")
    probe:expect(true, nil, "timeout")
    probe:expect("timeout", true, nil)
    p:send("in time")
    probe:expect("60000", "in time")
    ended(p)
  end)

  test.it("may stand in coroutines and iterators, and be an iterator", function()
    local sum, words = 0, {}
    local p = actor.process(function()
      local messages = coroutine.wrap(function() while true do coroutine.yield(actor.receive()) end end)
      for n in messages do
        if n == 0 then break end
        sum = sum + n
      end
      for word, x in actor.receive do
        words[#words + 1] = word .. x
        if word == "end" then break end
      end
    end)
    for i = 10, 0, -1 do p:send(i) end
    p:send("a", 1)
    p:send("end", 2)
    ended(p)
    test.equal(sum, 55)
    test.equal(words, { "a1", "end2" })
  end)

  test.it("finds what came while the process asked or slept, in order", function()
    local order, answer, other = {}, nil, actor.spawn(echo)
    local p = actor.process(function()
      answer = other:ask("asked")
      actor.sleep(5)
      for _, x in actor.receive do
        order[#order + 1] = x
        if x == 5 then break end
      end
    end)
    for i = 1, 5 do p:send("n", i) end
    ended(p)
    test.equal(answer, "asked")
    test.equal(order, { 1, 2, 3, 4, 5 })
  end)
end)

test.describe("a process as a server", function()
  local server, probe
  test.before(function()
    probe = test.probe()
    local me, to = actor.self(), probe.pid
    server = actor.process(function()
      local kept
      while true do
        local word = actor.receive()
        if word == "sender" then actor.reply(actor.sender() == me) end
        if word == "twice" then actor.reply(1) actor.reply(actor.reply(2)) end
        if word == "keep" then kept = actor.later() to:send("kept") end
        if word == "give" then to:send("gives", kept:reply("kept")) to:send("gives", actor.reply("given")) end
        if word == "tell" then to:send("told", actor.reply("no ask")) end
        if word == "sleep" then actor.sleep(5) actor.reply("slept") end
        if word == "wrong" then to:send(message(actor.reply, print)) actor.reply("right") end
      end
    end)
  end)

  test.it("knows the sender and answers once", function()
    test.equal({ server:ask("sender") }, { true })
    test.equal({ server:ask("twice") }, { 1 })
    test.equal({ server:ask("sleep") }, { "slept" })
  end)

  test.it("leaves an ask unanswered when it goes on", function()
    test.equal({ server:ask("nothing") }, { nil, "unanswered" })
  end)

  test.it("may answer later", function()
    local answer
    actor.process(function() answer = server:ask("keep") end)
    probe:expect("kept")
    test.equal({ server:ask("give") }, { "given" })
    probe:expect("gives", true)
    probe:expect("gives", true)
    test.equal(test.eventually(function() return answer end), "kept")
  end)

  test.it("has nothing to answer to what was told", function()
    server:send("tell")
    probe:expect("told", nil, "invalid")
  end)

  test.it("may answer after a wrong answer", function()
    test.equal({ server:ask("wrong") }, { "right" })
    probe:expect("argument 1: a function cannot be sent")
  end)

  test.it("ends with a stop", function()
    server:stop()
    test.equal({ server:ask("sender") }, { nil, gone })
  end)
end)

test.it("a handler may reply early, too", function()
  local probe = test.probe()
  local to = probe.pid
  local early = actor.spawn(function(x)
    local first = actor.reply(x)
    to:send(first, actor.reply(x))
    actor.sleep(1)
    return "late"
  end)
  for _, word in ipairs { "early", "again" } do
    test.equal({ early:ask(word) }, { word })
    probe:expect(true, nil, "expired")
  end
end)

test.it("is what receive is for, and a function", function()
  local Plain = actor.behavior("plain", {
    receive = { go = function() return message(actor.receive, 1) end },
  })
  local no_process = "actor.receive: this actor is no process; actor.process makes one"
  test.equal(actor.spawn(Plain):ask("go"), no_process)
  test.equal(message(actor.receive), no_process)
  local opened = io.tmpfile()
  for _, case in ipairs {
    { "actor.process: a function expected, got nothing", actor.process },
    { "actor.process: a function expected, got a behavior", actor.process, Plain },
    { "argument 2: a function cannot be sent", actor.process, print, 1, print },
    { "actor.process_on: there is no vat 7; 0 to 3 are always there", actor.process_on, 7, print },
    { 'actor.process_on: a vat\'s number, "any" or "isolate" expected, got "there"', actor.process_on,
      "there", print },
    { "actor.process_on: a function expected, got nothing", actor.process_on, 1 },
    { 'upvalue "opened": a userdata cannot be sent', actor.process_on, 1, function() return opened end },
    { "argument 2: a function cannot be sent", actor.process_on, 1, print, {}, print },
  } do test.equal(message(table.unpack(case, 2)), case[1]) end
end)

test.it("may be a C function", function()
  local probe = test.probe()
  actor.process(actor.send, probe.pid, "of C", 1)
  probe:expect("of C", 1)
end)

test.it("cannot receive where it cannot wait", function()
  local said
  ended(actor.process(function()
    string.gsub("x", "x", function() said = message(actor.receive, 0) end)
  end))
  test.equal(said, "actor.receive cannot wait here: inside a function called from C such as table.sort, "
    .. "string.gsub or require")
end)

local function fails(word)
  if word == "fail" then error("in a process", 0) end
  fails(actor.receive())
end

test.describe("an error", function()
  for _, maker in ipairs(makers) do
    test.it("has a traceback from where it was, and the open ask fails, " .. maker[1], function()
      test.expect_failure "failed: in a process\nstack traceback:"
      test.expect_failure "in upvalue 'fails'"
      test.expect_failure "in function <processes.lua:"
      test.equal({ maker[2](fails):ask("fail") }, { nil, "failed" })
    end)
  end

  test.it("may be of any kind, and anywhere", function()
    test.expect_failure "(error object is a table value)"
    ended(actor.process(function() error({}) end))
    test.expect_failure "after a sleep"
    ended(actor.process(function() actor.sleep(1) error("after a sleep", 0) end))
    test.expect_failure "inner"
    ended(actor.process(function()
      return coroutine.wrap(function() actor.receive() error("inner", 0) end)()
    end))
    test.expect_failure "attempt to index a nil value (field 'x')"
    ended(far(function() local t = {} t.x.y = 1 end))
  end)
end)

local log

local function note(text) log[#log + 1] = text end

local function closing(name)
  return setmetatable({}, { __close = function()
    note("close " .. name)
    note(message(actor.receive, 1))
    note(message(actor.process, print))
  end })
end

local function waiting(wait)
  local a <close> = closing "a"
  for _ = 1, 2 do
    pcall(function()
      local b <close> = closing "b"
      coroutine.wrap(function()
        local c <close> = closing "c"
        note "waits"
        pcall(wait)
        note "went on"
      end)()
    end)
    note "went on"
  end
end

test.describe("what it holds is closed, from the innermost out, and no more of it runs,", function()
  local ways = {
    { "in receive", function() actor.receive() end },
    { "in receive with a time", function() actor.receive(60000) end },
    { "in receive for ever", function() actor.receive(math.huge) end },
    { "asleep", function() actor.sleep(60000) end },
    { "in an ask", function()
      local other = actor.process(function() actor.receive() actor.sleep(math.huge) end)
      actor.ask { other, 1, timeout = math.huge }
    end },
  }
  local hows = {
    { "stopped", actor.stop },
    { "stopped now", function(p) p:stop { now = true } end },
    { "killed", actor.kill },
  }
  local refused = { "actor.receive cannot wait here: in a __close of a handler that has ended",
                    "actor.process: not in a __close of a handler that has ended" }
  for _, way in ipairs(ways) do
    for _, how in ipairs(hows) do
      test.it(way[1] .. ", " .. how[1], function()
        log = {}
        local p = actor.process(function() waiting(way[2]) end)
        test.eventually(function() return log[1] == "waits" end)
        test.advance(5)
        how[2](p)
        ended(p)
        test.equal(log, { "waits", "close c", refused[1], refused[2], "close b", refused[1], refused[2],
                          "close a", refused[1], refused[2] })
      end)
    end
  end
end)

test.it("receives what was sent before a stop, and nothing behind it", function()
  local got = {}
  local drains = actor.process(function()
    for x in actor.receive do
      got[#got + 1] = x
      actor.sleep(1)
    end
  end)
  for i = 1, 5 do drains:send(i) end
  drains:stop()
  drains:send("too late")
  ended(drains)
  test.equal(got, { 1, 2, 3, 4, 5 })
end)

test.it("exits at the next wait, and its children with it", function()
  local child
  log = {}
  ended(actor.process(function()
    child = actor.process(function() actor.receive() end)
    actor.exit()
    note "after exit"
    actor.receive()
    note "went on"
  end))
  test.equal(log, { "after exit" })
  test.equal({ child:ask() }, { nil, "no_actor" })
end)

test.it("may make others, and gives way in a loop of sends", function()
  local heard = 0
  local listener = actor.process(function() while actor.receive() do heard = heard + 1 end end)
  local function tree(n)
    for _ = 1, n > 0 and 2 or 0 do actor.process(tree, n - 1) end
    listener:send(true)
    actor.receive()
  end
  local root = actor.process(tree, 5)
  test.eventually(function() return heard == 63 end)
  root:stop()
  for _ = 1, 3000 do listener:send(true) end
  listener:send(false)
  ended(listener)
  test.equal(heard, 3063)
end)

test.it("leaves nothing behind, however many there are", function()
  local n = test.seed and 100 or 1000
  local function make()
    local probe, list = test.probe(), {}
    local done = probe.pid
    for i = 1, n do
      list[i] = actor.process(function(x)
        while actor.receive() ~= "end" do x = x + 1 end
        done:send(x)
      end, i)
    end
    for i = 1, n do list[i]:send("x") end
    for i = 1, n do list[i]:send("end") end
    local sum = 0
    for _ = 1, n do sum = sum + probe:receive() end
    test.equal(sum, n * (n + 1) // 2 + n)
    probe:stop()
  end
  make()
  collectgarbage()
  local kb, alive = collectgarbage "count", actor.stats().alive
  for _ = 1, 5 do make() end
  collectgarbage()
  test.ok(collectgarbage "count" - kb < 100, "memory")
  test.eventually(function() return actor.stats().alive <= alive end)
end)
