/*
 * bank.c - a host program: a bank whose accounts, clerks and auditor are actors in C.
 *
 *   clerk     --ask withdraw, then ask deposit-->    two accounts, near or far; many times
 *   employer  --every millisecond: ask deposit-->    the first account; until the last payday
 *   auditor   --ask balance-->                       every account, once all of these are done
 *             --ask within 20 ms-->                  the vault, whose lock opens in a minute
 *
 * The engine is run until it is quiet. No money may have appeared or vanished, whatever the order in
 * which two threads did all that. Then the bank closes: each account's stop hook pays out.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L

#include <actl.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
  VATS = 4,
  ACCOUNTS = 16,
  CLERKS = 4,
  TRANSFERS = 1000, /* of each clerk */
  OPENING = 100,    /* on each account at first: little, so that some transfers are refused */
  SALARY = 5,
  PAYDAYS = 20,
  PATIENCE_MS = 20, /* of the auditor, before the vault */
  LOCK_MS = 60000
};

/* What messages are called; interned before the first actor is made, then only read. */
static struct { actl_name withdraw, deposit, balance, open, payday, look, done; } words;

/* What the program knows in the end: the auditor's, read when the engine is quiet. */
static struct {
  int64_t sum, paid, transfers, refused;
  uint64_t waited_ns; /* before the vault */
  actl_status vault;
  int looks;
  bool is_complete;
} audit;

static _Atomic(int64_t) paid_out; /* by the accounts' stop hooks, which run in several vats */

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- An account --------------------------------------------------------------------------------- */

struct account {
  int64_t balance;
};

static actl_status account_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct account *account = state;
  (void)ctx;
  account->balance = actl_msg_int(args, 0, 0);
  return ACTL_OK;
}

/* withdraw(n) -> whether there was enough; deposit(n); balance() -> n */
static actl_status account_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct account *account = state;
  int64_t n = actl_msg_int(msg, 1, 0);
  if (actl_msg_is(ctx, msg, 0, words.withdraw)) {
    bool is_enough = n <= account->balance;
    if (is_enough) account->balance -= n;
    return actl_reply(ctx, ACTL_VALUES(actl_bool(is_enough)));
  }
  if (actl_msg_is(ctx, msg, 0, words.deposit)) {
    account->balance += n;
    return ACTL_OK; /* which answers the ask, with no values */
  }
  if (actl_msg_is(ctx, msg, 0, words.balance))
    return actl_reply(ctx, ACTL_VALUES(actl_int(account->balance)));
  return ACTL_UNHANDLED;
}

static void account_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  const struct account *account = state;
  (void)ctx;
  (void)reason;
  /* relaxed: read when the engine is quiet. */
  atomic_fetch_add_explicit(&paid_out, account->balance, memory_order_relaxed);
}

static const actl_behavior account_behavior = {
    .name = "account",
    .state_size = sizeof(struct account),
    .init = account_init,
    .receive = account_receive,
    .stop = account_stop,
};

/* ---- A clerk ------------------------------------------------------------------------------------ */

struct clerk {
  actl_pid auditor, accounts[ACCOUNTS];
  uint32_t random;
  int64_t left, refused, amount;
  actl_pid to;
  bool is_paying_in; /* the money is withdrawn; the ask on its way is the deposit */
};

static uint32_t clerk_random(struct clerk *clerk, uint32_t below) {
  clerk->random = clerk->random * 1664525u + 1013904223u;
  return (clerk->random >> 16) % below;
}

/* Spawned with a seed, the auditor and the accounts. */
static actl_status clerk_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct clerk *clerk = state;
  clerk->random = (uint32_t)actl_msg_int(args, 0, 0);
  clerk->auditor = actl_msg_pid(args, 1);
  for (size_t i = 0; i < ACCOUNTS; i++) clerk->accounts[i] = actl_msg_pid(args, 2 + i);
  clerk->left = TRANSFERS;
  return actl_after(ctx, 2, ACTL_VALUES(actl_named(words.open)), NULL);
}

