/* A program in C that uses the hosts of tenon/tenon.h. Its argument is the path of desk.tn. */
#define _POSIX_C_SOURCE 200809L

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "checks.h"
#include "interrupting.h"

static const char* desk;
static char store[] = "/tmp/tenon-hosts-XXXXXX";
static char store_file[64];
static char model[64]; /* has no answers */

static void price(tenon_call* call, void* user) {
  ++*(int*)user;
  tenon_put_i64(call, tenon_result(call), 7);
}

static void slow_price(tenon_call* call, void* user) {
  (void)user;
  tenon_fail(call, "it is not used here");
}

static tenon_options* make_options(int* calls) {
  tenon_options* options = tenon_options_new();
  DONE(tenon_options_set(options, "model", model, &error));
  DONE(tenon_options_set(options, "store", store_file, &error));
  DONE(tenon_options_set(options, "pool", "desks", &error));
  tenon_options_add_extern(options, "price", price, calls, NULL);
  tenon_options_add_extern(options, "slow_price", slow_price, NULL, NULL);
  return options;
}

/* The next event of the follower; NULL at the end of the run. */
static tenon_event* next(tenon_follower* follower) {
  tenon_event* event = NULL;
  DONE(tenon_follower_next(follower, WAIT_MAX, &event, &error));
  return event;
}

/* Takes events up to one of this type, which is returned. */
static tenon_event* find(tenon_follower* follower, const char* type) {
  for (;;) {
    tenon_event* event = next(follower);
    CHECK(event != NULL);
    if (equals(tenon_event_type(event), type)) return event;
    tenon_event_free(event);
  }
}

static bool contains(tenon_text text, const char* part) {
  if (strstr(text.data, part) != NULL) return true;
  fprintf(stderr, "found: %s\nexpected: %s\n", text.data, part);
  return false;
}

static void check_function(tenon_host* host, const int* calls) {
  tenon_string* run = NULL;
  tenon_string* again = NULL;
  const tenon_text order = tenon_text_of("{\"order\": {\"item\": \"tea\", \"count\": 3, \"tags\": []}}");
  DONE(tenon_host_start(host, "total", order, "first", WAIT_MAX, &run, &error));
  tenon_follower* follower = NULL;
  DONE(tenon_host_follow(host, tenon_string_text(run).data, 0, &follower, &error));
  tenon_event* call = find(follower, "tool_call");
  CHECK(contains(tenon_event_json(call), "\"price\""));
  tenon_event_free(call);
  tenon_event* end = find(follower, "turn_end");
  CHECK(contains(tenon_event_json(end), "21"));
  tenon_event_free(end);
  CHECK(next(follower) == NULL);
  CHECK(next(follower) == NULL);
  tenon_follower_free(follower);
  CHECK(*calls == 1);
  /* The same request again is the same run; another one with its key is refused. */
  DONE(tenon_host_start(host, "total", order, "first", WAIT_MAX, &again, &error));
  CHECK(is_text(tenon_string_text(again), tenon_string_text(run).data));
  CHECK(*calls == 1);
  tenon_string* refused = NULL;
  FAILS(tenon_host_start(host, "half", tenon_text_of("{\"n\": 5}"), "first", WAIT_MAX, &refused, &error),
        TENON_CONFLICT, "key");
  CHECK(refused == NULL);
  tenon_string* state = NULL;
  DONE(tenon_host_run(host, tenon_string_text(run).data, &state, &error));
  CHECK(contains(tenon_string_text(state), "\"state\":\"done\""));
  tenon_string_free(state);
  tenon_string_free(run);
  tenon_string_free(again);
}

/* Written on a thread of the host. */
typedef struct reply {
  volatile int count;
  char run[64];
  uint64_t after;
  tenon_status refusal;
} reply;

static void take_reply(void* user, tenon_text run, uint64_t after, tenon_error* refusal) {
  reply* taken = user;
  snprintf(taken->run, sizeof taken->run, "%s", run.data);
  taken->after = after;
  taken->refusal = refusal == NULL ? TENON_OK : tenon_error_status(refusal);
  tenon_error_free(refusal);
  __atomic_add_fetch(&taken->count, 1, __ATOMIC_RELEASE);
}

