/*
 * node.c - writing and reading the values of a message.
 *
 * A PACK block is a row of entries, each 8-byte aligned: type and size, then 8 bytes of value, or
 * the bytes of a string or table padded to 8.
 *
 * SPDX-License-Identifier: MIT
 */
#include "msg/node.h"

#include <string.h>

struct packed { /* the head of an entry in a PACK block */
  uint32_t type;
  uint32_t size;
};

static bool has_bytes(uint32_t type) { return type == ACTL_STRING || type == ACTL_TABLE; }
static size_t padded(size_t size) { return (size + 7) & ~(size_t)7; }

static bool is_carried(uint32_t type) { return type <= ACTL_STRING || type == ACTL_TABLE; }

static struct block *block_new(const struct memory *mem, size_t size) {
  struct block *b = actl__memory_new(mem, sizeof *b + size);
  if (b != NULL) b->size = size;
  return b;
}

static void block_free(const struct memory *mem, struct block *b) {
  actl__memory_free(mem, b, sizeof *b + b->size);
}

static struct block *block_in(const struct actl_msg *m, unsigned slot) {
  return (struct block *)(uintptr_t)m->slot[slot];
}

static void set_type(struct actl_msg *m, unsigned slot, unsigned type) {
  m->header |= (uint64_t)type << (NODE_TYPES_SHIFT + 4 * slot);
}

void actl__node_clear_care(struct actl_msg *m, const struct memory *mem) {
  for (unsigned slot = 0; slot < NODE_SLOTS; slot++) {
    unsigned type = actl__node_type(m, slot);
    if (type >= NODE_LONG_STRING && type <= NODE_PACK) block_free(mem, block_in(m, slot));
  }
  m->header &= ~((uint64_t)0xFFFFF << NODE_TYPES_SHIFT);
}

actl_status actl__node_copy(struct actl_msg *m, const struct actl_msg *from,
                            const struct memory *mem) {
  const uint64_t types = (uint64_t)0xFFFFF << NODE_TYPES_SHIFT;
  m->from = from->from;
  m->header = from->header & ~types;
  for (unsigned slot = 0; slot < NODE_SLOTS; slot++) {
    unsigned type = actl__node_type(from, slot);
    m->slot[slot] = from->slot[slot];
    if (type >= NODE_LONG_STRING && type <= NODE_PACK) {
      const struct block *source = block_in(from, slot);
      struct block *b = block_new(mem, source->size);
      if (b == NULL) {
        actl__node_clear_care(m, mem);
        return ACTL_NO_MEMORY;
      }
      memcpy(b->bytes, source->bytes, source->size);
      m->slot[slot] = (uint64_t)(uintptr_t)b;
    }
    set_type(m, slot, type);
  }
  return ACTL_OK;
}

static actl_status write_pack(struct actl_msg *m, const actl_value *values, size_t n,
                              const struct memory *mem) {
  size_t size = 0;
  for (size_t i = 0; i < n; i++)
    size += sizeof(struct packed) + (has_bytes(values[i].type) ? padded(values[i].size) : 8);

  struct block *b = block_new(mem, size);
  if (b == NULL) return ACTL_NO_MEMORY;

  char *at = b->bytes;
  for (size_t i = 0; i < n; i++) {
    const actl_value *v = &values[i];
    struct packed head = {v->type, v->size};
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    if (has_bytes(v->type)) {
      if (v->size > 0) memcpy(at, v->as.bytes, v->size);
      at += padded(v->size);
    } else {
      memcpy(at, &v->as.bits, 8);
      at += 8;
    }
  }
  m->slot[0] = (uint64_t)(uintptr_t)b;
  set_type(m, 0, NODE_PACK);
  return ACTL_OK;
}

static actl_status write_block(struct actl_msg *m, unsigned slot, const actl_value *v,
                               const struct memory *mem) {
  struct block *b = block_new(mem, v->size);
  if (b == NULL) return ACTL_NO_MEMORY;

  if (v->size > 0) memcpy(b->bytes, v->as.bytes, v->size);
  m->slot[slot] = (uint64_t)(uintptr_t)b;
  set_type(m, slot, v->type == ACTL_TABLE ? NODE_TABLE : NODE_LONG_STRING);
  return ACTL_OK;
}

/* A string in the slots themselves: a byte of length, then the bytes. */
static unsigned write_inline(struct actl_msg *m, unsigned slot, const actl_value *v) {
  char *at = (char *)&m->slot[slot];
  unsigned slots = (v->size + 8) / 8;

  at[0] = (char)v->size;
  if (v->size > 0) memcpy(at + 1, v->as.bytes, v->size);
  set_type(m, slot, NODE_SHORT_STRING);
  for (unsigned i = 1; i < slots; i++) set_type(m, slot + i, NODE_CONT);
  return slots;
}

