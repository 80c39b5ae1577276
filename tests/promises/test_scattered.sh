#!/bin/sh
# The promises hold wherever the actors are: each file of cases with all places drawn from the seed.
#
# SPDX-License-Identifier: MIT
# ctest: timeout 300
set -u
cd -- "$SOURCE_DIR/tests/promises" || exit 1
failed=0 files=0
for file in *.lua; do
  grep -q 'require "actor.test"' "$file" || continue
  files=$((files + 1))
  seeds=$(sed -n 's/^-- seeds: *//p' "$file")
  "$ACTORLUA" test "$file" --scatter --seeds "${seeds:-40}" --jobs 1 --quiet </dev/null || failed=1
done
[ $files -gt 5 ] || { echo "test_scattered: found only $files files"; exit 1; }
exit $failed