static actl_status clerk_next(actl_ctx *ctx, struct clerk *clerk) {
  actl_ask_id id;
  if (clerk->left == 0) {
    return actl_send(ctx, clerk->auditor,
                     ACTL_VALUES(actl_named(words.done), actl_int(0), actl_int(TRANSFERS),
                                 actl_int(clerk->refused)));
  }
  clerk->left--;
  clerk->is_paying_in = false;
  clerk->amount = 1 + clerk_random(clerk, OPENING);
  uint32_t from = clerk_random(clerk, ACCOUNTS);
  clerk->to = clerk->accounts[(from + 1 + clerk_random(clerk, ACCOUNTS - 1)) % ACCOUNTS];
  return actl_ask(ctx, clerk->accounts[from],
                  ACTL_VALUES(actl_named(words.withdraw), actl_int(clerk->amount)), &id);
}

static actl_status clerk_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  return actl_msg_is(ctx, msg, 0, words.open) ? clerk_next(ctx, state) : ACTL_UNHANDLED;
}

static actl_status clerk_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                               const actl_msg *msg) {
  struct clerk *clerk = state;
  (void)ask;
  if (status != ACTL_OK) return actl_fail(ctx, actl_status_text(status));
  if (clerk->is_paying_in) return clerk_next(ctx, clerk);
  if (actl_msg_value(msg, 0).type != ACTL_TRUE) {
    clerk->refused++;
    return clerk_next(ctx, clerk);
  }
  clerk->is_paying_in = true;
  actl_ask_id id;
  return actl_ask(ctx, clerk->to, ACTL_VALUES(actl_named(words.deposit), actl_int(clerk->amount)),
                  &id);
}

static const actl_behavior clerk_behavior = {
    .name = "clerk",
    .state_size = sizeof(struct clerk),
    .init = clerk_init,
    .receive = clerk_receive,
    .reply = clerk_reply,
};

/* ---- The employer ------------------------------------------------------------------------------- */

struct employer {
  actl_pid auditor, account;
  actl_timer paydays;
  int64_t asked, paid; /* salaries: on their way or paid; paid */
};

static actl_status employer_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct employer *employer = state;
  employer->auditor = actl_msg_pid(args, 0);
  employer->account = actl_msg_pid(args, 1);
  return actl_every(ctx, 1, 0, ACTL_VALUES(actl_named(words.payday)), &employer->paydays);
}

static actl_status employer_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct employer *employer = state;
  if (!actl_msg_is(ctx, msg, 0, words.payday)) return ACTL_UNHANDLED;
  if (employer->asked == PAYDAYS) return actl_fail(ctx, "a payday after the last one");

  if (++employer->asked == PAYDAYS) {
    /* Final: no payday comes after this, and to end it once more is refused. */
    if (actl_cancel(ctx, employer->paydays) != ACTL_OK ||
        actl_cancel(ctx, employer->paydays) != ACTL_EXPIRED)
      return actl_fail(ctx, "the paydays do not end");
  }
  actl_ask_id id;
  return actl_ask(ctx, employer->account, ACTL_VALUES(actl_named(words.deposit), actl_int(SALARY)),
                  &id);
}

static actl_status employer_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                                  const actl_msg *msg) {
  struct employer *employer = state;
  (void)ask;
  (void)msg;
  if (status != ACTL_OK) return actl_fail(ctx, actl_status_text(status));
  if (++employer->paid < PAYDAYS) return ACTL_OK;
  return actl_send(
      ctx, employer->auditor,
      ACTL_VALUES(actl_named(words.done), actl_int(PAYDAYS * SALARY), actl_int(0), actl_int(0)));
}

static const actl_behavior employer_behavior = {
    .name = "employer",
    .state_size = sizeof(struct employer),
    .init = employer_init,
    .receive = employer_receive,
    .reply = employer_reply,
};

/* ---- The vault ---------------------------------------------------------------------------------- */

struct vault {
  actl_request request;
  actl_timer lock;
};

