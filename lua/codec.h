/*
 * codec.h - tables as bytes, and back.
 *
 * The encoding is ours and stays inside one engine. One value is a tag and what follows it:
 *
 *   integer, float, pid       8 bytes
 *   string                    size (1 byte, or 4) and its bytes
 *   table                     n elements (4 bytes), n pairs (4 bytes), elements 1 .. n, pairs
 *   seen                      the number (4 bytes) of a table or function that came before
 *   function, module, ...     see carry.c; only in what spawn_on carries
 *
 * In front stands one byte: whether "seen" occurs anywhere, so that decoding most tables needs no
 * list of those that came before.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_LUA_CODEC_H
#define ACTL_LUA_CODEC_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct machine;

enum codec_tag {
  CODE_NIL,
  CODE_FALSE,
  CODE_TRUE,
  CODE_INTEGER,
  CODE_FLOAT,
  CODE_PID,
  CODE_SHORT_STRING,
  CODE_LONG_STRING,
  CODE_TABLE,
  CODE_SEEN,
  CODE_FUNCTION,
  CODE_GLOBALS,
  CODE_MODULE,
  CODE_MEMBER,
  CODE_BEHAVIOR,
  CODE_NATIVE
};

enum { CODEC_DEPTH_MAX = 200 };

struct codec_seen {
  const void *address;
  uint32_t id;
  uint32_t stamp; /* of the encoding that saw it; another: the entry is free */
};

struct codec {
  char *bytes; /* the tables of the message being sent */
  size_t size, capacity;
  struct codec_seen *seen; /* open addressing, at most half full */
  uint32_t seen_capacity, stamp;
};

/* Where a value stands that cannot be sent: "argument 2", then a chain of steps into tables. */
struct place {
  const char *what; /* NULL: a function that is carried */
  int number;
};

struct step {
  const struct step *up;
  int key;             /* stack index of the key; 0: an upvalue */
  const char *upvalue; /* its name */
};

struct encoder {
  lua_State *L;
  struct machine *m;
  const struct place *place;
  size_t start;
  uint32_t n_seen;
  int depth;
  bool carries; /* functions and what they refer to may be in it */
};

struct decoder {
  lua_State *L;
  struct machine *m;
  const char *at, *end;
  int seen; /* stack index of the list of tables so far; 0: not needed */
  uint32_t n_seen;
  int depth;
  bool carries;
};

/* Empties the buffer: once for each message, before its values. */
void actl__lua_codec_begin(struct machine *m);
void actl__lua_codec_fini(struct machine *m);

/* Appends the table at `index`. Raises an error when something in it cannot be sent. */
void actl__lua_encode(lua_State *L, struct machine *m, int index, const struct place *place);

/* Pushes the table. Raises an error when memory is short or the bytes are not from `encode`. */
void actl__lua_decode(lua_State *L, struct machine *m, const char *bytes, size_t size);

/* The same for a function with what it refers to; false: the bytes are a table's. */
void actl__lua_carry(lua_State *L, struct machine *m, int index);
bool actl__lua_is_carried(const char *bytes, size_t size);
void actl__lua_uncarry(lua_State *L, struct machine *m, const char *bytes, size_t size);

/* Raises "argument 2: `what` cannot be sent". */
int actl__lua_refuse(lua_State *L, const struct place *place, const char *what);

/* ---- Between codec.c and carry.c ---- */

int actl__lua_encode_refuse(struct encoder *e, const struct step *step, const char *what);
void actl__lua_encode_put(struct encoder *e, const void *bytes, size_t size);
void actl__lua_encode_tag(struct encoder *e, enum codec_tag tag);
void actl__lua_encode_text(struct encoder *e, const char *bytes, size_t size);
void actl__lua_encode_value(struct encoder *e, int index, const struct step *step);

/* True: `address` was seen before, and that is written. Otherwise it is noted as seen. */
bool actl__lua_encode_seen(struct encoder *e, const void *address);

/* Encodes what only a carried function may refer to; raises an error for anything else. */
void actl__lua_encode_table(struct encoder *e, int index, const struct step *step);
void actl__lua_encode_carried(struct encoder *e, int index, const struct step *step);

int actl__lua_decode_malformed(struct decoder *d);
const char *actl__lua_decode_take(struct decoder *d, size_t size);
uint32_t actl__lua_decode_u32(struct decoder *d);
void actl__lua_decode_value(struct decoder *d);

/* Notes the value on top as seen. */
void actl__lua_decode_note(struct decoder *d);
void actl__lua_decode_carried(struct decoder *d, enum codec_tag tag);

#endif
