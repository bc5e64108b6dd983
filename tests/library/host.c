/* A program in C that uses all of tenon/tenon.h. Its argument is the path of desk.tn. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tenon/tenon.h>
#include <unistd.h>

#define WAIT_MAX 10000u

static const char* desk;
static int checks = 0; /* counted by several threads */

#define COUNT_CHECK() __atomic_fetch_add(&checks, 1, __ATOMIC_RELAXED)

#define CHECK(condition)                                                             \
  do {                                                                               \
    COUNT_CHECK();                                                                   \
    if (!(condition)) {                                                              \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);  \
      exit(1);                                                                       \
    }                                                                                \
  } while (0)

/* Checks that a call succeeds; prints its error otherwise. */
#define DONE(call)                                                                                      \
  do {                                                                                                  \
    tenon_error* error = NULL;                                                                          \
    const tenon_status status = (call);                                                                 \
    COUNT_CHECK();                                                                                      \
    if (status != TENON_OK) {                                                                           \
      fprintf(stderr, "%s:%d: %s is %d: %s\n", __FILE__, __LINE__, #call, status,                      \
              error == NULL ? "without an error" : tenon_error_message(error).data);                    \
      exit(1);                                                                                          \
    }                                                                                                   \
  } while (0)

/* Checks that a call fails with a status and a message that contains a text. */
#define FAILS(call, expected, text)                                                                     \
  do {                                                                                                  \
    tenon_error* error = NULL;                                                                          \
    const tenon_status status = (call);                                                                 \
    COUNT_CHECK();                                                                                      \
    if (status != (expected) || error == NULL || tenon_error_status(error) != (expected) ||             \
        strstr(tenon_error_message(error).data, (text)) == NULL) {                                      \
      fprintf(stderr, "%s:%d: %s is %d: %s\n", __FILE__, __LINE__, #call, status,                      \
              error == NULL ? "without an error" : tenon_error_message(error).data);                    \
      exit(1);                                                                                          \
    }                                                                                                   \
    tenon_error_free(error);                                                                            \
  } while (0)

static bool equals(tenon_text text, const char* expected) {
  return text.length == strlen(expected) && memcmp(text.data, expected, text.length) == 0;
}

static bool is_text(tenon_text text, const char* expected) {
  if (equals(text, expected)) return true;
  fprintf(stderr, "found:    %.*s\nexpected: %s\n", (int)text.length, text.data, expected);
  return false;
}

/* --- Externs of the host --------------------------------------------------------------------------------------- */

typedef struct Shop {
  int price;
  int calls;
  int released;
  tenon_engine* engine; /* the one that calls */
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  tenon_call* deferred; /* not finished yet */
} Shop;

static void release_shop(void* user) { ++((Shop*)user)->released; }

static void price(tenon_call* call, void* user) {
  Shop* shop = user;
  ++shop->calls;
  if (equals(tenon_as_text(call, tenon_argument(call, 0)), "gold")) {
    tenon_fail(call, "%s is not sold", "gold");
    return;
  }
  if (shop->engine != NULL) {
    tenon_event* event = NULL;
    FAILS(tenon_next_event(shop->engine, NULL, 0, &event, &error), TENON_CONFLICT, "complete the call later");
  }
  tenon_put_i64(call, tenon_result(call), shop->price);
}

static void slow_price(tenon_call* call, void* user) {
  Shop* shop = user;
  CHECK(tenon_defer(call));
  CHECK(tenon_defer(call));
  pthread_mutex_lock(&shop->mutex);
  shop->deferred = call;
  pthread_cond_signal(&shop->changed);
  pthread_mutex_unlock(&shop->mutex);
}

/* Waits for a call that was deferred. */
static tenon_call* take_deferred(Shop* shop) {
  tenon_call* call;
  pthread_mutex_lock(&shop->mutex);
  while (shop->deferred == NULL) pthread_cond_wait(&shop->changed, &shop->mutex);
  call = shop->deferred;
  shop->deferred = NULL;
  pthread_mutex_unlock(&shop->mutex);
  return call;
}

static void* finish_deferred(void* user) {
  tenon_call* call = take_deferred(user);
  CHECK(is_text(tenon_as_json(call, tenon_argument(call, 0)), "\"tea\""));
  tenon_put_json(call, tenon_result(call), "9");
  tenon_finish(call);
  return NULL;
}

