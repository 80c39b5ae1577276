/*
 * find.c - finds scenario files by name.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/find.h"

#include "command/suggest.h"
#include "command/text.h"

#include <uv.h>

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char suffix[] = ".lua";
enum { SUFFIX_SIZE = sizeof suffix - 1 };

static bool is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* To be freed; NULL: there is none. */
static char *installed_folder(void) {
  char program[PATH_MAX];
  size_t size = sizeof program;
  if (uv_exepath(program, &size) != 0) return NULL;

  char *slash = strrchr(program, '/');
  if (slash == NULL) return NULL;
  *slash = '\0';
  char *folder = actl__text_format("%s/../share/actorlua/scenarios", program);
  if (is_folder(folder)) return folder;
  free(folder);
  return NULL;
}

char *actl__find_folder(void) {
  return is_folder("scenarios") ? actl__text_copy("scenarios", strlen("scenarios"))
                                : installed_folder();
}

/* folder/word or folder/word.lua, if there is such a file; to be freed. `folder` NULL: no. */
static char *file_in(const char *folder, const char *word) {
  if (folder == NULL) return NULL;
  for (int with_suffix = 0; with_suffix < 2; with_suffix++) {
    char *path = actl__text_format("%s/%s%s", folder, word, with_suffix ? suffix : "");
    if (access(path, F_OK) == 0 && !is_folder(path)) return path;
    free(path);
  }
  return NULL;
}

char *actl__find_file(const char *word) {
  if (access(word, F_OK) == 0 || strchr(word, '/') != NULL || word[0] == '\0') {
    return actl__text_copy(word, strlen(word));
  }
  char *path = file_in("scenarios", word);
  if (path == NULL) {
    char *folder = installed_folder();
    path = file_in(folder, word);
    free(folder);
  }
  return path != NULL ? path : actl__text_copy(word, strlen(word));
}

static int compare(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool actl__find_scripts(const char *folder, char ***out, size_t *n) {
  DIR *dir = opendir(folder);
  if (dir == NULL) return false;

  *out = NULL;
  *n = 0;
  for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
    size_t size = strlen(entry->d_name);
    if (entry->d_name[0] == '.' || size <= SUFFIX_SIZE) continue;
    if (strcmp(entry->d_name + size - SUFFIX_SIZE, suffix) != 0) continue;
    *out = actl__text_room(*out, (*n + 1) * sizeof **out);
    (*out)[(*n)++] = actl__text_copy(entry->d_name, size);
  }
  closedir(dir);
  if (*n > 0) qsort(*out, *n, sizeof **out, compare);
  return true;
}

void actl__find_free(char **names, size_t n) {
  for (size_t i = 0; i < n; i++) free(names[i]);
  free(names);
}

/* The name in `names` closest to `word`, a copy; NULL: none is close. */
static char *closest(const char *word, char *const *names, size_t n) {
  const char *found = actl__suggest_name(word, (const char *const *)names, n);
  return found == NULL ? NULL : actl__text_copy(found, strlen(found));
}

static char *similar_script(const char *folder, const char *word, bool without_suffix) {
  char **names = NULL;
  size_t n = 0;
  if (folder == NULL || !actl__find_scripts(folder, &names, &n)) return NULL;
  for (size_t i = 0; without_suffix && i < n; i++) names[i][strlen(names[i]) - SUFFIX_SIZE] = '\0';
  char *found = closest(word, names, n);
  actl__find_free(names, n);
  return found;
}

char *actl__find_similar(const char *path) {
  const char *slash = strrchr(path, '/');
  if (slash != NULL) {
    char *folder = actl__text_copy(path, (size_t)(slash - path) + 1);
    char *name = similar_script(folder, slash + 1, false);
    char *found = name == NULL ? NULL : actl__text_format("%s%s", folder, name);
    free(name);
    free(folder);
    return found;
  }

  char *found = similar_script(".", path, false);
  if (found == NULL) {
    char *folder = actl__find_folder();
    found = similar_script(folder, path, true);
    free(folder);
  }
  if (found == NULL) {
    static const char *const commands[] = {"run",  "list", "explore", "shrink",
                                           "test", "help", "version"};
    const char *command = actl__suggest_name(path, commands, sizeof commands / sizeof commands[0]);
    if (command != NULL) found = actl__text_copy(command, strlen(command));
  }
  return found;
}
