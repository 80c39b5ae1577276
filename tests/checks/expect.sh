#!/bin/sh
# expect.sh ACTORLUA FILE.lua: runs FILE and compares what happens with its comments.
#
#   print(x)  -- expect: TEXT     the lines printed, all of them and in this order
#   -- expect-status: N           the exit status, 0 if not said
#   -- expect-error: TEXT         stderr has TEXT in it; may be given several times
#   -- args: WORDS                the command's arguments before FILE; a word FILE says where it goes
#   -- seeds: N N N               runs once more under each of these seeds, expecting the same
#
# FILE runs in its own folder under its bare name. A file that expects nothing fails.
set -u
if [ $# -ne 2 ]; then
  echo "usage: expect.sh ACTORLUA FILE.lua" >&2
  exit 2
fi
actorlua=$1
folder=$(dirname -- "$2")
file=$(basename -- "$2")
cd -- "$folder" || exit 2

scratch=$(mktemp -d) || exit 2
trap 'rm -rf -- "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# What stands behind `-- KEY:` in each line that has it, without the blanks around it.
values() {
  sed -n "s/^.*-- $1:[[:blank:]]*//p" -- "$file" | sed 's/[[:blank:]]*$//'
}

values expect >"$scratch/expected"
values expect-error >"$scratch/errors"
status_wanted=$(values expect-status | tail -n 1)
if [ ! -s "$scratch/expected" ] && [ ! -s "$scratch/errors" ] && [ -z "$status_wanted" ]; then
  echo "$file: says nothing of what it expects" >&2
  exit 1
fi
: "${status_wanted:=0}"

failed=0
fail() {
  echo "$file${seed:+ (seed $seed)}: $1"
  failed=1
}

run_once() {
  set -f
  set --
  placed=no
  for word in ${seed:+--seed "$seed"} $(values args); do
    [ "$word" = FILE ] && word=$file && placed=yes
    set -- "$@" "$word"
  done
  [ $placed = yes ] || set -- "$@" "$file"
  set +f

  "$actorlua" "$@" >"$scratch/stdout" 2>"$scratch/stderr" </dev/null
  status=$?

  before=$failed
  failed=0
  [ "$status" = "$status_wanted" ] || fail "exit status $status, expected $status_wanted"
  # Blanks at the end of a line cannot be seen in a comment, so they do not count.
  sed 's/[[:blank:]]*$//' "$scratch/stdout" >"$scratch/printed"
  if ! diff "$scratch/expected" "$scratch/printed" >"$scratch/diff"; then
    fail "printed other lines (< expected, > printed):"
    cat "$scratch/diff"
  fi
  while IFS= read -r text; do
    grep -qF -e "$text" "$scratch/stderr" || fail "stderr lacks: $text"
  done <"$scratch/errors"
  if [ $failed -ne 0 ]; then
    echo "--- stderr of: $actorlua $*"
    cat "$scratch/stderr"
  fi
  [ $before -eq 0 ] || failed=1
}

seed=
run_once
for seed in $(values seeds); do
  run_once
done
exit $failed
