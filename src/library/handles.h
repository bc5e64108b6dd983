#pragma once

#include <tenon/tenon.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "engine/engine.h"
#include "engine/engine_error.h"
#include "engine/program.h"
#include "library/callback_scope.h"
#include "library/engine_state.h"
#include "library/run_slot.h"
#include "tools/native/header_call.h"

// What the handles of tenon/tenon.h point to.

struct tenon_error {
  tenon_status status = TENON_FAILED;
  std::string message;
  std::string json;
  tenon::engine::Problems problems;
};

struct tenon_string {
  std::string text;
};

struct tenon_options {
  tenon::library::Options options;
  // Why nothing can be opened with them; null or empty if it can. What is corrected has none any more.
  const char* model_problem = nullptr;
  const char* hooks_problem = nullptr;
  const char* memory_problem = nullptr;  ///< of what could not be kept

  [[nodiscard]] std::string problem() const;
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

struct tenon_question_list {
  std::vector<tenon::runtime::PendingInput> questions;
};

struct tenon_outcome {
  tenon_run_state state = TENON_RUN_RETURNED;
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
/// Of what a handle has; empty if the handle is NULL.
template <class Handle, class Get>
[[nodiscard]] tenon_text view_of(const Handle* handle, Get get) {
  return handle == nullptr ? tenon_text{"", 0} : view(get(*handle));
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
tenon_status report(engine::EngineError error, tenon_error** to) noexcept;
tenon_status report(tenon_status status, std::string_view message, tenon_error** to) noexcept;

/// Of the exception that is handled: BrokenCondition, or what the standard library throws. Called in `catch (...)`, as
/// no exception may leave a function of tenon/tenon.h.
tenon_status report_exception(tenon_error** to) noexcept;

/// The status that `use` returns, or that of its exception. For what a function does before it may use an engine, such
/// as to copy its texts.
template <class Use>
tenon_status caught(tenon_error** error, Use use) {
  try {
    return use();
  } catch (...) {
    return report_exception(error);
  }
}

/// Reports that a handle or a pointer is NULL that may not be.
tenon_status report_null(tenon_error** to) noexcept;

/// Reports that an engine was stopped, so that its runs do not continue.
tenon_status report_stopped(tenon_error** to);

/// A text for the host. NULL if there is no memory for it, or a handle is NULL.
template <class Make>
tenon_string* text_for_host(const void* handle, Make make) noexcept {
  if (handle == nullptr) return nullptr;
  try {
    return new tenon_string{make()};
  } catch (...) {
    return nullptr;
  }
}

/// Begins a function of tenon/tenon.h: sets what it returns through pointers to nothing, so that it is defined after a
/// failure, and reports handles and pointers that are NULL. False: that was TENON_USAGE.
template <class... Results>
[[nodiscard]] bool prepare(tenon_error** error, std::initializer_list<const void*> handles, Results*... results) {
  ((results != nullptr ? static_cast<void>(*results = {}) : static_cast<void>(0)), ...);
  const bool is_complete =
      (... && (results != nullptr)) && std::find(handles.begin(), handles.end(), nullptr) == handles.end();
  if (!is_complete) report_null(error);
  return is_complete;
}

/// The members of a struct of the host that it knows, by its member `size`; the others are null.
template <class Struct>
[[nodiscard]] Struct known_members(const Struct& given) {
  Struct known = {};
  std::memcpy(&known, &given, std::min<std::size_t>(given.size, sizeof known));
  return known;
}

/// Sets the members of a struct of the host that it knows, by its member `size`. False if it is NULL.
template <class Struct>
bool give(Struct made, Struct* to) {
  if (to == nullptr) return false;
  made.size = to->size;
  std::memcpy(to, &made, std::min(to->size, sizeof made));
  return true;
}

/// Checks that an engine may be used by this thread and process, and turns exceptions into errors. `use` returns a
/// status.
template <class Use>
tenon_status guarded(EngineState& state, tenon_error** error, Use use) {
  if (state.is_of_parent()) {
    return report(TENON_FORKED, "the engine was opened before this process was forked; open another one here", error);
  }
  engine::SharedEngine* const engine = state.engine_or_null();
  if (CallbackScope::is_within(&state) || (engine != nullptr && engine->is_used_here())) {
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
