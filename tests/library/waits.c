/* What waits in tenon/tenon.h: interrupted waits, notices, and that what is idle sleeps. Its argument is the path of
 * desk.tn. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <tenon/tenon.h>
#include <time.h>
#include <unistd.h>

#include "checks.h"
#include "interrupting.h"

static const char* desk;
static char folder[] = "/tmp/tenon-waits-XXXXXX";
static const char tea[] = "{\"order\": {\"item\": \"tea\", \"count\": 3, \"tags\": []}}";

/* --- Externs ----------------------------------------------------------------------------------------------------- */

#define DEFERRED_MAX 8

typedef struct Shop {
  tenon_engine* engine; /* which the extern interrupts; may be NULL */
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  tenon_call* deferred[DEFERRED_MAX];
  int count; /* of these */
} Shop;

static void price(tenon_call* call, void* user) {
  tenon_engine_interrupt(((Shop*)user)->engine);
  tenon_put_i64(call, tenon_result(call), 7);
}

static void slow_price(tenon_call* call, void* user) {
  Shop* shop = user;
  CHECK(tenon_defer(call));
  pthread_mutex_lock(&shop->mutex);
  CHECK(shop->count < DEFERRED_MAX);
  shop->deferred[shop->count++] = call;
  pthread_cond_signal(&shop->changed);
  pthread_mutex_unlock(&shop->mutex);
}

/* Waits for a call if there is none. */
static void* finish_one(void* user) {
  Shop* shop = user;
  tenon_call* call;
  pthread_mutex_lock(&shop->mutex);
  while (shop->count == 0) pthread_cond_wait(&shop->changed, &shop->mutex);
  call = shop->deferred[--shop->count];
  pthread_mutex_unlock(&shop->mutex);
  tenon_put_i64(call, tenon_result(call), 9);
  tenon_finish(call);
  return NULL;
}

