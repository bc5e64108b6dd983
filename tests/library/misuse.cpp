// A program in C++ whose functions throw: that fails what they were called for, and the engine and the host stay in
// use. Its argument is the path of desk.tn.
#include <tenon/tenon.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "checks.h"

namespace {

constexpr const char* tea = R"({"order": {"item": "tea", "count": 3, "tags": []}})";

const char* desk = nullptr;

/// What the functions of the host throw.
enum class Thrown { Nothing, Exception, Number };

void throw_it(Thrown what) {
  if (what == Thrown::Exception) throw std::runtime_error("the shop is closed");
  if (what == Thrown::Number) throw 42;
}

struct Shop {
  Thrown thrown = Thrown::Nothing;  ///< by everything that has no own
  Thrown hook = Thrown::Nothing;
  tenon_call* deferred = nullptr;
};

void price(tenon_call* call, void* user) {
  throw_it(static_cast<Shop*>(user)->thrown);
  tenon_put_i64(call, tenon_result(call), 7);
}

void slow_price(tenon_call* call, void* user) {
  auto& shop = *static_cast<Shop*>(user);
  CHECK(tenon_defer(call));
  shop.deferred = call;
  throw_it(shop.thrown);
}

void start_model(void* user, tenon_generation* generation, tenon_text) {
  throw_it(static_cast<Shop*>(user)->thrown);
  tenon_generation_finish(generation, tenon_text_of("Hello!"));
}

void cancel_model(void*, tenon_generation*) {
  throw_it(Thrown::Exception);
}

void before_calls(void* user) {
  throw_it(static_cast<Shop*>(user)->hook);
}

void throw_always(void*) {
  throw_it(Thrown::Number);
}

void throw_notice(void*, bool, tenon_text) {
  throw_it(Thrown::Exception);
}

tenon_options* make_options(Shop& shop) {
  tenon_options* const options = tenon_options_new();
  const tenon_model model = {sizeof(tenon_model), start_model, cancel_model};
  const tenon_extern_hooks hooks = {sizeof(tenon_extern_hooks), before_calls, throw_always,
                                    [](void*, const tenon_call*) { throw_it(Thrown::Exception); }};
  tenon_options_add_extern(options, "price", price, &shop, throw_always);
  tenon_options_add_extern(options, "slow_price", slow_price, &shop, throw_always);
  tenon_options_set_model(options, "mind", &model, &shop, throw_always);
  tenon_options_set_extern_hooks(options, &hooks, &shop, throw_always);
  tenon_options_on_notice(options, throw_notice, nullptr);
  return options;
}

/// How a run ends, as a message or a value.
std::string end_of(tenon_program* program, const char* function, const char* arguments) {
  tenon_run* run = nullptr;
  tenon_run_state state = TENON_RUN_RUNNING;
  tenon_outcome* outcome = nullptr;
  DONE(tenon_run_start(program, function, tenon_text_of(arguments), 0, &run, &error));
  DONE(tenon_run_wait(run, WAIT_MAX, &state, &error));
  DONE(tenon_run_outcome(run, &outcome, &error));
  const tenon_text text = state == TENON_RUN_RETURNED ? tenon_outcome_value(outcome) : tenon_outcome_message(outcome);
  std::string found(text.data, text.length);
  tenon_outcome_free(outcome);
  tenon_run_free(run);
  return found;
}

bool contains(const std::string& text, const char* part) {
  if (text.find(part) != std::string::npos) return true;
  std::fprintf(stderr, "found: %s\nexpected: %s\n", text.c_str(), part);
  return false;
}

void functions_of_an_engine_throw(bool has_thread) {
  Shop shop;
  tenon_options* const options = make_options(shop);
  tenon_engine* engine = nullptr;
  tenon_program* program = nullptr;
  DONE(tenon_engine_open(options, &engine, &error));
  tenon_options_free(options);
  DONE(tenon_program_load(engine, desk, nullptr, &program, &error));
  if (has_thread) DONE(tenon_engine_start_thread(engine, &error));
  for (const Thrown thrown : {Thrown::Exception, Thrown::Number}) {
    const char* const message = thrown == Thrown::Exception ? "the shop is closed" : "an exception without a message";
    shop.thrown = thrown;
    CHECK(contains(end_of(program, "total", tea), message));
    CHECK(contains(end_of(program, "greet", R"({"name": "Ada"})"), message));
    // What was deferred before fails, too, and may still be finished.
    CHECK(contains(end_of(program, "slow_total", tea), message));
    CHECK(tenon_is_cancelled(shop.deferred));
    tenon_put_i64(shop.deferred, tenon_result(shop.deferred), 1);
    tenon_finish(shop.deferred);
    shop.thrown = Thrown::Nothing;
    CHECK(end_of(program, "total", tea) == "21");
    std::thread([&] { CHECK(end_of(program, "greet", R"({"name": "Ada"})") == "\"Hello!\""); }).join();
  }
  // A call that is cancelled.
  tenon_run* run = nullptr;
  DONE(tenon_run_start(program, "slow_total", tenon_text_of(tea), 0, &run, &error));
  CHECK(tenon_run_wait(run, 10, nullptr, nullptr) == TENON_NOT_YET);
  DONE(tenon_run_cancel(run, "not needed", &error));
  DONE(tenon_run_wait(run, WAIT_MAX, nullptr, &error));
  tenon_run_free(run);
  tenon_finish(shop.deferred);
  CHECK(end_of(program, "total", tea) == "21");
  tenon_program_free(program);
  tenon_engine_free(engine);
}

/// Calls that follow one another are not made without what `before_calls` was to do.
void a_hook_throws() {
  Shop shop;
  tenon_options* const options = make_options(shop);
  tenon_engine* engine = nullptr;
  tenon_program* program = nullptr;
  DONE(tenon_engine_open(options, &engine, &error));
  tenon_options_free(options);
  constexpr const char* text = R"(
extern fn price(item: String) -> i32
extern fn slow_price(item: String) -> i32
fn both() -> i32 {
    let (a, b) = parallel { price("tea"), price("milk") }
    a + b
}
)";
  DONE(tenon_program_load(engine, "both.tn", text, &program, &error));
  CHECK(end_of(program, "both", "{}") == "14");
  shop.hook = Thrown::Exception;
  CHECK(contains(end_of(program, "both", "{}"), "the shop is closed"));
  shop.hook = Thrown::Nothing;
  CHECK(end_of(program, "both", "{}") == "14");
  tenon_program_free(program);
  tenon_engine_free(engine);
}

