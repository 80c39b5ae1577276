/*
 * codec.c - writing tables as bytes. The form is in codec.h; reading is in decode.c.
 *
 * One walk with lua_next: the keys 1, 2, 3 .. come first and in order when they are in the table's
 * array part, and become elements; from the first other key on everything is a pair. The walk runs
 * no code of the script, so the buffer has one user at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "codec.h"

#include "machine.h"
#include "values.h"

#include <lauxlib.h>
#include <string.h>

enum {
  FIRST_BYTES = 1024,
  KEPT_BYTES = 256 * 1024, /* a larger buffer is given back before the next message */
  FIRST_SEEN = 32,
  GAP_MAX = 4, /* nils that elements may have between them */
  SHOWN_STEPS = 16
};

void actl__lua_codec_begin(struct machine *m) {
  struct codec *codec = &m->codec;
  codec->size = 0;
  if (codec->capacity > KEPT_BYTES) {
    actl__lua_realloc(m, codec->bytes, codec->capacity, 0);
    codec->bytes = NULL;
    codec->capacity = 0;
  }
}

void actl__lua_codec_fini(struct machine *m) {
  struct codec *codec = &m->codec;
  actl__lua_realloc(m, codec->bytes, codec->capacity, 0);
  actl__lua_realloc(m, codec->seen, codec->seen_capacity * sizeof *codec->seen, 0);
}

/* ---- What cannot be sent ---- */

static void add_step(lua_State *L, luaL_Buffer *text, const struct step *step) {
  if (step->key == 0) {
    bool is_named = step->upvalue[0] != '\0' && step->upvalue[0] != '(';
    lua_pushfstring(
        L, is_named ? "upvalue \"%s\": " : "an upvalue%s: ", is_named ? step->upvalue : "");
  } else if (lua_type(L, step->key) == LUA_TSTRING) {
    lua_pushfstring(L, "field \"%s\": ", lua_tostring(L, step->key));
  } else {
    /* A copy: converting a number in its place would upset lua_next. */
    bool is_index = lua_isinteger(L, step->key);
    const char *key = actl__lua_tolstring(L, step->key, NULL);
    lua_pushfstring(L, is_index ? "index %s: " : "key %s: ", key);
    lua_remove(L, -2);
  }
  luaL_addvalue(text);
}

static void add_steps(lua_State *L, luaL_Buffer *text, const struct step *innermost) {
  const struct step *shown[SHOWN_STEPS];
  int n = 0;
  for (const struct step *s = innermost; s != NULL; s = s->up) n++;
  int skipped = n > SHOWN_STEPS ? n - SHOWN_STEPS : 0;

  int i = n - skipped;
  int at = 0;
  for (const struct step *s = innermost; s != NULL; s = s->up, at++) {
    if (at >= skipped) shown[--i] = s;
  }
  for (i = 0; i < n - skipped; i++) add_step(L, text, shown[i]);
  if (skipped > 0) luaL_addstring(text, "...: ");
}

static int refuse(lua_State *L, const struct place *place, const struct step *step,
                  const char *what) {
  luaL_checkstack(L, 20, NULL);
  luaL_Buffer text;
  luaL_where(L, 1);
  luaL_buffinit(L, &text);
  if (place->what != NULL) {
    lua_pushfstring(L, "%s %d: ", place->what, place->number);
    luaL_addvalue(&text);
  }
  add_steps(L, &text, step);
  luaL_addstring(&text, what);
  luaL_addstring(&text, " cannot be sent");
  luaL_pushresult(&text);
  lua_concat(L, 2);
  return lua_error(L);
}

int actl__lua_refuse(lua_State *L, const struct place *place, const char *what) {
  return refuse(L, place, NULL, what);
}

int actl__lua_encode_refuse(struct encoder *e, const struct step *step, const char *what) {
  return refuse(e->L, e->place, step, what);
}

/* ---- The buffer ---- */

static void reserve(struct encoder *e, size_t more) {
  struct codec *codec = &e->m->codec;
  if (codec->capacity - codec->size >= more) return;

  size_t capacity = codec->capacity == 0 ? FIRST_BYTES : codec->capacity * 2;
  while (capacity - codec->size < more) capacity *= 2;
  codec->bytes = actl__lua_grow(e->L, e->m, codec->bytes, codec->capacity, capacity);
  codec->capacity = capacity;
}

