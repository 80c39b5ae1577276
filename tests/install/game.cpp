/*
 * game.cpp - a host program in C++17: a game whose loop steps the engine 60 times a second.
 *
 *   the loop     draws, sends the player's input, steps the engine for at most 2 ms, and sleeps in
 *                poll until the next frame, or until the engine's descriptor says that a timer is due
 *   the player   an actor in C++: moves by what the loop sends
 *   monsters     actors in Lua: move by timers of their own, and tell the world where they are
 *   the world    an actor in C++: knows where everybody is
 *   the thinker  an actor in C++ that never has done with thinking: a step gives the loop its thread
 *                back all the same
 *
 * One thread does all that. The machine may be slow: nothing here measures time, only what was done.
 *
 * SPDX-License-Identifier: MIT
 */
#include <actl.h>
#include <actl_lua.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <lua.hpp>
#include <poll.h>

namespace {

using std::chrono::steady_clock;

constexpr int FRAMES = 60;
constexpr int THOUGHTFUL = 30; /* further frames, while the thinker thinks */
constexpr int MONSTERS = 10;
constexpr int MOVE_MS = 20; /* between two moves of a monster */
constexpr std::uint64_t STEP_US = 2000;
constexpr auto FRAME = std::chrono::microseconds(16667);

/* Each vat's machine runs this once; the monsters are made of the behavior that it names. */
constexpr const char *SCRIPT = R"(
  local actor = require "actor"
  actor.behavior("monster", {
    init = function(self, world, number, every)
      self.world, self.number, self.x = world, number, 0
      actor.every(every, "move")
    end,
    receive = {
      move = function(self)
        self.x = self.x + self.number
        self.world:send("at", self.number, self.x)
      end,
    },
  })
)";

/* A list of values for a call that takes `const actl_value *values, size_t n`. */
template <class Call, class... Values> actl_status with(Call call, Values... values) {
  const std::array<actl_value, sizeof...(Values)> all{values...};
  return call(all.data(), all.size());
}

[[noreturn]] void fail(const char *what, const char *why) {
  std::fprintf(stderr, "game: %s: %s\n", what, why);
  std::exit(1);
}
void must(actl_status status, const char *what) {
  if (status != ACTL_OK) fail(what, actl_status_text(status));
}
void check(bool is_so, const char *what) {
  if (!is_so) fail("not so", what);
}

/* ---- The actors in C++ -------------------------------------------------------------------------- */

/* States begin as zeros and are freed without a destructor: they are plain structs. What the loop
 * reads between two steps lies outside, and the actors have its address as an integer. */
struct World {
  std::array<std::int64_t, MONSTERS + 1> x{}, moves{}; /* by number, counted from 1 */
  std::int64_t player = 0, keys = 0, thoughts = 0;
  bool is_in_order = true;
};

struct Seer {
  World *world;
};

World *world_of(const actl_msg *args, std::size_t i) {
  return reinterpret_cast<World *>(static_cast<std::uintptr_t>(actl_msg_int(args, i, 0)));
}

extern "C" {

static actl_status seer_init(actl_ctx *, void *state, const actl_msg *args) {
  static_cast<Seer *>(state)->world = world_of(args, 0);
  return ACTL_OK;
}

/* "at", number, x: a monster has moved */
static actl_status world_receive(actl_ctx *, void *state, const actl_msg *msg) {
  World &world = *static_cast<Seer *>(state)->world;
  const auto number = static_cast<std::size_t>(actl_msg_int(msg, 1, 0));
  if (number < 1 || number > MONSTERS) return ACTL_UNHANDLED;
  world.x[number] = actl_msg_int(msg, 2, 0);
  world.moves[number]++;
  return ACTL_OK;
}

/* n, by: the n-th key, and how far it moves the player */
static actl_status player_receive(actl_ctx *, void *state, const actl_msg *msg) {
  World &world = *static_cast<Seer *>(state)->world;
  if (actl_msg_int(msg, 0, 0) != world.keys + 1) world.is_in_order = false;
  world.keys++;
  world.player += actl_msg_int(msg, 1, 0);
  return ACTL_OK;
}

/* Each thought leads to the next one, until it is told that it is enough. */
static actl_status thinker_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  if (actl_msg_count(msg) > 0) {
    actl_exit(ctx, nullptr);
    return ACTL_OK;
  }
  static_cast<Seer *>(state)->world->thoughts++;
  return actl_send(ctx, actl_self(ctx), nullptr, 0);
}

static int open_machine(lua_State *L) {
  if (luaL_loadbuffer(L, SCRIPT, std::strlen(SCRIPT), "=script") != LUA_OK) return lua_error(L);
  lua_call(L, 0, 0);
  return 0;
}

static void on_log(void *, actl_log_level, actl_log_kind, const char *text) {
  std::fprintf(stderr, "game: %s\n", text);
}
}

constexpr actl_behavior WORLD = {"world", sizeof(Seer), seer_init, world_receive, nullptr, nullptr};
constexpr actl_behavior PLAYER = {"player",       sizeof(Seer), seer_init,
                                  player_receive, nullptr,      nullptr};
constexpr actl_behavior THINKER = {"thinker",       sizeof(Seer), seer_init,
                                   thinker_receive, nullptr,      nullptr};

/* ---- The game ----------------------------------------------------------------------------------- */

