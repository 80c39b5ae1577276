#!/bin/sh
# lua/README.md and lua/TESTS.md, lua/actor.d.lua and lua/test.d.lua name every function of the modules and
# every method, and nothing else; the examples print what stands behind `-->`, in that order, and those that
# are test cases pass. One whose first line is `-- actorlua ARGUMENTS FILE` is run so.
#
# SPDX-License-Identifier: MIT
set -eu

set -- "$SOURCE_DIR/lua/README.md" "$SOURCE_DIR/lua/TESTS.md"
annotations=$SOURCE_DIR/lua/actor.d.lua
kit_annotations=$SOURCE_DIR/lua/test.d.lua
. "$SOURCE_DIR/tests/support/scratch.sh"

# --- The names ---

# What there is, as actor.NAME, pid:NAME and request:NAME, sorted.
cat >"$out/names.lua" <<'END'
local actor = require "actor"
for name in pairs(actor) do print("actor." .. name) end
for name in pairs(getmetatable(actor.self()).__index) do print("pid:" .. name) end
local request = debug.getregistry()["actor.request"]
for name in pairs(request.__index) do print("request:" .. name) end
END
"$ACTORLUA" "$out/names.lua" | sort >"$out/names"
grep -qx actor.spawn "$out/names" || fail "the module has no spawn"

# What actor.test has: printed by a case, and so a comment in its results.
cat >"$out/kit_names.lua" <<'END'
local test = require "actor.test"
test.it("has names", function()
  for name in pairs(test) do print("test." .. name) end
  for name, value in pairs(getmetatable(test.probe()).__index) do
    if type(value) == "function" and not name:find "^__" then print("probe:" .. name) end
  end
end)
END
"$ACTORLUA" test "$out/kit_names.lua" | sed -n 's/^# \([a-z]*[.:][a-z_]*\)$/\1/p' |
  sort >"$out/kit_names"
grep -qx test.equal "$out/kit_names" || fail "the module of tests has no equal"
sort -o "$out/all_names" "$out/names" "$out/kit_names"

sed -n 's/^### \([a-z]*[.:][a-z_]*\).*/\1/p' "$@" | sort >"$out/headings"
diff "$out/all_names" "$out/headings" || fail "< in the modules, > a heading in the reference"

cat >"$out/annotated.lua" <<'END'
local path, module, class = ...
local annotated = dofile(path)
for name, value in pairs(annotated) do
  assert(type(value) == "function", name)
  print(module .. "." .. name)
end
local is_module = false
for line in io.lines(path) do
  local begun = line:match "^---@class ([%l.]+)"
  if begun then is_module = begun == class end
  local method, field = line:match "^function (%l+:[%l_]+)%(", line:match "^---@field (%l+)"
  if method then print(method) end
  if field and is_module then print(module .. "." .. field) end
end
END
"$ACTORLUA" "$out/annotated.lua" "$annotations" actor actor | sort >"$out/annotated"
diff "$out/names" "$out/annotated" || fail "< in the module, > in lua/actor.d.lua"
"$ACTORLUA" "$out/annotated.lua" "$kit_annotations" test actor.test | sort >"$out/kit_annotated"
diff "$out/kit_names" "$out/kit_annotated" || fail "< in the module of tests, > in lua/test.d.lua"

# What actor.stats() has, too.
echo 'for k in pairs(require("actor").stats()) do print(k) end' >"$out/stats.lua"
for field in $("$ACTORLUA" "$out/stats.lua"); do
  grep -q "^---@field $field " "$annotations" || fail "lua/actor.d.lua lacks the count $field"
  sed -n '/^### actor.stats/,/^```/p' "$1" | grep -q "\`$field\`" ||
    fail "lua/README.md lacks the count $field"
done

# --- The examples ---

# Each block to a file of its own, named by the page and its first line there.
awk -v out="$out" '
  FNR == 1 { page = FILENAME; sub(/.*\//, "", page); sub(/\..*/, "", page) }
  /^```lua$/ { file = sprintf("%s/example_%s_%03d.lua", out, page, FNR + 1); on = 1; next }
  /^```/ { on = 0; close(file) }
  on { print >file }' "$@"

n=0
for example in "$out"/example_*.lua; do
  n=$((n + 1))
  if grep -q 'require "actor.test"' "$example"; then
    for how in --seeds=20 --threaded; do
      "$ACTORLUA" test "$example" "$how" >"$out/results" 2>&1 </dev/null && continue
      fail "$(basename "$example") fails:"
      cat "$out/results"
    done
    continue
  fi
  sed -n 's/^.*--> //p' "$example" >"$out/expected"
  arguments=$(sed -n '1s/^-- actorlua \(.*\) FILE$/\1/p' "$example")
  status=0
  # shellcheck disable=SC2086 # they are words
  "$ACTORLUA" $arguments "$example" >"$out/printed" 2>"$out/errors" </dev/null || status=$?
  [ "$status" -eq 0 ] || fail "$(basename "$example"): exit status $status"
  diff "$out/expected" "$out/printed" >"$out/diff" || {
    fail "$(basename "$example"): < expected, > printed"
    cat "$out/diff"
  }
  # What a log example writes is no error.
  grep -v '^warning: only 3 left$' "$out/errors" >"$out/said" && {
    fail "$(basename "$example") wrote to stderr:"
    cat "$out/said"
  }
done
[ "$n" -gt 25 ] || fail "only $n examples were found"
[ "$failed" -eq 0 ] || exit 1
echo "$n examples print what the reference says"
