#pragma once

// The options of engines and hosts for random calls: externs and a model that begin work which any thread ends.
#include <tenon/tenon.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "random_support.h"
#include "random_values.h"

namespace {

void price(tenon_call* call, void*) {
  tenon_put_i64(call, tenon_result(call), 7);
}

void slow_price(tenon_call* call, void*) {
  if (!tenon_defer(call)) return;
  begun.add([call] {
    if ((tenon_call_run(call) + static_cast<std::uint64_t>(call_count)) % 3 == 0) {
      tenon_fail(call, "it is not sold");
    } else if (tenon_may_begin(call)) {
      tenon_put_i64(call, tenon_result(call), 9);
    } else {
      tenon_fail_unavailable(call, "too late");
    }
    tenon_finish(call);
  });
}

void start_answer(void*, tenon_generation* generation, tenon_text request) {
  const bool is_short = request.length % 2 == 0;
  begun.add([generation, is_short] {
    tenon_generation_add(generation, tenon_text_of("\"bil"));
    if (tenon_generation_is_cancelled(generation) || is_short) {
      tenon_generation_finish(generation, tenon_text_of("\"billing\""));
    } else {
      tenon_generation_fail(generation, TENON_MODEL_REJECTED, tenon_text_of("no such model"));
    }
  });
}

void use_values_outside(tenon_call* call, void*) {
  use_values(call, extern_random());
}

/// Reads and writes values, at once, outside of the engine or later.
void mix(tenon_call* call, void*) {
  Random& random = extern_random();
  if (random() % 3 == 0 && tenon_perform_outside(call, use_values_outside, nullptr)) return;
  if (random() % 3 != 0 || !tenon_defer(call)) return use_values(call, random);
  begun.add([call] {
    use_values(call, extern_random());
    tenon_finish(call);
  });
}

void consult(tenon_call* call, void*) {
  pause_or_answer(call, extern_random());
}

void take_notice(void*, bool, tenon_text text) {
  if (text.length == 0) give_up("a notice says nothing");
}

std::atomic<int> open_batches = 0;

/// With the program's externs and a model. `store` may be empty.
std::unique_ptr<tenon_options, decltype(&tenon_options_free)> make_options(const std::string& store) {
  std::unique_ptr<tenon_options, decltype(&tenon_options_free)> options(tenon_options_new(), tenon_options_free);
  static const tenon_model model = {sizeof(tenon_model), start_answer, [](void*, tenon_generation*) {}};
  tenon_options_add_extern(options.get(), "price", price, nullptr, nullptr);
  tenon_options_add_extern(options.get(), "slow_price", slow_price, nullptr, nullptr);
  tenon_options_add_extern(options.get(), "mix", mix, nullptr, nullptr);
  tenon_options_add_extern(options.get(), "attempt", mix, nullptr, nullptr);
  tenon_options_add_extern(options.get(), "consult", consult, nullptr, nullptr);
  static const tenon_extern_hooks hooks = {sizeof(tenon_extern_hooks), [](void*) { ++open_batches; },
                                           [](void*) { --open_batches; }, [](void*, const tenon_call*) {}};
  tenon_options_set_extern_hooks(options.get(), &hooks, nullptr, nullptr);
  tenon_options_on_notice(options.get(), take_notice, nullptr);
  static const char* const worker[] = {"/nonexistent/worker", nullptr};
  tenon_options_set_worker(options.get(), worker);
  done([&](tenon_error** error) { return tenon_options_set_secret(options.get(), "OPENAI_API_KEY", "k", error); });
  tenon_options_set_model(options.get(), "host", &model, nullptr, nullptr);
  if (!store.empty())
    done([&](tenon_error** error) { return tenon_options_set(options.get(), "store", store.c_str(), error); });
  return options;
}

}  // namespace
