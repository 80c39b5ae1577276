/*
 * options.c - reads the command line.
 *
 * Written by hand, not with getopt_long: what it says about a mistake is the point here, and
 * options may stand behind the files without the words being moved about.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/options.h"

#include "command/suggest.h"
#include "command/text.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char actl__options_help[] =
    "actorlua - runs actors written in Lua\n"
    "\n"
    "  actorlua FILE [ARGUMENT ...]    runs a script or a scenario\n"
    "  actorlua run FILE ...           runs several, one after the other\n"
    "  actorlua list [DIR]             shows the scenarios in DIR, what they do and their parameters\n"
    "  actorlua explore FILE           runs it with many seeds, until one of them fails\n"
    "  actorlua shrink FILE --seed N   makes the failing run of a seed as short as it can, and shows it\n"
    "  actorlua test FILE ...          runs the cases in test files, see require \"actor.test\"\n"
    "  actorlua help                   shows this\n"
    "\n"
    "A FILE that is not there is also looked for as a scenario's name: `actorlua skynet` runs\n"
    "scenarios/skynet.lua, from the working directory or else the one that was installed.\n"
    "\n"
    "Options, anywhere:\n"
    "  --set NAME=VALUE   sets a parameter of the scenario; may be given several times\n"
    "  --workers N        threads that run vats (1 to 256; default: one for each processor)\n"
    "  --vats N           vats, the homes of the actors (1 to 60000; default: one for each worker)\n"
    "  --seed N           one thread, a virtual clock, and a schedule that N decides: the same run\n"
    "                     each time (0 to 18446744073709551615)\n"
    "  --scatter          with a seed: it also decides in which vat each actor is made\n"
    "  --strict           an assignment to a global after loading is an error, and so is a message\n"
    "                     that nobody had\n"
    "  --lossy            a message that nobody had is none\n"
    "  --steps N          with a seed: ends a run that is not quiet after N steps, as failed\n"
    "  --trace FILE       writes what happened, in order: as text, or for FILE.json in the Chrome\n"
    "                     trace format, which opens in Perfetto\n"
    "  --json             prints one line of JSON for each scenario and nothing else;\n"
    "                     what scripts print goes to stderr\n"
    "  --quiet, -q        prints errors only, and what scripts print themselves\n"
    "  --help, -h         shows this\n"
    "  --version, -v      shows the versions of actorlua and of its Lua\n"
    "  --                 what follows is the script's: `actorlua FILE -- --json`\n"
    "\n"
    "For explore and shrink, which scatter and are strict:\n"
    "  --runs N           explore: how many seeds (default 1000)\n"
    "  --from SEED        explore: the first of them (default 1)\n"
    "  --all              explore: goes on after a failure, and counts\n"
    "  --jobs J           explore and test: processes (default: one for each processor)\n"
    "\n"
    "For test:\n"
    "  --seeds K          runs each case with the seeds 1 to K (default 1)\n"
    "  --threaded         runs each case once, on threads and the real clock\n"
    "  --only TEXT        runs the cases whose names have TEXT in them\n"
    "  --junit FILE       also writes the results as JUnit XML\n"
    "\n"
    "A scenario is a file that returns a table:\n"
    "  return {\n"
    "    name = \"count\", about = \"One actor counts.\", params = { n = 1000 },\n"
    "    run = function(p, report)\n"
    "      ...\n"
    "      report.check(\"the count is right\", n == p.n)\n"
    "      return { requested = p.n, done = n, unit = \"message\" }\n"
    "    end,\n"
    "  }\n"
    "A field refuse = function(p) may return why it cannot run with these parameters; lossy = true\n"
    "says that lost messages are part of it.\n"
    "Its time runs from the call of `run` to its return, or through report.clock(f). A rate is only\n"
    "printed when everything requested was done and every check holds. Any other file is a script:\n"
    "it is run once, until its actors have nothing left to do.\n"
    "\n"
    "Exit status: 0 done; 1 a check, an actor or a script failed; 2 the command line is wrong;\n"
    "130 stopped by Ctrl-C (143 by SIGTERM): the actors are stopped first, a second Ctrl-C ends\n"
    "at once.\n";

/* The words being read. */
struct reader {
  struct options *out;
  int argc, next;
  char *const *argv;
  uint64_t given; /* a bit for each of `options` */
};

enum value { VALUE_NONE, VALUE_NEEDED };

