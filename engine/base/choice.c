/*
 * choice.c - drawing choices, and their names.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/choice.h"

#include <string.h>

#include "base/random.h"

enum { EVER = 65536 };

/* SplitMix64's finalizer (Steele, Lea and Flood, 2014): seeds that are neighbours have nothing in
 * common after it. */
static uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

uint64_t actl__choices_stream(uint64_t seed, uint64_t stream) {
  uint64_t x = mix(mix(seed) ^ stream);
  return x != 0 ? x : 1;
}

/* Runs that look for faults are short: what is rarer than one in 16 hardly ever happens in them. Of
 * places there are fewer choices still, one for each actor. */
static uint32_t draw_rate(uint64_t *random, int choice) {
  static const uint32_t rates[] = {0, EVER / 16, EVER / 4, EVER / 2, EVER, EVER};
  static const uint32_t places[] = {0, EVER / 2, EVER, EVER, EVER, EVER};
  uint32_t i = actl__random_below(random, sizeof rates / sizeof rates[0]);
  return choice == ACTL_CHOICE_PLACE ? places[i] : rates[i];
}

void actl__choices_init(struct choices *choices, const actl_config *config) {
  memset(choices, 0, sizeof *choices);
  if (!config->is_seeded) return;
  choices->is_on = true;
  choices->decide = config->choose;
  choices->ud = config->choose_ud;
  choices->random = actl__choices_stream(config->seed, 0);
  for (int i = 0; i < ACTL_CHOICE_KINDS; i++) choices->rate[i] = draw_rate(&choices->random, i);
}

/* Two numbers are drawn whatever comes of them, so that one that is decided otherwise leaves those
 * after it as they were. */
uint32_t actl__choose(struct choices *choices, actl_choice choice, uint32_t n) {
  bool is_plain = actl__random_below(&choices->random, EVER) >= choices->rate[choice];
  uint32_t other = actl__random_below(&choices->random, n);
  uint32_t drawn = is_plain ? 0 : other;
  if (choices->decide == NULL) return drawn;
  uint32_t decided = choices->decide(choices->ud, choice, n, drawn);
  return decided < n ? decided : drawn;
}

const char *actl_choice_name(actl_choice choice) {
  switch (choice) {
#define CASE(code, name, text)                                                                     \
  case ACTL_CHOICE_##code: return name;
    ACTL_CHOICES(CASE)
#undef CASE
  case ACTL_CHOICE_KINDS: break;
  }
  return "unknown";
}

const char *actl_choice_text(actl_choice choice) {
  switch (choice) {
#define CASE(code, name, text)                                                                     \
  case ACTL_CHOICE_##code: return text;
    ACTL_CHOICES(CASE)
#undef CASE
  case ACTL_CHOICE_KINDS: break;
  }
  return "unknown choice";
}

const char *actl_event_name(actl_event_kind kind) {
  static const char *const names[] = {
#define NAME(code, name) name,
      ACTL_EVENTS(NAME)
#undef NAME
  };
  return (unsigned)kind < ACTL_EVENT_KINDS ? names[kind] : "unknown";
}
