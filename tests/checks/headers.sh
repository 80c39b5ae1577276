#!/bin/sh
# headers.sh ROOT: every header compiles alone, and twice, in C11 with gcc and with clang; the
# public ones in C++17 too, and without the macros that our own build sets.
#
# ROOT may also be an installed tree, whose headers stand in include/ and are all public. The
# compilers are other ones where COMPILERS and CXX_COMPILERS name them.
set -eu
cd -- "$1"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
warnings="-Wall -Wextra -Wpedantic -Wshadow -Werror"
c_warnings="-Wconversion -Wstrict-prototypes -Wmissing-prototypes"
lua=$(pkg-config --cflags lua5.4 2>/dev/null || pkg-config --cflags lua-5.4 2>/dev/null ||
  pkg-config --cflags lua54 2>/dev/null || pkg-config --cflags lua)
failed=0
count=0

# alone HEADER COMPILER OPTION ...
alone() {
  header=$1
  shift
  if ! "$@" -fsyntax-only "$scratch/alone" >"$scratch/said" 2>&1; then
    echo "$header does not compile alone: $*"
    cat "$scratch/said"
    failed=1
  fi
}

: >"$scratch/actl_parts.h"
for room in include engine lua bench/native; do
  [ -d $room ] && find $room -name '*.h' -print
done | sort >"$scratch/list"

while IFS= read -r header; do
  count=$((count + 1))
  printf '#include "%s"\n#include "%s"\nextern int not_empty;\n' "$PWD/$header" "$PWD/$header" >"$scratch/alone"
  paths="-Iengine/include -Ilua/include"
  case $header in
  include/*) paths="-Iinclude" ;;
  engine/include/* | lua/include/*) ;;
  engine/*) paths="$paths -Iengine -D_DEFAULT_SOURCE" ;;
  lua/*) paths="$paths -Ilua -I. -I$scratch -D_DEFAULT_SOURCE" ;;
  *) paths="$paths -I. -D_DEFAULT_SOURCE" ;;
  esac
  case $header in
  engine/*) ;;
  *) paths="$paths $lua" ;;
  esac
  # shellcheck disable=SC2086
  for compiler in ${COMPILERS:-gcc clang}; do
    alone "$header" $compiler -x c -std=c11 $warnings $c_warnings $paths
  done
  case $header in
  include/* | engine/include/* | lua/include/*)
    # shellcheck disable=SC2086
    for compiler in ${CXX_COMPILERS:-g++ clang++}; do
      alone "$header" $compiler -x c++ -std=c++17 $warnings $paths
    done
    ;;
  esac
done <"$scratch/list"

if [ $count -eq 0 ]; then
  echo "headers: found no header" >&2
  exit 1
fi
exit $failed
