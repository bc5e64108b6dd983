// A program in C++ whose functions throw: that fails what they were called for, and the engine and the host stay in
// use. Its argument is the path of desk.tn.
#include <tenon/tenon.h>

#include <cstdlib>
#include <filesystem>
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

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  desk = arguments[1];
  functions_of_an_engine_throw(false);
  functions_of_an_engine_throw(true);
  a_hook_throws();
  char folder[] = "/tmp/tenon-misuse-XXXXXX";
  CHECK(mkdtemp(folder) != nullptr);
  functions_of_a_host_throw(std::string(folder) + "/runs.db");
  std::filesystem::remove_all(folder);
  CHECK(is_text(tenon_text_of("a"), "a"));
  std::printf("%d checks passed\n", checks);
}
