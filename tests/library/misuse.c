/* A program in C that uses tenon/tenon.h wrongly: each mistake is an error, and nothing is lost by it. Its argument is
 * the path of desk.tn. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "checks.h"

#define TEA "{\"order\": {\"item\": \"tea\", \"count\": 3, \"tags\": []}}"

static const char* desk;

/* What the extern `price` does within its engine. */
typedef struct Desk {
  int price;
  bool finishes; /* what it has not deferred */
  tenon_engine* engine;
  tenon_run* run;   /* to be freed */
  tenon_call* made; /* of tenon_call_new */
  tenon_call* deferred;
} Desk;

static void price(tenon_call* call, void* user) {
  Desk* state = user;
  const tenon_value* value;
  tenon_outcome* outcome;
  tenon_run* run;
  tenon_run_state run_state;
  if (state->finishes) {
    tenon_finish(call);
    /* A call of an extern is not one of the host. */
    CHECK(tenon_call_parameter(call, 0) == NULL);
    FAILS(tenon_call_make(call, 0, &value, &outcome, &run, &error), TENON_USAGE, "one of an extern");
    FAILS(tenon_call_start(call, 0, &run, &error), TENON_USAGE, "one of an extern");
    FAILS(tenon_call_begin(call, &run, &run_state, &error), TENON_USAGE, "one of an extern");
    tenon_call_free(call);
  }
  if (state->run != NULL) {
    tenon_run_free(state->run);
    state->run = NULL;
  }
  if (state->engine != NULL) {
    FAILS(tenon_engine_stop(state->engine, 0, &error), TENON_CONFLICT, "complete the call later");
    tenon_engine_free(state->engine);
  }
  if (state->made != NULL) {
    FAILS(tenon_call_start(state->made, 0, &run, &error), TENON_CONFLICT, "complete the call later");
    FAILS(tenon_call_begin(state->made, &run, &run_state, &error), TENON_CONFLICT, "complete the call later");
    CHECK(run == NULL);
  }
  tenon_put_i64(call, tenon_result(call), state->price);
}

static void slow_price(tenon_call* call, void* user) {
  CHECK(tenon_defer(call));
  ((Desk*)user)->deferred = call;
}

static tenon_generation* generation_of_before;

static void start_twice(void* user, tenon_generation* generation, tenon_text request) {
  (void)user;
  (void)request;
  generation_of_before = generation;
  tenon_generation_finish(generation, tenon_text_of("once"));
  tenon_generation_finish(generation, tenon_text_of("twice"));
  tenon_generation_add(generation, tenon_text_of("more"));
  tenon_generation_fail(generation, TENON_MODEL_REJECTED, tenon_text_of("thrice"));
}

static const tenon_model model = {sizeof(tenon_model), start_twice, NULL};

static tenon_engine* open_engine(Desk* state) {
  tenon_options* options = tenon_options_new();
  tenon_engine* engine;
  tenon_options_add_extern(options, "price", price, state, NULL);
  tenon_options_add_extern(options, "slow_price", slow_price, state, NULL);
  tenon_options_set_model(options, "mind", &model, NULL, NULL);
  DONE(tenon_engine_open(options, &engine, &error));
  tenon_options_free(options);
  return engine;
}

static void ends_with(tenon_run* run, const char* value) {
  tenon_outcome* outcome;
  DONE(tenon_run_wait(run, WAIT_MAX, NULL, &error));
  DONE(tenon_run_outcome(run, &outcome, &error));
  CHECK(is_text(tenon_outcome_value(outcome), value));
  tenon_outcome_free(outcome);
  tenon_run_free(run);
}

static tenon_run* start(tenon_program* program, const char* function, const char* arguments) {
  tenon_run* run;
  DONE(tenon_run_start(program, function, tenon_text_of(arguments), 0, &run, &error));
  return run;
}

/* A pointer that a function would have written to, for the check that it has. */
#define WRONG(type) ((type*)(void*)&desk)

