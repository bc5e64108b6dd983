#pragma once

/* What the programs in C check, and how they report it. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#define WAIT_MAX 10000u

static int checks = 0; /* counted by several threads */

#define COUNT_CHECK() __atomic_fetch_add(&checks, 1, __ATOMIC_RELAXED)

#define CHECK(condition)                                                            \
  do {                                                                              \
    COUNT_CHECK();                                                                  \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)

/* Checks that a call succeeds; prints its error otherwise. */
#define DONE(call)                                                                   \
  do {                                                                               \
    tenon_error* error = NULL;                                                       \
    const tenon_status status = (call);                                              \
    COUNT_CHECK();                                                                   \
    if (status != TENON_OK) {                                                        \
      fprintf(stderr, "%s:%d: %s is %d: %s\n", __FILE__, __LINE__, #call, status,    \
              error == NULL ? "without an error" : tenon_error_message(error).data); \
      exit(1);                                                                       \
    }                                                                                \
  } while (0)

/* Checks that a call fails with a status and a message that contains a text. */
#define FAILS(call, expected, text)                                                         \
  do {                                                                                      \
    tenon_error* error = NULL;                                                              \
    const tenon_status status = (call);                                                     \
    COUNT_CHECK();                                                                          \
    if (status != (expected) || error == NULL || tenon_error_status(error) != (expected) || \
        strstr(tenon_error_message(error).data, (text)) == NULL) {                          \
      fprintf(stderr, "%s:%d: %s is %d: %s\n", __FILE__, __LINE__, #call, status,           \
              error == NULL ? "without an error" : tenon_error_message(error).data);        \
      exit(1);                                                                              \
    }                                                                                       \
    tenon_error_free(error);                                                                \
  } while (0)

static bool equals(tenon_text text, const char* expected) {
  return text.length == strlen(expected) && memcmp(text.data, expected, text.length) == 0;
}

static bool is_text(tenon_text text, const char* expected) {
  if (equals(text, expected)) return true;
  fprintf(stderr, "found:    %.*s\nexpected: %s\n", (int)text.length, text.data, expected);
  return false;
}