static reply sent(tenon_host* host, tenon_request_kind kind, const char* name, const char* input, const char* key) {
  reply taken;
  memset(&taken, 0, sizeof taken);
  const tenon_request request = {sizeof(tenon_request), kind, name, NULL, tenon_text_of(input), key};
  DONE(tenon_host_send(host, &request, take_reply, &taken, &error));
  for (uint64_t waits = 0; waits < WAIT_MAX && __atomic_load_n(&taken.count, __ATOMIC_ACQUIRE) == 0; ++waits) {
    poll(NULL, 0, 1);
  }
  CHECK(taken.count == 1);
  return taken;
}

static void check_requests_that_are_sent(tenon_host* host) {
  const tenon_request unknown = {sizeof(tenon_request), 17, "half", NULL, tenon_text_of(""), NULL};
  reply none;
  FAILS(tenon_host_send(host, &unknown, take_reply, &none, &error), TENON_USAGE, "request");
  reply started = sent(host, TENON_START, "Counter", "\"one\"", "sent");
  CHECK(started.refusal == TENON_OK);
  CHECK(is_text(tenon_text_of(sent(host, TENON_START, "Counter", "\"one\"", "sent").run), started.run));
  CHECK(sent(host, TENON_START, "Counter", "\"two\"", "sent").refusal == TENON_CONFLICT);
  CHECK(sent(host, TENON_PROMPT, "no such run", "\"two\"", NULL).refusal == TENON_NOT_FOUND);
  tenon_follower* follower = NULL;
  DONE(tenon_host_follow(host, started.run, 0, &follower, &error));
  tenon_event_free(find(follower, "turn_end"));
  reply prompted = sent(host, TENON_PROMPT, started.run, "\"two\"", NULL);
  CHECK(prompted.refusal == TENON_OK && prompted.after > 0);
  tenon_event_free(find(follower, "turn_end"));
  tenon_outcome* outcome = NULL;
  DONE(tenon_host_outcome(host, started.run, &outcome, &error));
  CHECK(tenon_outcome_state(outcome) == TENON_RUN_RETURNED);
  CHECK(is_text(tenon_outcome_value(outcome), "\"2: two\""));
  tenon_outcome_free(outcome);
  CHECK(sent(host, TENON_CANCEL, started.run, "enough", NULL).refusal == TENON_OK);
  while (true) {
    tenon_event* event = next(follower);
    if (event == NULL) break;
    tenon_event_free(event);
  }
  tenon_follower_free(follower);
  DONE(tenon_host_outcome(host, started.run, &outcome, &error));
  CHECK(tenon_outcome_state(outcome) == TENON_RUN_CANCELLED && equals(tenon_outcome_message(outcome), "enough"));
  tenon_outcome_free(outcome);
}

/* The outcome of a run that has ended. */
static tenon_outcome* end_of(tenon_host* host, const char* name, const char* arguments) {
  tenon_string* run = NULL;
  DONE(tenon_host_start(host, name, tenon_text_of(arguments), NULL, WAIT_MAX, &run, &error));
  tenon_follower* follower = NULL;
  DONE(tenon_host_follow(host, tenon_string_text(run).data, 0, &follower, &error));
  for (tenon_event* event = next(follower); event != NULL; event = next(follower)) tenon_event_free(event);
  tenon_follower_free(follower);
  tenon_outcome* outcome = NULL;
  DONE(tenon_host_outcome(host, tenon_string_text(run).data, &outcome, &error));
  tenon_string_free(run);
  return outcome;
}

/* Two runs that wait leave the memory, and are continued when they are asked for. */
static void check_release(tenon_host* host) {
  tenon_string* runs[2] = {NULL, NULL};
  for (int at = 0; at < 2; ++at) {
    DONE(tenon_host_start(host, "colour", tenon_text_of(""), NULL, WAIT_MAX, &runs[at], &error));
    tenon_follower* follower = NULL;
    DONE(tenon_host_follow(host, tenon_string_text(runs[at]).data, 0, &follower, &error));
    tenon_event_free(find(follower, "wait_for_input"));
    tenon_follower_free(follower);
  }
  size_t released = 0;
  size_t all = 0;
  for (int tries = 0; tries < 1000 && all < 2; ++tries) {
    DONE(tenon_host_release(host, 100, WAIT_MAX, &released, &error));
    all += released;
    if (all < 2) poll(NULL, 0, 5);
  }
  CHECK(all >= 2);
  DONE(tenon_host_release(host, 100, WAIT_MAX, &released, &error));
  CHECK(released == 0);
  for (int at = 0; at < 2; ++at) {
    DONE(tenon_host_answer(host, tenon_string_text(runs[at]).data, NULL, tenon_text_of("\"green\""), NULL, WAIT_MAX,
                           &error));
    tenon_string_free(runs[at]);
  }
}