static void handles_may_be_null(void) {
  tenon_engine* engine = WRONG(tenon_engine);
  tenon_program* program = WRONG(tenon_program);
  tenon_run* run = WRONG(tenon_run);
  tenon_call* call = WRONG(tenon_call);
  tenon_event* event = WRONG(tenon_event);
  tenon_outcome* outcome = WRONG(tenon_outcome);
  tenon_string* string = WRONG(tenon_string);
  tenon_question_list* questions = WRONG(tenon_question_list);
  tenon_host* host = WRONG(tenon_host);
  tenon_run_state state = TENON_RUN_RETURNED;
  size_t count = 7;
  int descriptor = 7;
  FAILS(tenon_options_set(NULL, "seed", "1", &error), TENON_USAGE, "NULL");
  FAILS(tenon_options_set_secret(NULL, "TENON_SECRET_KEY", "1", &error), TENON_USAGE, "NULL");
  FAILS(tenon_engine_open(NULL, &engine, &error), TENON_USAGE, "NULL");
  FAILS(tenon_program_load(NULL, "x.tn", NULL, &program, &error), TENON_USAGE, "NULL");
  FAILS(tenon_run_start(NULL, "f", tenon_text_of("{}"), 0, &run, &error), TENON_USAGE, "NULL");
  FAILS(tenon_call_new(NULL, "f", &call, &error), TENON_USAGE, "NULL");
  FAILS(tenon_call_begin(NULL, &run, &state, &error), TENON_USAGE, "NULL");
  FAILS(tenon_next_event(NULL, NULL, 0, &event, &error), TENON_USAGE, "NULL");
  FAILS(tenon_run_outcome(NULL, &outcome, &error), TENON_USAGE, "NULL");
  FAILS(tenon_run_questions(NULL, &string, &error), TENON_USAGE, "NULL");
  FAILS(tenon_run_open_questions(NULL, &questions, &error), TENON_USAGE, "NULL");
  CHECK(questions == NULL && !tenon_question_at(NULL, 0, NULL));
  FAILS(tenon_run_wait(NULL, 0, &state, &error), TENON_USAGE, "NULL");
  FAILS(tenon_next_stops(NULL, 0, NULL, 0, &count, &error), TENON_USAGE, "NULL");
  FAILS(tenon_engine_descriptor(NULL, &descriptor, &error), TENON_USAGE, "NULL");
  FAILS(tenon_host_open(NULL, TENON_HOST, NULL, 0, &host, &error), TENON_USAGE, "NULL");
  CHECK(engine == NULL && program == NULL && run == NULL && call == NULL && event == NULL && outcome == NULL);
  CHECK(string == NULL && host == NULL && state == TENON_RUN_RUNNING && count == 0 && descriptor == -1);
  CHECK(tenon_engine_open(NULL, NULL, NULL) == TENON_USAGE);
  CHECK(tenon_program_describe(NULL) == NULL && tenon_run_name(NULL) == NULL && tenon_run_number(NULL) == 0);
  CHECK(equals(tenon_string_text(NULL), "") && equals(tenon_outcome_value(NULL), ""));
  CHECK(!tenon_defer(NULL) && !tenon_may_begin(NULL) && !tenon_is_lone(NULL) && tenon_call_run(NULL) == 0);
  CHECK(!tenon_perform_outside(NULL, slow_price, NULL));
  tenon_finish(NULL);
  tenon_generation_finish(NULL, tenon_text_of(""));
}

