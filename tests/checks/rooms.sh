#!/bin/sh
# rooms.sh ROOT: a file includes its own room or rooms below it, never above.
#
#   engine.c  >  io  >  actor  >  sched, msg (strangers to each other)  >  base
#
# Each room also sees the public actl.h. The binding sees the public headers, its own, Lua's and
# those of the C standard; the command may use the system's and libuv's too. Native behaviors see
# what any host program sees: actl.h, and threads (pthread.h). libuv is named in base, io and the
# command only, Lua's headers in lua/ only.
set -eu
cd -- "$1"

list=$(mktemp)
trap 'rm -f "$list"' EXIT
for room in engine lua bench/native; do
  [ -d $room ] && find $room -name '*.[ch]' -print
done | sort >"$list"
if [ ! -s "$list" ]; then
  echo "rooms: found no C file" >&2
  exit 1
fi

# shellcheck disable=SC2016
tr '\n' '\0' <"$list" | xargs -0 awk '
  BEGIN {
    split("base msg sched actor io", names, " ")
    for (i in names) is_engine_room[names[i]] = 1
    below["base"]   = " base "
    below["msg"]    = " msg base "
    below["sched"]  = " sched base "
    below["actor"]  = " actor msg sched base "
    below["io"]     = " io actor msg sched base "
    below["engine"] = " engine io actor msg sched base "
    split("assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal " \
          "stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath " \
          "threads time uchar wchar wctype", c11, " ")
    for (i in c11) is_standard[c11[i] ".h"] = 1
    split("lua.h lualib.h lauxlib.h luaconf.h", luas, " ")
    for (i in luas) is_lua[luas[i]] = 1
  }

  # The room that a file of ours belongs to.
  function room_of(path,   parts) {
    split(path, parts, "/")
    if (path ~ /^engine\/include\//) return "contract"
    if (path ~ /^engine\/[^\/]+$/) return "engine"
    if (path ~ /^engine\//) return (parts[2] in is_engine_room) ? parts[2] : "?"
    if (path ~ /^lua\/command\//) return "command"
    if (path ~ /^lua\//) return "binding"
    return "native"
  }

  function refuse(why) {
    printf "%s:%d: %s may not include %s%s\n", FILENAME, FNR, room, shown, why ? " (" why ")" : ""
    bad = 1
  }

  function is_public(name) { return name == "actl.h" || name == "actl_driver.h" || name == "actl_lua.h" }

  function check_system(name) {
    if (name == "uv.h" || name ~ /^uv\//) {
      if (room != "base" && room != "io" && room != "command") refuse("libuv is for base, io and the command")
    } else if (name in is_lua) {
      if (room != "binding" && room != "command") refuse("Lua is for lua/")
    } else if (is_public(name) || name ~ /^actl/) {
      refuse("ours are written with quotes")
    } else if (room == "native" && name == "pthread.h") {
      return
    } else if (room == "contract" || room == "binding" || room == "native") {
      if (!(name in is_standard)) refuse("only headers of the C standard")
    }
  }

  function check_engine(name,   parts, n) {
    if (name == "actl.h") return
    if (name == "actl_driver.h") {
      if (room != "actor" && room != "engine") refuse("the driver is made by actor")
      return
    }
    n = split(name, parts, "/")
    if (n == 1 && room == "engine" && ("engine/" name) in ours) return
    if (n != 2 || !(("engine/" name) in ours)) { refuse("written as \"room/file.h\""); return }
    if (index(below[room], " " parts[1] " ") == 0) refuse()
  }

  function check_own(name,   folder, i, place, places) {
    if (is_public(name)) {
      if (room == "native" && name != "actl.h") refuse("native behaviors use actl.h alone")
      if (room == "contract" && name == "actl_lua.h") refuse()
      return
    }
    if (room == "contract") { refuse("public headers see public headers"); return }
    if (room == "command" && name == "actl_parts.h") return
    folder = FILENAME
    sub(/[^\/]*$/, "", folder)
    split(folder " lua/ bench/ bench/native/", places, " ")
    for (i = 1; i <= 5; i++) {
      place = (i == 5) ? name : places[i] name
      if (!(place in ours)) continue
      place = room_of(place)
      if (place == room || (room == "command" && (place == "binding" || place == "native"))) return
    }
    refuse()
  }

  FNR == 1 {
    if (FILENAME == ARGV[1]) for (i = 1; i < ARGC; i++) ours[ARGV[i]] = 1
    room = room_of(FILENAME)
    if (room == "?") { printf "%s: no room of that name is known\n", FILENAME; bad = 1 }
  }
  room != "?" && /^[ \t]*#[ \t]*include/ {
    shown = $0
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", shown)
    if (match(shown, /^<[^>]+>/)) {
      shown = substr(shown, 1, RLENGTH)
      check_system(substr(shown, 2, RLENGTH - 2))
    } else if (match(shown, /^"[^"]+"/)) {
      shown = substr(shown, 1, RLENGTH)
      name = substr(shown, 2, RLENGTH - 2)
      if (room in below) check_engine(name); else check_own(name)
    } else refuse("an include names a file")
  }
  END { exit bad }
'