void throw_reply(void* user, tenon_text, uint64_t, tenon_error* error) {
  tenon_error_free(error);
  ++*static_cast<int*>(user);
  throw_it(Thrown::Exception);
}

/// The value or the message of a run of a host that has ended.
std::string end_of(tenon_host* host, const char* function, const char* arguments) {
  tenon_string* run = nullptr;
  tenon_follower* follower = nullptr;
  tenon_event* event = nullptr;
  tenon_outcome* outcome = nullptr;
  DONE(tenon_host_start(host, function, tenon_text_of(arguments), nullptr, WAIT_MAX, &run, &error));
  DONE(tenon_host_follow(host, tenon_string_text(run).data, 0, &follower, &error));
  do {
    tenon_event_free(event);
    DONE(tenon_follower_next(follower, WAIT_MAX, &event, &error));
  } while (event != nullptr);
  tenon_follower_free(follower);
  DONE(tenon_host_outcome(host, tenon_string_text(run).data, &outcome, &error));
  std::string found = tenon_outcome_state(outcome) == TENON_RUN_RETURNED ? tenon_outcome_value(outcome).data
                                                                         : tenon_outcome_message(outcome).data;
  tenon_outcome_free(outcome);
  tenon_string_free(run);
  return found;
}

void functions_of_a_host_throw(const std::string& store) {
  Shop shop;
  tenon_options* const options = make_options(shop);
  tenon_host* host = nullptr;
  int replies = 0;
  DONE(tenon_options_set(options, "store", store.c_str(), &error));
  DONE(tenon_host_open(options, TENON_HOST, &desk, 1, &host, &error));
  DONE(tenon_host_begin(host, &error));
  const tenon_request request = {sizeof(tenon_request),        TENON_START, "half", nullptr,
                                 tenon_text_of(R"({"n": 4})"), nullptr};
  DONE(tenon_host_send(host, &request, throw_reply, &replies, &error));
  for (const Thrown thrown : {Thrown::Exception, Thrown::Number}) {
    const char* const message = thrown == Thrown::Exception ? "the shop is closed" : "an exception without a message";
    shop.thrown = thrown;
    CHECK(contains(end_of(host, "total", tea), message));
    CHECK(contains(end_of(host, "greet", R"({"name": "Ada"})"), message));
    shop.thrown = Thrown::Nothing;
    CHECK(end_of(host, "total", tea) == "21");
  }
  DONE(tenon_host_stop(host, 0, &error));
  CHECK(replies == 1);
  tenon_host_free(host);
  tenon_options_free(options);
}

