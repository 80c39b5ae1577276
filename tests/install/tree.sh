# tree.sh - for the tests of this room, which read it first: an installed tree in a scratch folder.
#
#   scratch   removed at the end
#   tree      what `cmake --install` made, moved away from where it was made
#
# The programs see this tree alone, never the sources or the build.
#
# SPDX-License-Identifier: MIT

fail() {
  echo "$(basename -- "$0"): $1" >&2
  exit 1
}

# skip WHY: the whole test is left out, which ctest reports.
skip() {
  echo "$(basename -- "$0"): left out: $1" >&2
  exit 77
}

# must COMMAND ...: shows the output only if COMMAND fails.
must() {
  "$@" >"$scratch/said" 2>&1 && return 0
  cat "$scratch/said" >&2
  fail "failed: $*"
}

# cxx: the C++ compiler that belongs to $CC.
cxx() {
  case ${CC:-cc} in
  *clang) echo "${CC}++" ;;
  *gcc) echo "${CC%gcc}g++" ;;
  *) echo c++ ;;
  esac
}

# must_be_shared PROGRAM, must_be_static PROGRAM: which libraries of ours it was linked with.
must_be_shared() {
  ldd "$1" >"$scratch/said" || fail "ldd cannot read $1"
  grep -qF "$tree/lib" "$scratch/said" || fail "$1 does not use the libraries of the tree"
}
must_be_static() {
  ldd "$1" >"$scratch/said" || fail "ldd cannot read $1"
  if grep -q libactl "$scratch/said"; then fail "$1 needs a shared library of ours"; fi
}

# build_project LANGUAGE NAME SOURCE LIBRARY: builds SOURCE with project/, twice: $scratch/out/NAME with the
# shared libraries and $scratch/out/NAME_static with the static ones.
build_project() {
  must cmake -S "$SOURCE_DIR/tests/install/project" -B "$scratch/out" -DCMAKE_PREFIX_PATH="$tree" \
    -DLANGUAGE="$1" -DNAME="$2" -DSOURCE="$3" -DLIBRARY="$4" -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_COMPILER="${CC:-cc}" -DCMAKE_CXX_COMPILER="$(cxx)" \
    -DCMAKE_C_FLAGS="${SANITIZE_FLAGS:-}" -DCMAKE_CXX_FLAGS="${SANITIZE_FLAGS:-}"
  must cmake --build "$scratch/out"
  must_be_shared "$scratch/out/$2"
  must_be_static "$scratch/out/$2_static"
}

# run_program PROGRAM LINE: it ends well, and LINE is the last that it prints.
run_program() {
  "$1" >"$scratch/printed" || fail "$(basename -- "$1") ended with status $?"
  [ "$(tail -n 1 "$scratch/printed")" = "$2" ] ||
    fail "$(basename -- "$1") printed: $(cat "$scratch/printed")"
}

scratch=$(mktemp -d)
scratch=$(CDPATH='' cd -- "$scratch" && pwd -P)
trap 'rm -rf -- "$scratch"' EXIT
tree=$scratch/moved
must cmake --install "$BUILD_DIR" --prefix "$scratch/made"
mv -- "$scratch/made" "$tree"
