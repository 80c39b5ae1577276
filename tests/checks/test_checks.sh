#!/bin/sh
# Each gate passes over a small sound tree and fails over the same tree with one thing wrong.
# What needs a tool that is not here is left out, and said.
set -u
checks=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
tree="$scratch/a tree"
failures=0
count=0

sound_tree() {
  rm -rf "$tree"
  mkdir -p "$tree"/engine/base "$tree"/engine/msg "$tree"/engine/sched "$tree"/engine/actor \
    "$tree"/engine/io "$tree"/engine/include "$tree"/lua/include "$tree"/lua/command \
    "$tree"/bench/native "$tree"/build/release "$tree"/tests
  cp "$checks/../../.clang-format" "$checks/../../.clang-tidy" "$tree"
  cat >"$tree/engine/include/actl.h" <<'END'
#ifndef ACTL_H
#define ACTL_H

#define ACTL_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* ACTL_API in a comment does not count: ACTL_API int actl_in_comment(void); */
ACTL_API const char *actl_text(int code);
ACTL_API int actl_sum(int a,
                      int (*f)(int));

#ifdef __cplusplus
}
#endif

#endif
END
  cat >"$tree/lua/include/actl_lua.h" <<'END'
#ifndef ACTL_LUA_H
#define ACTL_LUA_H

#include "actl.h"

#ifdef __cplusplus
extern "C" {
#endif

ACTL_API int actl_lua_open(void);

#ifdef __cplusplus
}
#endif

#endif
END
  cat >"$tree/engine/base/list.h" <<'END'
#ifndef ACTL_BASE_LIST_H
#define ACTL_BASE_LIST_H

int actl__list_size(int n);

#endif
END
  cat >"$tree/engine/base/list.c" <<'END'
#include "base/list.h"

#include <uv.h>

int actl__list_size(int n) { return n + 1; }
END
  printf '#include "base/list.h"\n' >"$tree/engine/msg/mailbox.h"
  printf '#include "base/list.h"\n' >"$tree/engine/sched/deque.h"
  printf '#include "actl_driver.h"\n#include "msg/mailbox.h"\n#include "sched/deque.h"\n' >"$tree/engine/actor/vat.h"
  printf '#include "actor/vat.h"\n#include <uv.h>\n' >"$tree/engine/io/timer.h"
  cat >"$tree/engine/engine.c" <<'END'
#include "actl.h"
#include "base/list.h"

const char *actl_text(int code) { return code ? "bad" : "good"; }
int actl_sum(int a, int (*f)(int)) { return f(actl__list_size(a)); }
END
  printf '#include "actl_lua.h"\n\n#include <lua.h>\n#include <string.h>\n\nint actl_lua_open(void) { return actl_sum(1, 0); }\n' >"$tree/lua/module.c"
  printf '#include "actl_lua.h"\n#include "actl_parts.h"\n#include <lauxlib.h>\n#include <unistd.h>\n#include <uv.h>\n' >"$tree/lua/command/main.c"
  printf '#include "actl.h"\n#include <stdlib.h>\n' >"$tree/bench/native/echo.c"
}

# expect WANTED TITLE CHECK [ARGUMENT]: WANTED is passes or fails; when it fails, $because is said.
because=
expect() {
  wanted=$1
  title=$2
  check=$3
  shift 3
  count=$((count + 1))
  if sh "$checks/$check.sh" "$tree" "$@" >"$scratch/said" 2>&1; then got=passes; else got=fails; fi
  if [ $got != "$wanted" ] || { [ $got = fails ] && ! grep -qF -e "$because" "$scratch/said"; }; then
    echo "not so: $check $wanted $title${because:+, because: $because}"
    cat "$scratch/said"
    failures=$((failures + 1))
  fi
  because=
}

# breaks TITLE FILE LINE: with LINE at the head of FILE the rooms are not kept.
breaks() {
  sound_tree
  { printf '%s\n' "$3"; cat "$tree/$2" 2>/dev/null; } >"$scratch/changed"
  mkdir -p "$(dirname "$tree/$2")"
  cp "$scratch/changed" "$tree/$2"
  because=$2
  expect fails "$1" rooms
}