class Game {
public:
  Game() {
    actl_config config{};
    config.vats = 2;
    config.log = on_log;
    must(actl_engine_new(&engine, &config), "the engine cannot be made");
    actl_lua_config lua{};
    lua.open = open_machine;
    must(actl_lua_open(engine, &lua), "Lua cannot be attached");
    must(actl_engine_fd(engine, &fd), "there is no descriptor");
    player = spawn(0, PLAYER);
    const actl_pid seer = spawn(0, WORLD);
    for (int i = 1; i <= MONSTERS; i++) {
      must(with(
               [&](const actl_value *values, std::size_t n) {
                 actl_pid pid;
                 return actl_lua_spawn(engine, ACTL_VAT_ANY, "monster", values, n, &pid);
               },
               actl_who(seer), actl_int(i), actl_int(MOVE_MS)),
           "a monster cannot be made");
    }
  }
  ~Game() { actl_engine_free(engine); }
  Game(const Game &) = delete;
  Game &operator=(const Game &) = delete;

  /* One frame: input, a step, a picture, and a sleep until the next one is due. */
  void frame() {
    deadline += FRAME;
    if (deadline < steady_clock::now())
      deadline = steady_clock::now(); /* late: none are made up for */
    press(frames++ % 2 == 0 ? 3 : -1);
    step();
    while (wait()) step();
  }

  void think() {
    thinker = spawn(1, THINKER);
    send(thinker);
  }
  void enough() { send(thinker, actl_bool(true)); }

  /* Steps until there is nothing to do now, and says what is left. */
  actl_rest settle() {
    while (step() == ACTL_REST_MORE) {}
    return last;
  }

  /* Sleeps until there is something to do; false: there was nothing for very long. */
  bool sleep() {
    pollfd waited{fd, POLLIN, 0};
    return poll(&waited, 1, 10000) == 1;
  }

  /* Everybody stops; a few more steps see to that. */
  void close() {
    actl_engine_shutdown(engine);
    check(settle() == ACTL_REST_QUIET, "nothing is left to do");
  }

  actl_stats stats() const {
    actl_stats out;
    actl_engine_stats(engine, &out);
    return out;
  }

  World world;
  int frames = 0, steps = 0, unfinished = 0; /* unfinished: steps that left more to do now */

private:
  actl_pid spawn(std::uint32_t vat, const actl_behavior &behavior) {
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&world));
    actl_pid pid{};
    must(with(
             [&](const actl_value *values, std::size_t n) {
               return actl_engine_spawn(engine, vat, &behavior, values, n, &pid);
             },
             actl_int(address)),
         behavior.name);
    return pid;
  }

  template <class... Values> void send(actl_pid to, Values... values) {
    must(with([&](const actl_value *all,
                  std::size_t n) { return actl_engine_send(engine, to, all, n); },
              values...),
         "a message cannot be sent");
  }

  void press(int by) { send(player, actl_int(++pressed), actl_int(by)); }

  actl_rest step() {
    must(actl_engine_step(engine, STEP_US, &last), "a step");
    steps++;
    if (last == ACTL_REST_MORE) unfinished++;
    return last;
  }

  /* Sleeps until the frame is over (false), or the engine has something to do before that. */
  bool wait() {
    const auto left = deadline - steady_clock::now();
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
    if (ms <= 0) return false;
    pollfd waited{fd, POLLIN, 0};
    const int n = poll(&waited, 1, static_cast<int>(ms));
    check(n >= 0, "poll waits");
    return n > 0;
  }

  actl_engine *engine = nullptr;
  int fd = -1;
  actl_rest last = ACTL_REST_QUIET; /* of the last step */
  actl_pid player{}, thinker{};
  std::int64_t pressed = 0;
  steady_clock::time_point deadline = steady_clock::now();
};

} // namespace

int main() {
  Game game;
  for (int i = 0; i < FRAMES; i++) game.frame();
  check(game.settle() == ACTL_REST_TIMER, "between two moves there is nothing to do");
  check(game.sleep(), "the descriptor tells when a timer is due");

  /* From here on there is always something to do, and every step ends all the same. */
  game.think();
  const int unfinished = game.unfinished;
  const std::int64_t moves = game.world.moves[1];
  for (int i = 0; i < THOUGHTFUL; i++) game.frame();
  check(game.unfinished - unfinished >= THOUGHTFUL, "a step ends though there is more to do");
  check(game.world.thoughts >= THOUGHTFUL, "the thinker had its turns");
  check(game.world.moves[1] > moves, "the monsters moved meanwhile");
  game.enough();
  check(game.settle() == ACTL_REST_TIMER, "the thinker has stopped");

  game.close();
  const World &world = game.world;
  const int frames = FRAMES + THOUGHTFUL;
  check(game.frames == frames && game.steps > frames, "every frame had its step");
  check(world.keys == frames && world.is_in_order, "every key came, in order");
  check(world.player == frames, "the player is where the keys led");
  for (std::int64_t i = 1; i <= MONSTERS; i++) {
    const auto number = static_cast<std::size_t>(i);
    check(world.moves[number] >= 10, "a monster moved");
    check(world.x[number] == world.moves[number] * i, "a monster is where its moves led");
  }
  const actl_stats stats = game.stats();
  check(stats.alive == 0 && stats.failed == 0, "everybody has stopped, and nobody failed");
  std::printf("%d frames, the player is at %lld\n", frames, static_cast<long long>(world.player));
  return 0;
}
