/*
 * decode.c - reading the bytes of codec.h. Tables are made with the size that they will have.
 *
 * The bytes may have been kept and passed on by C code, so every size is checked.
 *
 * SPDX-License-Identifier: MIT
 */
#include "codec.h"
#include "machine.h"
#include "values.h"

#include <lauxlib.h>
#include <limits.h>
#include <string.h>

int actl__lua_decode_malformed(struct decoder *d) {
  return luaL_error(d->L, "the bytes of a table in a message are not valid");
}

const char *actl__lua_decode_take(struct decoder *d, size_t size) {
  if ((size_t)(d->end - d->at) < size) actl__lua_decode_malformed(d);
  const char *at = d->at;
  d->at += size;
  return at;
}

uint32_t actl__lua_decode_u32(struct decoder *d) {
  uint32_t value;
  memcpy(&value, actl__lua_decode_take(d, sizeof value), sizeof value);
  return value;
}

static uint64_t take_word(struct decoder *d) {
  uint64_t word;
  memcpy(&word, actl__lua_decode_take(d, sizeof word), sizeof word);
  return word;
}

void actl__lua_decode_note(struct decoder *d) {
  if (d->seen == 0) return;
  lua_pushvalue(d->L, -1);
  lua_rawseti(d->L, d->seen, (lua_Integer)++d->n_seen);
}

static void decode_seen(struct decoder *d) {
  uint32_t id = actl__lua_decode_u32(d);
  if (d->seen == 0 || id >= d->n_seen) actl__lua_decode_malformed(d);
  lua_rawgeti(d->L, d->seen, (lua_Integer)id + 1);
}

/* How many to make room for at once: no more than the bytes can hold. */
static int presize(const struct decoder *d, uint32_t n, size_t least_bytes) {
  size_t most = (size_t)(d->end - d->at) / least_bytes;
  if (n < most) most = n;
  return most > INT_MAX ? INT_MAX : (int)most;
}

static void decode_pairs(struct decoder *d, uint32_t n_elements, uint32_t n_pairs) {
  lua_State *L = d->L;
  for (uint32_t i = 1; i <= n_elements; i++) {
    actl__lua_decode_value(d);
    lua_rawseti(L, -2, (lua_Integer)i);
  }
  for (uint32_t i = 0; i < n_pairs; i++) {
    actl__lua_decode_value(d);
    if (lua_isnil(L, -1)) actl__lua_decode_malformed(d);
    actl__lua_decode_value(d);
    lua_rawset(L, -3);
  }
}

static void decode_table(struct decoder *d) {
  uint32_t n_elements = actl__lua_decode_u32(d);
  uint32_t n_pairs = actl__lua_decode_u32(d);
  if (++d->depth > CODEC_DEPTH_MAX) actl__lua_decode_malformed(d);
  luaL_checkstack(d->L, 8, NULL);

  lua_createtable(d->L, presize(d, n_elements, 1), presize(d, n_pairs, 2));
  actl__lua_decode_note(d);
  decode_pairs(d, n_elements, n_pairs);
  d->depth--;
}

static void decode_float(struct decoder *d) {
  uint64_t word = take_word(d);
  double number;
  memcpy(&number, &word, sizeof number);
  lua_pushnumber(d->L, number);
}

static void decode_string(struct decoder *d, size_t size) {
  lua_pushlstring(d->L, actl__lua_decode_take(d, size), size);
}

void actl__lua_decode_value(struct decoder *d) {
  enum codec_tag tag = (enum codec_tag)(unsigned char)*actl__lua_decode_take(d, 1);
  switch (tag) {
  case CODE_NIL: lua_pushnil(d->L); return;
  case CODE_FALSE: lua_pushboolean(d->L, 0); return;
  case CODE_TRUE: lua_pushboolean(d->L, 1); return;
  case CODE_INTEGER: lua_pushinteger(d->L, (lua_Integer)take_word(d)); return;
  case CODE_FLOAT: decode_float(d); return;
  case CODE_PID: actl__lua_push_pid(d->L, (actl_pid){take_word(d)}); return;
  case CODE_SHORT_STRING: decode_string(d, (unsigned char)*actl__lua_decode_take(d, 1)); return;
  case CODE_LONG_STRING: decode_string(d, actl__lua_decode_u32(d)); return;
  case CODE_TABLE: decode_table(d); return;
  case CODE_SEEN: decode_seen(d); return;
  default: break;
  }
  if (!d->carries) actl__lua_decode_malformed(d);
  actl__lua_decode_carried(d, tag);
}

static void decode(struct decoder *d, size_t size) {
  if (size < 2) actl__lua_decode_malformed(d);
  luaL_checkstack(d->L, 8, NULL);
  bool has_seen = *actl__lua_decode_take(d, 1) == 1;
  if (has_seen) {
    lua_newtable(d->L);
    d->seen = lua_gettop(d->L);
  }
  actl__lua_decode_value(d);
  if (has_seen) lua_remove(d->L, d->seen);
}

void actl__lua_decode(lua_State *L, struct machine *m, const char *bytes, size_t size) {
  struct decoder d = {.L = L, .m = m, .at = bytes, .end = bytes + size};
  decode(&d, size);
}

bool actl__lua_is_carried(const char *bytes, size_t size) {
  return size >= 2 && (enum codec_tag)(unsigned char)bytes[1] >= CODE_FUNCTION;
}

void actl__lua_uncarry(lua_State *L, struct machine *m, const char *bytes, size_t size) {
  struct decoder d = {.L = L, .m = m, .at = bytes, .end = bytes + size, .carries = true};
  decode(&d, size);
}