/// What a function of the host does with the host that calls it.
struct Inside {
  tenon_host* host = nullptr;
  tenon_follower* follower = nullptr;
  std::atomic<int> uses = 0;
  std::atomic<int> replies = 0;
  bool waits_for_stop = false;
};

void count_reply(void* user, tenon_text, uint64_t, tenon_error* error) {
  tenon_error_free(error);
  ++static_cast<Inside*>(user)->replies;
}

const tenon_request half = {sizeof(tenon_request), TENON_START, "half", nullptr, tenon_text_of(R"({"n": 4})"), nullptr};

/// Another thread is in tenon_host_stop.
void wait_for_stop(Inside& inside) {
  while (tenon_host_send(inside.host, &half, count_reply, &inside, nullptr) == TENON_OK) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  std::thread([&] {
    FAILS(tenon_host_stop(inside.host, TENON_FOREVER, &error), TENON_CONFLICT, "another thread is stopping the host");
    tenon_host_free(inside.host);
  }).join();
}

void use_host(Inside& inside) {
  tenon_host* const host = inside.host;
  tenon_string* text = nullptr;
  tenon_event* event = nullptr;
  std::size_t released = 0;
  std::uint16_t port = 0;
  const tenon_text none = tenon_text_of("{}");
  if (inside.waits_for_stop) wait_for_stop(inside);
  FAILS(tenon_host_start(host, "half", half.input, nullptr, TENON_FOREVER, &text, &error), TENON_CONFLICT, "send");
  FAILS(tenon_host_prompt(host, "x", none, nullptr, TENON_FOREVER, &error), TENON_CONFLICT, "send");
  FAILS(tenon_host_answer(host, "x", nullptr, none, nullptr, TENON_FOREVER, &error), TENON_CONFLICT, "send");
  FAILS(tenon_host_cancel(host, "x", "", nullptr, TENON_FOREVER, &error), TENON_CONFLICT, "send");
  FAILS(tenon_host_cancel_turn(host, "x", "", nullptr, TENON_FOREVER, &error), TENON_CONFLICT, "send");
  FAILS(tenon_host_release(host, 1, TENON_FOREVER, &released, &error), TENON_CONFLICT, "another thread");
  FAILS(tenon_host_begin(host, &error), TENON_CONFLICT, "another thread");
  FAILS(tenon_host_serve(host, "127.0.0.1", 0, nullptr, &port, &error), TENON_CONFLICT, "another thread");
  FAILS(tenon_host_stop(host, TENON_FOREVER, &error), TENON_CONFLICT, "another thread");
  tenon_host_free(host);
  FAILS(tenon_follower_next(inside.follower, TENON_FOREVER, &event, &error), TENON_CONFLICT, "another thread");
  // What does not wait for the host can be used.
  DONE(tenon_host_runs(host, nullptr, nullptr, 10, &text, &error));
  tenon_string_free(text);
  text = tenon_host_status(host);
  CHECK(text != nullptr);
  tenon_string_free(text);
  if (!inside.waits_for_stop) DONE(tenon_host_send(host, &half, count_reply, &inside, &error));
  ++inside.uses;
}

