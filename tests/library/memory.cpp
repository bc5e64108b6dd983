// A program in C++ that runs out of memory: no exception crosses the border of libtenon, and nothing is lost by it.
// Its argument is the path of desk.tn.
#include <tenon/tenon.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

#include "checks.h"

namespace {

/// Larger blocks are refused.
std::atomic<std::size_t> block_max{SIZE_MAX};
std::atomic<int> refusals{0};
/// Further allocations of this thread until one is refused; none while it is negative.
thread_local int left = -1;

}  // namespace

void* operator new(std::size_t size) {
  const bool is_refused = size > block_max || left == 0;
  if (left >= 0) --left;
  void* const block = is_refused ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (is_refused) ++refusals;
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}
void operator delete(void* block, const std::nothrow_t&) noexcept {
  std::free(block);
}

namespace {

const char* desk = nullptr;

/// Larger than what there is memory for.
const std::string& big() {
  static const std::string text(std::size_t{4} << 20U, 'x');
  return text;
}

/// While it exists, there is no memory for long texts.
struct Shortage {
  Shortage() {
    static_cast<void>(big());
    block_max = std::size_t{1} << 20U;
  }
  ~Shortage() { block_max = SIZE_MAX; }
};

tenon_text big_text() {
  return {big().data(), big().size()};
}

struct Desk {
  bool is_big = false;     ///< the price of an order fails with a long message
  bool has_memory = true;  ///< after `price`
  int model = 0;           ///< what the model does with a long text
  int released = 0;
};

void price(tenon_call* call, void* user) {
  const auto& state = *static_cast<Desk*>(user);
  if (state.is_big) return tenon_fail_text(call, big().data(), big().size());
  tenon_put_i64(call, tenon_result(call), 7);
  if (!state.has_memory) left = 0;
}

void start_model(void* user, tenon_generation* generation, tenon_text) {
  const Shortage shortage;
  switch (static_cast<Desk*>(user)->model) {
    case 0:
      return tenon_generation_finish(generation, big_text());
    case 1:
      return tenon_generation_fail(generation, TENON_MODEL_UNREACHABLE, big_text());
    default:
      tenon_generation_add(generation, big_text());
      tenon_generation_finish(generation, tenon_text_of("whole"));
  }
}

const tenon_model model = {sizeof(tenon_model), start_model, nullptr};

void count_release(void* user) {
  ++static_cast<Desk*>(user)->released;
}

tenon_options* make_options(Desk& state) {
  tenon_options* const options = tenon_options_new();
  tenon_options_add_extern(options, "price", price, &state, nullptr);
  tenon_options_add_extern(options, "slow_price", price, &state, nullptr);
  tenon_options_set_model(options, "mind", &model, &state, nullptr);
  return options;
}

tenon_engine* open_engine(Desk& state) {
  tenon_options* const options = make_options(state);
  tenon_engine* engine = nullptr;
  DONE(tenon_engine_open(options, &engine, &error));
  tenon_options_free(options);
  return engine;
}

void options_need_memory() {
  const char* const worker[] = {big().c_str(), nullptr};
  for (int i = 0; i < 4; ++i) {
    Desk state;
    tenon_options* const options = make_options(state);
    tenon_engine* engine = nullptr;
    {
      const Shortage shortage;
      if (i == 0) tenon_options_add_extern(options, big().c_str(), price, &state, count_release);
      if (i == 1) tenon_options_set_model(options, big().c_str(), &model, &state, count_release);
      if (i == 2) tenon_options_set_worker(options, worker);
      if (i == 3) FAILS(tenon_options_set(options, "store", big().c_str(), &error), TENON_FAILED, "out of memory");
    }
    CHECK(state.released == (i < 2 ? 1 : 0));
    if (i < 3) {
      FAILS(tenon_engine_open(options, &engine, &error), TENON_USAGE, "make new options");
    } else {
      DONE(tenon_engine_open(options, &engine, &error));
    }
    tenon_engine_free(engine);
    tenon_options_free(options);
  }
}

void is_in_use(tenon_program* program) {
  tenon_run* run = nullptr;
  tenon_outcome* outcome = nullptr;
  DONE(tenon_run_start(program, "half", tenon_text_of(R"({"n": 4})"), 0, &run, &error));
  DONE(tenon_run_wait(run, WAIT_MAX, nullptr, &error));
  DONE(tenon_run_outcome(run, &outcome, &error));
  CHECK(is_text(tenon_outcome_value(outcome), "25"));
  tenon_outcome_free(outcome);
  tenon_run_free(run);
}

void texts_need_memory(tenon_engine* engine, tenon_program* program) {
  tenon_run* run = nullptr;
  tenon_run* asks = nullptr;
  tenon_run* counter = nullptr;
  tenon_program* other = nullptr;
  tenon_string* text = nullptr;
  tenon_call* call = nullptr;
  DONE(tenon_run_start(program, "colour", tenon_text_of("{}"), 0, &asks, &error));
  DONE(tenon_run_wait(asks, WAIT_MAX, nullptr, &error));
  DONE(tenon_run_start_agent(program, "Counter", 0, &counter, &error));
  DONE(tenon_call_new(program, "twice", &call, &error));
  {
    const Shortage shortage;
    const char* const name = big().c_str();
    const tenon_text none = tenon_text_of("{}");
    for (const std::uint32_t flags : {0U, TENON_START_LATER}) {
      FAILS(tenon_run_start(program, "half", big_text(), flags, &run, &error), TENON_FAILED, "out of memory");
      FAILS(tenon_run_start(program, name, none, flags, &run, &error), TENON_FAILED, "out of memory");
      FAILS(tenon_run_start_agent(program, name, flags, &run, &error), TENON_FAILED, "out of memory");
    }
    CHECK(run == nullptr);
    FAILS(tenon_run_answer(asks, nullptr, big_text(), &error), TENON_FAILED, "out of memory");
    FAILS(tenon_run_prompt(counter, big_text(), &error), TENON_FAILED, "out of memory");
    FAILS(tenon_program_load(engine, "x.tn", name, &other, &error), TENON_FAILED, "out of memory");
    FAILS(tenon_program_load(engine, name, "", &other, &error), TENON_FAILED, "");
    FAILS(tenon_program_graph(program, name, &text, &error), TENON_FAILED, "out of memory");
    FAILS(tenon_run_artifacts(engine, "x", name, &text, &error), TENON_FAILED, "out of memory");
    tenon_put_json_text(call, tenon_call_parameter(call, 0), big().data(), big().size());
    CHECK(tenon_failed(call));
    tenon_fail_text(call, big().data(), big().size());
  }
  CHECK(tenon_failed(call));
  tenon_call_free(call);
  is_in_use(program);
  tenon_run_free(asks);
  tenon_run_free(counter);
}

void ends_with(tenon_program* program, const char* function, const char* arguments, const char* why) {
  tenon_run* run = nullptr;
  tenon_run_state state = TENON_RUN_RUNNING;
  tenon_outcome* outcome = nullptr;
  DONE(tenon_run_start(program, function, tenon_text_of(arguments), 0, &run, &error));
  DONE(tenon_run_wait(run, WAIT_MAX, &state, &error));
  CHECK(state == TENON_RUN_FAILED);
  DONE(tenon_run_outcome(run, &outcome, &error));
  CHECK(std::string(tenon_outcome_message(outcome).data).find(why) != std::string::npos);
  tenon_outcome_free(outcome);
  tenon_run_free(run);
}

constexpr const char* tea = R"({"order": {"item": "tea", "count": 3, "tags": []}})";

void answers_need_memory(Desk& state, tenon_program* program) {
  for (state.model = 0; state.model < 3; ++state.model) {
    ends_with(program, "greet", R"({"name": "Ada"})", "out of memory");
  }
  {
    const Shortage shortage;
    state.is_big = true;
    ends_with(program, "total", tea, "out of memory");
    state.is_big = false;
  }
  is_in_use(program);
}

/// Within the engine's own work: it can only be closed then.
void an_engine_needs_memory(bool has_thread) {
  Desk state;
  state.has_memory = false;
  tenon_engine* const engine = open_engine(state);
  tenon_program* program = nullptr;
  tenon_run* run = nullptr;
  DONE(tenon_program_load(engine, desk, nullptr, &program, &error));
  if (has_thread) DONE(tenon_engine_start_thread(engine, &error));
  DONE(tenon_run_start(program, "total", tenon_text_of(tea), 0, &run, &error));
  FAILS(tenon_run_wait(run, WAIT_MAX, nullptr, &error), TENON_INTERNAL, "out of memory");
  tenon_run* other = nullptr;
  FAILS(tenon_run_start(program, "half", tenon_text_of(R"({"n": 4})"), 0, &other, &error), TENON_INTERNAL, "memory");
  tenon_run_free(run);
  tenon_program_free(program);
  tenon_engine_free(engine);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  desk = arguments[1];
  options_need_memory();
  Desk state;
  tenon_engine* const engine = open_engine(state);
  tenon_program* program = nullptr;
  DONE(tenon_program_load(engine, desk, nullptr, &program, &error));
  texts_need_memory(engine, program);
  answers_need_memory(state, program);
  tenon_program_free(program);
  tenon_engine_free(engine);
  an_engine_needs_memory(false);
  an_engine_needs_memory(true);
  CHECK(refusals > 0);
  CHECK(equals(tenon_text_of("a"), "a"));
  std::printf("%d checks passed\n", checks);
}