struct option {
  const char *name;
  char letter; /* 0: none */
  enum value value;
  char *(*take)(struct options *out, const char *value); /* NULL: well; else the problem */
  size_t flag;       /* where `take` is NULL: the place in struct options of what becomes true */
  unsigned commands; /* those that it is for: a bit each */
};

#define FLAG(field) VALUE_NONE, NULL, offsetof(struct options, field)
#define VALUE(take) VALUE_NEEDED, take, 0

static char *take_number(uint32_t *out, const char *option, const char *value, unsigned long most) {
  char *end = NULL;
  errno = 0;
  unsigned long number = strtoul(value, &end, 10);
  bool is_number = isdigit((unsigned char)value[0]) && *end == '\0' && errno == 0;
  if (!is_number || number < 1 || number > most) {
    return actl__text_format("%s takes a number from 1 to %lu, not '%s'", option, most, value);
  }
  *out = (uint32_t)number;
  return NULL;
}

static char *take_workers(struct options *out, const char *value) {
  return take_number(&out->workers, "--workers", value, 256);
}

static char *take_vats(struct options *out, const char *value) {
  return take_number(&out->vats, "--vats", value, 60000);
}

static char *take_large(uint64_t *out, const char *option, const char *value, uint64_t least) {
  char *end = NULL;
  errno = 0;
  unsigned long long number = strtoull(value, &end, 10);
  bool is_number = isdigit((unsigned char)value[0]) && *end == '\0' && errno == 0;
  if (!is_number || number < least) {
    return actl__text_format("%s takes a number from %llu to %llu, not '%s'", option,
                             (unsigned long long)least, (unsigned long long)UINT64_MAX, value);
  }
  *out = number;
  return NULL;
}

static char *take_seed(struct options *out, const char *value) {
  out->is_seeded = true;
  return take_large(&out->seed, "--seed", value, 0);
}

static char *take_steps(struct options *out, const char *value) {
  return take_large(&out->max_steps, "--steps", value, 1);
}

static char *take_runs(struct options *out, const char *value) {
  return take_large(&out->runs, "--runs", value, 1);
}

static char *take_from(struct options *out, const char *value) {
  return take_large(&out->from, "--from", value, 0);
}

static char *take_jobs(struct options *out, const char *value) {
  return take_number(&out->jobs, "--jobs", value, 256);
}

static char *take_seeds(struct options *out, const char *value) {
  return take_number(&out->seeds, "--seeds", value, 1000000000);
}

static char *take_file(const char **out, const char *option, const char *value) {
  if (value[0] == '\0') return actl__text_format("%s takes the name of a file", option);
  *out = value;
  return NULL;
}

static char *take_trace(struct options *out, const char *value) {
  return take_file(&out->trace, "--trace", value);
}

static char *take_junit(struct options *out, const char *value) {
  return take_file(&out->junit, "--junit", value);
}

static char *take_only(struct options *out, const char *value) {
  out->only = value;
  return NULL;
}

static char *take_set(struct options *out, const char *value) {
  const char *equals = strchr(value, '=');
  if (equals == NULL || equals == value) {
    return actl__text_format("--set takes NAME=VALUE, as in --set far=true, not '%s'", value);
  }
  size_t size = (out->n_settings + 1) * sizeof *out->settings;
  out->settings = actl__text_room(out->settings, size);
  struct setting *setting = &out->settings[out->n_settings++];
  setting->name = actl__text_copy(value, (size_t)(equals - value));
  setting->value = equals + 1;
  return NULL;
}

static char *take_help(struct options *out, const char *value) {
  (void)value;
  out->command = COMMAND_HELP;
  return NULL;
}

/* `--help --version` is help. */
static char *take_version(struct options *out, const char *value) {
  (void)value;
  if (out->command != COMMAND_HELP) out->command = COMMAND_VERSION;
  return NULL;
}

enum {
  FOR_RUN = 1 << COMMAND_RUN,
  FOR_LIST = 1 << COMMAND_LIST,
  FOR_EXPLORE = 1 << COMMAND_EXPLORE,
  FOR_SHRINK = 1 << COMMAND_SHRINK,
  FOR_TEST = 1 << COMMAND_TEST,
  FOR_SEARCH = FOR_EXPLORE | FOR_SHRINK,
  FOR_ALL = (1 << COMMANDS) - 1
};