/// Opens a host whose functions use it. `deferred`: a call that is never performed.
tenon_host* open_using_host(Inside& inside, const std::string& store, tenon_call** deferred) {
  tenon_options* const options = tenon_options_new();
  const tenon_model model = {sizeof(tenon_model),
                             [](void* user, tenon_generation* generation, tenon_text) {
                               use_host(*static_cast<Inside*>(user));
                               tenon_generation_finish(generation, tenon_text_of("Hello!"));
                             },
                             nullptr};
  const tenon_extern_hooks hooks = {sizeof(tenon_extern_hooks), nullptr, nullptr, [](void* user, const tenon_call*) {
                                      tenon_string_free(tenon_host_status(static_cast<Inside*>(user)->host));
                                      ++static_cast<Inside*>(user)->uses;
                                    }};
  const auto use = [](tenon_call* call, void* user) {
    use_host(*static_cast<Inside*>(user));
    tenon_put_i64(call, tenon_result(call), 7);
  };
  const auto defer = [](tenon_call* call, void* user) {
    CHECK(tenon_defer(call));
    *static_cast<tenon_call**>(user) = call;
  };
  tenon_options_add_extern(options, "price", use, &inside, nullptr);
  tenon_options_add_extern(options, "slow_price", defer, deferred, nullptr);
  tenon_options_set_model(options, "mind", &model, &inside, nullptr);
  tenon_options_set_extern_hooks(options, &hooks, &inside, nullptr);
  DONE(tenon_options_set(options, "store", store.c_str(), &error));
  DONE(tenon_host_open(options, TENON_HOST, &desk, 1, &inside.host, &error));
  DONE(tenon_host_begin(inside.host, &error));
  tenon_options_free(options);
  return inside.host;
}

tenon_string* begin_run(tenon_host* host, const char* function, const char* arguments) {
  tenon_string* run = nullptr;
  DONE(tenon_host_start(host, function, tenon_text_of(arguments), nullptr, WAIT_MAX, &run, &error));
  return run;
}

/// An extern, a model, a reply and a hook use their host, and then another one opens its store.
void functions_use_their_host(const std::string& store) {
  Inside inside;
  tenon_call* deferred = nullptr;
  tenon_host* const host = open_using_host(inside, store, &deferred);
  tenon_string* const waits = begin_run(host, "colour", "{}");
  DONE(tenon_host_follow(host, tenon_string_text(waits).data, 0, &inside.follower, &error));
  tenon_string_free(waits);
  CHECK(end_of(host, "total", tea) == "21");
  CHECK(end_of(host, "greet", R"({"name": "Ada"})") == "\"Hello!\"");
  const auto use = [](void* user, tenon_text run, uint64_t after, tenon_error* error) {
    use_host(*static_cast<Inside*>(user));
    count_reply(user, run, after, error);
  };
  DONE(tenon_host_send(host, &half, use, &inside, &error));
  while (inside.uses < 3) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  tenon_string_free(begin_run(host, "slow_total", tea));
  while (end_of(host, "half", R"({"n": 4})").empty()) continue;
  DONE(tenon_host_stop(host, 10, &error));
  CHECK(inside.replies == 4 && deferred != nullptr && inside.uses == 4);
  DONE(tenon_host_stop(host, 0, &error));
  tenon_follower_free(inside.follower);
  tenon_host_free(host);
  tenon_finish(deferred);
}

void a_function_uses_a_host_that_another_thread_stops(const std::string& store) {
  Inside inside;
  tenon_call* deferred = nullptr;
  tenon_host* const host = open_using_host(inside, store, &deferred);
  inside.waits_for_stop = true;
  tenon_string* const run = begin_run(host, "total", tea);
  DONE(tenon_host_follow(host, tenon_string_text(run).data, 0, &inside.follower, &error));
  tenon_string_free(run);
  DONE(tenon_host_stop(host, TENON_FOREVER, &error));
  CHECK(inside.uses == 1);
  tenon_follower_free(inside.follower);
  tenon_host_free(host);
}

// --- An engine that another thread stops, or that gives a notice ---------------------------------------------------