/* Everything of extern.h does nothing with a call that is NULL, as one that could not be made. */
static void a_call_may_be_null(tenon_program* program) {
  tenon_call* call = WRONG(tenon_call);
  tenon_slot* slot;
  const tenon_value* value = NULL;
  const int64_t numbers[] = {1};
  const double floats[] = {1};
  size_t cursor = 0;
  tenon_text key;
  FAILS(tenon_call_new(program, "nothing", &call, &error), TENON_USAGE, "nothing");
  CHECK(call == NULL);
  slot = tenon_call_parameter(call, 0);
  tenon_put_boolean(call, slot, true);
  tenon_put_i64(call, slot, 3);
  tenon_put_f64(call, slot, 3);
  tenon_put_string(call, slot, "tea");
  tenon_put_value(call, slot, value);
  tenon_put_list(call, slot);
  tenon_put_i64s(call, slot, numbers, 1);
  tenon_put_f64s(call, slot, floats, 1);
  tenon_put_map(call, slot);
  tenon_put_case(call, slot, "A");
  tenon_put_none(call, slot);
  tenon_put_err(call, slot, "no");
  tenon_put_json(call, slot, "3");
  CHECK(tenon_put_item(call, slot) == NULL && tenon_put_entry(call, slot, "a", 1) == NULL);
  CHECK(tenon_put_field(call, slot, "a") == NULL && tenon_put_position(call, slot, 0) == NULL);
  CHECK(tenon_put_some(call, slot) == NULL && tenon_put_ok(call, slot) == NULL && tenon_result(call) == NULL);
  CHECK(tenon_argument_count(call) == 0 && tenon_argument(call, 0) == NULL && tenon_length(call, value) == 0);
  CHECK(tenon_kind_of(call, value) == TENON_NOTHING && !tenon_as_boolean(call, value));
  CHECK(tenon_as_i32(call, value) == 0 && tenon_as_i64(call, value) == 0 && tenon_as_f64(call, value) >= 0);
  CHECK(equals(tenon_as_text(call, value), "") && equals(tenon_as_json(call, value), ""));
  CHECK(equals(tenon_case_of(call, value), "") && tenon_item(call, value, 0) == NULL);
  CHECK(tenon_field(call, value, "a") == NULL && tenon_find(call, value, "a", 1) == NULL);
  CHECK(tenon_some(call, value) == NULL && !tenon_next_entry(call, value, &cursor, &key, &value));
  CHECK(tenon_effect_key(call)[0] == '\0' && tenon_input(call).data == NULL && !tenon_is_cancelled(call));
  tenon_pause_for_input(call, "Which colour?");
  tenon_pause_for_child(call, "Counter", "");
  tenon_finish_agent(call, "Counter", "");
  tenon_fail(call, "%d", 3);
  tenon_fail_unavailable(call, "no");
  tenon_fail_interrupted(call, "no");
  CHECK(tenon_failed(call));
  tenon_call_free(call);
}

static void structs_say_their_size(void) {
  tenon_model short_model = {offsetof(tenon_model, start), start_twice, NULL};
  tenon_extern_hooks no_hooks = {0, NULL, NULL, NULL};
  tenon_options* options = tenon_options_new();
  tenon_engine* engine;
  tenon_options_set_model(options, "mind", &short_model, NULL, NULL);
  FAILS(tenon_engine_open(options, &engine, &error), TENON_USAGE, "`start`");
  CHECK(engine == NULL);
  tenon_options_free(options);
  options = tenon_options_new();
  tenon_options_set_extern_hooks(options, &no_hooks, NULL, NULL);
  FAILS(tenon_engine_open(options, &engine, &error), TENON_USAGE, "`size`");
  tenon_options_free(options);
  options = tenon_options_new();
  tenon_options_add_extern(options, "price", NULL, NULL, NULL);
  FAILS(tenon_engine_open(options, &engine, &error), TENON_USAGE, "`price`");
  tenon_options_free(options);
}

/* Options can be used once what was wrong with them is right. */
static void options_are_corrected(void) {
  tenon_model no_model = {sizeof(tenon_model), NULL, NULL};
  tenon_extern_hooks no_hooks = {0, NULL, NULL, NULL};
  tenon_options* options = tenon_options_new();
  Desk state = {7, false, NULL, NULL, NULL, NULL};
  tenon_engine* engine;
  tenon_options_set_model(options, "mind", &no_model, NULL, NULL);
  tenon_options_add_extern(options, "price", NULL, NULL, NULL);
  tenon_options_set_extern_hooks(options, &no_hooks, NULL, NULL);
  FAILS(tenon_engine_open(options, &engine, &error), TENON_USAGE, "`start`");
  tenon_options_set_model(options, "mind", &model, NULL, NULL);
  FAILS(tenon_engine_open(options, &engine, &error), TENON_USAGE, "`size`");
  tenon_options_set_extern_hooks(options, NULL, NULL, NULL);
  FAILS(tenon_engine_open(options, &engine, &error), TENON_USAGE, "`price`");
  tenon_options_add_extern(options, "price", price, &state, NULL);
  DONE(tenon_engine_open(options, &engine, &error));
  tenon_engine_free(engine);
  tenon_options_free(options);
}

