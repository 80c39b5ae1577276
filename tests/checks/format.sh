#!/bin/sh
# format.sh ROOT [--in-place]: every C and C++ file looks as .clang-format says.
set -eu
cd -- "$1"
mode="--dry-run -Werror"
[ "${2:-}" = --in-place ] && mode=-i

list=$(mktemp)
trap 'rm -f "$list"' EXIT
for room in engine lua bench tests; do
  [ -d $room ] && find $room \( -name '*.[ch]' -o -name '*.cpp' \) -print0
done >"$list"
if [ ! -s "$list" ]; then
  echo "format: found no C file" >&2
  exit 1
fi
# shellcheck disable=SC2086
xargs -0 clang-format --style=file $mode <"$list"