/* --- A model of the host ----------------------------------------------------------------------------------------- */

typedef struct Mind {
  const char* answer; /* NULL: it cannot be reached */
  tenon_generation* held;
  bool holds;
  int started, cancelled, released;
  char request[4096];
} Mind;

static void release_mind(void* user) { ++((Mind*)user)->released; }

static void start_answer(void* user, tenon_generation* generation, tenon_text request) {
  Mind* mind = user;
  ++mind->started;
  snprintf(mind->request, sizeof mind->request, "%.*s", (int)request.length, request.data);
  if (mind->holds) {
    mind->held = generation;
  } else if (mind->answer == NULL) {
    tenon_generation_fail(generation, TENON_MODEL_REJECTED, tenon_text_of("no such model"));
  } else {
    tenon_generation_add(generation, tenon_text_of(mind->answer));
    tenon_generation_finish(generation, tenon_text_of(mind->answer));
  }
}

static void cancel_answer(void* user, tenon_generation* generation) {
  Mind* mind = user;
  CHECK(generation == mind->held);
  CHECK(tenon_generation_is_cancelled(generation));
  ++mind->cancelled;
}

static const tenon_model mind_functions = {sizeof(tenon_model), start_answer, cancel_answer};

static tenon_engine* open_engine(Shop* shop, Mind* mind, const char* store) {
  tenon_options* options = tenon_options_new();
  tenon_engine* engine = NULL;
  tenon_options_add_extern(options, "price", price, shop, release_shop);
  tenon_options_add_extern(options, "slow_price", slow_price, shop, NULL);
  tenon_options_set_model(options, "mind", &mind_functions, mind, release_mind);
  if (store != NULL) DONE(tenon_options_set(options, "store", store, &error));
  DONE(tenon_engine_open(options, &engine, &error));
  tenon_options_free(options);
  return engine;
}

static tenon_program* load(tenon_engine* engine) {
  tenon_program* program = NULL;
  DONE(tenon_program_load(engine, desk, NULL, &program, &error));
  return program;
}

static tenon_run* start(tenon_program* program, const char* function, const char* arguments, uint32_t flags) {
  tenon_run* run = NULL;
  DONE(tenon_run_start(program, function, tenon_text_of(arguments), flags, &run, &error));
  return run;
}

static tenon_run_state wait_for(tenon_run* run) {
  tenon_run_state state = TENON_RUNNING;
  DONE(tenon_run_wait(run, WAIT_MAX, &state, &error));
  return state;
}

/* Checks how a run has ended, and forgets it. */
static void ends_with(tenon_run* run, tenon_run_state state, const char* value) {
  tenon_outcome* outcome = NULL;
  const tenon_run_state found = wait_for(run);
  DONE(tenon_run_outcome(run, &outcome, &error));
  if (found != state) fprintf(stderr, "%s\n", tenon_outcome_message(outcome).data);
  CHECK(found == state);
  if (state == TENON_RETURNED) {
    CHECK(is_text(tenon_outcome_value(outcome), value));
  } else {
    CHECK(strstr(tenon_outcome_message(outcome).data, value) != NULL);
  }
  tenon_outcome_free(outcome);
  tenon_run_free(run);
}

/* --- The tests --------------------------------------------------------------------------------------------------- */

