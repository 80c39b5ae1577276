/*
 * command.c - processes of actorlua, with their outputs in files of the scratch folder.
 *
 * A process has two minutes: then the system ends it (SIGALRM), and the test sees that.
 *
 * SPDX-License-Identifier: MIT
 */
#define _XOPEN_SOURCE 700
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "command.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 120, ARGUMENTS_MAX = 32 };

static char folder[] = "/tmp/actorlua-command-XXXXXX";
static char *last_out, *last_err;

int scratch_setup(void **state) {
  (void)state;
  return mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : -1;
}

static void remove_folder(const char *path) {
  DIR *dir = opendir(path);
  if (dir == NULL) return;
  for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    char name[1024];
    snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    if (unlink(name) != 0) remove_folder(name);
  }
  closedir(dir);
  rmdir(path);
}

int scratch_teardown(void **state) {
  (void)state;
  free(last_out);
  free(last_err);
  if (chdir("/") != 0) return -1;
  remove_folder(folder);
  return 0;
}

const char *script(const char *name, const char *text) {
  FILE *file = fopen(name, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
  assert_int_equal(fclose(file), 0);
  return name;
}

static char *read_file(const char *name) {
  FILE *file = fopen(name, "rb");
  assert_non_null(file);
  size_t size = 0, room = 4096;
  char *text = malloc(room);
  assert_non_null(text);
  for (;;) {
    size += fread(text + size, 1, room - size - 1, file);
    if (size < room - 1) break;
    room *= 2;
    text = realloc(text, room);
    assert_non_null(text);
  }
  fclose(file);
  text[size] = '\0';
  return text;
}

static int open_output(const char *name) {
  int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  assert_true(fd >= 0);
  return fd;
}

/* In the child: never returns. */
static void become_actorlua(int out, int err, const char *const *arguments) {
  const char *argv[ARGUMENTS_MAX + 2] = {ACTORLUA_BINARY};
  for (int i = 0; i < ARGUMENTS_MAX && arguments[i] != NULL; i++) argv[i + 1] = arguments[i];
  int none = open("/dev/null", O_RDONLY);
  dup2(none, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  setenv("TERM", "xterm", 1);
  alarm(SECONDS);
  execv(ACTORLUA_BINARY, (char *const *)(uintptr_t)argv);
  _exit(99);
}

static pid_t fork_actorlua(int out, int err, const char *const *arguments) {
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) become_actorlua(out, err, arguments);
  return pid;
}

int wait_for(pid_t pid) {
  int status = 0;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

struct ran actorlua(const char *first, ...) {
  const char *arguments[ARGUMENTS_MAX + 1] = {first};
  va_list more;
  va_start(more, first);
  for (int i = 1; i < ARGUMENTS_MAX && arguments[i - 1] != NULL; i++) {
    arguments[i] = va_arg(more, const char *);
  }
  va_end(more);

  int out = open_output("stdout.txt"), err = open_output("stderr.txt");
  pid_t pid = fork_actorlua(out, err, arguments);
  close(out);
  close(err);
  int status = wait_for(pid);
  free(last_out);
  free(last_err);
  last_out = read_file("stdout.txt");
  last_err = read_file("stderr.txt");
  return (struct ran){status, last_out, last_err};
}

struct started start_actorlua(int terminal, const char *const *arguments) {
  int ends[2] = {-1, -1};
  int out = terminal, err = terminal;
  if (terminal < 0) {
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    out = ends[1];
    err = open_output("stderr.txt");
  }
  pid_t pid = fork_actorlua(out, err, arguments);
  if (terminal < 0) {
    close(out);
    close(err);
  }
  return (struct started){pid, ends[0]};
}

const char *read_stderr(void) {
  free(last_err);
  return last_err = read_file("stderr.txt");
}

bool read_until(int fd, const char *text) {
  char seen[65536];
  size_t size = 0;
  while (size + 1 < sizeof seen) {
    ssize_t n = read(fd, seen + size, 1);
    if (n <= 0) return false;
    size += (size_t)n;
    seen[size] = '\0';
    if (strstr(seen, text) != NULL) return true;
  }
  return false;
}

size_t read_all(int fd, char *out, size_t size) {
  size_t n = 0;
  ssize_t got = 0;
  while (n + 1 < size && (got = read(fd, out + n, size - n - 1)) > 0) n += (size_t)got;
  out[n] = '\0';
  close(fd);
  return n;
}

int open_terminal(int *terminal) {
  int reader = posix_openpt(O_RDWR | O_NOCTTY);
  assert_true(reader >= 0);
  assert_int_equal(grantpt(reader), 0);
  assert_int_equal(unlockpt(reader), 0);
  fcntl(reader, F_SETFD, FD_CLOEXEC);
  *terminal = open(ptsname(reader), O_RDWR | O_NOCTTY);
  assert_true(*terminal >= 0);
  return reader;
}

bool contains(const char *text, const char *part) { return strstr(text, part) != NULL; }

size_t count_lines(const char *text) {
  size_t n = 0;
  for (; *text != '\0'; text++) n += *text == '\n';
  return n;
}

void assert_ran_at(struct ran ran, bool is, const char *what, const char *file, int line) {
  if (is) return;
  print_error("status %d\n--- stdout\n%s--- stderr\n%s---\n", ran.status, ran.out, ran.err);
  _assert_true(0, what, file, line);
}