sound_tree
expect passes "over a sound tree" rooms
breaks "when base looks up" engine/base/list.c '#include "msg/mailbox.h"'
breaks "when msg and sched meet" engine/msg/mailbox.h '#include "sched/deque.h"'
breaks "when sched and msg meet" engine/sched/deque.h '#  include "msg/mailbox.h"'
breaks "when actor looks up to io" engine/actor/vat.h '#include "io/timer.h"'
breaks "when actor names libuv" engine/actor/vat.h '#include <uv.h>'
breaks "when engine.c names libuv" engine/engine.c '#include <uv.h>'
breaks "when the engine names Lua" engine/actor/vat.h '#include <lua.h>'
breaks "when sched sees the driver" engine/sched/deque.h '#include "actl_driver.h"'
breaks "when a path is relative" engine/actor/vat.h '#include "../msg/mailbox.h"'
breaks "when a room is left out of a path" engine/base/list.c '#include "list.h"'
breaks "when a room is unknown" engine/other/thing.c '#include "actl.h"'
breaks "when the binding sees the engine" lua/module.c '#include "actor/vat.h"'
breaks "when the binding walks to the engine" lua/module.c '#include "../engine/actor/vat.h"'
breaks "when the binding names libuv" lua/module.c '#include <uv.h>'
breaks "when the binding names the system" lua/module.c '#include <unistd.h>'
breaks "when the command sees the engine" lua/command/main.c '#include "base/list.h"'
breaks "when a native behavior sees the driver" bench/native/echo.c '#include "actl_driver.h"'
breaks "when a native behavior names Lua" bench/native/echo.c '#include <lua.h>'
breaks "when the contract sees the engine" engine/include/actl.h '#include "base/list.h"'