static void options_and_programs_have_errors(void) {
  tenon_options* options = tenon_options_new();
  tenon_engine* engine = NULL;
  tenon_program* program = NULL;
  tenon_error* error = NULL;
  FAILS(tenon_options_set(options, "colour", "red", &error), TENON_USAGE, "there is no option `colour`");
  FAILS(tenon_options_set(options, "seed", "12x", &error), TENON_USAGE, "`seed`: expected a number");
  CHECK(tenon_options_set(options, "seed", "x", NULL) == TENON_USAGE);
  DONE(tenon_options_set(options, "seed", "12", &error));
  DONE(tenon_options_set(options, "model", "abacus", &error));
  DONE(tenon_engine_open(options, &engine, &error));
  FAILS(tenon_program_load(engine, "x.tn", "fn main() -> i32 { 1 }", &program, &error), TENON_USAGE, "model");
  tenon_engine_free(engine);
  DONE(tenon_options_set(options, "model", "script:/dev/null", &error));
  DONE(tenon_engine_open(options, &engine, &error));
  CHECK(tenon_program_load(engine, "x.tn", "fn main() -> i32 { y }", &program, &error) == TENON_PROGRAM);
  CHECK(strstr(tenon_error_message(error).data, "cannot find `y`") != NULL);
  CHECK(strstr(tenon_error_json(error).data, "\"line\":1") != NULL);
  tenon_error_free(error);
  FAILS(tenon_program_load(engine, "/nonexistent.tn", NULL, &program, &error), TENON_PROGRAM, "/nonexistent.tn");
  FAILS(tenon_program_load(engine, desk, NULL, &program, &error), TENON_PROGRAM, "price");
  tenon_engine_free(engine);
  tenon_options_free(options);
  tenon_error_free(NULL);
  tenon_run_free(NULL);
  tenon_engine_free(NULL);
}

static void functions_are_called(Shop* shop, Mind* mind) {
  tenon_engine* engine = open_engine(shop, mind, NULL);
  tenon_program* program = load(engine);
  tenon_string* text = tenon_program_describe(program);
  tenon_run* run = NULL;
  tenon_outcome* outcome = NULL;
  pthread_t thread;
  CHECK(strstr(tenon_string_text(text).data, "\"documentation\":\"The price of an order.\"") != NULL);
  CHECK(strstr(tenon_string_text(text).data, "\"literals\":[\"billing\",\"technical\"]") != NULL);
  tenon_string_free(text);
  text = tenon_program_warnings(program);
  CHECK(is_text(tenon_string_text(text), "[]"));
  tenon_string_free(text);

  FAILS(tenon_run_start(program, "totl", tenon_text_of("{}"), 0, &run, &error), TENON_USAGE, "did you mean `total`?");
  FAILS(tenon_run_start(program, "total", tenon_text_of("{}"), 0, &run, &error), TENON_WRONG_INPUT, "`order`");
  FAILS(tenon_run_start_agent(program, "Countr", 0, &run, &error), TENON_USAGE, "did you mean `Counter`?");

  shop->engine = engine;
  run = start(program, "total", "{\"order\": {\"item\": \"tea\", \"count\": 3, \"tags\": []}}", 0);
  CHECK(tenon_run_name(run) == NULL);
  CHECK(tenon_run_outcome(run, &outcome, NULL) == TENON_TIMED_OUT);
  ends_with(run, TENON_RETURNED, "21");
  shop->engine = NULL;

  run = start(program, "total", "{\"order\": {\"item\": \"gold\", \"count\": 3, \"tags\": []}}", 0);
  CHECK(wait_for(run) == TENON_RUN_FAILED);
  DONE(tenon_run_outcome(run, &outcome, &error));
  CHECK(strstr(tenon_outcome_message(outcome).data, "gold is not sold") != NULL);
  CHECK(is_text(tenon_outcome_kind(outcome), "ToolFailed"));
  CHECK(is_text(tenon_outcome_blame(outcome), "price"));
  tenon_outcome_free(outcome);
  tenon_run_free(run);

  CHECK(pthread_create(&thread, NULL, finish_deferred, shop) == 0);
  run = start(program, "slow_total", "{\"order\": {\"item\": \"tea\", \"count\": 3, \"tags\": []}}", 0);
  ends_with(run, TENON_RETURNED, "27");
  pthread_join(thread, NULL);

  /* A call that is cancelled can still be finished, and does nothing. */
  run = start(program, "slow_total", "{\"order\": {\"item\": \"tea\", \"count\": 3, \"tags\": []}}", 0);
  CHECK(tenon_run_wait(run, 10, NULL, NULL) == TENON_TIMED_OUT);
  {
    tenon_call* call = take_deferred(shop);
    CHECK(!tenon_is_cancelled(call));
    DONE(tenon_run_cancel(run, "enough", &error));
    ends_with(run, TENON_CANCELLED, "enough");
    CHECK(tenon_is_cancelled(call));
    tenon_finish(call);
  }
  tenon_program_free(program);
  tenon_engine_free(engine);
}