/* balance(): answered when the lock opens, by itself or by open() */
static actl_status vault_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct vault *vault = state;
  if (actl_msg_is(ctx, msg, 0, words.balance)) {
    actl_status status = actl_later(ctx, &vault->request);
    if (status != ACTL_OK) return status;
    return actl_after(ctx, LOCK_MS, ACTL_VALUES(actl_named(words.open)), &vault->lock);
  }
  if (!actl_msg_is(ctx, msg, 0, words.open)) return ACTL_UNHANDLED;
  if (!actl_pid_equal(actl_sender(ctx), actl_self(ctx))) {
    actl_status status = actl_cancel(ctx, vault->lock);
    if (status != ACTL_OK) return status;
  }
  return actl_request_reply(ctx, vault->request, ACTL_VALUES(actl_int(0)));
}

static const actl_behavior vault_behavior = {
    .name = "vault", .state_size = sizeof(struct vault), .receive = vault_receive};

/* ---- The auditor -------------------------------------------------------------------------------- */

struct auditor {
  actl_pid vault, accounts[ACCOUNTS];
  int done, answered;
  actl_ask_id vault_ask;
  uint64_t asked_ns;
};

/* Spawned with the vault and the accounts. Its looks around do not keep the bank open. */
static actl_status auditor_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct auditor *auditor = state;
  auditor->vault = actl_msg_pid(args, 0);
  for (size_t i = 0; i < ACCOUNTS; i++) auditor->accounts[i] = actl_msg_pid(args, 1 + i);
  return actl_every(ctx, 2, ACTL_TIMER_BACKGROUND, ACTL_VALUES(actl_named(words.look)), NULL);
}

static actl_status auditor_ask_all(actl_ctx *ctx, struct auditor *auditor) {
  auditor->asked_ns = now_ns();
  actl_status status = actl_ask_within(ctx, auditor->vault, ACTL_VALUES(actl_named(words.balance)),
                                       PATIENCE_MS, &auditor->vault_ask);
  actl_ask_id id;
  for (int i = 0; i < ACCOUNTS && status == ACTL_OK; i++)
    status = actl_ask(ctx, auditor->accounts[i], ACTL_VALUES(actl_named(words.balance)), &id);
  return status;
}

/* look(), from its timer; done(paid, transfers, refused), from each clerk and the employer */
static actl_status auditor_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct auditor *auditor = state;
  if (actl_msg_is(ctx, msg, 0, words.look)) {
    audit.looks++;
    return ACTL_OK;
  }
  if (!actl_msg_is(ctx, msg, 0, words.done)) return ACTL_UNHANDLED;
  audit.paid += actl_msg_int(msg, 1, 0);
  audit.transfers += actl_msg_int(msg, 2, 0);
  audit.refused += actl_msg_int(msg, 3, 0);
  return ++auditor->done == CLERKS + 1 ? auditor_ask_all(ctx, auditor) : ACTL_OK;
}

static actl_status auditor_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                                 const actl_msg *msg) {
  struct auditor *auditor = state;
  if (ask.bits == auditor->vault_ask.bits) {
    audit.vault = status;
    audit.waited_ns = now_ns() - auditor->asked_ns;
    /* Its answer is too late now, and dropped; but nothing has to wait for the lock any more. */
    status = actl_send(ctx, auditor->vault, ACTL_VALUES(actl_named(words.open)));
    if (status != ACTL_OK) return status;
  } else if (status != ACTL_OK) {
    return actl_fail(ctx, actl_status_text(status));
  } else {
    audit.sum += actl_msg_int(msg, 0, 0);
  }
  audit.is_complete = ++auditor->answered == ACCOUNTS + 1;
  return ACTL_OK;
}

static const actl_behavior auditor_behavior = {
    .name = "auditor",
    .state_size = sizeof(struct auditor),
    .init = auditor_init,
    .receive = auditor_receive,
    .reply = auditor_reply,
};

/* ---- The program -------------------------------------------------------------------------------- */

/* Ends the program with a word unless `is_so`. */
static void check(bool is_so, const char *what) {
  if (is_so) return;
  fprintf(stderr, "bank: not so: %s\n", what);
  exit(1);
}

static void must(actl_status status, const char *what) {
  if (status == ACTL_OK) return;
  fprintf(stderr, "bank: %s: %s\n", what, actl_status_text(status));
  exit(1);
}

static void on_log(void *ud, actl_log_level level, actl_log_kind kind, const char *text) {
  (void)ud;
  (void)level;
  (void)kind;
  fprintf(stderr, "bank: %s\n", text);
}

