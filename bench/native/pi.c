/*
 * pi.c - pi by Machin's formula on scaled big integers: scenarios/pi.lua.
 *
 *   pi = 16 atan(1/5) - 4 atan(1/239),   atan(1/x) = 1/x - 1/(3 x^3) + 1/(5 x^5) - ..   (1706)
 *
 * A number is an integer scaled by a power of ten, in limbs of 14 decimal digits, the highest
 * first. Every division is by a small number and rounds down, exactly as in scenarios/pi.lua: both
 * give the same text, wrong digits included.
 *
 * One pass over the limbs takes a series one term further: it divides the power by x^2, divides
 * that by the term's odd number and adds or subtracts the result. The sum's limbs are signed and
 * carry nothing until the end: a limb stays far below 2^63 for any number of terms that fits here.
 *
 * Division by a number that stays the same for a pass is a multiplication: for n below 2^63 and
 * m = ceil(2^(63 + l) / d), 2^l the first power of two that is not below d, n / d is
 * n * m >> (63 + l), exactly (Granlund and Montgomery, 1994).
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

#include <string.h>

enum {
  LIMB_DIGITS = 14,
  GUARD_DIGITS = 8, /* the roundings of 1,000 terms reach the fifth */
  DIGITS_MAX = 10000,
  LIMBS_MAX = (DIGITS_MAX + GUARD_DIGITS + LIMB_DIGITS - 1) / LIMB_DIGITS,
  TEXT_MAX = 2 + LIMBS_MAX * LIMB_DIGITS
};

#define BASE UINT64_C(100000000000000) /* 10 ^ LIMB_DIGITS */

__extension__ typedef unsigned __int128 wide;

/* limb[0] is the whole part, limb[1..n] are the decimals. */
struct number {
  uint64_t limb[1 + LIMBS_MAX];
};

/* ---- Division by multiplication ---- */

struct divisor {
  uint64_t d, m;
  unsigned shift;
};

static struct divisor divisor_of(uint64_t d) {
  unsigned log = 0;
  while ((UINT64_C(1) << log) < d) log++;
  wide m = (((wide)1 << (63 + log)) + d - 1) / d;
  return (struct divisor){.d = d, .m = (uint64_t)m, .shift = 63 + log};
}

static inline uint64_t divide(const struct divisor *by, uint64_t n) {
  return (uint64_t)(((wide)n * by->m) >> by->shift);
}

/* ---- The series ---- */

/* `power` becomes a / x. */
static void power_start(struct number *power, size_t n, uint64_t a, uint64_t x) {
  memset(power->limb, 0, (n + 1) * sizeof power->limb[0]);
  uint64_t rest = a;
  for (size_t i = 0; i <= n; i++) {
    power->limb[i] = rest / x;
    rest = rest % x * BASE;
  }
}

/* Divides `power` by `square`, from the limb `first` on, before which all are zero, and adds a
 * `k`-th of it to `sum`; `sign` -1 subtracts. */
static void pass(struct number *power, struct number *sum, size_t first, size_t n,
                 const struct divisor *square, uint64_t k, uint64_t sign) {
  const struct divisor odd = divisor_of(k);
  uint64_t power_rest = 0, term_rest = 0;
  for (size_t i = first; i <= n; i++) {
    uint64_t a = power_rest * BASE + power->limb[i];
    uint64_t q = divide(square, a);
    power_rest = a - q * square->d;
    power->limb[i] = q;

    uint64_t b = term_rest * BASE + q;
    uint64_t t = divide(&odd, b);
    term_rest = b - t * odd.d;
    sum->limb[i] += sign * t; /* signed, in two's complement */
  }
}

/* Adds `sign` times a * atan(1 / x) to `sum`: `terms` terms, or with 0 all that are not zero. */
static void series(struct number *sum, size_t n, uint64_t a, uint64_t x, int64_t terms,
                   uint64_t sign) {
  static const struct divisor one = {.d = 1, .m = UINT64_C(1) << 63, .shift = 63};
  const struct divisor square = divisor_of(x * x);
  struct number power;
  power_start(&power, n, a, x);

  size_t first = 0;
  for (uint64_t k = 1; terms == 0 || k < 2 * (uint64_t)terms; k += 2) {
    while (first <= n && power.limb[first] == 0) first++;
    if (first > n) return;
    pass(&power, sum, first, n, k == 1 ? &one : &square, k, sign);
    sign = 0 - sign;
  }
}

