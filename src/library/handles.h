#pragma once

#include <tenon/tenon.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/ensure.h"
#include "engine/engine.h"
#include "engine/engine_error.h"
#include "engine/program.h"
#include "library/engine_state.h"
#include "library/run_slot.h"
#include "tools/native/header_call.h"

// What the handles of tenon/tenon.h point to.

struct tenon_error {
  tenon_status status = TENON_FAILED;
  std::string message;
  std::string json;
};

struct tenon_string {
  std::string text;
};

struct tenon_options {
  tenon::library::Options options;
};

struct tenon_engine {
  std::shared_ptr<tenon::library::EngineState> state;
};

struct tenon_program {
  std::shared_ptr<tenon::library::EngineState> state;
  tenon::engine::Program program;
};

struct tenon_run {
  std::shared_ptr<tenon::library::EngineState> state;
  std::shared_ptr<tenon::library::RunSlot> slot;
};

struct tenon_outcome {
  tenon_run_state state = TENON_RETURNED;
  tenon::engine::RunResult result;
};

struct tenon_event {
  tenon::protocol::Event event;
  std::uint64_t run = 0;
};

namespace tenon::library {

[[nodiscard]] inline tenon_text view(const std::string& text) {
  return {text.c_str(), text.size()};
}
[[nodiscard]] inline std::string_view view(tenon_text text) {
  return text.data == nullptr ? std::string_view() : std::string_view(text.data, text.length);
}
/// TENON_FOREVER is a century, which can be added to a time of any clock.
[[nodiscard]] inline std::chrono::milliseconds milliseconds_of(std::uint64_t timeout) {
  constexpr std::uint64_t century_ms = std::uint64_t{100} * 366 * 24 * 60 * 60 * 1'000;
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(timeout, century_ms)));
}
[[nodiscard]] inline const char* text_or_empty(const char* text) {
  return text == nullptr ? "" : text;
}

/// Passes an error to the host, which may not want it. Returns its status.
tenon_status report(engine::EngineError error, tenon_error** to);
tenon_status report(tenon_status status, std::string message, tenon_error** to);

/// Of the exception that is handled: BrokenCondition, or what the standard library throws. Called in `catch (...)`, as
/// no exception may leave a function of tenon/tenon.h.
tenon_status report_exception(tenon_error** to) noexcept;

/// Reports that an engine was stopped, so that its runs do not continue.
tenon_status report_stopped(tenon_error** to);

/// Checks that an engine may be used by this thread and process, and turns exceptions into errors. `use` returns a
/// status.
template <class Use>
tenon_status guarded(EngineState& state, tenon_error** error, Use use) {
  if (state.is_of_parent()) {
    return report(TENON_FORKED, "the engine was opened before this process was forked; open another one here", error);
  }
  if (engine::SharedEngine* const engine = state.engine_or_null(); engine != nullptr && engine->is_used_here()) {
    return report(TENON_CONFLICT,
                  "a function that the engine calls cannot use the engine; complete the call later, on another thread",
                  error);
  }
  try {
    return use();
  } catch (...) {
    return report_exception(error);
  }
}

}  // namespace tenon::library