static void append(struct encoder *e, const void *bytes, size_t size) {
  struct codec *codec = &e->m->codec;
  if (size > 0) memcpy(codec->bytes + codec->size, bytes, size);
  codec->size += size;
}

void actl__lua_encode_put(struct encoder *e, const void *bytes, size_t size) {
  reserve(e, size);
  append(e, bytes, size);
}

void actl__lua_encode_tag(struct encoder *e, enum codec_tag tag) {
  char byte = (char)tag;
  actl__lua_encode_put(e, &byte, 1);
}

static void put_word(struct encoder *e, enum codec_tag tag, const void *word) {
  char byte = (char)tag;
  reserve(e, 9);
  append(e, &byte, 1);
  append(e, word, 8);
}

void actl__lua_encode_text(struct encoder *e, const char *bytes, size_t size) {
  reserve(e, size + 5);
  if (size <= UINT8_MAX) {
    char head[2] = {CODE_SHORT_STRING, (char)size};
    append(e, head, 2);
  } else {
    char tag = CODE_LONG_STRING;
    uint32_t length = (uint32_t)size;
    append(e, &tag, 1);
    append(e, &length, sizeof length);
  }
  append(e, bytes, size);
}

/* ---- Tables seen before ---- */

static struct codec_seen *seen_find(struct codec *codec, uint32_t stamp, const void *address) {
  uint32_t mask = codec->seen_capacity - 1;
  uint32_t i = (uint32_t)(((uint64_t)(uintptr_t)address * 0x9E3779B97F4A7C15u) >> 36) & mask;
  while (codec->seen[i].stamp == stamp && codec->seen[i].address != address) i = (i + 1) & mask;
  return &codec->seen[i];
}

static void seen_grow(struct encoder *e) {
  struct codec *codec = &e->m->codec;
  uint32_t old_capacity = codec->seen_capacity;
  struct codec_seen *old = codec->seen;
  uint32_t capacity = old_capacity == 0 ? FIRST_SEEN : old_capacity * 2;

  codec->seen = actl__lua_grow(e->L, e->m, NULL, 0, capacity * sizeof *codec->seen);
  codec->seen_capacity = capacity;
  memset(codec->seen, 0, capacity * sizeof *codec->seen);
  for (uint32_t i = 0; i < old_capacity; i++) {
    if (old[i].stamp == codec->stamp) *seen_find(codec, codec->stamp, old[i].address) = old[i];
  }
  actl__lua_realloc(e->m, old, old_capacity * sizeof *old, 0);
}

static void seen_begin(struct codec *codec) {
  if (++codec->stamp != 0) return;
  codec->stamp = 1; /* after 4 billion tables: no entry may look like a new one */
  if (codec->seen != NULL) memset(codec->seen, 0, codec->seen_capacity * sizeof *codec->seen);
}

bool actl__lua_encode_seen(struct encoder *e, const void *address) {
  struct codec *codec = &e->m->codec;
  if ((e->n_seen + 1) * 2 > codec->seen_capacity) seen_grow(e);
  struct codec_seen *seen = seen_find(codec, codec->stamp, address);
  if (seen->stamp != codec->stamp) {
    *seen = (struct codec_seen){address, e->n_seen++, codec->stamp};
    return false;
  }

  uint32_t id = seen->id;
  actl__lua_encode_tag(e, CODE_SEEN);
  actl__lua_encode_put(e, &id, sizeof id);
  codec->bytes[e->start] = 1;
  return true;
}

/* ---- Values ---- */

static void encode_string(struct encoder *e, int index, const struct step *step) {
  size_t size;
  const char *bytes = lua_tolstring(e->L, index, &size);
  if (size > UINT32_MAX) actl__lua_encode_refuse(e, step, "a string of more than 4 GB");
  actl__lua_encode_text(e, bytes, size);
}

static void encode_number(struct encoder *e, int index) {
  if (lua_isinteger(e->L, index)) {
    int64_t integer = lua_tointegerx(e->L, index, NULL);
    put_word(e, CODE_INTEGER, &integer);
  } else {
    double number = lua_tonumberx(e->L, index, NULL);
    put_word(e, CODE_FLOAT, &number);
  }
}

