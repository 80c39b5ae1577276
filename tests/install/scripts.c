/*
 * scripts.c - a host program: a server whose work is done by Lua actors, driven from four threads.
 *
 *   main     starts the engine on threads of its own, and stops it in the end
 *   threads  each spawns Lua actors from source text, asks them, and gets the answers
 *   Lua      requires "shop", a module in C of this program, in every vat's machine
 *
 * The threads record what they see and the main thread judges it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <actl.h>
#include <actl_lua.h>

#include <lauxlib.h>
#include <lua.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  THREADS = 4,
  CARTS = 8, /* of each thread */
  BUYS = 50, /* of each cart */
  PRICE = 3  /* of a pear */
};

/* A shopping cart. A vat runs this again for each cart that it is home to, and its actors share the
 * globals, so the first one makes the behavior. */
static const char cart_source[] =
    "local actor = require 'actor'\n"
    "local shop = require 'shop'\n"
    "Cart = Cart or actor.behavior('cart', {\n"
    "  init = function(self, owner) self.owner, self.total = owner, 0 end,\n"
    "  receive = {\n"
    "    buy = function(self, fruit, n)\n"
    "      local price = shop.price(fruit)\n"
    "      if not price then error('we have no ' .. fruit) end\n"
    "      self.total = self.total + n * price\n"
    "      return self.total\n"
    "    end,\n"
    "    bill = function(self)\n"
    "      actor.sleep(1)                           -- the others go on meanwhile\n"
    "      return ('%s owes %d'):format(self.owner, self.total), self.total\n"
    "    end,\n"
    "  },\n"
    "  stop = function(self) shop.close(self.total) end,\n"
    "})\n"
    "return Cart\n";

/* Hands what it is asked on to another actor, and answers with that one's answer. */
static const char agent_source[] = "local target = ...\n"
                                   "return function(...) return target:ask(...) end\n";

/* Takes every request and answers none. */
static const char deaf_source[] = "local actor = require 'actor'\n"
                                  "local kept = {}\n"
                                  "return function() kept[#kept + 1] = actor.later() end\n";

/* ---- The module "shop" -------------------------------------------------------------------------- */

/* Any vat's machine calls these, several at once: what they share is atomic. */
static _Atomic(int64_t) n_prices, n_closed, closed_total;

/* shop.price(fruit) -> a number, or nil */
static int shop_price(lua_State *L) {
  const char *fruit = luaL_checkstring(L, 1);
  atomic_fetch_add(&n_prices, 1);
  /* Only a handler has a ctx; it knows its vat. */
  luaL_argcheck(L, actl_lua_ctx(L) != NULL, 1, "not in a handler");
  if (strcmp(fruit, "pear") != 0) return 0;
  lua_pushinteger(L, PRICE);
  return 1;
}

/* shop.close(total) */
static int shop_close(lua_State *L) {
  atomic_fetch_add(&closed_total, luaL_checkinteger(L, 1));
  atomic_fetch_add(&n_closed, 1);
  return 0;
}