static void files_have_paths(tenon_engine* engine) {
  tenon_options* options = tenon_options_new();
  tenon_program* program = WRONG(tenon_program);
  tenon_host* host = WRONG(tenon_host);
  const char* files[2];
  files[0] = desk;
  files[1] = NULL;
  FAILS(tenon_program_load(engine, NULL, "", &program, &error), TENON_USAGE, "needs a path");
  FAILS(tenon_program_load(engine, "", NULL, &program, &error), TENON_USAGE, "needs a path");
  FAILS(tenon_program_compile(engine, NULL, NULL, &program, &error), TENON_USAGE, "needs a path");
  FAILS(tenon_host_open(options, TENON_HOST, files, 2, &host, &error), TENON_USAGE, "file 1 of the host is NULL");
  FAILS(tenon_host_serve(NULL, "localhost", 0, NULL, NULL, &error), TENON_USAGE, "NULL");
  CHECK(program == NULL && host == NULL);
  tenon_options_free(options);
}

static void results_are_nothing_after_a_failure(tenon_engine* engine, tenon_program* program) {
  tenon_program* other = WRONG(tenon_program);
  tenon_run* run = WRONG(tenon_run);
  tenon_call* call = WRONG(tenon_call);
  tenon_event* event = WRONG(tenon_event);
  FAILS(tenon_program_load(engine, "x.tn", "fn main() -> i32 { y }", &other, &error), TENON_PROGRAM, "`y`");
  FAILS(tenon_run_start(program, "totl", tenon_text_of("{}"), 0, &run, &error), TENON_USAGE, "`total`");
  FAILS(tenon_call_new(program, "totl", &call, &error), TENON_USAGE, "`total`");
  CHECK(tenon_next_event(engine, NULL, 0, &event, NULL) == TENON_NOT_YET);
  CHECK(other == NULL && run == NULL && call == NULL && event == NULL);
}

/* A call of `pairs`, whose value is a map. */
static tenon_call* call_pairs(tenon_program* program, const tenon_value** map) {
  tenon_call* call;
  tenon_outcome* outcome;
  tenon_run* run;
  DONE(tenon_call_new(program, "pairs", &call, &error));
  tenon_put_json(call, tenon_call_parameter(call, 0), "{\"a\": 1}");
  DONE(tenon_call_make(call, WAIT_MAX, map, &outcome, &run, &error));
  CHECK(*map != NULL && !tenon_failed(call));
  return call;
}

static void pointers_of_a_call_may_be_null(tenon_engine* engine) {
  tenon_program* program;
  const tenon_value* map;
  const tenon_value* value;
  tenon_text key;
  tenon_call* call;
  int i;
  DONE(tenon_program_load(engine, "pairs.tn", "fn pairs(m: Map<i32>) -> Map<i32> { m }", &program, &error));
  for (i = 0; i < 12; i++) {
    size_t cursor = 0;
    call = call_pairs(program, &map);
    switch (i) {
      case 0:
        CHECK(tenon_next_entry(call, map, &cursor, &key, &value) && equals(key, "a"));
        CHECK(!tenon_next_entry(call, map, &cursor, &key, &value) && !tenon_failed(call));
        break;
      case 1:
        CHECK(!tenon_next_entry(call, map, NULL, &key, &value));
        break;
      case 2:
        CHECK(!tenon_next_entry(call, map, &cursor, NULL, &value) && cursor == 0);
        break;
      case 3:
        CHECK(!tenon_next_entry(call, map, &cursor, &key, NULL) && cursor == 0);
        break;
      case 4:
        tenon_pause_for_input(call, NULL);
        break;
      case 5:
        tenon_pause_for_child(call, NULL, NULL);
        break;
      case 6:
        tenon_finish_agent(call, NULL, NULL);
        break;
      case 7:
        tenon_fail_unavailable(call, NULL);
        break;
      case 8:
        tenon_fail_interrupted(call, NULL);
        break;
      case 9:
        tenon_fail(call, NULL);
        break;
      case 10:
        tenon_put_case_text(call, tenon_call_parameter(call, 0), NULL, SIZE_MAX / 2);
        break;
      default:
        tenon_put_err_text(call, tenon_call_parameter(call, 0), NULL, SIZE_MAX / 2);
    }
    CHECK(tenon_failed(call) == (i > 0));
    tenon_call_free(call);
  }
  tenon_program_free(program);
}

