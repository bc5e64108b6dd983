/* Externs of desk.tn. Each call is written down durably, with its key, the name of the process and the time in
   milliseconds, before it has an effect. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdlib.h>
#include <tenon/extern.h>
#include <time.h>
#include <unistd.h>

static const char* name_of_process(void) {
  const char* name = getenv("TENON_TEST_WHO");
  return name == NULL ? "?" : name;
}

static void note(tenon_call* call, const char* function) {
  const char* path = getenv("TENON_TEST_CALLS");
  char line[320];
  int file;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const int length = snprintf(line, sizeof line, "%s %s %s %lld\n", function, tenon_effect_key(call), name_of_process(),
                              (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000);
  if (path == NULL || length < 0 || (size_t)length >= sizeof line) {
    tenon_fail(call, "TENON_TEST_CALLS names no file, or the key is too long");
    return;
  }
  file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
  if (file < 0 || write(file, line, (size_t)length) != length) tenon_fail(call, "the call cannot be written down");
  if (file >= 0) close(file);
}

static void perform(tenon_call* call, const char* function, int32_t factor) {
  const struct timespec a_while = {0, 2000000};
  note(call, function);
  nanosleep(&a_while, NULL);
  tenon_put_i64(call, tenon_result(call), (int64_t)tenon_argument_i32(call, 0) * factor);
}

TENON_EXTERN(step) { perform(call, "step", 2); }
TENON_EXTERN(charge) { perform(call, "charge", 3); }
TENON_EXTERN(who) {
  note(call, "who");
  tenon_put_string(call, tenon_result(call), name_of_process());
}
