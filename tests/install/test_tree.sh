#!/bin/sh
# The installed tree has everything, works where it was moved to, and names no place that it came from.
#
# SPDX-License-Identifier: MIT
set -eu
. "$SOURCE_DIR/tests/install/tree.sh"
cd -- "$scratch"

version=$(sed -n 's/^#define ACTL_VERSION_[A-Z]* *\([0-9]*\)$/\1/p' "$SOURCE_DIR/engine/include/actl.h" | paste -sd .)
case $version in
0.*) soversion=${version%.*} ;;
*) soversion=${version%%.*} ;;
esac

for file in share/doc/actorlua/LICENSE share/doc/actorlua/README.md share/doc/actorlua/lua/README.md \
  share/doc/actorlua/lua/TESTS.md \
  share/man/man1/actorlua.1 share/actorlua/actor.d.lua share/actorlua/test.d.lua \
  share/actorlua/scenarios/hello.lua \
  share/actorlua/scenarios/README.md lib/libactl.a \
  lib/libactl_lua.a lib/pkgconfig/actl.pc lib/pkgconfig/actl_lua.pc \
  lib/cmake/actl/actl-config.cmake lib/cmake/actl/actl-config-version.cmake; do
  [ -s "$tree/$file" ] || fail "the tree has no $file"
done

# --- The libraries: libNAME.so -> libNAME.so.0.1 -> libNAME.so.0.1.0, whose soname is the second ---

for name in libactl libactl_lua; do
  file=$tree/lib/$name.so
  [ "$(readlink -f "$file")" = "$file.$version" ] || fail "$name.so does not lead to $name.so.$version"
  [ -L "$file.$soversion" ] || fail "there is no link $name.so.$soversion"
  readelf -d "$file" | grep -qF "soname: [$name.so.$soversion]" || fail "$name.so has another soname"
done
ldd "$tree/lib/libactl_lua.so" | grep -qF "$tree/lib/libactl.so.$soversion" ||
  fail "libactl_lua.so does not find the libactl.so beside it"

# --- The command, and the scenarios beside it ---

actorlua=$tree/bin/actorlua
case $("$actorlua" --version) in
"actorlua $version "*) ;;
*) fail "the command is of another version" ;;
esac
"$actorlua" list >list || fail "the command does not list the installed scenarios"
for file in "$tree"/share/actorlua/scenarios/*.lua; do
  name=$(basename -- "$file" .lua)
  grep -q "^$name " list || fail "the command does not find the scenario $name"
done
"$actorlua" --quiet hello || fail "the command does not run the scenario hello"

# --- Nothing in it points back ---

# Of a sanitizer's or a debugger's notes on sources nothing is said here.
find "$tree" -type f ! -name '*.a' ! -name '*.so*' ! -name actorlua >texts
while IFS= read -r file; do
  for place in "$SOURCE_DIR" "$BUILD_DIR" "$scratch/made"; do
    if grep -qF "$place" "$file"; then fail "$file names $place"; fi
  done
done <texts
for file in "$actorlua" "$tree/lib/libactl.so" "$tree/lib/libactl_lua.so"; do
  if readelf -d "$file" | grep -E 'RPATH|RUNPATH' | grep -qvF '[$ORIGIN]'; then
    fail "$file looks for libraries at a fixed place"
  fi
done

export PKG_CONFIG_PATH="$tree/lib/pkgconfig"
for name in actl actl_lua; do
  [ "$(pkg-config --modversion $name)" = "$version" ] || fail "$name.pc has another version"
  pkg-config --cflags $name | grep -qF "$tree/lib/pkgconfig/../../include" ||
    fail "$name.pc does not find the headers: $(pkg-config --cflags $name)"
done
echo "the tree is complete, and may be moved"