static void a_call_of_which_something_is_missing_can_be_completed(tenon_program* program) {
  tenon_call* call;
  const tenon_value* value;
  tenon_outcome* outcome;
  tenon_run* run;
  tenon_slot* order;
  DONE(tenon_call_new(program, "twice", &call, &error));
  order = tenon_call_parameter(call, 0);
  tenon_put_string(call, tenon_put_field(call, order, "item"), "tea");
  tenon_put_json(call, tenon_put_field(call, order, "tags"), "[]");
  FAILS(tenon_call_make(call, WAIT_MAX, &value, &outcome, &run, &error), TENON_WRONG_INPUT, "count");
  FAILS(tenon_call_start(call, 0, &run, &error), TENON_WRONG_INPUT, "count");
  tenon_put_i64(call, tenon_put_field(call, order, "count"), 4);
  DONE(tenon_call_make(call, WAIT_MAX, &value, &outcome, &run, &error));
  CHECK(value != NULL && tenon_as_i32(call, tenon_field(call, value, "count")) == 8);
  /* A call of the host is not one of an extern. */
  CHECK(!tenon_defer(call) && !tenon_may_begin(call) && !tenon_is_lone(call) && tenon_call_run(call) != 0);
  CHECK(!tenon_perform_outside(call, slow_price, NULL));
  tenon_finish(call);
  tenon_call_free(call);
}

/* A value has the type of the function that the call is of. */
static void a_call_takes_the_value_of_its_own_run(tenon_engine* engine, tenon_program* program, Desk* state) {
  tenon_engine* other_engine = open_engine(state);
  tenon_program* other_program;
  tenon_program* sums;
  tenon_call* calls[3];
  tenon_run* runs[3];
  const tenon_value* value = WRONG(tenon_value);
  size_t i;
  DONE(tenon_program_load(other_engine, desk, NULL, &other_program, &error));
  DONE(tenon_program_load(engine, "sums.tn", "fn sum(a: i32) -> List<i32> { [a, a] }", &sums, &error));
  DONE(tenon_call_new(program, "half", &calls[0], &error));
  DONE(tenon_call_new(sums, "sum", &calls[1], &error));
  DONE(tenon_call_new(other_program, "half", &calls[2], &error));
  CHECK(tenon_call_run(calls[0]) != tenon_call_run(calls[1]));
  for (i = 0; i < 3; i++) {
    tenon_put_i64(calls[i], tenon_call_parameter(calls[i], 0), 4);
    DONE(tenon_call_start(calls[i], 0, &runs[i], &error));
    DONE(tenon_run_wait(runs[i], WAIT_MAX, NULL, &error));
  }
  FAILS(tenon_call_value(calls[0], runs[1], &value, &error), TENON_USAGE, "this call has started");
  CHECK(value == NULL);
  FAILS(tenon_call_value(calls[1], runs[0], &value, &error), TENON_USAGE, "this call has started");
  FAILS(tenon_call_value(calls[0], runs[2], &value, &error), TENON_USAGE, "this call has started");
  DONE(tenon_call_value(calls[0], runs[0], &value, &error));
  CHECK(tenon_as_i32(calls[0], value) == 25);
  DONE(tenon_call_value(calls[1], runs[1], &value, &error));
  CHECK(tenon_length(calls[1], value) == 2);
  for (i = 0; i < 3; i++) {
    tenon_run_free(runs[i]);
    tenon_call_free(calls[i]);
  }
  tenon_program_free(sums);
  tenon_program_free(other_program);
  tenon_engine_free(other_engine);
}

static void an_extern_uses_its_engine(Desk* state, tenon_engine* engine, tenon_program* program) {
  tenon_run* asks = start(program, "colour", "{}");
  DONE(tenon_run_wait(asks, WAIT_MAX, NULL, &error));
  state->finishes = true;
  ends_with(start(program, "total", TEA), "21");
  state->finishes = false;
  DONE(tenon_call_new(program, "colour", &state->made, &error));
  state->engine = engine;
  state->run = asks;
  ends_with(start(program, "total", TEA), "21");
  CHECK(state->run == NULL);
  state->engine = NULL;
  /* What was refused there can still be done. */
  DONE(tenon_call_start(state->made, 0, &asks, &error));
  tenon_run_free(asks);
  tenon_call_free(state->made);
  state->made = NULL;
}

