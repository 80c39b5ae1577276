#!/bin/sh
# `actorlua explore` finds each of the known faults here, which a plain run does not show; what it says to
# repeat the failure does repeat it; and it finds nothing in the corrected programs.
#
# Prints the table of README.md as it is with this build.
#
# SPDX-License-Identifier: MIT
# ctest: timeout 300
set -u
cd -- "$SOURCE_DIR/tests/faults" || exit 1
. "$SOURCE_DIR/tests/support/scratch.sh"

# A sanitizer takes its time.
runs=1000
[ -z "${SANITIZE_FLAGS:-}" ] || runs=250

# Which kinds of failure a fault may show as.
kinds_of() {
  case $1 in
    deadlock_of_asks | lost_wakeup | philosophers) echo "deadlock" ;;
    after_stop) echo "actor lost" ;;
    stop_with_work) echo "lost" ;;
    *) echo "check" ;;
  esac
}

# value KEY: of the first such key in the JSON in `found`.
value() {
  sed -n "s/^.*\"$1\":\"*\([^,\"}]*\).*/\1/p; q" "$out/found"
}

# first KEY: the same in the object "failure".
first() {
  sed -n "s/^.*\"failure\":{\([^}]*\)}.*/\1/p" "$out/found" | sed -n "s/^.*\"$1\":\"*\([^,\"]*\).*/\1/p"
}

# A machine that is very busy may show a fault now and then that is one of time.
passes_plainly() {
  for _ in 1 2 3; do
    "$ACTORLUA" "$1.lua" --quiet >"$out/plain" 2>&1 </dev/null && return 0
  done
  cat "$out/plain"
  return 1
}

# Runs what explore says twice: each time it fails, of the same, and says the same.
repeats() {
  command=$(first again)
  case $command in
    "actorlua $1.lua --seed "*) ;;
    *) fail "$1: no command to repeat it: $command"; return ;;
  esac
  for time in once twice; do
    status=0
    # shellcheck disable=SC2086
    "$ACTORLUA" ${command#actorlua } >"$out/$time" 2>&1 </dev/null || status=$?
    [ $status = 1 ] || fail "$1: status $status of: $command"
  done
  cmp -s "$out/once" "$out/twice" || fail "$1: two outputs of: $command"
  # The line of JSON has the text in the form that JSON has.
  text=$(first text | sed 's/\\n.*//')
  [ -n "$text" ] && grep -qF -e "$text" "$out/once" || fail "$1: \`$command\` does not say: $text"
}

explore() {
  "$ACTORLUA" explore "$@" --runs $runs --json >"$out/found" 2>"$out/errors" </dev/null
}

check() {
  passes_plainly "$1" || fail "$1: a plain run fails"
  explore "$1.lua" --all
  [ $? = 1 ] || { fail "$1: not found in $runs seeds"; cat "$out/found" "$out/errors"; return; }
  case " $(kinds_of "$1") " in
    *" $(first kind) "*) ;;
    *) fail "$1: found as a failure of kind $(first kind)" ;;
  esac
  row=$(printf '| [%s](%s.lua) | %s | %s | %s |' "$1" "$1" "$(first kind)" "$(first seed)" "$(value failed)")
  repeats "$1"

  explore "$1.lua" --set fixed=true || { fail "$1: fails when it is fixed"; cat "$out/found" "$out/errors"; }
  [ "$(value tried)" = $runs ] || fail "$1: $(value tried) of $runs seeds were tried when it is fixed"
  echo "$row"
  grep -qF "| [$1]($1.lua) | " README.md || fail "README.md does not have $1"
}

echo "| fault | found as | first seed | of the first $runs |"
n=0
for file in *.lua; do
  check "${file%.lua}"
  n=$((n + 1))
done
[ $n -ge 7 ] || fail "only $n faults"
exit $failed