static void check_outcomes(tenon_host* host) {
  tenon_outcome* outcome =
      end_of(host, "twice", "{\"order\": {\"item\": \"tea\", \"count\": 3, \"tags\": [\"green\"]}}");
  CHECK(tenon_outcome_state(outcome) == TENON_RUN_RETURNED);
  CHECK(is_text(tenon_outcome_value(outcome), "{\"item\":\"tea\",\"count\":6,\"tags\":[\"green\"]}"));
  tenon_outcome_free(outcome);
  outcome = end_of(host, "half", "{\"n\": 0}");
  CHECK(tenon_outcome_state(outcome) == TENON_RUN_FAILED && equals(tenon_outcome_kind(outcome), "Arithmetic"));
  CHECK(contains(tenon_outcome_message(outcome), "desk.tn:"));
  tenon_outcome_free(outcome);
  FAILS(tenon_host_outcome(host, "no such run", &outcome, &error), TENON_NOT_FOUND, "there is no run");
}

static void check_question(tenon_host* host) {
  tenon_string* run = NULL;
  DONE(tenon_host_start(host, "colour", tenon_text_of(""), NULL, WAIT_MAX, &run, &error));
  const char* name = tenon_string_text(run).data;
  tenon_follower* follower = NULL;
  DONE(tenon_host_follow(host, name, 0, &follower, &error));
  struct pollfd ready = {tenon_follower_descriptor(follower), POLLIN, 0};
  CHECK(poll(&ready, 1, WAIT_MAX) == 1);
  tenon_run_state state = TENON_RUN_ASKS;
  DONE(tenon_follower_state(follower, &state, &error));
  CHECK(state == TENON_RUN_RUNNING);
  tenon_event_free(find(follower, "wait_for_input"));
  DONE(tenon_follower_state(follower, &state, &error));
  CHECK(state == TENON_RUN_ASKS);
  tenon_event* none = NULL;
  tenon_outcome* no_outcome = NULL;
  tenon_error* error = NULL;
  CHECK(tenon_follower_next(follower, 0, &none, &error) == TENON_NOT_YET);
  Interrupting interrupting = {.follower = follower};
  begin_interrupting(&interrupting);
  CHECK(tenon_follower_next(follower, TENON_FOREVER, &none, &error) == TENON_NOT_YET);
  end_interrupting(&interrupting);
  CHECK(tenon_host_outcome(host, name, &no_outcome, &error) == TENON_NOT_YET);
  FAILS(tenon_host_answer(host, name, NULL, tenon_text_of("{"), NULL, WAIT_MAX, &error), TENON_WRONG_INPUT, "JSON");
  FAILS(tenon_host_answer(host, name, NULL, tenon_text_of("3"), NULL, WAIT_MAX, &error), TENON_WRONG_INPUT, "string");
  DONE(tenon_host_answer(host, name, NULL, tenon_text_of("\"green\""), "a", WAIT_MAX, &error));
  tenon_event* end = find(follower, "turn_end");
  CHECK(contains(tenon_event_json(end), "It is green."));
  tenon_event_free(end);
  DONE(tenon_follower_state(follower, &state, &error));
  CHECK(state == TENON_RUN_RETURNED);
  FAILS(tenon_host_answer(host, name, NULL, tenon_text_of("\"red\""), NULL, WAIT_MAX, &error), TENON_CONFLICT, "ended");
  tenon_follower_free(follower);
  tenon_string_free(run);
}