static const struct option options[] = {
    {"--workers", 0, VALUE(take_workers), FOR_RUN | FOR_TEST},
    {"--vats", 0, VALUE(take_vats), FOR_RUN | FOR_SEARCH | FOR_TEST},
    {"--set", 0, VALUE(take_set), FOR_RUN | FOR_SEARCH},
    {"--seed", 0, VALUE(take_seed), FOR_RUN | FOR_SHRINK | FOR_TEST},
    {"--scatter", 0, FLAG(scatters), FOR_RUN | FOR_SEARCH | FOR_TEST},
    {"--strict", 0, FLAG(is_strict), FOR_RUN | FOR_SEARCH | FOR_TEST},
    {"--steps", 0, VALUE(take_steps), FOR_RUN | FOR_SEARCH | FOR_TEST},
    {"--trace", 0, VALUE(take_trace), FOR_RUN | FOR_SHRINK},
    {"--runs", 0, VALUE(take_runs), FOR_EXPLORE},
    {"--from", 0, VALUE(take_from), FOR_EXPLORE},
    {"--all", 0, FLAG(goes_on), FOR_EXPLORE},
    {"--lossy", 0, FLAG(is_lossy), FOR_RUN | FOR_SEARCH},
    {"--jobs", 0, VALUE(take_jobs), FOR_EXPLORE | FOR_TEST},
    {"--seeds", 0, VALUE(take_seeds), FOR_TEST},
    {"--threaded", 0, FLAG(is_threaded), FOR_TEST},
    {"--only", 0, VALUE(take_only), FOR_TEST},
    {"--junit", 0, VALUE(take_junit), FOR_TEST},
    {"--json", 0, FLAG(is_json), FOR_RUN | FOR_LIST | FOR_SEARCH},
    {"--quiet", 'q', FLAG(is_quiet), FOR_ALL},
    {"--help", 'h', VALUE_NONE, take_help, 0, FOR_ALL},
    {"--version", 'v', VALUE_NONE, take_version, 0, FOR_ALL},
};
enum { N_OPTIONS = sizeof options / sizeof options[0] };

static const char *const commands[] = {"run",  "list", "explore", "shrink",
                                       "test", "help", "version"};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };
static_assert((int)N_COMMANDS == (int)COMMANDS, "a name for each command, in its order");

static char *unknown_option(const char *word, size_t size) {
  const char *names[N_OPTIONS];
  for (size_t i = 0; i < N_OPTIONS; i++) names[i] = options[i].name;

  char *name = actl__text_copy(word, size);
  const char *meant = actl__suggest_name(name, names, N_OPTIONS);
  char *problem =
      meant != NULL ? actl__text_format("there is no option '%s'; did you mean '%s'?", name, meant)
                    : actl__text_format(
                          "there is no option '%s'; 'actorlua --help' shows those there are", name);
  free(name);
  return problem;
}

static const struct option *find_option(const char *word, size_t size) {
  for (size_t i = 0; i < N_OPTIONS; i++) {
    const struct option *option = &options[i];
    if (strlen(option->name) == size && memcmp(option->name, word, size) == 0) return option;
    if (size == 2 && option->letter != 0 && word[1] == option->letter) return option;
  }
  return NULL;
}

/* `word` begins with a dash: --name, --name value, --name=value, or a letter. */
static char *read_option(struct reader *reader, const char *word) {
  const char *equals = strchr(word, '=');
  size_t size = equals != NULL ? (size_t)(equals - word) : strlen(word);
  const struct option *option = find_option(word, size);
  if (option == NULL) return unknown_option(word, size);
  reader->given |= (uint64_t)1 << (option - options);

  if (option->value == VALUE_NONE) {
    if (equals != NULL) return actl__text_format("%s takes no value", option->name);
    if (option->take != NULL) return option->take(reader->out, NULL);
    *(bool *)(void *)((char *)reader->out + option->flag) = true;
    return NULL;
  }
  if (equals != NULL) return option->take(reader->out, equals + 1);
  if (reader->next >= reader->argc) return actl__text_format("%s needs a value", option->name);
  return option->take(reader->out, reader->argv[reader->next++]);
}

static void push_word(const char ***words, size_t *n, const char *word) {
  *words = actl__text_room(*words, (*n + 1) * sizeof **words);
  (*words)[(*n)++] = word;
}

/* An option that is not for this command; it names one that it is for. */
static char *check_given(const struct options *out, uint64_t given) {
  for (size_t i = 0; i < N_OPTIONS; i++) {
    if ((given >> i & 1) == 0 || (options[i].commands >> out->command & 1) != 0) continue;
    unsigned first = (unsigned)__builtin_ctz(options[i].commands);
    return actl__text_format("%s is not for '%s', but for '%s'", options[i].name,
                             commands[out->command], commands[first]);
  }
  return NULL;
}

