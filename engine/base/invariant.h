/*
 * invariant.h - facts that hold unless there is a bug of ours.
 *
 * Cheap, and on in every build unless ACTL_NO_INVARIANTS is defined. What a host or a script does
 * wrong is a status or an actor's end, never one of these.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_BASE_INVARIANT_H
#define ACTL_BASE_INVARIANT_H

#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>

#if defined(ACTL_NO_INVARIANTS)
#define ACTL_INVARIANT(fact) ((void)0)
#else
#define ACTL_INVARIANT(fact) ((fact) ? (void)0 : abort())
#endif

/* The struct that has `field` at `ptr`. */
#define ACTL_CONTAINER(ptr, type, field) ((type *)(void *)((char *)(ptr)-offsetof(type, field)))

#if defined(__GNUC__)
#define ACTL_LIKELY(x) __builtin_expect(!!(x), 1)
#define ACTL_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define ACTL_INLINE static inline __attribute__((always_inline))
#define ACTL_NOINLINE __attribute__((noinline))
#if defined(__x86_64__)
/* The compiler's own builtin asks for reading only, unless it is told of the processor. */
#define ACTL_PREFETCH(address) __asm__ volatile("prefetchw (%0)" : : "r"(address))
#else
#define ACTL_PREFETCH(address) __builtin_prefetch(address, 1)
#endif
#else
#define ACTL_LIKELY(x) (x)
#define ACTL_UNLIKELY(x) (x)
#define ACTL_INLINE static inline __attribute__((always_inline))
#define ACTL_NOINLINE
#define ACTL_PREFETCH(address) ((void)(address))
#endif

/* ACTL_STRESS shrinks every limit, so that wrapping, growing and stealing happen in each test. */
#if defined(ACTL_STRESS)
#define ACTL_TUNE(normal, stress) (stress)
#else
#define ACTL_TUNE(normal, stress) (normal)
#endif

#endif