void two_threads_stop_an_engine() {
  Shop shop;
  tenon_options* const options = make_options(shop);
  tenon_engine* engine = nullptr;
  tenon_program* program = nullptr;
  tenon_run* run = nullptr;
  DONE(tenon_engine_open(options, &engine, &error));
  tenon_options_free(options);
  DONE(tenon_program_load(engine, desk, nullptr, &program, &error));
  DONE(tenon_run_start(program, "slow_total", tenon_text_of(tea), 0, &run, &error));
  while (shop.deferred == nullptr) CHECK(tenon_run_wait(run, 1, nullptr, nullptr) == TENON_NOT_YET);
  std::thread stopping([&] { DONE(tenon_engine_stop(engine, TENON_FOREVER, &error)); });
  while (tenon_run_answer(run, "nothing", tenon_text_of(""), nullptr) != TENON_CONFLICT) std::this_thread::yield();
  FAILS(tenon_engine_stop(engine, TENON_FOREVER, &error), TENON_CONFLICT, "another thread is stopping the engine");
  tenon_engine_free(engine);
  tenon_put_i64(shop.deferred, tenon_result(shop.deferred), 1);
  tenon_finish(shop.deferred);
  stopping.join();
  DONE(tenon_engine_stop(engine, 0, &error));
  tenon_run_free(run);
  tenon_program_free(program);
  tenon_engine_free(engine);
}

struct Noticing {
  tenon_engine* engine = nullptr;
  int notices = 0;
};

void use_engine(void* user, bool, tenon_text) {
  auto& noticing = *static_cast<Noticing*>(user);
  tenon_program* program = nullptr;
  tenon_run* run = nullptr;
  ++noticing.notices;
  FAILS(tenon_program_load(noticing.engine, desk, nullptr, &program, &error), TENON_CONFLICT, "cannot use the engine");
  FAILS(tenon_run_resume(noticing.engine, "x", 0, &run, &error), TENON_CONFLICT, "cannot use the engine");
  FAILS(tenon_engine_stop(noticing.engine, 0, &error), TENON_CONFLICT, "cannot use the engine");
  tenon_engine_free(noticing.engine);
}

/// Copies a store whose engine has not closed it, with a log that is damaged in the middle.
void copy_damaged(const std::string& store, const std::string& to) {
  std::filesystem::copy_file(store, to);
  std::filesystem::copy_file(store + "-wal", to + "-wal");
  std::fstream log(to + "-wal", std::ios::in | std::ios::out | std::ios::binary);
  const auto middle = static_cast<std::streamoff>(std::filesystem::file_size(to + "-wal") / 2);
  log.seekp(middle);
  log << "damaged, damaged, damaged";
  CHECK(log.good());
}

void a_notice_uses_its_engine(const std::string& store, const std::string& copy) {
  Shop shop;
  for (const std::string& path : {store, copy}) {
    Noticing noticing;
    tenon_options* const options = make_options(shop);
    tenon_program* program = nullptr;
    DONE(tenon_options_set(options, "store", path.c_str(), &error));
    DONE(tenon_options_set(options, "durability", "process", &error));
    tenon_options_on_notice(options, use_engine, &noticing);
    DONE(tenon_engine_open(options, &noticing.engine, &error));
    tenon_options_free(options);
    DONE(tenon_program_load(noticing.engine, desk, nullptr, &program, &error));
    for (int i = 0; i < 50; ++i) CHECK(end_of(program, "total", tea) == "21");
    if (path == store) copy_damaged(store, copy);
    CHECK((noticing.notices > 0) == (path == copy));
    tenon_program_free(program);
    tenon_engine_free(noticing.engine);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  desk = arguments[1];
  functions_of_an_engine_throw(false);
  functions_of_an_engine_throw(true);
  a_hook_throws();
  char folder[] = "/tmp/tenon-misuse-XXXXXX";
  CHECK(mkdtemp(folder) != nullptr);
  const std::string store = std::string(folder) + "/runs.db";
  functions_of_a_host_throw(store);
  functions_use_their_host(store);
  a_function_uses_a_host_that_another_thread_stops(std::string(folder) + "/other.db");
  two_threads_stop_an_engine();
  a_notice_uses_its_engine(std::string(folder) + "/noticed.db", std::string(folder) + "/copy.db");
  std::filesystem::remove_all(folder);
  CHECK(is_text(tenon_text_of("a"), "a"));
  std::printf("%d checks passed\n", checks);
}