static actl_name name(actl_engine *engine, const char *text) {
  actl_value bytes = actl_text(text);
  actl_name out;
  must(actl_name_intern(engine, bytes.as.bytes, bytes.size, &out), text);
  return out;
}

static actl_pid spawn(actl_engine *engine, uint32_t vat, const actl_behavior *behavior,
                      const actl_value *values, size_t n) {
  actl_pid pid;
  must(actl_engine_spawn(engine, vat, behavior, values, n, &pid), behavior->name);
  return pid;
}

static void found(actl_engine *engine) {
  words.withdraw = name(engine, "withdraw");
  words.deposit = name(engine, "deposit");
  words.balance = name(engine, "balance");
  words.open = name(engine, "open");
  words.payday = name(engine, "payday");
  words.look = name(engine, "look");
  words.done = name(engine, "done");

  /* seed, auditor, accounts for a clerk; vault, accounts for the auditor */
  actl_value values[2 + ACCOUNTS];
  for (uint32_t i = 0; i < ACCOUNTS; i++) {
    values[2 + i] =
        actl_who(spawn(engine, i % VATS, &account_behavior, ACTL_VALUES(actl_int(OPENING))));
  }
  values[1] = actl_who(spawn(engine, ACTL_VAT_ANY, &vault_behavior, NULL, 0));
  actl_pid auditor = spawn(engine, 0, &auditor_behavior, values + 1, 1 + ACCOUNTS);
  values[1] = actl_who(auditor);
  for (uint32_t i = 0; i < CLERKS; i++) {
    values[0] = actl_int(i + 1);
    spawn(engine, i % VATS, &clerk_behavior, values, 2 + ACCOUNTS);
  }
  spawn(engine, VATS - 1, &employer_behavior, ACTL_VALUES(actl_who(auditor), values[2]));
}

static void check_books(const actl_stats *stats, uint64_t took_ns) {
  check(audit.is_complete, "the auditor heard from everybody");
  check(audit.transfers == CLERKS * TRANSFERS, "every transfer was tried");
  check(audit.refused > 0 && audit.refused < audit.transfers, "some transfers were refused");
  check(audit.paid == PAYDAYS * SALARY, "every salary was paid");
  check(audit.sum == ACCOUNTS * OPENING + audit.paid, "no money appeared or vanished");
  check(audit.vault == ACTL_TIMEOUT, "the vault did not answer in time");
  check(audit.waited_ns >= PATIENCE_MS * 1000000ull, "the auditor was patient");
  check(took_ns >= PAYDAYS * 1000000ull, "no payday came early");
  check(audit.looks > 0, "the auditor looked around");

  check(stats->alive == ACCOUNTS + CLERKS + 3, "everybody is alive");
  check(stats->failed == 0, "nobody failed");
  check(stats->timeouts == 1 && stats->late_replies == 1, "one answer came too late");
  check(stats->deadlocks == 0, "all others came");
  check(stats->fired >= CLERKS + PAYDAYS, "the timers fired");
  check(stats->timers == 1, "the auditor's timer alone is left");
  check(stats->far_messages > 0, "some messages went from vat to vat");
  for (int i = 0; i < ACTL_LETTER_REASONS; i++)
    check(stats->dead_letters[i] == 0, "no message was lost");
}

int main(void) {
  const actl_config config = {.workers = 2, .vats = VATS, .log = on_log};
  actl_engine *engine;
  must(actl_engine_new(&engine, &config), "the engine cannot be made");
  found(engine);

  uint64_t began_ns = now_ns();
  must(actl_engine_run(engine), "the engine cannot run");
  actl_stats stats;
  actl_engine_stats(engine, &stats);
  check_books(&stats, now_ns() - began_ns);

  actl_engine_shutdown(engine);
  must(actl_engine_run(engine), "the engine cannot run again");
  actl_engine_stats(engine, &stats);
  check(stats.alive == 0, "the bank is closed");
  check(atomic_load(&paid_out) == audit.sum, "all the money was paid out");
  actl_engine_free(engine);
  printf("the sum is %lld\n", (long long)audit.sum);
  return 0;
}