static void values_need_no_json(Shop* shop, Mind* mind) {
  tenon_engine* engine = open_engine(shop, mind, NULL);
  tenon_program* program = load(engine);
  tenon_call* call = NULL;
  const tenon_value* value = NULL;
  tenon_outcome* outcome = NULL;
  tenon_run* run = NULL;
  tenon_slot *order, *tags;
  FAILS(tenon_call_new(program, "thrice", &call, &error), TENON_USAGE, "did you mean `twice`?");
  DONE(tenon_call_new(program, "twice", &call, &error));
  order = tenon_call_parameter(call, 0);
  CHECK(tenon_call_parameter(call, 1) == NULL);
  tenon_put_string(call, tenon_put_field(call, order, "item"), "tea");
  tenon_put_i64(call, tenon_put_field(call, order, "count"), 4);
  tags = tenon_put_field(call, order, "tags");
  tenon_put_string(call, tenon_put_item(call, tags), "green");
  DONE(tenon_call_make(call, TENON_FOREVER, &value, &outcome, &run, &error));
  CHECK(value != NULL && outcome == NULL && run == NULL);
  CHECK(tenon_as_i32(call, tenon_field(call, value, "count")) == 8);
  CHECK(is_text(tenon_as_text(call, tenon_item(call, tenon_field(call, value, "tags"), 0)), "green"));
  CHECK(is_text(tenon_as_json(call, value), "{\"item\":\"tea\",\"count\":8,\"tags\":[\"green\"]}"));
  CHECK(!tenon_failed(call));
  FAILS(tenon_call_make(call, TENON_FOREVER, &value, &outcome, &run, &error), TENON_CONFLICT, "made before");
  tenon_call_free(call);

  DONE(tenon_call_new(program, "twice", &call, &error));
  tenon_put_string(call, tenon_put_field(call, tenon_call_parameter(call, 0), "count"), "four");
  FAILS(tenon_call_make(call, TENON_FOREVER, &value, &outcome, &run, &error), TENON_WRONG_INPUT,
        "`.count` of argument `order`");
  tenon_call_free(call);

  DONE(tenon_call_new(program, "half", &call, &error));
  tenon_put_i64(call, tenon_call_parameter(call, 0), 0);
  DONE(tenon_call_make(call, TENON_FOREVER, &value, &outcome, &run, &error));
  CHECK(value == NULL && outcome != NULL && run == NULL);
  CHECK(tenon_outcome_state(outcome) == TENON_RUN_FAILED);
  tenon_outcome_free(outcome);
  tenon_call_free(call);

  /* A run that asks a person does not end. */
  outcome = NULL;
  DONE(tenon_call_new(program, "colour", &call, &error));
  CHECK(tenon_call_make(call, TENON_FOREVER, &value, &outcome, &run, NULL) == TENON_TIMED_OUT);
  CHECK(value == NULL && outcome == NULL && run != NULL);
  tenon_call_free(call);
  CHECK(wait_for(run) == TENON_ASKS);
  DONE(tenon_run_answer(run, NULL, tenon_text_of("red"), &error));
  ends_with(run, TENON_RETURNED, "\"It is red.\"");

  DONE(tenon_call_new(program, "slow_total", &call, &error));
  FAILS(tenon_call_start(call, 0, &run, &error), TENON_WRONG_INPUT, "`order`");
  tenon_call_free(call);
  DONE(tenon_call_new(program, "twice", &call, &error));
  CHECK(tenon_call_parameter(call, 0) != NULL && tenon_call_parameter(call, 1) == NULL);
  tenon_put_json(call, tenon_call_parameter(call, 0), "{\"item\": \"tea\", \"count\": 1, \"tags\": []}");
  DONE(tenon_call_start(call, TENON_WITH_EVENTS, &run, &error));
  FAILS(tenon_call_start(call, 0, &run, &error), TENON_CONFLICT, "made before");
  value = NULL;
  CHECK(tenon_call_value(call, run, &value, NULL) == TENON_TIMED_OUT && value == NULL);
  CHECK(wait_for(run) == TENON_RETURNED);
  DONE(tenon_call_value(call, run, &value, &error));
  CHECK(tenon_as_i32(call, tenon_field(call, value, "count")) == 2);
  ends_with(run, TENON_RETURNED, "{\"item\":\"tea\",\"count\":2,\"tags\":[]}");
  CHECK(tenon_as_i32(call, tenon_field(call, value, "count")) == 2);
  tenon_call_free(call);
  tenon_program_free(program);
  tenon_engine_free(engine);
}