/* Whether the key goes on the row of elements; if so the nils before it are written. */
static bool is_next_element(struct encoder *e, int key, uint32_t *n) {
  if (!lua_isinteger(e->L, key)) return false;
  lua_Integer i = lua_tointegerx(e->L, key, NULL);
  if (i <= (lua_Integer)*n || i > (lua_Integer)*n + 1 + GAP_MAX) return false;
  for (; (lua_Integer)*n + 1 < i; ++*n) actl__lua_encode_tag(e, CODE_NIL);
  ++*n;
  return true;
}

static void encode_key(struct encoder *e, int key, const struct step *up) {
  switch (lua_type(e->L, key)) {
  case LUA_TTABLE:
  case LUA_TFUNCTION:
  case LUA_TUSERDATA:
  case LUA_TTHREAD:
    if (!e->carries) {
      const char *type = actl__lua_type_phrase(e->L, key);
      actl__lua_encode_refuse(e, up, lua_pushfstring(e->L, "%s as a key", type));
    }
    break;
  default: break;
  }
  actl__lua_encode_value(e, key, up);
}

static void encode_pairs(struct encoder *e, int table, uint32_t counts[2], const struct step *up) {
  lua_State *L = e->L;
  bool in_row = true;
  lua_pushnil(L);
  int key = lua_gettop(L);
  struct step step = {up, key, NULL};

  while (lua_next(L, table)) {
    in_row = in_row && is_next_element(e, key, &counts[0]);
    if (!in_row) {
      encode_key(e, key, up);
      counts[1]++;
    }
    actl__lua_encode_value(e, key + 1, &step);
    lua_settop(L, key);
  }
}

static void encode_table(struct encoder *e, int index, const struct step *step) {
  if (e->depth >= CODEC_DEPTH_MAX) {
    actl__lua_encode_refuse(e, step, "a table nested deeper than 200");
  }
  if (actl__lua_encode_seen(e, lua_topointer(e->L, index))) return;
  luaL_checkstack(e->L, 8, NULL);

  uint32_t counts[2] = {0, 0}; /* elements, pairs: known after the walk */
  actl__lua_encode_tag(e, CODE_TABLE);
  size_t counts_at = e->m->codec.size;
  actl__lua_encode_put(e, counts, sizeof counts);
  e->depth++;
  encode_pairs(e, index, counts, step);
  e->depth--;
  memcpy(e->m->codec.bytes + counts_at, counts, sizeof counts);
}

void actl__lua_encode_value(struct encoder *e, int index, const struct step *step) {
  switch (lua_type(e->L, index)) {
  case LUA_TNUMBER: encode_number(e, index); return;
  case LUA_TSTRING: encode_string(e, index, step); return;
  case LUA_TNIL: actl__lua_encode_tag(e, CODE_NIL); return;
  case LUA_TBOOLEAN:
    actl__lua_encode_tag(e, lua_toboolean(e->L, index) ? CODE_TRUE : CODE_FALSE);
    return;
  case LUA_TLIGHTUSERDATA: {
    actl_pid pid = actl__lua_pid_at(e->L, index);
    if (pid.bits == 0) break;
    put_word(e, CODE_PID, &pid.bits);
    return;
  }
  case LUA_TTABLE:
    if (e->carries) break;
    encode_table(e, index, step);
    return;
  default: break;
  }
  if (!e->carries) actl__lua_encode_refuse(e, step, actl__lua_type_phrase(e->L, index));
  actl__lua_encode_carried(e, index, step);
}

void actl__lua_encode_table(struct encoder *e, int index, const struct step *step) {
  encode_table(e, index, step);
}

static void encode(struct encoder *e, int index) {
  seen_begin(&e->m->codec);
  e->start = e->m->codec.size;
  char has_seen = 0;
  actl__lua_encode_put(e, &has_seen, 1);
  if (e->carries) {
    actl__lua_encode_carried(e, index, NULL);
  } else {
    encode_table(e, index, NULL);
  }
}

void actl__lua_encode(lua_State *L, struct machine *m, int index, const struct place *place) {
  struct encoder e = {.L = L, .m = m, .place = place};
  encode(&e, index);
}

void actl__lua_carry(lua_State *L, struct machine *m, int index) {
  struct place place = {NULL, 0};
  struct encoder e = {.L = L, .m = m, .place = &place, .carries = true};
  encode(&e, index);
}
