#!/bin/sh
# The manual page names the commands, options and statuses of `actorlua --help`, and no others.
#
# SPDX-License-Identifier: MIT
set -eu
. "$SOURCE_DIR/tests/install/tree.sh"

page=$tree/share/man/man1/actorlua.1
[ -s "$page" ] || fail "no manual page is installed"
"$tree/bin/actorlua" --help >"$scratch/help"
# In the page a dash is \-, and fonts change by \fB and the like.
sed 's/\\-/-/g; s/\\f[BIRP]//g' "$page" >"$scratch/page"

# section NAME: its lines in the page.
section() {
  awk -v name=".SH $1" '/^\.SH / { on = $0 == name; next } on' "$scratch/page"
}

# same WHAT: the lists in $scratch/in_help and $scratch/in_page are equal, and not empty.
same() {
  sort -u -o "$scratch/in_help" "$scratch/in_help"
  sort -u -o "$scratch/in_page" "$scratch/in_page"
  [ -s "$scratch/in_help" ] || fail "the help names no $1"
  diff "$scratch/in_help" "$scratch/in_page" >&2 ||
    fail "the help (<) and the manual page (>) name other $1"
}

sed -n '/^Options/,/^$/p; /^For /,/^$/p' "$scratch/help" |
  sed -n 's/^  \(-[^ ]*\) [A-Z].*/\1/p; s/^  \(-[^ ,]*\)  .*/\1/p; s/^  \(-[^ ]*\), \(-.\) .*/\1\n\2/p' >"$scratch/in_help"
section OPTIONS | awk '/^\.TP/ { getline; gsub(/[",]/, " "); for (i = 2; i <= NF; i++) if ($i ~ /^-/) print $i }' >"$scratch/in_page"
grep -qx -e --json "$scratch/in_help" || fail "the help's options are not understood"
same options

# `version` is a command that the help leaves to --version.
{ sed -n 's/^  actorlua \([a-z]*\) .*/\1/p' "$scratch/help"; echo version; } >"$scratch/in_help"
section COMMANDS | awk '/^\.TP/ { getline; print $2 }' >"$scratch/in_page"
grep -qx list "$scratch/in_help" || fail "the help's commands are not understood"
same commands

sed -n '/^Exit status/,$p' "$scratch/help" | grep -oE '[0-9]+' >"$scratch/in_help"
section "EXIT STATUS" | awk '/^\.TP/ { getline; print $2 }' >"$scratch/in_page"
same statuses

for name in NAME SYNOPSIS DESCRIPTION ENVIRONMENT FILES EXAMPLES; do
  [ -n "$(section $name)" ] || fail "the manual page has no $name"
done

# What can read such pages finds nothing wrong with it.
if command -v groff >/dev/null; then
  groff -man -ww -z -Tascii "$page" >"$scratch/said" 2>&1 || fail "groff cannot read the page"
  [ ! -s "$scratch/said" ] || fail "groff says: $(cat "$scratch/said")"
  echo "groff reads the page"
else
  echo "groff is not here: the page's form was not checked with it"
fi
if command -v mandoc >/dev/null; then
  must mandoc -T lint -W warning "$page"
  echo "mandoc reads the page"
else
  echo "mandoc is not here: the page's form was not checked with it"
fi