static void a_model_of_the_host_answers(Shop* shop, Mind* mind) {
  tenon_engine* engine = open_engine(shop, mind, NULL);
  tenon_program* program = load(engine);
  tenon_run* run;
  tenon_event* event = NULL;
  int deltas = 0, events = 0;
  mind->answer = "Hello, Ada!";
  run = start(program, "greet", "{\"name\": \"Ada\"}", TENON_WITH_EVENTS);
  ends_with(start(program, "greet", "{\"name\": \"Bob\"}", 0), TENON_RETURNED, "\"Hello, Ada!\"");
  CHECK(strstr(mind->request, "Greet Bob.") != NULL);
  CHECK(strstr(mind->request, "\"label\":\"greet\"") != NULL);
  CHECK(wait_for(run) == TENON_RETURNED);
  while (tenon_next_event(engine, NULL, 0, &event, NULL) == TENON_OK) {
    ++events;
    CHECK(tenon_event_run(event) == tenon_run_number(run));
    CHECK(tenon_event_json(event).data[0] == '{');
    if (equals(tenon_event_type(event), "text_delta")) ++deltas;
    tenon_event_free(event);
  }
  CHECK(events == 6 && deltas == 1);
  ends_with(run, TENON_RETURNED, "\"Hello, Ada!\"");

  mind->answer = "billing";
  ends_with(start(program, "classify", "{\"message\": \"My bill\"}", 0), TENON_RETURNED, "\"billing\"");
  CHECK(strstr(mind->request, "\"schema\":{") != NULL);
  mind->answer = NULL;
  ends_with(start(program, "greet", "{\"name\": \"Ada\"}", 0), TENON_RUN_FAILED, "no such model");

  mind->holds = true;
  run = start(program, "greet", "{\"name\": \"Ada\"}", 0);
  CHECK(tenon_run_wait(run, 10, NULL, NULL) == TENON_TIMED_OUT);
  CHECK(!tenon_generation_is_cancelled(mind->held));
  DONE(tenon_run_cancel(run, "enough", &error));
  ends_with(run, TENON_CANCELLED, "enough");
  CHECK(mind->cancelled == 1);
  tenon_generation_finish(mind->held, tenon_text_of("too late"));
  mind->holds = false;
  tenon_program_free(program);
  tenon_engine_free(engine);
}

static void runs_are_recorded_and_resumed(Shop* shop, Mind* mind, const char* store) {
  tenon_engine* engine = open_engine(shop, mind, store);
  tenon_engine* other = NULL;
  tenon_program* program = load(engine);
  tenon_run *run, *chat = NULL;
  tenon_string* questions = NULL;
  char name[64], chat_name[64];
  run = start(program, "colour", "{}", 0);
  snprintf(name, sizeof name, "%s", tenon_run_name(run));
  CHECK(strlen(name) > 0);
  CHECK(wait_for(run) == TENON_ASKS);
  DONE(tenon_run_questions(run, &questions, &error));
  CHECK(strstr(tenon_string_text(questions).data, "Which colour?") != NULL);
  tenon_string_free(questions);
  FAILS(tenon_run_answer(run, "9.9", tenon_text_of("red"), &error), TENON_NOT_FOUND, "9.9");

  DONE(tenon_run_start_agent(program, "Counter", 0, &chat, &error));
  snprintf(chat_name, sizeof chat_name, "%s", tenon_run_name(chat));
  CHECK(wait_for(chat) == TENON_READY);
  DONE(tenon_run_prompt(chat, tenon_text_of("one"), &error));
  FAILS(tenon_run_prompt(chat, tenon_text_of("two"), &error), TENON_CONFLICT, "turn");
  CHECK(wait_for(chat) == TENON_READY);
  tenon_run_free(chat);

  other = open_engine(shop, mind, store);
  FAILS(tenon_run_resume(other, name, 0, &chat, &error), TENON_IN_USE, store);
  tenon_engine_free(other);

  /* The objects of an engine may be freed in any order. */
  DONE(tenon_engine_stop(engine, 1000, &error));
  CHECK(wait_for(run) == TENON_ASKS);
  FAILS(tenon_run_answer(run, NULL, tenon_text_of("red"), &error), TENON_CONFLICT, "stopped");
  FAILS(tenon_run_start(program, "colour", tenon_text_of("{}"), 0, &chat, &error), TENON_CONFLICT, "stopped");
  tenon_engine_free(engine);
  tenon_program_free(program);
  tenon_run_free(run);

  engine = open_engine(shop, mind, store);
  FAILS(tenon_run_resume(engine, "01nosuchrun", 0, &run, &error), TENON_NOT_FOUND, "01nosuchrun");
  DONE(tenon_run_resume(engine, name, TENON_WITH_EVENTS, &run, &error));
  CHECK(wait_for(run) == TENON_ASKS);
  DONE(tenon_run_answer(run, NULL, tenon_text_of("blue"), &error));
  ends_with(run, TENON_RETURNED, "\"It is blue.\"");
  DONE(tenon_run_resume(engine, chat_name, 0, &chat, &error));
  CHECK(wait_for(chat) == TENON_READY);
  DONE(tenon_run_prompt(chat, tenon_text_of("two"), &error));
  ends_with(chat, TENON_READY, "");
  tenon_engine_free(engine);
}