static void check_conversation(tenon_host* host) {
  tenon_string* run = NULL;
  DONE(tenon_host_start(host, "Counter", tenon_text_of("\"one\""), NULL, WAIT_MAX, &run, &error));
  const char* name = tenon_string_text(run).data;
  tenon_follower* follower = NULL;
  DONE(tenon_host_follow(host, name, 0, &follower, &error));
  tenon_event* first = find(follower, "turn_end");
  CHECK(contains(tenon_event_json(first), "1: one"));
  tenon_event_free(first);
  DONE(tenon_host_prompt(host, name, tenon_text_of("\"two\""), "p", WAIT_MAX, &error));
  DONE(tenon_host_prompt(host, name, tenon_text_of("\"two\""), "p", WAIT_MAX, &error));
  tenon_event* second = find(follower, "turn_end");
  CHECK(contains(tenon_event_json(second), "2: two"));
  tenon_event_free(second);
  FAILS(tenon_host_cancel_turn(host, name, "enough", NULL, WAIT_MAX, &error), TENON_CONFLICT, "no turn");
  DONE(tenon_host_cancel(host, name, "enough", NULL, WAIT_MAX, &error));
  while (true) {
    tenon_event* event = next(follower);
    if (event == NULL) break;
    tenon_event_free(event);
  }
  tenon_follower_free(follower);
  tenon_string* runs = NULL;
  DONE(tenon_host_runs(host, "cancelled", NULL, 10, &runs, &error));
  CHECK(contains(tenon_string_text(runs), name));
  tenon_string_free(runs);
  FAILS(tenon_host_runs(host, "lost", NULL, 10, &runs, &error), TENON_USAGE, "there is no state `lost`");
  FAILS(tenon_host_run(host, "no such run", &runs, &error), TENON_NOT_FOUND, "there is no run");
  FAILS(tenon_host_follow(host, "no such run", 0, &follower, &error), TENON_NOT_FOUND, "there is no run");
  tenon_string_free(run);
}

/* The first line of the response to a request. */
static void fetch(uint16_t port, const char* path, char* line, size_t size) {
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address;
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(connect(connection, (struct sockaddr*)&address, sizeof address) == 0);
  char request[200];
  snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
  CHECK(write(connection, request, strlen(request)) == (ssize_t)strlen(request));
  const ssize_t length = read(connection, line, size - 1);
  CHECK(length > 0);
  line[length] = '\0';
  close(connection);
}

static void check_http(tenon_host* host) {
  uint16_t port = 0;
  char line[100];
  FAILS(tenon_host_serve(host, "0.0.0.0", 0, NULL, &port, &error), TENON_USAGE, "token");
  FAILS(tenon_host_serve(host, "nowhere", 0, NULL, &port, &error), TENON_USAGE, "IP address");
  DONE(tenon_host_serve(host, "127.0.0.1", 0, NULL, &port, &error));
  CHECK(port != 0);
  fetch(port, "/readyz", line, sizeof line);
  CHECK(strncmp(line, "HTTP/1.1 200", 12) == 0);
  FAILS(tenon_host_serve(host, "127.0.0.1", 0, NULL, &port, &error), TENON_CONFLICT, "already");
}

