#!/bin/sh
# lua/README.md and lua/actor.d.lua name every function of the module and every method, and nothing
# else; the examples print what stands behind `-->`, in that order.
#
# SPDX-License-Identifier: MIT
set -eu

readme=$SOURCE_DIR/lua/README.md
annotations=$SOURCE_DIR/lua/actor.d.lua
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

fail() {
  echo "test_reference: $1"
  failed=1
}

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

sed -n 's/^### \([a-z]*[.:][a-z_]*\).*/\1/p' "$readme" | sort >"$out/headings"
diff "$out/names" "$out/headings" || fail "< in the module, > a heading in lua/README.md"

cat >"$out/annotated.lua" <<'END'
local annotated = dofile(...)
local actor = require "actor"
for name, value in pairs(annotated) do
  assert(type(value) == "function", name)
  print("actor." .. name)
end
for line in io.lines(...) do
  local method = line:match "^function (%l+:[%l_]+)%(" or line:match "^---@field (%l+) userdata a key"
  if method then print(method:find ":" and method or "actor." .. method) end
end
END
"$ACTORLUA" "$out/annotated.lua" "$annotations" | sort >"$out/annotated"
diff "$out/names" "$out/annotated" || fail "< in the module, > in lua/actor.d.lua"

# What actor.stats() has, too.
echo 'for k in pairs(require("actor").stats()) do print(k) end' >"$out/stats.lua"
for field in $("$ACTORLUA" "$out/stats.lua"); do
  grep -q "^---@field $field " "$annotations" || fail "lua/actor.d.lua lacks the count $field"
  sed -n '/^### actor.stats/,/^```/p' "$readme" | grep -q "\`$field\`" ||
    fail "lua/README.md lacks the count $field"
done

# --- The examples ---

# Each block to a file of its own, named by its first line in the page.
awk -v out="$out" '
  /^```lua$/ { file = sprintf("%s/example_%03d.lua", out, NR + 1); on = 1; next }
  /^```/ { on = 0; close(file) }
  on { print >file }' "$readme"

n=0
for example in "$out"/example_*.lua; do
  n=$((n + 1))
  sed -n 's/^.*--> //p' "$example" >"$out/expected"
  status=0
  "$ACTORLUA" "$example" >"$out/printed" 2>"$out/errors" </dev/null || status=$?
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