static int open_shop(lua_State *L) {
  static const luaL_Reg functions[] = {{"price", shop_price}, {"close", shop_close}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}

/* ---- A thread of the host ------------------------------------------------------------------------ */

struct customer {
  pthread_t thread;
  actl_engine *engine;
  int index;
  int n_bills;         /* carts whose every answer was right */
  const char *problem; /* what was not as it should be; NULL: nothing */
};

static bool note(struct customer *customer, bool is_so, const char *what) {
  if (!is_so && customer->problem == NULL) customer->problem = what;
  return is_so;
}

static bool spawn(struct customer *customer, const char *chunk, const char *source,
                  const actl_value *values, size_t n, actl_pid *out) {
  actl_status status = actl_lua_spawn_string(customer->engine, ACTL_VAT_ANY, chunk, source,
                                             strlen(source), values, n, out);
  return note(customer, status == ACTL_OK, "an actor cannot be made");
}

/* Asks, and puts the answer's value `i` in `out`, as an integer; false: no answer. */
static bool ask_int(struct customer *customer, actl_pid pid, const actl_value *values, size_t n,
                    size_t i, int64_t *out) {
  actl_msg *answer = NULL;
  if (actl_engine_ask(customer->engine, pid, values, n, ACTL_FOREVER, &answer) != ACTL_OK)
    return note(customer, false, "an ask fails");
  *out = actl_msg_int(answer, i, -1);
  actl_msg_free(customer->engine, answer);
  return true;
}

static bool buy_all(struct customer *customer, actl_pid cart) {
  for (int64_t i = 1, total; i <= BUYS; i++) {
    if (!ask_int(customer, cart, ACTL_VALUES(actl_text("buy"), actl_text("pear"), actl_int(1)), 0,
                 &total))
      return false;
    if (!note(customer, total == i * PRICE, "a total is wrong")) return false;
  }
  return true;
}

/* The bill's text and number, by way of an agent that may live in another vat. */
static bool read_bill(struct customer *customer, actl_pid cart, const char *owner) {
  actl_pid agent;
  if (!spawn(customer, "=agent", agent_source, ACTL_VALUES(actl_who(cart)), &agent)) return false;

  actl_msg *bill = NULL;
  actl_status status =
      actl_engine_ask(customer->engine, agent, ACTL_VALUES(actl_text("bill")), ACTL_FOREVER, &bill);
  if (!note(customer, status == ACTL_OK, "there is no bill")) return false;

  char wanted[64];
  int size = snprintf(wanted, sizeof wanted, "%s owes %d", owner, BUYS * PRICE);
  actl_value text = actl_msg_value(bill, 0);
  bool is_right = actl_msg_count(bill) == 2 && text.type == ACTL_STRING &&
                  text.size == (uint32_t)size && memcmp(text.as.bytes, wanted, text.size) == 0 &&
                  actl_msg_int(bill, 1, -1) == BUYS * PRICE;
  actl_msg_free(customer->engine, bill);
  return note(customer, is_right, "a bill is wrong");
}

static void shop_once(struct customer *customer, int i) {
  char owner[32];
  actl_pid cart;
  snprintf(owner, sizeof owner, "customer %d.%d", customer->index, i);
  if (spawn(customer, "=cart", cart_source, ACTL_VALUES(actl_text(owner)), &cart) &&
      buy_all(customer, cart) && read_bill(customer, cart, owner))
    customer->n_bills++;
}

/* Each way in which an ask has no answer says which it was, and `answer` is not touched. */
static void fail_in_all_ways(struct customer *customer) {
  actl_engine *engine = customer->engine;
  actl_msg *answer = NULL;
  actl_pid cart, deaf, broken;
  if (!spawn(customer, "=cart", cart_source, ACTL_VALUES(actl_text("nobody")), &cart) ||
      !spawn(customer, "=deaf", deaf_source, NULL, 0, &deaf) ||
      !spawn(customer, "=broken", "this is no Lua", NULL, 0, &broken))
    return;

  note(customer,
       actl_engine_ask(engine, cart, ACTL_VALUES(actl_text("eat")), ACTL_FOREVER, &answer) ==
           ACTL_UNHANDLED,
       "what no handler is for is answered");
  note(customer,
       actl_engine_ask(engine, cart, ACTL_VALUES(actl_text("buy"), actl_text("gold"), actl_int(1)),
                       ACTL_FOREVER, &answer) == ACTL_FAILED,
       "a handler that fails answers");
  actl_status gone =
      actl_engine_ask(engine, cart, ACTL_VALUES(actl_text("bill")), ACTL_FOREVER, &answer);
  note(customer, gone == ACTL_NO_ACTOR || gone == ACTL_STOPPED, "the dead answer");
  note(customer,
       actl_engine_ask(engine, deaf, ACTL_VALUES(actl_text("hello")), 20, &answer) == ACTL_TIMEOUT,
       "the deaf answer");
  note(customer,
       actl_engine_ask(engine, broken, ACTL_VALUES(actl_text("hello")), ACTL_FOREVER, &answer) !=
           ACTL_OK,
       "what does not compile answers");
  note(customer, answer == NULL, "a failed ask has an answer");
}

static void *shop(void *ud) {
  struct customer *customer = ud;
  for (int i = 0; i < CARTS; i++) shop_once(customer, i);
  fail_in_all_ways(customer);
  return NULL;
}

/* ---- The program -------------------------------------------------------------------------------- */

static void check(bool is_so, const char *what) {
  if (is_so) return;
  fprintf(stderr, "scripts: not so: %s\n", what);
  exit(1);
}

static void must(actl_status status, const char *what) {
  if (status == ACTL_OK) return;
  fprintf(stderr, "scripts: %s: %s\n", what, actl_status_text(status));
  exit(1);
}

static _Atomic(int) n_failures; /* in the log */

static void on_log(void *ud, actl_log_level level, actl_log_kind kind, const char *text) {
  (void)ud;
  (void)level;
  if (kind == ACTL_LOG_FAILURE) atomic_fetch_add(&n_failures, 1);
  printf("log: %s\n", text);
}

static actl_engine *open_engine(void) {
  const actl_config config = {.workers = 2, .vats = 3, .log = on_log};
  actl_engine *engine;
  must(actl_engine_new(&engine, &config), "the engine cannot be made");
  must(actl_lua_open(engine, NULL), "Lua cannot be attached");
  must(actl_lua_module(engine, "shop", open_shop), "the module cannot be registered");
  check(actl_lua_module(engine, "shop", open_shop) == ACTL_INVALID,
        "a module's name is taken once");
  return engine;
}

static void serve(actl_engine *engine, struct customer customers[THREADS]) {
  for (int i = 0; i < THREADS; i++) {
    customers[i] = (struct customer){.engine = engine, .index = i};
    check(pthread_create(&customers[i].thread, NULL, shop, &customers[i]) == 0, "a thread starts");
  }
  for (int i = 0; i < THREADS; i++) pthread_join(customers[i].thread, NULL);
}

int main(void) {
  actl_engine *engine = open_engine();
  must(actl_engine_start(engine), "the engine cannot be started");
  check(actl_engine_run(engine) == ACTL_BUSY, "a started engine cannot be run");

  struct customer customers[THREADS];
  serve(engine, customers);
  for (int i = 0; i < THREADS; i++) {
    check(customers[i].problem == NULL, customers[i].problem);
    check(customers[i].n_bills == CARTS, "every cart had its bill");
  }

  /* A graceful end: every actor stops, children first, and only then do the threads. */
  actl_engine_shutdown(engine);
  must(actl_engine_wait(engine, 60000), "the actors do not stop");
  must(actl_engine_stop(engine), "the engine cannot be stopped");

  actl_stats stats;
  actl_engine_stats(engine, &stats);
  actl_engine_free(engine);
  check(stats.alive == 0, "nobody is left");
  check(stats.deadlocks == 0, "a started engine has no deadlock");
  check(atomic_load(&n_prices) == THREADS * (CARTS * BUYS + 1), "Lua called the module");
  /* The carts that failed had their stop hook too: they had bought nothing. */
  check(atomic_load(&n_closed) == THREADS * (CARTS + 1), "every cart was closed");
  check(atomic_load(&closed_total) == THREADS * CARTS * BUYS * PRICE, "no purchase was lost");
  check(atomic_load(&n_failures) == THREADS * 2, "the failures were logged");
  printf("%d carts, %lld paid\n", THREADS * CARTS, (long long)atomic_load(&closed_total));
  return 0;
}