/* ---- The text ---- */

static void sum_carry(struct number *sum, size_t n) {
  int64_t carry = 0;
  for (size_t i = n + 1; i-- > 0;) {
    int64_t limb = (int64_t)sum->limb[i] + carry;
    int64_t base = (int64_t)BASE;
    carry = limb / base - (limb % base < 0);
    sum->limb[i] = (uint64_t)(limb - carry * base);
  }
}

/* Writes LIMB_DIGITS digits. */
static void limb_write(char *at, uint64_t limb) {
  static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                              "25262728293031323334353637383940414243444546474849"
                              "50515253545556575859606162636465666768697071727374"
                              "75767778798081828384858687888990919293949596979899";
  /* Two halves of seven digits, so that the divisions are narrow and do not wait for each other. */
  uint32_t half[2] = {(uint32_t)(limb / 10000000), (uint32_t)(limb % 10000000)};
  for (int h = 0; h < 2; h++, at += 7) {
    for (int i = 5; i > 0; i -= 2) {
      memcpy(at + i, &pairs[(size_t)(half[h] % 100) * 2], 2);
      half[h] /= 100;
    }
    at[0] = (char)('0' + half[h]);
  }
}

/* Writes pi with `digits` decimals; returns the length of the text. */
static size_t pi_write(char *text, size_t digits, int64_t terms) {
  size_t n = (digits + GUARD_DIGITS + LIMB_DIGITS - 1) / LIMB_DIGITS;
  struct number sum;
  memset(sum.limb, 0, (n + 1) * sizeof sum.limb[0]);
  series(&sum, n, 16, 5, terms, 1);
  series(&sum, n, 4, 239, terms, UINT64_MAX);
  sum_carry(&sum, n);

  text[0] = (char)('0' + sum.limb[0]);
  text[1] = '.';
  for (size_t i = 0; i < n; i++) limb_write(text + 2 + i * LIMB_DIGITS, sum.limb[i + 1]);
  return 2 + digits;
}

/* ---- The behaviors ---- */

/* Told "calculate", a judge, a number of digits and a number of terms (0: all), sends the judge
 * "answer" and pi. */
static actl_status calculator_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  int64_t digits = actl_msg_int(msg, 2, 0);
  int64_t terms = actl_msg_int(msg, 3, 0);
  if (digits < 1 || digits > DIGITS_MAX || terms < 0) return ACTL_INVALID;

  char text[TEXT_MAX];
  size_t size = pi_write(text, (size_t)digits, terms);
  return actl_send(ctx, actl_msg_pid(msg, 1),
                   ACTL_VALUES(actl_text("answer"), actl_bytes(text, (uint32_t)size)));
}

const actl_behavior actl_bench_calculator = {
    .name = "bench.calculator",
    .receive = calculator_receive,
};

/* Spawned with the number of answers to expect and the text that each should be. Told "answer" and
 * a text. Asked "verdict", it answers when all have come: how many came, how many were right. */
struct judge {
  int64_t expected, got, right;
  actl_request request;
  bool is_asked;
  uint32_t size;
  char text[TEXT_MAX];
};

static actl_status judge_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  struct judge *judge = state;
  actl_value text = actl_msg_value(args, 1);
  judge->expected = actl_msg_int(args, 0, 0);
  if (text.type != ACTL_STRING || text.size > TEXT_MAX) return ACTL_INVALID;
  judge->size = text.size;
  memcpy(judge->text, text.as.bytes, text.size);
  return ACTL_OK;
}

static actl_status judge_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct judge *judge = state;

  if (actl_msg_count(msg) < 2) {
    actl_status status = actl_later(ctx, &judge->request);
    if (status != ACTL_OK) return status;
    judge->is_asked = true;
  } else {
    actl_value text = actl_msg_value(msg, 1);
    judge->got++;
    judge->right += text.type == ACTL_STRING && text.size == judge->size &&
                    memcmp(text.as.bytes, judge->text, text.size) == 0;
  }
  if (!judge->is_asked || judge->got < judge->expected) return ACTL_OK;
  return actl_request_reply(ctx, judge->request,
                            ACTL_VALUES(actl_int(judge->got), actl_int(judge->right)));
}

const actl_behavior actl_bench_judge = {
    .name = "bench.judge",
    .state_size = sizeof(struct judge),
    .init = judge_init,
    .receive = judge_receive,
};
