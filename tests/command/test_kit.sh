#!/bin/sh
# `actorlua test`: what it says of cases that pass, fail, crash, wait for ever, never end or are none,
# and how it says it.
#
# SPDX-License-Identifier: MIT
set -eu

. "$SOURCE_DIR/tests/support/scratch.sh"
cd -- "$out"

# run STATUS ARGUMENT ...: the output is in `said` and `errors`.
run() {
  wanted=$1
  shift
  status=0
  "$ACTORLUA" test "$@" >said 2>errors </dev/null || status=$?
  [ "$status" = "$wanted" ] && return 0
  fail "status $status, not $wanted: actorlua test $*"
  cat said errors
}

# says TEXT ...: each is a whole line of `said`, blanks around it aside, times left out.
says() {
  sed 's/ # time=[0-9.]*ms$//; s/^ *//' said >lines
  for line in "$@"; do
    grep -qxF -e "$line" lines || {
      fail "it does not say: $line"
      cat said
    }
  done
}

# line TEXT: the number of the line of kinds.lua that has it.
line() {
  grep -nF -e "$1" kinds.lua | head -n 1 | cut -d : -f 1
}

# no TEXT: `said` has no such text.
no() {
  if grep -qF -e "$1" said; then fail "it says: $1"; fi
}

# --- A file with a case of each kind ---

cat >kinds.lua <<'END_OF_FILE'
local actor = require "actor"
local test = require "actor.test"

local Account = actor.behavior("account", {
  init = function(self, to) self.to, self.balance = to, 0 end,
  receive = {
    deposit = function(self, n)
      self.balance = self.balance + n
      self.to:send("changed", n, { balance = self.balance })
    end,
    balance = function(self) return self.balance end,
    price = function(self) return self.to:ask("price", "apple") end,
    fail = function() error("out of money") end,
  },
})