/* What is wrong with the files; NULL: nothing. */
static char *check_files(const struct options *out, bool has_command) {
  const char *name = commands[out->command];
  bool is_search = out->command == COMMAND_EXPLORE || out->command == COMMAND_SHRINK;
  bool takes_several = out->command == COMMAND_RUN || out->command == COMMAND_TEST;
  if ((is_search || takes_several) && out->n_files == 0) {
    return has_command ? actl__text_format("%s needs a FILE: actorlua %s FILE%s", name, name,
                                           takes_several ? " ..." : "")
                       : actl__text_format("give a FILE to run; 'actorlua --help' says more");
  }
  if (is_search && out->n_files > 1) {
    return actl__text_format("%s takes one FILE, not %zu", name, out->n_files);
  }
  if (out->trace != NULL && out->n_files > 1) {
    return actl__text_format("--trace is for one FILE, not %zu", out->n_files);
  }
  if (out->command == COMMAND_LIST && out->n_files > 1) {
    return actl__text_format("list takes one DIR, not %zu", out->n_files);
  }
  return NULL;
}

/* What is wrong with the words as a whole; NULL: nothing. */
static char *check_words(const struct options *out, uint64_t given, bool has_command) {
  bool needs_no_arguments = out->command == COMMAND_LIST || out->command == COMMAND_TEST;
  if (needs_no_arguments && out->n_arguments > 0) {
    return actl__text_format("%s takes no arguments for scripts", commands[out->command]);
  }
  if (out->command == COMMAND_LIST && out->n_settings > 0) {
    return actl__text_format("list takes no --set: it shows the parameters");
  }
  char *problem = check_given(out, given);
  if (problem == NULL) problem = check_files(out, has_command);
  if (problem != NULL) return problem;
  if (out->command == COMMAND_SHRINK && !out->is_seeded) {
    return actl__text_format("shrink needs the seed that fails: actorlua shrink %s --seed N",
                             out->files[0]);
  }
  if (out->command == COMMAND_RUN && !out->is_seeded && (out->scatters || out->max_steps != 0)) {
    return actl__text_format("%s needs a seed: --seed N", out->scatters ? "--scatter" : "--steps");
  }
  if (out->is_seeded && out->workers > 1) {
    return actl__text_format("a run with a seed has one worker, not %u", out->workers);
  }
  if (out->is_threaded && (out->is_seeded || out->seeds != 0)) {
    return actl__text_format("--threaded has no seed");
  }
  return NULL;
}

/* The number in `commands` that `word` stands for; N_COMMANDS: it is no command. */
static size_t find_command(const char *word) {
  size_t i = 0;
  while (i < N_COMMANDS && strcmp(word, commands[i]) != 0) i++;
  return i;
}

bool actl__options_is_command(const char *word) { return find_command(word) < N_COMMANDS; }

static void read_word(struct options *out, const char *word, bool *has_command) {
  size_t command = find_command(word);
  if (!*has_command && out->n_files == 0 && command < N_COMMANDS) {
    *has_command = true;
    if (out->command == COMMAND_RUN) out->command = (enum command)command;
  } else if (*has_command || out->n_files == 0) {
    push_word(&out->files, &out->n_files, word);
  } else {
    push_word(&out->arguments, &out->n_arguments, word);
  }
}

char *actl__options_parse(struct options *out, int argc, char *const *argv) {
  *out = (struct options){.command = COMMAND_RUN, .runs = 1000, .from = 1};
  struct reader reader = {.out = out, .argc = argc, .next = 1, .argv = argv};
  bool has_command = false;
  char *problem = NULL;

  while (problem == NULL && reader.next < argc) {
    const char *word = argv[reader.next++];
    if (strcmp(word, "--") == 0) {
      while (reader.next < argc) push_word(&out->arguments, &out->n_arguments, argv[reader.next++]);
    } else if (word[0] == '-' && word[1] != '\0') {
      problem = read_option(&reader, word);
    } else {
      read_word(out, word, &has_command);
    }
  }
  if (problem == NULL && out->command < COMMAND_HELP)
    problem = check_words(out, reader.given, has_command);
  if (problem != NULL) actl__options_free(out);
  return problem;
}

void actl__options_free(struct options *out) {
  for (size_t i = 0; i < out->n_settings; i++) free(out->settings[i].name);
  free(out->settings);
  free(out->files);
  free(out->arguments);
  *out = (struct options){.command = COMMAND_RUN};
}
