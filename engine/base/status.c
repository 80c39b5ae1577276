/*
 * status.c - names and texts of the statuses, from their one table.
 *
 * SPDX-License-Identifier: MIT
 */
#include "actl.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *actl_status_name(actl_status status) {
  switch (status) {
#define CASE(code, number, name, text)                                                             \
  case code: return name;
    ACTL_STATUSES(CASE)
#undef CASE
  }
  return "unknown";
}

const char *actl_status_text(actl_status status) {
  switch (status) {
#define CASE(code, number, name, text)                                                             \
  case code: return text;
    ACTL_STATUSES(CASE)
#undef CASE
  }
  return "unknown status";
}

const char *actl_version(void) {
  return TEXT(ACTL_VERSION_MAJOR) "." TEXT(ACTL_VERSION_MINOR) "." TEXT(ACTL_VERSION_PATCH);
}
