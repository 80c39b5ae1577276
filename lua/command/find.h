/*
 * find.h - where scenario files are.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_FIND_H
#define ACTL_COMMAND_FIND_H

#include <stdbool.h>
#include <stddef.h>

/* The folder of scenarios: scenarios/ in the working directory, or else the one that was installed
 * with this command, ../share/actorlua/scenarios as seen from its own folder. To be freed; NULL:
 * there is neither. */
char *actl__find_folder(void);

/* The file that `word` means: a file of that name, or else a scenario of that name in one of the
 * two folders, or else `word` itself. To be freed. */
char *actl__find_file(const char *word);

/* The scenario, file or command whose name is close to `path`, which is no file. To be freed;
 * NULL: none. */
char *actl__find_similar(const char *path);

/* The names of the .lua files in a folder, without it, sorted; an array and its names to be freed
 * with actl__find_free. False: the folder cannot be read (errno). */
bool actl__find_scripts(const char *folder, char ***out, size_t *n);
void actl__find_free(char **names, size_t n);

#endif
