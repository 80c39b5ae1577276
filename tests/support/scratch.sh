# For shell tests, read in with `.`: $out is a folder that goes with the test, and fail TEXT says what is
# wrong, for `exit $failed` at the end.
#
# SPDX-License-Identifier: MIT
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

fail() {
  echo "$(basename -- "$0" .sh): $1"
  failed=1
}