# compile: both libraries of the tree, as the build makes them.
compile() {
  (
    cd "$tree" || exit 1
    options="-std=c11 -D_DEFAULT_SOURCE -fPIC -fvisibility=hidden -Iengine -Iengine/include -Ilua/include"
    lua=$(pkg-config --cflags lua5.4 2>/dev/null || pkg-config --cflags lua)
    for file in engine/base/list engine/engine lua/module; do
      # shellcheck disable=SC2086
      "${CC:-cc}" $options $lua -c $file.c -o build/$(basename $file).o || exit 1
    done
    "${CC:-cc}" -shared -o build/release/libactl.so build/list.o build/engine.o &&
      "${CC:-cc}" -shared -o build/release/libactl_lua.so build/module.o &&
      rm -f build/release/*.a &&
      ar rc build/release/libactl.a build/list.o build/engine.o &&
      ar rc build/release/libactl_lua.a build/module.o
  ) || { echo "not so: the sound tree compiles"; failures=$((failures + 1)); }
}

sound_tree
compile
expect passes "over a sound tree" symbols
echo '__attribute__((visibility("default"))) int actl__leak(void) { return 1; }' >>"$tree/engine/engine.c"
compile
because="libactl.so exports, in no public header: actl__leak"
expect fails "when a private name is exported" symbols
sound_tree
echo '__attribute__((visibility("default"))) int actl_extra(void) { return 1; }' >>"$tree/lua/module.c"
compile
because="libactl_lua.so exports, in no public header: actl_extra"
expect fails "when a name stands in no public header" symbols
sound_tree
echo 'int helper(void) { return 1; }' >>"$tree/engine/engine.c"
compile
because="libactl.a has a global without our prefix: helper"
expect fails "when a global has no prefix" symbols
sound_tree
compile
echo 'ACTL_API int actl_promised(void);' >>"$tree/engine/include/actl.h"
because="libactl.so lacks, but a public header declares: actl_promised"
expect fails "when a declared function is not there" symbols
sound_tree
because="was not built"
expect fails "when nothing was built" symbols

if command -v clang >/dev/null && command -v gcc >/dev/null && command -v g++ >/dev/null; then
  sound_tree
  for header in engine/msg/mailbox.h engine/sched/deque.h engine/actor/vat.h engine/io/timer.h; do
    echo 'extern int fine;' >"$tree/$header"
  done
  expect passes "over a sound tree" headers
  echo 'size_t actl__needs_stddef(void);' >>"$tree/engine/msg/mailbox.h"
  because="size_t"
  expect fails "when a header needs another" headers
  echo 'enum actl_twice { ACTL_TWICE };' >"$tree/engine/msg/mailbox.h"
  because="ACTL_TWICE"
  expect fails "when a header has no guard" headers
  echo 'extern int fine;' >"$tree/engine/msg/mailbox.h"
  echo 'static inline int *actl_new(void *class) { return class; }' >>"$tree/engine/include/actl.h"
  because="class"
  expect fails "when a public header is not C++" headers

  sound_tree
  mkdir "$tree/include"
  mv "$tree"/engine/include/*.h "$tree"/lua/include/*.h "$tree/include"
  rm -r "$tree/engine" "$tree/lua" "$tree/bench"
  expect passes "over a sound installed tree" headers
  rm "$tree/include/actl.h"
  because="actl.h"
  expect fails "when an installed header needs one that is not there" headers
else
  echo "left out, no gcc, g++ or clang: headers"
fi

if command -v clang-format >/dev/null; then
  sound_tree
  because="clang-format"
  expect fails "when a line is broken oddly" format
  expect passes "in place" format --in-place
  expect passes "after that" format
  printf 'int  x ;\n' >>"$tree/bench/native/echo.c"
  because="clang-format"
  expect fails "when blanks are odd" format
else
  echo "left out, no clang-format: format"
fi

if command -v clang-tidy >/dev/null; then
  sound_tree
  mkdir -p "$tree/build/clang"
  printf '[{"directory": "%s", "file": "%s", "command": "clang -std=c11 -Iengine -Iengine/include -c engine/engine.c"}]\n' \
    "$tree" "$tree/engine/engine.c" >"$tree/build/clang/compile_commands.json"
  expect passes "over a sound tree" tidy
  echo 'int actl__bad(void) { int *p = 0; return *p; }' >>"$tree/engine/engine.c"
  because="clang-analyzer-core.NullDereference"
  expect fails "when a null pointer is followed" tidy
  rm "$tree/build/clang/compile_commands.json"
  because="compile_commands.json"
  expect fails "when there is no build" tidy
else
  echo "left out, no clang-tidy: tidy"
fi

# expect.sh, with a stand-in for the command.
cat >"$scratch/actorlua" <<'END'
#!/bin/sh
for word in "$@"; do file=$word; done
case $* in *--loud*) echo loud ;; esac
sed -n 's/^print //p' "$file"
if grep -q '^error' "$file"; then echo "boom: deep" >&2; exit 1; fi
END
chmod +x "$scratch/actorlua"

# script WANTED TITLE LINE ...
script() {
  wanted=$1
  title=$2
  shift 2
  printf '%s\n' "$@" >"$scratch/script.lua"
  count=$((count + 1))
  if sh "$checks/expect.sh" "$scratch/actorlua" "$scratch/script.lua" >"$scratch/said" 2>&1; then got=passes; else got=fails; fi
  if [ $got != "$wanted" ]; then
    echo "not so: a script $wanted $title"
    cat "$scratch/said"
    failures=$((failures + 1))
  fi
}

script passes "that prints what it says" 'print a' 'print b  ' '-- expect: a' '   -- expect: b'
script fails "in another order" 'print a' 'print b' '-- expect: b' '-- expect: a'
script fails "that prints more" 'print a' 'print b' '-- expect: a'
script fails "that prints less" 'print a' '-- expect: a' '-- expect: b'
script fails "that expects nothing" 'print a'
script fails "that ends with another status" 'print a' '-- expect: a' 'error'
script passes "that ends as it says" 'print a' '-- expect: a' 'error' '-- expect-status: 1' '-- expect-error: boom'
script fails "with another error" 'error' '-- expect-status: 1' '-- expect-error: bang'
script fails "without the failure it says" 'print a' '-- expect: a' '-- expect-status: 1'
script passes "with arguments" '-- args: --loud' '-- expect: loud'
script fails "when one seed differs" 'print a' '-- expect: a' '-- seeds: 1 2' '-- args: --loud'
script passes "under seeds" 'print a' '-- expect: a' '-- seeds: 1 2'

echo "$count expectations, $failures not so"
[ $failures -eq 0 ]
