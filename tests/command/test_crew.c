/*
 * test_crew.c - processes that work off jobs: each job comes to a verdict, whatever becomes of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "command/crew.h"
#include "command/text.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { JOBS = 200 };

/* What a job does, by its number; and what was heard. */
struct case_data {
  void (*job)(struct case_data *data, uint64_t job, struct verdict *out);
  bool (*is_wanted)(uint64_t job);
  _Atomic(int) *begun; /* shared with the processes: how often each job was begun */
  int heard[JOBS];     /* how often, and last as what */
  enum verdict_kind kinds[JOBS];
  char texts[JOBS][64];
};

static void do_work(void *ud, uint64_t job, struct verdict *out) {
  struct case_data *data = ud;
  atomic_fetch_add(&data->begun[job], 1);
  if (data->job != NULL) data->job(data, job, out);
}

static bool do_hear(void *ud, uint64_t job, const struct verdict *verdict) {
  struct case_data *data = ud;
  assert_true(job < JOBS);
  data->heard[job]++;
  data->kinds[job] = verdict->kind;
  snprintf(data->texts[job], sizeof data->texts[job], "%s", verdict->text);
  return data->is_wanted != NULL && data->is_wanted(job);
}

static struct crew_result run(struct case_data *data, uint32_t processes, uint64_t patience_ms) {
  size_t size = JOBS * sizeof *data->begun;
  data->begun = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(data->begun != MAP_FAILED);
  const struct crew crew = {.n_jobs = JOBS,
                            .processes = processes,
                            .patience_ms = patience_ms,
                            .ud = data,
                            .work = do_work,
                            .hear = do_hear};
  struct crew_result result;
  char *problem = actl__crew_run(&crew, &result);
  assert_null(problem);
  return result;
}

static void end(struct case_data *data, struct crew_result *result) {
  munmap(data->begun, JOBS * sizeof *data->begun);
  actl__verdict_free(&result->verdict);
}

static void fail_every_tenth(struct case_data *data, uint64_t job, struct verdict *out) {
  (void)data;
  if (job % 10 != 7) return;
  out->kind = VERDICT_CHECK;
  out->text = actl__text_format("job %d", (int)job);
  out->check = actl__text_format("check %d", (int)job);
  out->n_choices = job * 3;
}

static void each_job_is_done_once_and_failures_are_heard(void **state) {
  (void)state;
  for (uint32_t processes = 1; processes <= 4; processes++) {
    struct case_data data = {.job = fail_every_tenth};
    struct crew_result result = run(&data, processes, 0);
    assert_false(result.was_found);
    assert_int_equal(result.n_done, JOBS);
    for (int i = 0; i < JOBS; i++) {
      assert_int_equal(data.begun[i], 1);
      assert_int_equal(data.heard[i], i % 10 == 7);
    }
    assert_string_equal(data.texts[117], "job 117");
    end(&data, &result);
  }
}

static bool from_20(uint64_t job) { return job >= 20; }

/* 27 is the first that is wanted. It waits until 37 has been begun where there is somebody to do so. */
static void fail_late(struct case_data *data, uint64_t job, struct verdict *out) {
  while (job == 27 && atomic_load(&data->begun[37]) == 0) sched_yield();
  fail_every_tenth(data, job, out);
}

static void the_first_by_number_is_found(void **state) {
  (void)state;
  for (uint32_t processes = 1; processes <= 4; processes++) {
    struct case_data data = {.job = processes > 1 ? fail_late : fail_every_tenth,
                             .is_wanted = from_20};
    struct crew_result result = run(&data, processes, 0);
    assert_true(result.was_found);
    assert_int_equal(result.found, 27);
    assert_int_equal(result.verdict.kind, VERDICT_CHECK);
    assert_string_equal(result.verdict.text, "job 27");
    assert_string_equal(result.verdict.check, "check 27");
    assert_int_equal(result.verdict.n_choices, 81);
    assert_true(data.heard[7] == 1 && data.heard[17] == 1 && data.heard[27] == 1);
    end(&data, &result);
  }
}

static void die(struct case_data *data, uint64_t job, struct verdict *out) {
  (void)data;
  (void)out;
  if (job == 5) raise(SIGKILL);
  if (job == 50) abort();
  if (job == 100) _exit(3);
  if (job == 150) _exit(0);
  if (job == JOBS - 1) _exit(4);
}

static void who_dies_has_come_to_a_verdict_and_is_replaced(void **state) {
  (void)state;
  for (uint32_t processes = 1; processes <= 3; processes++) {
    struct case_data data = {.job = die};
    struct crew_result result = run(&data, processes, 0);
    assert_int_equal(result.n_done, JOBS);
    int n_heard = 0;
    for (int i = 0; i < JOBS; i++) {
      assert_int_equal(data.begun[i], 1);
      n_heard += data.heard[i];
    }
    assert_int_equal(n_heard, 4);
    assert_string_equal(data.texts[5], "the process was killed by signal 9 (Killed)");
    assert_int_equal(data.kinds[50], VERDICT_PROCESS);
    assert_string_equal(data.texts[50], "the process was killed by signal 6 (Aborted)");
    assert_string_equal(data.texts[100], "the process ended with status 3 (os.exit)");
    assert_string_equal(data.texts[JOBS - 1], "the process ended with status 4 (os.exit)");
    end(&data, &result);
  }
}

static void hang(struct case_data *data, uint64_t job, struct verdict *out) {
  (void)data;
  (void)out;
  while (job == 60) pause();
}

static void who_hangs_is_ended(void **state) {
  (void)state;
  struct case_data data = {.job = hang};
  struct crew_result result = run(&data, 2, 500);
  assert_int_equal(result.n_done, JOBS);
  assert_int_equal(data.kinds[60], VERDICT_HUNG);
  assert_string_equal(data.texts[60], "no end after 0.5 s of real time");
  end(&data, &result);
}

static void talk(struct case_data *data, uint64_t job, struct verdict *out) {
  (void)data;
  printf("job %d\n", (int)job);
  fprintf(stderr, "job %d\n", (int)job);
  out->kind = VERDICT_ACTOR;
  out->text = actl__text_room(NULL, 1000001);
  memset(out->text, 'x', 1000000);
  out->text[1000000] = '\0';
  if (getchar() != EOF) out->text[0] = '\0';
}

static bool is_hundred(uint64_t job) { return job == 100; }

static void long_texts_come_whole_and_there_is_nothing_to_read(void **state) {
  (void)state;
  struct case_data data = {.job = talk, .is_wanted = is_hundred};
  struct crew_result result = run(&data, 2, 0);
  assert_true(result.was_found && result.found == 100);
  assert_int_equal(strlen(result.verdict.text), 1000000);
  assert_int_equal(strspn(result.verdict.text, "x"), 1000000);
  end(&data, &result);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_job_is_done_once_and_failures_are_heard),
      cmocka_unit_test(the_first_by_number_is_found),
      cmocka_unit_test(who_dies_has_come_to_a_verdict_and_is_replaced),
      cmocka_unit_test(who_hangs_is_ended),
      cmocka_unit_test(long_texts_come_whole_and_there_is_nothing_to_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
