/* The steps of the samples: each durably writes the key of its call to a file immediately, and takes a while. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/extern.h>
#include <time.h>
#include <unistd.h>

static void perform(tenon_call* call) {
  const char* path = getenv("TENON_TEST_KEYS");
  const char* key = tenon_effect_key(call);
  const int32_t number = tenon_argument_i32(call, 0);
  const struct timespec a_while = {0, 2000000};
  char line[256];
  int file;
  const int length = snprintf(line, sizeof line, "%s %d\n", key, (int)number);
  if (path == NULL || length < 0 || (size_t)length >= sizeof line) {
    tenon_fail(call, "TENON_TEST_KEYS names no file, or the key is too long");
    return;
  }
  file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
  if (file < 0 || write(file, line, (size_t)length) != length) tenon_fail(call, "the key cannot be written down");
  if (file >= 0) close(file);
  nanosleep(&a_while, NULL);
  tenon_put_i64(call, tenon_result(call), (int64_t)number * 2);
}

TENON_EXTERN(step) {
  perform(call);
}
TENON_EXTERN(act) {
  perform(call);
}
TENON_EXTERN(act_if_approved) {
  perform(call);
}
