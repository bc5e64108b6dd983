/* A program in C that uses all of tenon/tenon.h. Its arguments are the paths of desk.tn and of a library with externs.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "checks.h"
#include "interrupting.h"

static const char* desk;

/* --- Externs of the host --------------------------------------------------------------------------------------- */

typedef struct Shop {
  int price;
  int calls;
  int released;
  tenon_engine* engine; /* the one that calls */
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  tenon_call* deferred; /* not finished yet */
  const tenon_call* cancelled_call;
  int batches, open_batches, cancelled, hooks_released;
  uint64_t caller; /* the run of the newest call */
} Shop;

static void release_shop(void* user) {
  ++((Shop*)user)->released;
}

static void price(tenon_call* call, void* user) {
  Shop* shop = user;
  ++shop->calls;
  shop->caller = tenon_call_run(call);
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

static void before_calls(void* user) {
  ++((Shop*)user)->batches;
  ++((Shop*)user)->open_batches;
}

static void after_calls(void* user) {
  --((Shop*)user)->open_batches;
}

static void call_cancelled(void* user, const tenon_call* call) {
  ((Shop*)user)->cancelled_call = call;
  ++((Shop*)user)->cancelled;
}

static void release_hooks(void* user) {
  ++((Shop*)user)->hooks_released;
}

static const tenon_extern_hooks hooks = {sizeof(tenon_extern_hooks), before_calls, after_calls, call_cancelled};

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

static void release_mind(void* user) {
  ++((Mind*)user)->released;
}

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
  tenon_options_set_extern_hooks(options, &hooks, shop, release_hooks);
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
  tenon_run_state state = TENON_RUN_RUNNING;
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
  if (state == TENON_RUN_RETURNED) {
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
  tenon_problem problem = {0};
  tenon_error* error = NULL;
  FAILS(tenon_options_set(options, "colour", "red", &error), TENON_USAGE, "there is no option `colour`");
  FAILS(tenon_options_set(options, "seed", "12x", &error), TENON_USAGE, "`seed`: expected a number");
  CHECK(tenon_options_set(options, "seed", "x", NULL) == TENON_USAGE);
  DONE(tenon_options_set(options, "seed", "12", &error));
  FAILS(tenon_options_set_secret(options, "", "x", &error), TENON_USAGE, "the name of a variable");
  FAILS(tenon_options_set_secret(options, "A=b", "x", &error), TENON_USAGE, "without `=`");
  DONE(tenon_options_set_secret(options, "OPENAI_API_KEY", "k", &error));
  DONE(tenon_options_set(options, "model", "abacus", &error));
  DONE(tenon_engine_open(options, &engine, &error));
  FAILS(tenon_program_load(engine, "x.tn", "fn main() -> i32 { 1 }", &program, &error), TENON_USAGE, "model");
  tenon_engine_free(engine);
  DONE(tenon_options_set(options, "model", "script:/dev/null", &error));
  DONE(tenon_engine_open(options, &engine, &error));
  CHECK(tenon_program_load(engine, "x.tn", "fn main() -> i32 { y }", &program, &error) == TENON_PROGRAM);
  CHECK(strstr(tenon_error_message(error).data, "cannot find `y`") != NULL);
  CHECK(strstr(tenon_error_json(error).data, "\"line\":1") != NULL);
  problem.size = sizeof problem;
  CHECK(tenon_error_problem(error, 0, &problem) && problem.severity == TENON_ERROR && problem.line == 1);
  CHECK(problem.column == 20 && is_text(problem.path, "x.tn") && strstr(problem.message.data, "`y`") != NULL);
  CHECK(!tenon_error_problem(error, 1, &problem) && !tenon_error_problem(error, 0, NULL));
  problem.size = offsetof(tenon_problem, line); /* of an older header */
  problem.line = 7;
  CHECK(tenon_error_problem(error, 0, &problem) && problem.line == 7);
  CHECK(!tenon_error_problem(NULL, 0, &problem));
  tenon_error_free(error);
  FAILS(tenon_program_load(engine, "/nonexistent.tn", NULL, &program, &error), TENON_PROGRAM, "/nonexistent.tn");
  FAILS(tenon_program_load(engine, desk, NULL, &program, &error), TENON_PROGRAM, "price");
  tenon_engine_free(engine);
  tenon_options_free(options);
  tenon_error_free(NULL);
  tenon_run_free(NULL);
  tenon_engine_free(NULL);
}

/* The type of a member of the description, with its members. */
static tenon_type type_at(const tenon_description* description, size_t index) {
  tenon_type type = {.size = sizeof type};
  CHECK(tenon_description_type(description, index, &type));
  return type;
}

static void is_described(const tenon_program* program) {
  tenon_description* description = tenon_program_description(program);
  tenon_callable total = {.size = sizeof total}, agent = {.size = sizeof agent}, price = {.size = sizeof price};
  tenon_member member = {.size = sizeof member};
  tenon_type type;
  size_t index = 0;
  CHECK(description != NULL);
  CHECK(tenon_description_callable(description, TENON_FUNCTIONS, 0, &total) && is_text(total.name, "total"));
  CHECK(is_text(total.documentation, "The price of an order.") && total.parameters == 1);
  CHECK(type_at(description, total.result).kind == TENON_TYPE_I32);
  CHECK(tenon_description_parameter(description, TENON_FUNCTIONS, 0, 0, &member) && is_text(member.name, "order"));
  CHECK(!tenon_description_parameter(description, TENON_FUNCTIONS, 0, 1, &member));
  index = member.type;
  type = type_at(description, index);
  CHECK(type.kind == TENON_TYPE_STRUCT && is_text(type.name, "Order") && type.members == 3);
  CHECK(is_text(type.documentation, "What is ordered, and how often.") && type.item == TENON_NO_TYPE);
  CHECK(tenon_description_member(description, index, 2, &member) && is_text(member.name, "tags"));
  type = type_at(description, member.type);
  CHECK(type.kind == TENON_TYPE_LIST && type_at(description, type.item).kind == TENON_TYPE_STRING);
  CHECK(!tenon_description_member(description, index, 3, &member));
  CHECK(!tenon_description_payload(description, index, 0, 0, &index));

  CHECK(tenon_description_callable(description, TENON_AGENTS, 0, &agent) && is_text(agent.name, "Counter"));
  CHECK(agent.parameters == 1 && tenon_description_parameter(description, TENON_AGENTS, 0, 0, &member));
  CHECK(is_text(member.name, "input") && type_at(description, member.type).kind == TENON_TYPE_STRING);
  CHECK(tenon_description_callable(description, TENON_EXTERNS, 0, &price) && is_text(price.name, "price"));
  CHECK(!tenon_description_callable(description, TENON_EXTERNS, 2, &price));
  CHECK(!tenon_description_callable(description, 7, 0, &price) &&
        !tenon_description_callable(description, -1, 0, &price));
  for (index = 0; tenon_description_callable(description, TENON_FUNCTIONS, index, &total); ++index) {
    if (is_text(total.name, "classify")) break;
  }
  type = type_at(description, total.result);
  CHECK(type.kind == TENON_TYPE_UNION && type.members == 2);
  CHECK(tenon_description_member(description, total.result, 1, &member) && is_text(member.name, "\"technical\""));
  CHECK(member.type == TENON_NO_TYPE);
  tenon_description_free(description);
  tenon_description_free(NULL);
  CHECK(tenon_program_description(NULL) == NULL && !tenon_description_type(NULL, 0, &type));
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
  is_described(program);

  FAILS(tenon_run_start(program, "totl", tenon_text_of("{}"), 0, &run, &error), TENON_USAGE, "did you mean `total`?");
  FAILS(tenon_run_start(program, "total", tenon_text_of("{}"), 0, &run, &error), TENON_WRONG_INPUT, "`order`");
  FAILS(tenon_run_start_agent(program, "Countr", 0, &run, &error), TENON_USAGE, "did you mean `Counter`?");

  shop->engine = engine;
  run = start(program, "total", "{\"order\": {\"item\": \"tea\", \"count\": 3, \"tags\": []}}", 0);
  CHECK(tenon_run_name(run) == NULL);
  CHECK(tenon_run_outcome(run, &outcome, NULL) == TENON_NOT_YET);
  {
    const uint64_t number = tenon_run_number(run);
    ends_with(run, TENON_RUN_RETURNED, "21");
    CHECK(number != 0 && shop->caller == number);
  }
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
  ends_with(run, TENON_RUN_RETURNED, "27");
  pthread_join(thread, NULL);

  /* A call that is cancelled can still be finished, and does nothing. */
  run = start(program, "slow_total", "{\"order\": {\"item\": \"tea\", \"count\": 3, \"tags\": []}}", 0);
  CHECK(tenon_run_wait(run, 10, NULL, NULL) == TENON_NOT_YET);
  {
    Interrupting interrupting = {.run = run};
    size_t count = 1;
    begin_interrupting(&interrupting);
    CHECK(tenon_run_wait(run, TENON_FOREVER, NULL, NULL) == TENON_NOT_YET);
    CHECK(tenon_next_stops(engine, TENON_FOREVER, NULL, 0, &count, NULL) == TENON_NOT_YET && count == 0);
    end_interrupting(&interrupting);
  }
  {
    tenon_call* call = take_deferred(shop);
    CHECK(!tenon_is_cancelled(call) && tenon_may_begin(call));
    CHECK(tenon_call_run(call) == tenon_run_number(run));
    DONE(tenon_run_cancel(run, "enough", &error));
    ends_with(run, TENON_RUN_CANCELLED, "enough");
    CHECK(tenon_is_cancelled(call) && !tenon_may_begin(call));
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
  tenon_run *run = NULL, *other = NULL;
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
  CHECK(tenon_call_make(call, TENON_FOREVER, &value, &outcome, &run, NULL) == TENON_NOT_YET);
  CHECK(value == NULL && outcome == NULL && run != NULL);
  tenon_call_free(call);
  CHECK(wait_for(run) == TENON_RUN_ASKS);
  DONE(tenon_run_answer(run, NULL, tenon_text_of("red"), &error));
  ends_with(run, TENON_RUN_RETURNED, "\"It is red.\"");

  DONE(tenon_call_new(program, "slow_total", &call, &error));
  FAILS(tenon_call_start(call, 0, &run, &error), TENON_WRONG_INPUT, "`order`");
  tenon_call_free(call);
  DONE(tenon_call_new(program, "twice", &call, &error));
  CHECK(tenon_call_parameter(call, 0) != NULL && tenon_call_parameter(call, 1) == NULL);
  tenon_put_json(call, tenon_call_parameter(call, 0), "{\"item\": \"tea\", \"count\": 1, \"tags\": []}");
  DONE(tenon_call_start(call, TENON_WITH_EVENTS, &run, &error));
  FAILS(tenon_call_start(call, 0, &other, &error), TENON_CONFLICT, "made before");
  CHECK(other == NULL);
  value = NULL;
  CHECK(tenon_call_value(call, run, &value, NULL) == TENON_NOT_YET && value == NULL);
  CHECK(wait_for(run) == TENON_RUN_RETURNED);
  DONE(tenon_call_value(call, run, &value, &error));
  CHECK(tenon_as_i32(call, tenon_field(call, value, "count")) == 2);
  ends_with(run, TENON_RUN_RETURNED, "{\"item\":\"tea\",\"count\":2,\"tags\":[]}");
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
  ends_with(start(program, "greet", "{\"name\": \"Bob\"}", 0), TENON_RUN_RETURNED, "\"Hello, Ada!\"");
  CHECK(strstr(mind->request, "Greet Bob.") != NULL);
  CHECK(strstr(mind->request, "\"label\":\"greet\"") != NULL);
  CHECK(wait_for(run) == TENON_RUN_RETURNED);
  while (tenon_next_event(engine, NULL, 0, &event, NULL) == TENON_OK) {
    ++events;
    CHECK(tenon_event_run(event) == tenon_run_number(run));
    CHECK(tenon_event_json(event).data[0] == '{');
    if (equals(tenon_event_type(event), "text_delta")) ++deltas;
    tenon_event_free(event);
  }
  CHECK(events == 6 && deltas == 1);
  ends_with(run, TENON_RUN_RETURNED, "\"Hello, Ada!\"");

  mind->answer = "billing";
  ends_with(start(program, "classify", "{\"message\": \"My bill\"}", 0), TENON_RUN_RETURNED, "\"billing\"");
  CHECK(strstr(mind->request, "\"schema\":{") != NULL);
  mind->answer = NULL;
  ends_with(start(program, "greet", "{\"name\": \"Ada\"}", 0), TENON_RUN_FAILED, "no such model");

  mind->holds = true;
  run = start(program, "greet", "{\"name\": \"Ada\"}", 0);
  CHECK(tenon_run_wait(run, 10, NULL, NULL) == TENON_NOT_YET);
  CHECK(!tenon_generation_is_cancelled(mind->held));
  DONE(tenon_run_cancel(run, "enough", &error));
  ends_with(run, TENON_RUN_CANCELLED, "enough");
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
  tenon_question_list* list = NULL;
  tenon_question question = {0};
  tenon_options* options;
  char name[64], chat_name[64];
  run = start(program, "colour", "{}", 0);
  snprintf(name, sizeof name, "%s", tenon_run_name(run));
  CHECK(strlen(name) > 0);
  CHECK(wait_for(run) == TENON_RUN_ASKS);
  DONE(tenon_run_questions(run, &questions, &error));
  CHECK(strstr(tenon_string_text(questions).data, "Which colour?") != NULL);
  tenon_string_free(questions);
  DONE(tenon_run_open_questions(run, &list, &error));
  question.size = sizeof question;
  CHECK(tenon_question_at(list, 0, &question) && is_text(question.question, "Which colour?") &&
        question.wait.length > 0);
  CHECK(is_text(question.type, "String") && strstr(question.schema.data, "\"string\"") != NULL);
  CHECK(question.until == -1 && !question.is_secret && !tenon_question_at(list, 1, &question));
  tenon_question_list_free(list);
  FAILS(tenon_run_answer(run, "9.9", tenon_text_of("red"), &error), TENON_NOT_FOUND, "9.9");

  DONE(tenon_run_start_agent(program, "Counter", 0, &chat, &error));
  snprintf(chat_name, sizeof chat_name, "%s", tenon_run_name(chat));
  CHECK(wait_for(chat) == TENON_RUN_READY);
  DONE(tenon_run_prompt(chat, tenon_text_of("one"), &error));
  FAILS(tenon_run_prompt(chat, tenon_text_of("two"), &error), TENON_CONFLICT, "turn");
  CHECK(wait_for(chat) == TENON_RUN_READY);
  tenon_run_free(chat);

  /* What a store has can be listed while it is in use. */
  options = tenon_options_new();
  FAILS(tenon_store_runs(options, NULL, NULL, 10, &questions, &error), TENON_USAGE, "no `store`");
  DONE(tenon_options_set(options, "store", store, &error));
  FAILS(tenon_store_runs(options, "lost", NULL, 10, &questions, &error), TENON_USAGE, "no state `lost`");
  DONE(tenon_store_runs(options, "waiting", NULL, 10, &questions, &error));
  CHECK(strstr(tenon_string_text(questions).data, name) != NULL);
  CHECK(strstr(tenon_string_text(questions).data, "\"function\":\"colour\"") != NULL);
  tenon_string_free(questions);
  tenon_options_free(options);

  other = open_engine(shop, mind, store);
  FAILS(tenon_run_resume(other, name, 0, &chat, &error), TENON_IN_USE, store);
  tenon_engine_free(other);

  /* The objects of an engine may be freed in any order. */
  DONE(tenon_engine_stop(engine, 1000, &error));
  CHECK(wait_for(run) == TENON_RUN_ASKS);
  FAILS(tenon_run_answer(run, NULL, tenon_text_of("red"), &error), TENON_CONFLICT, "stopped");
  FAILS(tenon_run_start(program, "colour", tenon_text_of("{}"), 0, &chat, &error), TENON_CONFLICT, "stopped");
  tenon_engine_free(engine);
  tenon_program_free(program);
  tenon_run_free(run);

  other = open_engine(shop, mind, store);
  FAILS(tenon_run_resume(other, "01nosuchrun", 0, &chat, &error), TENON_NOT_FOUND, "01nosuchrun");
  DONE(tenon_engine_stop(other, 0, &error));

  /* An engine that was stopped does not have the store any more. */
  engine = open_engine(shop, mind, store);
  DONE(tenon_program_of_run(engine, name, &program, &error));
  ends_with(start(program, "half", "{\"n\": 4}", 0), TENON_RUN_RETURNED, "25");
  tenon_program_free(program);
  DONE(tenon_run_resume(engine, name, TENON_WITH_EVENTS, &run, &error));
  CHECK(strcmp(tenon_run_title(run), "colour") == 0);
  CHECK(wait_for(run) == TENON_RUN_ASKS);
  DONE(tenon_run_answer(run, NULL, tenon_text_of("blue"), &error));
  ends_with(run, TENON_RUN_RETURNED, "\"It is blue.\"");
  DONE(tenon_run_resume(engine, name, TENON_WITH_STOPS, &run, &error)); /* it has ended */
  ends_with(run, TENON_RUN_RETURNED, "\"It is blue.\"");
  DONE(tenon_run_resume(engine, chat_name, 0, &chat, &error));
  CHECK(wait_for(chat) == TENON_RUN_READY);
  DONE(tenon_run_prompt(chat, tenon_text_of("two"), &error));
  ends_with(chat, TENON_RUN_READY, "");
  tenon_engine_free(engine);
  tenon_engine_free(other);
}

/* The events of a run until there are no more for now. */
static int take_events(tenon_engine* engine, tenon_run* run) {
  tenon_event* event = NULL;
  int count = 0;
  while (tenon_next_event(engine, run, TENON_FOREVER, &event, NULL) == TENON_OK) {
    tenon_event_free(event);
    ++count;
  }
  return count;
}

static void events_are_waited_for_until_the_run_does_not_continue(Shop* shop, Mind* mind) {
  tenon_engine* engine = open_engine(shop, mind, NULL);
  tenon_program* program = load(engine);
  tenon_run* run = start(program, "colour", "{}", TENON_WITH_EVENTS);
  tenon_engine* other = open_engine(shop, mind, NULL);
  tenon_event* event = NULL;
  CHECK(take_events(engine, run) == 2 && wait_for(run) == TENON_RUN_ASKS);
  DONE(tenon_run_answer(run, NULL, tenon_text_of("red"), &error));
  CHECK(take_events(engine, run) == 2 && take_events(engine, run) == 0);
  FAILS(tenon_next_event(other, run, 0, &event, &error), TENON_USAGE, "another engine");
  tenon_engine_free(other);
  ends_with(run, TENON_RUN_RETURNED, "\"It is red.\"");
  tenon_program_free(program);
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
  ends_with(run, TENON_RUN_RETURNED, "27");
  tenon_program_free(program);
  tenon_engine_free(engine);
}

/* Takes a stop, which must be of this run. */
static tenon_run_state stop_of(tenon_engine* engine, tenon_run* run) {
  tenon_stop stop = {0, TENON_RUN_RUNNING};
  size_t count = 0;
  DONE(tenon_next_stops(engine, WAIT_MAX, &stop, 1, &count, &error));
  CHECK(count == 1 && stop.run == tenon_run_number(run));
  return stop.state;
}

static void stops_are_reported(Shop* shop, Mind* mind) {
  tenon_engine* engine = open_engine(shop, mind, NULL);
  tenon_program* program = load(engine);
  tenon_run *run, *chat, *many[40];
  tenon_stop stops[64];
  tenon_call* call = NULL;
  const tenon_value* value = NULL;
  tenon_outcome* outcome = NULL;
  struct pollfd waited;
  size_t count = 0, taken = 0, at;
  run = start(program, "colour", "{}", TENON_WITH_STOPS);
  CHECK(stop_of(engine, run) == TENON_RUN_ASKS);
  CHECK(tenon_next_stops(engine, 0, stops, 64, &count, NULL) == TENON_NOT_YET && count == 0);
  DONE(tenon_run_answer(run, NULL, tenon_text_of("red"), &error));
  CHECK(stop_of(engine, run) == TENON_RUN_RETURNED);
  FAILS(tenon_run_answer(run, NULL, tenon_text_of("red"), &error), TENON_CONFLICT, "has ended");
  DONE(tenon_run_cancel(run, "too late", &error));
  ends_with(run, TENON_RUN_RETURNED, "\"It is red.\"");

  DONE(tenon_run_start_agent(program, "Counter", TENON_WITH_STOPS, &chat, &error));
  CHECK(stop_of(engine, chat) == TENON_RUN_READY);
  DONE(tenon_run_prompt(chat, tenon_text_of("one"), &error));
  CHECK(stop_of(engine, chat) == TENON_RUN_READY);
  tenon_run_free(chat);

  /* A start that is not waited for, of which the error comes later. */
  DONE(tenon_call_new(program, "half", &call, &error));
  tenon_put_i64(call, tenon_call_parameter(call, 0), 4);
  DONE(tenon_call_start(call, TENON_WITH_STOPS | TENON_START_LATER, &run, &error));
  CHECK(tenon_run_name(run) == NULL);
  CHECK(stop_of(engine, run) == TENON_RUN_RETURNED);
  DONE(tenon_call_value(call, run, &value, &error));
  CHECK(tenon_as_i32(call, value) == 25);
  ends_with(run, TENON_RUN_RETURNED, "25");
  tenon_call_free(call);
  run = start(program, "halve", "{}", TENON_WITH_STOPS | TENON_START_LATER);
  CHECK(stop_of(engine, run) == TENON_RUN_FAILED);
  FAILS(tenon_run_outcome(run, &outcome, &error), TENON_USAGE, "cannot find function `halve`");
  tenon_run_free(run);
  tenon_run_free(start(program, "half", "{\"n\": 4}", TENON_START_LATER)); /* before it has begun */

  /* Externs that are ready together are called together. */
  shop->batches = 0;
  for (at = 0; at < 40; ++at) {
    many[at] = start(program, "total", "{\"order\": {\"item\": \"tea\", \"count\": 1, \"tags\": []}}",
                     TENON_WITH_STOPS | TENON_START_LATER);
  }
  while (taken < 40) {
    DONE(tenon_next_stops(engine, WAIT_MAX, stops, 64, &count, &error));
    taken += count;
  }
  CHECK(taken == 40 && shop->batches == 1 && shop->open_batches == 0);
  for (at = 0; at < 40; ++at) ends_with(many[at], TENON_RUN_RETURNED, "7");

  /* The descriptor is readable while there are stops. */
  DONE(tenon_engine_descriptor(engine, &waited.fd, &error));
  waited.events = POLLIN;
  run = start(program, "slow_total", "{\"order\": {\"item\": \"tea\", \"count\": 3, \"tags\": []}}",
              TENON_WITH_STOPS | TENON_START_LATER);
  {
    tenon_call* deferred = take_deferred(shop);
    CHECK(poll(&waited, 1, 0) == 0);
    shop->cancelled = 0;
    DONE(tenon_run_cancel(run, "enough", &error));
    CHECK(poll(&waited, 1, WAIT_MAX) == 1);
    CHECK(stop_of(engine, run) == TENON_RUN_CANCELLED);
    CHECK(shop->cancelled == 1 && shop->cancelled_call == deferred);
    tenon_finish(deferred);
  }
  CHECK(poll(&waited, 1, 0) == 0);
  ends_with(run, TENON_RUN_CANCELLED, "enough");
  run = start(program, "half", "{\"n\": 4}", TENON_WITH_STOPS);
  DONE(tenon_engine_stop(engine, 1000, &error));
  run = (tenon_run_free(run), NULL);
  FAILS(tenon_run_start(program, "half", tenon_text_of("{}"), TENON_START_LATER, &run, &error), TENON_CONFLICT,
        "stopped");
  tenon_program_free(program);
  tenon_engine_free(engine);
}

/* Begins a call of a function with an argument. */
static tenon_run_state begin(tenon_program* program, const char* function, const char* argument, tenon_call** call,
                             tenon_run** run) {
  tenon_run_state state = TENON_RUN_DETACHED;
  DONE(tenon_call_new(program, function, call, &error));
  if (argument != NULL) tenon_put_json(*call, tenon_call_parameter(*call, 0), argument);
  DONE(tenon_call_begin(*call, run, &state, &error));
  return state;
}

/* A short call wakes no thread: it has ended when it was begun, unless the engine has something else to do. */
static void an_event_loop_begins_calls(Shop* shop, Mind* mind, const char* store) {
  tenon_engine* engine = open_engine(shop, mind, NULL);
  tenon_program* program = load(engine);
  tenon_run *run, *other;
  tenon_call *call, *other_call;
  const tenon_value* value = NULL;
  tenon_stop stop;
  size_t count = 0;
  struct pollfd waited;
  int tries = 0;
  tenon_run_state state;
  DONE(tenon_engine_descriptor(engine, &waited.fd, &error));
  waited.events = POLLIN;
  /* The engine's thread has to have looked first whether there is something to do. */
  for (;;) {
    CHECK(++tries < 10000);
    state = begin(program, "half", "4", &call, &run);
    if (state != TENON_RUN_RUNNING) break;
    CHECK(stop_of(engine, run) == TENON_RUN_RETURNED);
    tenon_run_free(run);
    tenon_call_free(call);
  }
  CHECK(state == TENON_RUN_RETURNED);
  DONE(tenon_call_value(call, run, &value, &error));
  CHECK(tenon_as_i32(call, value) == 25);
  CHECK(poll(&waited, 1, 0) == 0);
  CHECK(tenon_next_stops(engine, 0, &stop, 1, &count, NULL) == TENON_NOT_YET);
  FAILS(tenon_call_begin(call, &other, &state, &error), TENON_CONFLICT, "made before");
  CHECK(other == NULL && state == TENON_RUN_RUNNING);
  ends_with(run, TENON_RUN_RETURNED, "25");
  tenon_call_free(call);

  CHECK(begin(program, "half", "0", &call, &run) == TENON_RUN_FAILED);
  ends_with(run, TENON_RUN_FAILED, "division");
  tenon_call_free(call);
  CHECK(begin(program, "colour", NULL, &call, &run) == TENON_RUN_ASKS);
  CHECK(poll(&waited, 1, 0) == 0);
  DONE(tenon_run_answer(run, NULL, tenon_text_of("red"), &error));
  CHECK(stop_of(engine, run) == TENON_RUN_RETURNED);
  ends_with(run, TENON_RUN_RETURNED, "\"It is red.\"");
  tenon_call_free(call);

  /* What takes longer is reported, and so is what begins meanwhile. */
  CHECK(begin(program, "slow_total", "{\"item\": \"tea\", \"count\": 3, \"tags\": []}", &call, &run) ==
        TENON_RUN_RUNNING);
  CHECK(begin(program, "half", "4", &other_call, &other) == TENON_RUN_RUNNING);
  CHECK(stop_of(engine, other) == TENON_RUN_RETURNED);
  finish_deferred(shop);
  CHECK(stop_of(engine, run) == TENON_RUN_RETURNED);
  ends_with(run, TENON_RUN_RETURNED, "27");
  ends_with(other, TENON_RUN_RETURNED, "25");
  tenon_call_free(call);
  tenon_call_free(other_call);
  tenon_program_free(program);
  tenon_engine_free(engine);

  /* What is recorded has to wait for the store. */
  engine = open_engine(shop, mind, store);
  program = load(engine);
  DONE(tenon_engine_start_thread(engine, &error));
  for (tries = 0; tries < 3; ++tries) {
    CHECK(begin(program, "half", "4", &call, &run) == TENON_RUN_RUNNING);
    CHECK(stop_of(engine, run) == TENON_RUN_RETURNED);
    ends_with(run, TENON_RUN_RETURNED, "25");
    tenon_call_free(call);
  }
  tenon_program_free(program);
  tenon_engine_free(engine);
}

static void prompts_are_kept(Shop* shop, Mind* mind) {
  tenon_engine* engine = open_engine(shop, mind, NULL);
  tenon_program* program = load(engine);
  tenon_string* prompts = NULL;
  tenon_run* run;
  mind->answer = "Hello!";
  run = start(program, "greet", "{\"name\": \"Ada\"}", TENON_WITH_PROMPTS);
  CHECK(wait_for(run) == TENON_RUN_RETURNED);
  DONE(tenon_run_prompts(run, &prompts, &error));
  CHECK(strstr(tenon_string_text(prompts).data, "[{\"function\":\"greet\",\"place\":\"") != NULL);
  CHECK(strstr(tenon_string_text(prompts).data, "\"text\":\"Greet Ada.\"") != NULL);
  CHECK(strstr(tenon_string_text(prompts).data, "\"answer\":\"Hello!\"") != NULL);
  tenon_string_free(prompts);
  ends_with(run, TENON_RUN_RETURNED, "\"Hello!\"");
  tenon_program_free(program);
  tenon_engine_free(engine);
}

static void recorded_runs_are_forked_and_replayed(Shop* shop, Mind* mind, const char* store) {
  tenon_engine* engine = open_engine(shop, mind, NULL);
  tenon_program *program = load(engine), *changed = NULL;
  tenon_run *run = NULL, *fork = NULL;
  tenon_string* text = NULL;
  char hash[128], name[64];
  FAILS(tenon_run_replay(engine, "any", NULL, &text, &error), TENON_CONFLICT, "has no store");
  tenon_program_free(program);
  tenon_engine_free(engine);

  engine = open_engine(shop, mind, store);
  program = load(engine);
  run = start(program, "colour", "{}", 0);
  CHECK(wait_for(run) == TENON_RUN_ASKS);
  snprintf(name, sizeof name, "%s", tenon_run_name(run));
  DONE(tenon_run_answer(run, NULL, tenon_text_of("red"), &error));
  ends_with(run, TENON_RUN_RETURNED, "\"It is red.\"");

  FAILS(tenon_run_artifacts(engine, name, "xml", &text, &error), TENON_USAGE, "`npz`");
  FAILS(tenon_run_artifacts(engine, "01nosuchrun", "json", &text, &error), TENON_NOT_FOUND, "01nosuchrun");
  DONE(tenon_run_artifacts(engine, name, "hash", &text, &error));
  snprintf(hash, sizeof hash, "%s", tenon_string_text(text).data);
  CHECK(strchr(hash, ':') != NULL);
  tenon_string_free(text);
  DONE(tenon_run_artifacts(engine, name, "npz", &text, &error));
  CHECK(tenon_string_text(text).length > 100 && memcmp(tenon_string_text(text).data, "PK", 2) == 0);
  tenon_string_free(text);
  DONE(tenon_run_artifacts(engine, name, "calls", &text, &error));
  CHECK(strstr(tenon_string_text(text).data, "Which colour?") != NULL);
  tenon_string_free(text);
  DONE(tenon_run_artifacts(engine, name, "json", &text, &error));
  CHECK(tenon_string_text(text).data[0] == '{');
  tenon_string_free(text);

  DONE(tenon_run_replay(engine, name, NULL, &text, &error));
  CHECK(is_text(tenon_string_text(text), ""));
  tenon_string_free(text);
  DONE(tenon_program_load(engine, "changed.tn", "fn colour() -> String { \"It is \" + ask<String>(\"Which one?\") }",
                          &changed, &error));
  FAILS(tenon_run_replay(engine, name, changed, &text, &error), TENON_FAILED, "Which one?");
  tenon_program_free(changed);
  DONE(tenon_program_load(engine, "changed.tn",
                          "fn colour() -> String { \"It is all \" + ask<String>(\"Which colour?\") }", &changed,
                          &error));
  DONE(tenon_run_replay(engine, name, changed, &text, &error));
  CHECK(strstr(tenon_string_text(text).data, "It is all red") != NULL);
  tenon_string_free(text);

  FAILS(tenon_run_fork(engine, name, 99, NULL, 0, &fork, &error), TENON_USAGE, "records");
  DONE(tenon_run_fork(engine, name, 3, NULL, TENON_WITH_STOPS, &fork, &error));
  CHECK(strcmp(tenon_run_name(fork), name) != 0);
  if (stop_of(engine, fork) == TENON_RUN_ASKS) DONE(tenon_run_answer(fork, NULL, tenon_text_of("red"), &error));
  CHECK(wait_for(fork) == TENON_RUN_RETURNED);
  DONE(tenon_run_artifacts(engine, tenon_run_name(fork), "hash", &text, &error));
  CHECK(is_text(tenon_string_text(text), hash));
  tenon_string_free(text);
  tenon_run_free(fork);
  tenon_program_free(changed);
  tenon_program_free(program);
  tenon_engine_free(engine);
}

static void tests_run_and_graphs_are_drawn(Shop* shop, Mind* mind) {
  static const char* const text =
      "fn kind(ctx: Context) -> i32 { \"Which?\"! }\n"
      "test \"right\" { model { kind => 3 }; assert kind(Context::new()) == 3 }\n"
      "test \"wrong\" { model { kind => 3 }; assert kind(Context::new()) == 4 }\n"
      "agent Desk {\n block answer: emit { text: \"Hello\" }\n}\n";
  tenon_engine* engine = open_engine(shop, mind, NULL);
  tenon_program* program = NULL;
  tenon_string* found = NULL;
  FAILS(tenon_program_compile(engine, "/nonexistent.tn", NULL, &program, &error), TENON_PROGRAM, "/nonexistent.tn");
  DONE(tenon_program_compile(engine, "tested.tn", text, &program, &error));
  found = tenon_program_tests(program);
  CHECK(strstr(tenon_string_text(found).data, "\"name\":\"right\",\"path\":\"tested.tn\",\"line\":2") != NULL);
  tenon_string_free(found);
  DONE(tenon_program_run_test(program, 0, 0, &found, &error));
  CHECK(is_text(tenon_string_text(found), ""));
  tenon_string_free(found);
  DONE(tenon_program_run_test(program, 0, TENON_TEST_INTERRUPTED, &found, &error));
  CHECK(is_text(tenon_string_text(found), ""));
  tenon_string_free(found);
  DONE(tenon_program_run_test(program, 1, 0, &found, &error));
  CHECK(strstr(tenon_string_text(found).data, "tested.tn:3") != NULL);
  tenon_string_free(found);
  FAILS(tenon_program_run_test(program, 2, 0, &found, &error), TENON_USAGE, "no such test");
  DONE(tenon_program_graph(program, "svg", &found, &error));
  CHECK(strncmp(tenon_string_text(found).data, "<svg", 4) == 0);
  tenon_string_free(found);
  FAILS(tenon_program_graph(program, "png", &found, &error), TENON_USAGE, "`svg`");
  tenon_program_free(program);
  tenon_engine_free(engine);
}

/* This program as the worker of `extern(process)`, and the one beside libtenon. */
static void externs_run_in_processes(const char* self, const char* library) {
  static const char* const text =
      "extern(process) fn plus(a: i32, b: i32) -> i32\nfn sum(a: i32) -> i32 { plus(a, 1) }\n";
  int has_worker;
  for (has_worker = 0; has_worker < 2; ++has_worker) {
    const char* const command[] = {self, "--extern-worker", NULL};
    tenon_options* options = tenon_options_new();
    tenon_engine* engine = NULL;
    tenon_program* program = NULL;
    DONE(tenon_options_set(options, "extern", library, &error));
    tenon_options_set_model(options, "mind", &mind_functions, NULL, NULL);
    if (has_worker) tenon_options_set_worker(options, command);
    DONE(tenon_engine_open(options, &engine, &error));
    DONE(tenon_program_load(engine, "sum.tn", text, &program, &error));
    ends_with(start(program, "sum", "{\"a\": 4}", 0), TENON_RUN_RETURNED, "5");
    tenon_program_free(program);
    tenon_engine_free(engine);
    tenon_options_free(options);
  }
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
  ends_with(start(program, "half", "{\"n\": 4}", 0), TENON_RUN_RETURNED, "25");
  tenon_program_free(program);
  tenon_engine_free(engine);
}

int main(int count, char** arguments) {
  char folder[] = "/tmp/tenon-library-XXXXXX";
  char store[64];
  Shop shop = {7, 0, 0, NULL, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, NULL, 0, 0, 0, 0, 0};
  Mind mind = {"", NULL, false, 0, 0, 0, ""};
  int engines;
  if (count == 2 && strcmp(arguments[1], "--extern-worker") == 0) return tenon_extern_worker();
  if (count != 3) return 2;
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
  events_are_waited_for_until_the_run_does_not_continue(&shop, &mind);
  an_event_loop_waits_for_a_descriptor(&shop, &mind);
  stops_are_reported(&shop, &mind);
  an_event_loop_begins_calls(&shop, &mind, store);
  prompts_are_kept(&shop, &mind);
  recorded_runs_are_forked_and_replayed(&shop, &mind, store);
  tests_run_and_graphs_are_drawn(&shop, &mind);
  externs_run_in_processes(arguments[0], arguments[2]);
  a_forked_child_gets_an_error(&shop, &mind);
  engines = 18;
  CHECK(shop.released == engines);
  CHECK(shop.hooks_released == engines);
  CHECK(mind.released == engines);
  printf("%d checks passed\n", checks);
  {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 ? 0 : 1;
  }
}
