/*
 * suggest.h - what a misspelt word was meant to be.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_SUGGEST_H
#define ACTL_COMMAND_SUGGEST_H

#include <stddef.h>

/* The edits that turn `a` into `b`: a letter put in, left out, exchanged, or swapped with the next
 * (the optimal string alignment distance). Upper and lower case are one. Words above 63 bytes are
 * further from anything than any edit count. */
size_t actl__suggest_distance(const char *a, const char *b);

/* The one of `names` that `word` most likely means; NULL: none is close. */
const char *actl__suggest_name(const char *word, const char *const *names, size_t n);

#endif