/* A host that only polls continues its runs, too, and a poll waits for nothing. */
static void polls_continue_the_runs(Desk* state, tenon_engine* engine, tenon_program* program) {
  enum { POLLS_MAX = 100 };
  tenon_status status = TENON_NOT_YET;
  tenon_run* run = start(program, "total", TEA);
  tenon_stop stop;
  tenon_event* event;
  size_t count = 0;
  int polls;
  for (polls = 0; polls < POLLS_MAX && status == TENON_NOT_YET; polls++) status = tenon_run_wait(run, 0, NULL, NULL);
  CHECK(status == TENON_OK);
  ends_with(run, "21");
  DONE(tenon_run_start(program, "total", tenon_text_of(TEA), TENON_WITH_STOPS, &run, &error));
  for (polls = 0; polls < POLLS_MAX && count == 0; polls++) {
    CHECK(tenon_next_stops(engine, 0, &stop, 1, &count, NULL) <= TENON_NOT_YET);
  }
  CHECK(count == 1 && stop.run == tenon_run_number(run) && stop.state == TENON_RUN_RETURNED);
  ends_with(run, "21");
  DONE(tenon_run_start(program, "total", tenon_text_of(TEA), TENON_WITH_EVENTS, &run, &error));
  for (polls = 0, event = NULL; polls < POLLS_MAX && event == NULL; polls++) {
    CHECK(tenon_next_event(engine, run, 0, &event, NULL) <= TENON_NOT_YET);
  }
  CHECK(event != NULL);
  tenon_event_free(event);
  ends_with(run, "21");
  run = start(program, "slow_total", TEA);
  state->deferred = NULL;
  for (polls = 0; polls < POLLS_MAX; polls++) CHECK(tenon_run_wait(run, 0, NULL, NULL) == TENON_NOT_YET);
  CHECK(state->deferred != NULL);
  tenon_put_i64(state->deferred, tenon_result(state->deferred), 5);
  tenon_finish(state->deferred);
  ends_with(run, "15");
}

static void calls_and_answers_end_once(Desk* state, tenon_program* program) {
  tenon_run* run = start(program, "slow_total", TEA);
  CHECK(tenon_run_wait(run, 10, NULL, NULL) == TENON_NOT_YET);
  tenon_put_i64(state->deferred, tenon_result(state->deferred), 5);
  tenon_finish(state->deferred);
  tenon_finish(state->deferred); /* nothing has taken the result yet */
  ends_with(run, "15");
  tenon_finish(state->deferred); /* the call does not exist any more */
  ends_with(start(program, "greet", "{\"name\": \"Ada\"}"), "\"once\"");
  tenon_generation_add(generation_of_before, tenon_text_of("more"));
  tenon_generation_finish(generation_of_before, tenon_text_of("late"));
  tenon_generation_fail(generation_of_before, TENON_MODEL_REJECTED, tenon_text_of("late"));
  CHECK(tenon_generation_is_cancelled(generation_of_before));
}

int main(int count, char** arguments) {
  Desk state = {7, false, NULL, NULL, NULL, NULL};
  tenon_engine* engine;
  tenon_program* program;
  if (count != 2) return 2;
  desk = arguments[1];
  handles_may_be_null();
  structs_say_their_size();
  engine = open_engine(&state);
  DONE(tenon_program_load(engine, desk, NULL, &program, &error));
  results_are_nothing_after_a_failure(engine, program);
  options_are_corrected();
  files_have_paths(engine);
  a_call_may_be_null(program);
  pointers_of_a_call_may_be_null(engine);
  a_call_of_which_something_is_missing_can_be_completed(program);
  a_call_takes_the_value_of_its_own_run(engine, program, &state);
  an_extern_uses_its_engine(&state, engine, program);
  polls_continue_the_runs(&state, engine, program);
  calls_and_answers_end_once(&state, program);
  tenon_program_free(program);
  tenon_engine_free(engine);
  printf("%d checks passed\n", checks);
  return 0;
}