test.describe("good", function()
  local probe, a
  test.before(function()
    probe = test.probe()
    a = actor.spawn(Account, probe.pid)
  end)

  test.it("passes", function()
    a:send("deposit", 5)
    local name, n, t = probe:expect("changed", 5, { balance = 5 })
    test.equal({ name, n, t.balance }, { "changed", 5, 5 })
    a:send("deposit", 1)
    probe:expect_within(10, "changed", function(n) return n < 2 end, test.any)
    test.equal(probe.sender, a)
    probe:expect_none(100)
    test.equal(a:ask("balance"), 6)
  end)

  test.it("answers asks", function()
    local answers = {}
    local function ask()
      local answer = table.pack(a:ask("price"))
      answers[#answers + 1] = answer
    end
    for _ = 1, 2 do actor.process(ask) end
    probe:expect("price", "apple")
    probe:reply(7)
    test.eventually(function() return #answers == 1 end)
    probe:expect("price", "apple")
    probe:fail("full")
    test.eventually(function() return #answers == 2 end)
    test.equal(answers, { { 7, n = 1 }, { n = 2, nil, "full" } })
    actor.process(ask)
    probe:expect("price", "apple")
  end)

  test.it("is a sender and an asker", function()
    test.equal(probe:ask(a, "balance"), 0)
    local other = test.probe()
    probe:send(other.pid, "hello")
    other:expect("hello")
    test.equal(other.sender, probe.pid)
    test.equal({ other:receive(10) }, { nil, "timeout" })
  end)

  test.it("has a clock", function()
    local ticks, begun = 0, actor.now()
    local Clock = actor.behavior("clock", {
      init = function() actor.every(1000, "tick") end,
      receive = { tick = function() ticks = ticks + 1 end },
    })
    actor.spawn(Clock)
    test.advance(3600 * 1000)
    test.near(actor.now() - begun, 3600 * 1000, 1000)
    test.near(ticks, 3600, 1)
  end)

  test.it("announces a crash", function()
    a:send("fail")
    test.expect_failure("out of money")
    test.expect_failure("^account <%d+%.%d+%.%d+> failed")
    test.expect_log("a note of %d+ words")
    actor.log("a note of 5 words")
  end)

  test.it("leaves things behind", function()
    local pid = actor.self()
    a:send("nobody's word")
    actor.process(function() probe.pid:ask("never answered") end)
    actor.spawn(function() end):send("left")
  end)
end)

test.describe("bad", function()
  test.it("equal", function()
    test.equal({ list = { 1, { x = "a" } } }, { list = { 1, { x = "b" } } })
  end)
  test.it("error", function()
    local t = nil
    t.x = 1
  end)
  test.it("crash", function() actor.spawn(Account, actor.self()):send("fail") end)
  test.it("another's crash", function()
    local a = actor.spawn(Account, actor.self())
    a:send("fail")
    test.expect_failure("no money")
  end)
  test.it("in vain", function() test.expect_failure("a crash") end)
  test.it("deadlock", function()
    local a
    local b = actor.spawn(function() return a:ask() end)
    a = actor.spawn(function() return b:ask() end)
    a:ask()
  end)
  test.it("waits", function() actor.sleep(math.huge) end)
  test.it("endless", function()
    local a = actor.spawn(function(to) to:send(actor.self()) end)
    local b = actor.spawn(function(to) to:send(actor.self()) end)
    a:send(b)
    actor.sleep(1e9)
  end)
  test.it("exits", function() os.exit(0) end)
  test.it("stopped", function() actor.exit() actor.sleep(1) end)
  test.it("silent", function() test.probe():expect_within(50, "a word", test.any) end)
  test.it("noisy", function()
    local probe = test.probe()
    probe.pid:send("a word", 1)
    probe:expect_none()
  end)
  test.it("no ask", function() test.probe():reply(1) end)
  test.it("late", function() test.eventually(function() return 1 > 2 end, 100) end)
  test.it("no error", function() test.fails(function() return 12 end, "some") end)
  test.it("other error", function() test.fails(function() error("one", 0) end, "some") end)
  test.it("in another actor", function()
    actor.spawn(function() test.equal(1, 2) end):ask()
  end)
  test.it("registers", function() test.it("too late", print) end)
end)

test.skip("skipped # for a reason", function() error("not run") end)
END_OF_FILE

run 0 kinds.lua --only good --seeds 20
says "TAP version 14" "1..6" "# kinds.lua" "ok 1 - good > passes" "ok 2 - good > answers asks" \
  "ok 6 - good > leaves things behind"
no "not ok"
run 0 kinds.lua --only "good > passes" --seeds 20 --scatter --jobs 1
run 0 kinds.lua --only "good > a" --threaded
says "1..2"

run 1 kinds.lua --only bad --steps 20000
grep -c '^not ok' said | grep -qx 18 || fail "not all of the bad cases fail"
says 'message: "at .list[2].x: found \"a\", wanted \"b\""' "line: $(line 'x = "b"')" 'severity: "fail"' \
  'found: "{ list = { 1, { x = \"a\" } } }"' 'wanted: "{ list = { 1, { x = \"b\" } } }"' \
  "repeat: \"actorlua test kinds.lua --only 'bad > equal' --seed 1 --steps 20000\"" 'seed: 1' \
  'file: "kinds.lua"' \
  "message: \"kinds.lua:$(line 't.x = 1'): attempt to index a nil value (local 't')\"" "line: $(line 't.x = 1')" 'severity: "error"' \
  "message: \"account <0.2.1> failed: kinds.lua:$(line 'out of money'): out of money\"" "line: $(line 'it("crash"')" \
  'message: "no failure with \"a crash\" came"' "line: $(line 'it("in vain"')" \
  "deadlock: actor.test.case <0.1.1> waits at kinds.lua:$(line '    a:ask()') for an answer of function <kinds.lua:$(line 'a = actor.spawn(function() return b')> <0.3.1>, which cannot come" \
  'message: "never returned: it was stopped, or waits for what cannot come"' "line: $(line 'it("waits"')" \
  'message: "is not quiet after 20000 steps"' \
  'message: "its process ended, with status 0; was os.exit called?"' \
  'message: "no message came within 50 ms, wanted the message (\"a word\", anything)"' "line: $(line 'it("silent"')" \
  'message: "found the message (\"a word\", 1), wanted none within 100 ms"' "line: $(line 'probe:expect_none()')" \
  'message: "there is no ask to answer: expired"' \
  'message: "not within 100 ms: found false"' \
  'message: "no error, wanted one with \"some\""' 'found: "(12)"' \
  'message: "found the error \"one\", wanted one with \"some\""' \
  "message: \"kinds.lua:$(line 'too late'): test.it: cases are made while the file is loaded, not by a case\""
n=$(line 'test.equal(1, 2)')
grep -q "message: \"function <kinds.lua:$n> .*failed: kinds.lua:$n: found 1, wanted 2\"" said ||
  fail "an assertion in another actor has not its line"
no "too late"

run 0 kinds.lua --only skipped
says '1..1' 'ok 1 - skipped \# for a reason # SKIP'

# --quiet: failures and nothing else
run 0 kinds.lua --only good --quiet
[ ! -s said ] || fail "--quiet says something of what passes"
run 1 kinds.lua --only "bad > equal" -q
[ "$(head -n 1 said | sed 's/ #.*//')" = "not ok 1 - bad > equal" ] || fail "--quiet hides a failure"

# The trace ends with what went wrong, and not with what came of it.
run 1 kinds.lua --only "bad > crash" --seed 1
sed -n '/^  trace: /,/^  \.\.\./p' said >trace
sed -n '$!{h;d}; x; p' trace | grep -q "account <0.2.1> *receive *fail *from actor.test.case" ||
  fail "the trace does not end with the crash: $(cat trace)"
[ "$(grep -c '^ .* ms ' trace)" -le 20 ] || fail "the trace is too long"

# One that computes for ever is found out, too.
cat >loop.lua <<'END_OF_FILE'
local test = require "actor.test"
test.it("computes", function() while true do end end)
END_OF_FILE
run 1 loop.lua --steps 10000
says 'message: "is not quiet after 10000 steps"' 'line: 2'

# The command that it gives repeats what failed; seeds after the first that fails are not run.
cat >seeds.lua <<'END_OF_FILE'
local test = require "actor.test"
test.it("isn't fine for long", function()
  print("seed", test.seed)
  test.ok(test.seed < 7, "too large")
end)
END_OF_FILE
run 1 seeds.lua --seeds 100
says 'message: "too large: found false, wanted a true value"' "seed: 7" "# seed	7"
no "# seed	8"
no "# seed	6"
sed -n 's/^  repeat: "\(.*\)"$/\1/p' said | sed "s/\\\\\\\\/\\\\/g; s/^actorlua/\$ACTORLUA/" >again
[ -s again ] || fail "there is no command to repeat a failure"
sh again >repeated 2>&1 && fail "the command does not repeat the failure"
grep -q "seed: 7" repeated || fail "the command repeats something else"
run 0 seeds.lua --seed 6

# The same seed says the same.
run 1 kinds.lua --only bad --steps 20000 --seed 3 --junit first.xml
sed 's/time=[0-9.]*ms//; s/[0-9.]* s$//' said >first
run 1 kinds.lua --only bad --steps 20000 --seed 3
sed 's/time=[0-9.]*ms//; s/[0-9.]* s$//' said >second
cmp first second || fail "the same seed does not say the same"

# --- Files that are none ---

echo 'local test = require "actor.test" test.it("a", print) error("at its top")' >broken.lua
echo 'local test = require "actor.test" test.it(' >unfinished.lua
echo 'print "hello"' >none.lua
echo 'local test = require "actor.test" test.it("one", function() end) test.it("one", print)' >twice.lua
echo 'require("actor.test").it("fine", function() end)' >fine.lua
run 1 broken.lua
says "1..1" "not ok 1 - broken.lua" 'message: "broken.lua:1: at its top"'
run 1 unfinished.lua
says "1..1" "not ok 1 - unfinished.lua"
grep -q "^actorlua: unfinished.lua:" errors || fail "a syntax error is not said"
run 1 twice.lua
says 'message: "twice.lua:1: a case \"one\" was made in line 1"'
run 1 none.lua
says "1..0 # SKIP there are no cases"
grep -q "^actorlua: test: there are no cases" errors || fail "it does not say that there are no cases"
run 1 fine.lua --only "no such"
grep -q "no case has 'no such' in its name" errors || fail "it does not say what --only leaves out"
run 2 fine.lua missing.lua
says "1..2" "ok 1 - fine" "not ok 2 - missing.lua" "# missing.lua"
run 2 .
run 2
run 2 fine.lua --threaded --seed 1
run 2 fine.lua --junit no/such/folder.xml
run 1 broken.lua fine.lua none.lua
says "1..2" "ok 2 - fine"

# As a script it says what to do.
status=0
"$ACTORLUA" fine.lua >said 2>errors || status=$?
[ $status = 1 ] && grep -q "run it with 'actorlua test FILE'" errors || fail "a test run as a script is not explained"

# --- The file in each vat ---

cat >vats.lua <<'END_OF_FILE'
local actor = require "actor"
local test = require "actor.test"
local Where = actor.behavior("where", { receive = { where = function() return actor.stats().vat end } })
test.it("knows its behaviors everywhere", function()
  for vat = 0, actor.stats().vats - 1 do
    test.equal(actor.spawn_on(vat, Where):ask("where"), vat)
  end
  test.ok(actor.stats().vats > 1)
  isolate = actor.spawn_on("isolate", Where)
  test.ok(isolate:ask("where") >= actor.stats().vats)
end)
test.it("shares nothing with the case before", function() test.equal(isolate, nil) end)
END_OF_FILE
run 0 vats.lua --seeds 20
run 0 vats.lua --threaded

# --- JUnit ---

cat >odd.lua <<'END_OF_FILE'
local test = require "actor.test"
test.it('a <name> & "more" \1\27[31m\239\191\191 \255', function()
  print("a <b> ]]> \0 \27[0m \255")
  error("<&>\"'\1\255\239\191\190", 0)
end)
END_OF_FILE
run 1 odd.lua kinds.lua fine.lua --steps 20000 --junit odd.xml
cat >check.lua <<'END_OF_FILE'
-- Whether the file is well-formed, and how many elements of each kind it has.
local text = assert(io.open(arg[1])):read "a"
assert(utf8.len(text), "not UTF-8")
assert(not text:find "[%z\1-\8\11\12\14-\31]" and not text:find "\239\191[\190\191]", "not of XML 1.0")
local open, n = {}, {}
text = text:gsub("^<%?xml [^?]*%?>%s*", "")
for before, tag in text:gmatch "([^<]*)<([^>]*)>" do
  assert(not before:gsub("&%a+;", ""):gsub("&#%d+;", ""):find "[&>]", before)
  local closes, name, rest, empty = tag:match "^(/?)([%w%-]+)(.-)(/?)$"
  assert(name, tag)
  if closes == "/" then
    assert(table.remove(open) == name and rest == "", tag)
  else
    rest = rest:gsub('%s+[%w%-]+="[^"<]*"', "")
    assert(rest == "", tag)
    n[name] = (n[name] or 0) + 1
    if empty == "" then open[#open + 1] = name end
  end
end
assert(#open == 0)
print(n.testsuites, n.testsuite, n.testcase, n.failure, n.error, n.skipped)
END_OF_FILE
"$ACTORLUA" check.lua odd.xml >counts || fail "the JUnit XML is not well-formed"
grep -qx "1	3	27	7	12	1" counts || fail "the JUnit XML has other counts: $(cat counts)"
grep -q "testcase classname=\"kinds\" name=\"bad &gt; equal\" file=\"kinds.lua\" line=\"$(line 'it("equal"')\" time=" odd.xml ||
  fail "the JUnit XML has not the case"
if command -v xmllint >/dev/null; then
  xmllint --noout odd.xml || fail "xmllint does not take the JUnit XML"
fi
grep -q '^# a <b> ]]>' said || fail "what a case prints is no comment"
if LC_ALL=C grep -q "$(printf '\033')" said; then fail "a case reaches the terminal"; fi

# --- Output that cannot be written, and a signal ---

status=0
"$ACTORLUA" test fine.lua >&- 2>errors || status=$?
[ $status = 1 ] || [ $status = 0 ] || fail "status $status with a closed stdout"
if [ -w /dev/full ]; then
  status=0
  "$ACTORLUA" test fine.lua >/dev/full 2>errors || status=$?
  [ $status = 1 ] && grep -q "cannot write" errors || fail "a full disk is no failure"
fi

echo 'require("actor.test").it("sleeps", function() print("pid") require("actor").sleep(1e7) end)' >sleeps.lua
: >said
"$ACTORLUA" test sleeps.lua --threaded >said 2>errors &
pid=$!
until grep -q "^1\.\.1" said; do sleep 0.05; done
kill -TERM $pid
status=0
wait $pid || status=$?
[ $status = 143 ] || fail "status $status after SIGTERM"
grep -q "^Bail out!" said || fail "it does not say that it was stopped"

[ $failed = 0 ] || exit 1
echo "test files are run as they should be"
