#!/bin/sh
# tidy.sh ROOT [BUILD]: clang-tidy over every source of the engine, the binding, the command and the
# native behaviors, with the checks of .clang-tidy. BUILD was made with clang.
set -eu
cd -- "$1"
build=${2:-build/clang}
if [ ! -f "$build/compile_commands.json" ]; then
  echo "tidy: $build has no compile_commands.json" >&2
  exit 1
fi

list=$(mktemp)
said=$(mktemp)
trap 'rm -f "$list" "$said"' EXIT
for room in engine lua bench/native; do
  [ -d $room ] && find "$PWD/$room" -name '*.c' -print
done | sort | while IFS= read -r file; do
  # A source that nothing builds has no command to check it with.
  grep -qF "\"$file\"" "$build/compile_commands.json" && printf '%s\0' "$file"
done >"$list" || :
if [ ! -s "$list" ]; then
  echo "tidy: found no source" >&2
  exit 1
fi
# What it says on stderr is how many warnings it kept to itself, unless it fails.
if ! xargs -0 -n 1 -P "${ACTL_JOBS:-2}" clang-tidy --quiet -p "$build" <"$list" 2>"$said"; then
  grep -v 'warnings\? generated' "$said" >&2 || :
  exit 1
fi
