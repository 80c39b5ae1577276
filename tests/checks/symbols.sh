#!/bin/sh
# symbols.sh ROOT [BUILD]: what the linker sees.
#
# A shared library exports exactly the functions that its public headers mark ACTL_API; nothing
# named actl__ leaves it. In a static library every global name starts with actl_.
set -eu
root=$1
build=${2:-$root/build/release}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# The names marked ACTL_API in the headers given.
declared() {
  sed 's,//.*$,,' "$@" | tr '\n' ' ' | sed 's,/\*,\n&,g; s,\*/,&\n,g' | grep -v '^/\*' | tr '\n' ' ' |
    tr ';{}' '\n\n\n' | sed -n 's/^.*ACTL_API[^(]*[^a-zA-Z0-9_(]\([a-z][a-zA-Z0-9_]*\)[[:blank:]]*(.*$/\1/p' |
    sort -u
}

# library NAME HEADER ...
library() {
  name=$1
  shift
  for file in "$build/lib$name.so" "$build/lib$name.a"; do
    if [ ! -f "$file" ]; then
      echo "symbols: $file was not built" >&2
      failed=1
      return
    fi
  done

  declared "$@" >"$scratch/declared"
  nm -D --defined-only "$build/lib$name.so" | awk '{ print $NF }' | sort -u >"$scratch/exported"
  if [ ! -s "$scratch/declared" ]; then
    echo "symbols: no header of lib$name marks anything ACTL_API" >&2
    failed=1
  fi
  grep -E '^actl__|^[^a]|^a[^c]' "$scratch/declared" | sed "s/^/lib$name: a private name is marked ACTL_API: /" >"$scratch/said"
  comm -13 "$scratch/declared" "$scratch/exported" | sed "s/^/lib$name.so exports, in no public header: /" >>"$scratch/said"
  comm -23 "$scratch/declared" "$scratch/exported" | sed "s/^/lib$name.so lacks, but a public header declares: /" >>"$scratch/said"
  nm -g --defined-only "$build/lib$name.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u |
    grep -v -E '^actl_|^luaopen_' | sed "s/^/lib$name.a has a global without our prefix: /" >>"$scratch/said" || :
  if [ -s "$scratch/said" ]; then
    cat "$scratch/said"
    failed=1
  fi
}

library actl "$root"/engine/include/*.h
if [ -f "$root/lua/include/actl_lua.h" ]; then
  library actl_lua "$root"/lua/include/*.h
fi
exit $failed
