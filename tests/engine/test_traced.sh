#!/bin/sh
# test_traced.sh - a trace changes nothing: tests of the engine hold with one as without, and what it
# tells is true (story.h).
set -eu

ACTL_TEST_TRACED=1
export ACTL_TEST_TRACED
for name in ask birth driver letters order receives sleeps stop values; do
  if ! output=$("$BUILD_DIR/tests/test_engine_$name" 2>&1); then
    printf '%s\n' "$output"
    echo "test_engine_$name fails with a trace" >&2
    exit 1
  fi
done