static actl_status write_values(struct actl_msg *m, const actl_value *values, size_t n,
                                unsigned room, const struct memory *mem) {
  unsigned slot = 0;
  for (size_t i = 0; i < n; i++) {
    const actl_value *v = &values[i];
    unsigned spare = room - slot - (unsigned)(n - i - 1); /* the later ones need one each */
    if (v->type == ACTL_STRING && v->size < spare * 8) {
      slot += write_inline(m, slot, v);
    } else if (has_bytes(v->type)) {
      actl_status status = write_block(m, slot++, v, mem);
      if (status != ACTL_OK) return status;
    } else {
      m->slot[slot] = v->as.bits;
      set_type(m, slot++, v->type);
    }
  }
  return ACTL_OK;
}

actl_status actl__node_write_care(struct actl_msg *m, uint64_t head, const actl_value *values,
                                  size_t n, unsigned room, const struct memory *mem) {
  m->header = head;
  if (n > ACTL_VALUES_MAX) return ACTL_INVALID;
  for (size_t i = 0; i < n; i++)
    if (!is_carried(values[i].type)) return ACTL_ENCODING;

  m->header = head | n;
  actl_status status =
      n > room ? write_pack(m, values, n, mem) : write_values(m, values, n, room, mem);
  if (status != ACTL_OK) {
    actl__node_clear_care(m, mem);
    m->header = head;
  }
  return status;
}

static bool read_pack(const struct actl_msg *m, const void **at, actl_value *out) {
  const struct block *b = block_in(m, 0);
  const char *from = *at != NULL ? *at : b->bytes;
  struct packed head;
  memcpy(&head, from, sizeof head);
  from += sizeof head;

  out->type = head.type;
  out->size = head.size;
  if (has_bytes(head.type)) {
    out->as.bytes = from;
    *at = from + padded(head.size);
  } else {
    memcpy(&out->as.bits, from, 8);
    *at = from + 8;
  }
  return true;
}

static bool read_block(const struct actl_msg *m, unsigned slot, uint32_t type, actl_value *out) {
  const struct block *b = block_in(m, slot);
  *out = (actl_value){.type = type, .size = (uint32_t)b->size};
  out->as.bytes = b->bytes;
  return true;
}

bool actl__node_read(const struct actl_msg *m, uint32_t *slot, const void **at, actl_value *out) {
  unsigned i = *slot;
  unsigned type = i == 0 || actl__node_type(m, 0) != NODE_PACK ? actl__node_type(m, i) : NODE_PACK;
  if (type == NODE_PACK) return read_pack(m, at, out);

  *slot = i + 1;
  if (type == NODE_LONG_STRING) return read_block(m, i, ACTL_STRING, out);
  if (type == NODE_TABLE) return read_block(m, i, ACTL_TABLE, out);
  *out = (actl_value){.type = type};
  if (type == NODE_SHORT_STRING) {
    out->type = ACTL_STRING;
    const unsigned char *from = (const unsigned char *)&m->slot[i];
    out->size = from[0];
    out->as.bytes = (const char *)from + 1;
    *slot = i + (out->size + 8) / 8;
  } else {
    out->as.bits = m->slot[i];
  }
  return true;
}

size_t actl_msg_count(const actl_msg *msg) { return actl__node_count(msg); }

actl_value actl_msg_value(const actl_msg *msg, size_t i) {
  if (i >= actl__node_count(msg)) return actl_nil();
  if (ACTL_LIKELY((msg->header & NODE_CARE) == 0)) {
    actl_value v = {actl__node_type(msg, (unsigned)i), 0, {0}};
    v.as.bits = msg->slot[i];
    return v;
  }

  actl_value v = actl_nil();
  uint32_t slot = 0;
  const void *at = NULL;
  for (size_t k = 0; k <= i; k++) actl__node_read(msg, &slot, &at, &v);
  return v;
}

int64_t actl_msg_int(const actl_msg *msg, size_t i, int64_t otherwise) {
  actl_value v = actl_msg_value(msg, i);
  return v.type == ACTL_INTEGER ? v.as.integer : otherwise;
}

actl_pid actl_msg_pid(const actl_msg *msg, size_t i) {
  actl_value v = actl_msg_value(msg, i);
  return v.type == ACTL_PID ? v.as.pid : (actl_pid){0};
}