/* A file of the folder. */
static const char* file(const char* name) {
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static tenon_options* make_options(Shop* shop) {
  tenon_options* options = tenon_options_new();
  char model[160];
  snprintf(model, sizeof model, "script:%s/answers.txt", folder);
  DONE(tenon_options_set(options, "model", model, &error));
  tenon_options_add_extern(options, "price", price, shop, NULL);
  tenon_options_add_extern(options, "slow_price", slow_price, shop, NULL);
  return options;
}

static tenon_engine* open_engine(Shop* shop, const char* store) {
  tenon_options* options = make_options(shop);
  tenon_engine* engine = NULL;
  if (store != NULL) DONE(tenon_options_set(options, "store", store, &error));
  DONE(tenon_engine_open(options, &engine, &error));
  tenon_options_free(options);
  return engine;
}

static tenon_run* start(tenon_program* program, const char* function, const char* arguments, uint32_t flags) {
  tenon_run* run = NULL;
  DONE(tenon_run_start(program, function, tenon_text_of(arguments), flags, &run, &error));
  return run;
}

/* --- Interrupted waits ------------------------------------------------------------------------------------------- */

static void waits_are_interrupted(bool has_thread) {
  Shop shop = {NULL, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {NULL}, 0};
  tenon_engine* engine = open_engine(&shop, NULL);
  tenon_program* program = NULL;
  tenon_run *run, *made = NULL;
  tenon_call* call = NULL;
  tenon_event* event = NULL;
  tenon_outcome* outcome = NULL;
  const tenon_value* value = NULL;
  tenon_run_state state = TENON_RUN_ASKS;
  size_t count = 1;
  Interrupting interrupting = {.engine = engine};
  tenon_engine_interrupt(NULL);
  tenon_engine_interrupt(engine); /* which is not open yet */
  DONE(tenon_program_load(engine, desk, NULL, &program, &error));
  if (has_thread) DONE(tenon_engine_start_thread(engine, &error));
  run = start(program, "slow_total", tea, TENON_WITH_STOPS);
  DONE(tenon_call_new(program, "slow_total", &call, &error));
  tenon_put_json(call, tenon_call_parameter(call, 0), "{\"item\": \"tea\", \"count\": 2, \"tags\": []}");
  begin_interrupting(&interrupting);
  CHECK(tenon_run_wait(run, TENON_FOREVER, &state, NULL) == TENON_NOT_YET && state == TENON_RUN_RUNNING);
  CHECK(tenon_next_event(engine, NULL, TENON_FOREVER, &event, NULL) == TENON_NOT_YET && event == NULL);
  CHECK(tenon_next_event(engine, run, TENON_FOREVER, &event, NULL) == TENON_NOT_YET && event == NULL);
  CHECK(tenon_next_stops(engine, TENON_FOREVER, NULL, 0, &count, NULL) == TENON_NOT_YET && count == 0);
  CHECK(tenon_call_make(call, TENON_FOREVER, &value, &outcome, &made, NULL) == TENON_NOT_YET);
  CHECK(value == NULL && outcome == NULL && made != NULL);
  end_interrupting(&interrupting);
  /* The runs were not interrupted, and neither is a wait that begins afterwards. */
  {
    tenon_run* const runs[] = {run, made};
    pthread_t finishing[2];
    int at;
    for (at = 0; at < 2; ++at) CHECK(pthread_create(&finishing[at], NULL, finish_one, &shop) == 0);
    for (at = 0; at < 2; ++at) {
      tenon_engine_interrupt(engine);
      DONE(tenon_run_wait(runs[at], WAIT_MAX, &state, &error));
      CHECK(state == TENON_RUN_RETURNED && pthread_join(finishing[at], NULL) == 0);
    }
    DONE(tenon_run_outcome(run, &outcome, &error));
    CHECK(is_text(tenon_outcome_value(outcome), "27"));
    tenon_outcome_free(outcome);
  }
  tenon_call_free(call);
  tenon_run_free(made);
  tenon_run_free(run);
  tenon_program_free(program);
  tenon_engine_free(engine);
}

static void* wait_for_stops(void* engine) {
  size_t count = 1;
  CHECK(tenon_next_stops(engine, TENON_FOREVER, NULL, 0, &count, NULL) == TENON_NOT_YET && count == 0);
  return NULL;
}

/* Runs that interrupt until the waiting thread has returned: its wait may not have begun at the first one. */
static void an_extern_interrupts(void) {
  Shop shop = {NULL, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {NULL}, 0};
  tenon_engine* engine = open_engine(&shop, NULL);
  tenon_program* program = NULL;
  pthread_t waiting;
  Interrupting interrupting = {.engine = engine};
  shop.engine = engine;
  DONE(tenon_program_load(engine, desk, NULL, &program, &error));
  CHECK(pthread_create(&waiting, NULL, wait_for_stops, engine) == 0);
  {
    tenon_run* run = start(program, "total", tea, 0);
    tenon_run_state state = TENON_RUN_RUNNING;
    tenon_status status;
    /* The extern may interrupt the wait on whose thread it is called. */
    while ((status = tenon_run_wait(run, WAIT_MAX, &state, NULL)) == TENON_NOT_YET) CHECK(state == TENON_RUN_RUNNING);
    CHECK(status == TENON_OK && state == TENON_RUN_RETURNED);
    tenon_run_free(run);
  }
  begin_interrupting(&interrupting);
  CHECK(pthread_join(waiting, NULL) == 0);
  end_interrupting(&interrupting);
  tenon_program_free(program);
  tenon_engine_free(engine);
}

/* --- Notices ----------------------------------------------------------------------------------------------------- */

typedef struct Notices {
  tenon_engine* engine; /* one of them is NULL */
  tenon_host* host;
  int count;
} Notices;

static void ignore_reply(void* user, tenon_text run, uint64_t after, tenon_error* refusal) {
  (void)user, (void)run, (void)after;
  tenon_error_free(refusal);
}

static void take_notice(void* user, bool is_warning, tenon_text text) {
  Notices* notices = user;
  CHECK(is_warning && strstr(text.data, "cannot write `/dev/full`") != NULL && strlen(text.data) == text.length);
  if (notices->engine != NULL) {
    tenon_run* run = NULL;
    FAILS(tenon_run_resume(notices->engine, "x", 0, &run, &error), TENON_CONFLICT, "cannot use the engine");
    tenon_engine_interrupt(notices->engine);
  } else {
    const tenon_request request = {sizeof(tenon_request), TENON_CANCEL, "none", NULL, tenon_text_of(""), NULL};
    tenon_string* run = NULL;
    FAILS(tenon_host_start(notices->host, "colour", tenon_text_of(""), NULL, WAIT_MAX, &run, &error), TENON_CONFLICT,
          "tenon_host_send");
    DONE(tenon_host_send(notices->host, &request, ignore_reply, NULL, &error));
  }
  __atomic_add_fetch(&notices->count, 1, __ATOMIC_RELEASE);
}

static void refuse_notice(void* user, bool is_warning, tenon_text text) {
  (void)user, (void)is_warning;
  fprintf(stderr, "an earlier function was notified: %s\n", text.data);
  exit(1);
}

/* The model's answers are recorded in a file that takes nothing. */
static tenon_options* make_noticed_options(Shop* shop, Notices* notices) {
  tenon_options* options = make_options(shop);
  DONE(tenon_options_set(options, "record", "/dev/full", &error));
  tenon_options_on_notice(options, refuse_notice, NULL);
  tenon_options_on_notice(options, notices == NULL ? NULL : take_notice, notices);
  tenon_options_on_notice(NULL, take_notice, notices);
  return options;
}

static const char mail[] = "{\"message\": \"my bill\"}";

static void an_engine_gives_notices(bool has_function) {
  Shop shop = {NULL, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {NULL}, 0};
  Notices notices = {NULL, NULL, 0};
  tenon_options* options = make_noticed_options(&shop, has_function ? &notices : NULL);
  tenon_program* program = NULL;
  tenon_run* run;
  tenon_run_state state = TENON_RUN_RUNNING;
  DONE(tenon_engine_open(options, &notices.engine, &error));
  tenon_options_on_notice(options, refuse_notice, NULL); /* the engine has copied them */
  tenon_options_free(options);
  DONE(tenon_program_load(notices.engine, desk, NULL, &program, &error));
  run = start(program, "classify", mail, 0);
  while (state == TENON_RUN_RUNNING) { /* the notice interrupts */
    const tenon_status status = tenon_run_wait(run, WAIT_MAX, &state, NULL);
    CHECK(status == TENON_OK || status == TENON_NOT_YET);
  }
  CHECK(state == TENON_RUN_RETURNED);
  CHECK((notices.count > 0) == has_function);
  tenon_run_free(run);
  tenon_program_free(program);
  tenon_engine_free(notices.engine);
}

static void a_host_gives_notices(void) {
  Shop shop = {NULL, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {NULL}, 0};
  Notices notices = {NULL, NULL, 0};
  tenon_options* options = make_noticed_options(&shop, &notices);
  tenon_string* run = NULL;
  tenon_follower* follower = NULL;
  tenon_event* event = NULL;
  DONE(tenon_options_set(options, "store", file("noticed.db"), &error));
  DONE(tenon_host_open(options, TENON_HOST, &desk, 1, &notices.host, &error));
  tenon_options_free(options);
  DONE(tenon_host_begin(notices.host, &error));
  DONE(tenon_host_start(notices.host, "classify", tenon_text_of(mail), NULL, WAIT_MAX, &run, &error));
  DONE(tenon_host_follow(notices.host, tenon_string_text(run).data, 0, &follower, &error));
  do {
    tenon_event_free(event);
    DONE(tenon_follower_next(follower, WAIT_MAX, &event, &error));
  } while (event != NULL);
  CHECK(__atomic_load_n(&notices.count, __ATOMIC_ACQUIRE) > 0);
  tenon_follower_free(follower);
  tenon_string_free(run);
  tenon_host_free(notices.host);
}

/* --- Idle engines and hosts -------------------------------------------------------------------------------------- */

/* How often threads of this process have waited. */
static long count_waits(void) {
  struct rusage usage;
  CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  return usage.ru_nvcsw;
}

static long count_waits_of_a_second(void) {
  const struct timespec second = {1, 0};
  const long before = count_waits();
  nanosleep(&second, NULL);
  return count_waits() - before;
}

/* Whether there is a second in which no thread is woken ten times. What is idle looks every few seconds at most.
 * `others`: the waits of a second without an engine, as ThreadSanitizer has a thread of its own. */
static bool sleeps(long others) {
  int tries;
  for (tries = 0; tries < 30; ++tries)
    if (count_waits_of_a_second() < others + 10) return true;
  return false;
}

static void what_is_idle_sleeps(void) {
  static const char text[] =
      "extern fn slow_price(item: String) -> i32\n"
      "fn rest() -> i32 { sleep(3600000)\n 1 }\n"
      "fn asked() -> i32 { slow_price(\"tea\") }\n";
  static const char* const functions[] = {"rest", "asked"};
  const long others = count_waits_of_a_second();
  Shop shop = {NULL, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {NULL}, 0};
  size_t at;
  for (at = 0; at < 2; ++at) {
    tenon_engine* engine = open_engine(&shop, file("engine.db"));
    tenon_program* program = NULL;
    tenon_run* run;
    DONE(tenon_program_load(engine, "idle.tn", text, &program, &error));
    DONE(tenon_engine_start_thread(engine, &error));
    run = start(program, functions[at], "{}", 0);
    CHECK(sleeps(others));
    DONE(tenon_run_cancel(run, "enough", &error));
    DONE(tenon_run_wait(run, WAIT_MAX, NULL, &error));
    tenon_run_free(run);
    tenon_program_free(program);
    tenon_engine_free(engine);
  }
  finish_one(&shop);
  for (at = 0; at < 2; ++at) {
    tenon_options* options = make_options(&shop);
    tenon_host* host = NULL;
    DONE(tenon_options_set(options, "store", file("host.db"), &error));
    DONE(tenon_host_open(options, TENON_HOST, &desk, 1, &host, &error));
    tenon_options_free(options);
    DONE(tenon_host_begin(host, &error));
    if (at == 1) { /* it has a run that waits */
      tenon_string* run = NULL;
      DONE(tenon_host_start(host, "colour", tenon_text_of(""), NULL, WAIT_MAX, &run, &error));
      tenon_string_free(run);
    }
    CHECK(sleeps(others));
    tenon_host_free(host);
  }
}

/* --- Functions that block ---------------------------------------------------------------------------------------- */

typedef struct Blocking {
  tenon_engine* engine;
  tenon_program* program;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool has_begun, may_go_on;
} Blocking;

/* Blocks, the first time. */
static void block(tenon_call* call, void* user) {
  Blocking* blocking = user;
  FAILS(tenon_engine_stop(blocking->engine, 0, &error), TENON_CONFLICT, "complete the call later");
  pthread_mutex_lock(&blocking->mutex);
  blocking->has_begun = true;
  pthread_cond_broadcast(&blocking->changed);
  while (!blocking->may_go_on) pthread_cond_wait(&blocking->changed, &blocking->mutex);
  pthread_mutex_unlock(&blocking->mutex);
  tenon_put_i64(call, tenon_result(call), 7);
}

static void price_outside(tenon_call* call, void* user) {
  CHECK(!tenon_perform_outside(call, NULL, user));
  if (tenon_perform_outside(call, block, user)) return;
  CHECK(!tenon_is_lone(call));
  tenon_put_i64(call, tenon_result(call), 7);
}

static bool has_begun(Blocking* blocking) {
  bool found;
  pthread_mutex_lock(&blocking->mutex);
  found = blocking->has_begun;
  pthread_mutex_unlock(&blocking->mutex);
  return found;
}

/* Makes calls until one is lone: that depends on how long the one before took. */
static void* call_until_blocked(void* user) {
  Blocking* blocking = user;
  while (!has_begun(blocking)) {
    tenon_run* run = start(blocking->program, "total", tea, 0);
    tenon_outcome* outcome = NULL;
    DONE(tenon_run_wait(run, TENON_FOREVER, NULL, &error));
    DONE(tenon_run_outcome(run, &outcome, &error));
    CHECK(is_text(tenon_outcome_value(outcome), "21"));
    tenon_outcome_free(outcome);
    tenon_run_free(run);
  }
  return NULL;
}

static void a_function_that_blocks_stops_nothing_else(bool has_thread) {
  Shop shop = {NULL, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {NULL}, 0};
  Blocking blocking = {NULL, NULL, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false};
  tenon_options* options = make_options(&shop);
  tenon_run_state state = TENON_RUN_RUNNING;
  tenon_string* questions = NULL;
  tenon_run* run;
  pthread_t calling;
  tenon_options_add_extern(options, "price", price_outside, &blocking, NULL);
  DONE(tenon_engine_open(options, &blocking.engine, &error));
  tenon_options_free(options);
  DONE(tenon_program_load(blocking.engine, desk, NULL, &blocking.program, &error));
  if (has_thread) DONE(tenon_engine_start_thread(blocking.engine, &error));
  CHECK(pthread_create(&calling, NULL, call_until_blocked, &blocking) == 0);
  pthread_mutex_lock(&blocking.mutex);
  while (!blocking.has_begun) pthread_cond_wait(&blocking.changed, &blocking.mutex);
  pthread_mutex_unlock(&blocking.mutex);
  run = start(blocking.program, "colour", "{}", 0);
  DONE(tenon_run_wait(run, WAIT_MAX, &state, &error));
  CHECK(state == TENON_RUN_ASKS);
  DONE(tenon_run_questions(run, &questions, &error));
  tenon_string_free(questions);
  DONE(tenon_run_cancel(run, "enough", &error));
  DONE(tenon_run_wait(run, WAIT_MAX, &state, &error));
  CHECK(state == TENON_RUN_CANCELLED);
  tenon_run_free(run);
  run = start(blocking.program, "total", tea, 0); /* its call is not lone */
  DONE(tenon_run_wait(run, WAIT_MAX, &state, &error));
  CHECK(state == TENON_RUN_RETURNED);
  tenon_run_free(run);
  pthread_mutex_lock(&blocking.mutex);
  blocking.may_go_on = true;
  pthread_cond_broadcast(&blocking.changed);
  pthread_mutex_unlock(&blocking.mutex);
  CHECK(pthread_join(calling, NULL) == 0);
  tenon_program_free(blocking.program);
  tenon_engine_free(blocking.engine);
}

static void write_answers(void) {
  FILE* answers = fopen(file("answers.txt"), "w");
  CHECK(answers != NULL);
  CHECK(fputs("classify => \"billing\"\n", answers) >= 0);
  CHECK(fclose(answers) == 0);
}

int main(int count, char** arguments) {
  char removal[64];
  if (count != 2) return 2;
  desk = arguments[1];
  CHECK(mkdtemp(folder) != NULL);
  write_answers();
  waits_are_interrupted(false);
  waits_are_interrupted(true);
  an_extern_interrupts();
  an_engine_gives_notices(true);
  an_engine_gives_notices(false);
  a_host_gives_notices();
  what_is_idle_sleeps();
  a_function_that_blocks_stops_nothing_else(false);
  a_function_that_blocks_stops_nothing_else(true);
  snprintf(removal, sizeof removal, "rm -r %s", folder);
  CHECK(system(removal) == 0);
  printf("%d checks\n", checks);
  return 0;
}