static void check_fork(tenon_host* host) {
  const pid_t child = fork();
  if (child == 0) {
    tenon_string* run = NULL;
    tenon_error* error = NULL;
    const tenon_status status = tenon_host_start(host, "colour", tenon_text_of(""), NULL, WAIT_MAX, &run, &error);
    tenon_host_free(host);
    _exit(status == TENON_FORKED ? 0 : 1);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void check_opening(tenon_options* options) {
  tenon_host* host = NULL;
  tenon_options* storeless = tenon_options_new();
  FAILS(tenon_host_open(storeless, TENON_HOST, &desk, 1, &host, &error), TENON_USAGE, "store");
  FAILS(tenon_host_open(options, TENON_HOST, &desk, 0, &host, &error), TENON_USAGE, "program");
  FAILS(tenon_host_open(options, 7, &desk, 1, &host, &error), TENON_USAGE, "role");
  const char* const missing = "no such file.tn";
  FAILS(tenon_host_open(options, TENON_HOST, &missing, 1, &host, &error), TENON_PROGRAM, "no such file.tn");
  tenon_options_free(storeless);
}

static void remove_store(void) {
  static const char* const endings[] = {"store.db", "store.db-wal", "store.db-shm", "store.db.lock", "answers"};
  for (size_t at = 0; at < sizeof endings / sizeof *endings; ++at) {
    char file[100];
    snprintf(file, sizeof file, "%s/%s", store, endings[at]);
    unlink(file);
  }
  CHECK(rmdir(store) == 0);
}

int main(int count, char** arguments) {
  if (count != 2) return 2;
  desk = arguments[1];
  CHECK(mkdtemp(store) != NULL);
  snprintf(store_file, sizeof store_file, "%s/store.db", store);
  snprintf(model, sizeof model, "script:%s/answers", store);
  FILE* answers = fopen(model + strlen("script:"), "w");
  CHECK(answers != NULL && fclose(answers) == 0);
  int calls = 0;
  tenon_options* options = make_options(&calls);
  check_opening(options);

  tenon_host* host = NULL;
  DONE(tenon_host_open(options, TENON_HOST, &desk, 1, &host, &error));
  DONE(tenon_host_begin(host, &error));
  FAILS(tenon_host_begin(host, &error), TENON_CONFLICT, "begun");
  check_function(host, &calls);
  check_question(host);
  check_conversation(host);
  check_requests_that_are_sent(host);
  check_outcomes(host);
  check_release(host);
  check_http(host);
  check_fork(host);
  tenon_string* run = NULL;
  FAILS(tenon_host_start(host, "totl", tenon_text_of("{}"), NULL, WAIT_MAX, &run, &error), TENON_USAGE,
        "did you mean `total`");
  FAILS(tenon_host_start(host, "half", tenon_text_of("{\"m\": 5}"), NULL, WAIT_MAX, &run, &error), TENON_WRONG_INPUT,
        "`n` is missing");
  tenon_string* text = tenon_host_describe(host);
  CHECK(contains(tenon_string_text(text), "\"Counter\""));
  tenon_string_free(text);
  text = tenon_host_placements(host);
  CHECK(is_text(tenon_string_text(text), "[]"));
  tenon_string_free(text);
  text = tenon_host_status(host);
  CHECK(contains(tenon_string_text(text), "\"lease\":\"held\""));
  CHECK(contains(tenon_string_text(text), "\"broken\":null"));
  tenon_string_free(text);
  DONE(tenon_host_owners(host, &text, &error));
  CHECK(contains(tenon_string_text(text), "\"role\":\"host\""));
  tenon_string_free(text);
  DONE(tenon_host_counts(host, &text, &error));
  CHECK(contains(tenon_string_text(text), "\"cancelled\":2"));
  CHECK(contains(tenon_string_text(text), "\"commands\":0"));
  tenon_string_free(text);
  DONE(tenon_host_pools_without_hosts(host, &text, &error));
  CHECK(is_text(tenon_string_text(text), "[]"));
  tenon_string_free(text);
  DONE(tenon_host_start(host, "colour", tenon_text_of(""), NULL, WAIT_MAX, &run, &error));
  tenon_follower* follower = NULL;
  tenon_event* none = NULL;
  DONE(tenon_host_follow(host, tenon_string_text(run).data, 0, &follower, &error));
  tenon_event_free(find(follower, "wait_for_input"));
  tenon_string_free(run);
  DONE(tenon_host_stop(host, 1000, &error));
  DONE(tenon_host_stop(host, 1000, &error));
  FAILS(tenon_host_start(host, "colour", tenon_text_of(""), NULL, WAIT_MAX, &run, &error), TENON_CONFLICT, "stopped");
  const tenon_request late = {sizeof(tenon_request), TENON_START, "colour", NULL, tenon_text_of(""), NULL};
  FAILS(tenon_host_send(host, &late, take_reply, NULL, &error), TENON_CONFLICT, "stopped");
  CHECK(tenon_follower_next(follower, WAIT_MAX, &none, NULL) == TENON_CONFLICT);
  tenon_follower_free(follower);
  text = tenon_host_status(host);
  CHECK(contains(tenon_string_text(text), "\"broken\":null"));
  tenon_string_free(text);
  /* The store can be opened again. */
  tenon_host* next_host = NULL;
  DONE(tenon_host_open(options, TENON_HOST, &desk, 1, &next_host, &error));
  tenon_host_free(next_host);
  tenon_host_free(host);
  tenon_host_free(NULL);
  tenon_follower_free(NULL);
  tenon_options_free(options);
  remove_store();
  printf("%d checks\n", checks);
  return 0;
}