static void an_event_loop_waits_for_a_descriptor(Shop* shop, Mind* mind) {
  tenon_engine* engine = open_engine(shop, mind, NULL);
  tenon_program* program = load(engine);
  struct pollfd waited;
  tenon_event* event = NULL;
  tenon_run* run;
  bool has_ended = false;
  DONE(tenon_engine_descriptor(engine, &waited.fd, &error));
  waited.events = POLLIN;
  CHECK(poll(&waited, 1, 0) == 0);
  run = start(program, "slow_total", "{\"order\": {\"item\": \"tea\", \"count\": 3, \"tags\": []}}", TENON_WITH_EVENTS);
  finish_deferred(shop);
  while (!has_ended) {
    CHECK(poll(&waited, 1, WAIT_MAX) == 1);
    while (tenon_next_event(engine, run, 0, &event, NULL) == TENON_OK) {
      has_ended = has_ended || strcmp(tenon_event_type(event).data, "turn_end") == 0;
      tenon_event_free(event);
    }
  }
  CHECK(poll(&waited, 1, 0) == 0);
  ends_with(run, TENON_RETURNED, "27");
  tenon_program_free(program);
  tenon_engine_free(engine);
}

static void a_forked_child_gets_an_error(Shop* shop, Mind* mind) {
  tenon_engine* engine = open_engine(shop, mind, NULL);
  tenon_program* program = load(engine);
  int status = 0;
  pid_t child;
  DONE(tenon_engine_start_thread(engine, &error));
  child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    tenon_run* run = NULL;
    FAILS(tenon_run_start(program, "colour", tenon_text_of("{}"), 0, &run, &error), TENON_FORKED, "open another one");
    tenon_program_free(program);
    tenon_engine_free(engine);
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ends_with(start(program, "half", "{\"n\": 4}", 0), TENON_RETURNED, "25");
  tenon_program_free(program);
  tenon_engine_free(engine);
}

int main(int count, char** arguments) {
  char folder[] = "/tmp/tenon-library-XXXXXX";
  char store[64];
  Shop shop = {7, 0, 0, NULL, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL};
  Mind mind = {"", NULL, false, 0, 0, 0, ""};
  int engines;
  if (count != 2) return 2;
  desk = arguments[1];
  CHECK(mkdtemp(folder) != NULL);
  snprintf(store, sizeof store, "%s/runs.db", folder);
  CHECK(tenon_abi() >= TENON_ABI);
  CHECK(tenon_version()[0] != '\0');
  options_and_programs_have_errors();
  functions_are_called(&shop, &mind);
  values_need_no_json(&shop, &mind);
  a_model_of_the_host_answers(&shop, &mind);
  runs_are_recorded_and_resumed(&shop, &mind, store);
  an_event_loop_waits_for_a_descriptor(&shop, &mind);
  a_forked_child_gets_an_error(&shop, &mind);
  engines = 8;
  CHECK(shop.released == engines);
  CHECK(mind.released == engines);
  printf("%d checks passed\n", checks);
  {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 ? 0 : 1;
  }
}
