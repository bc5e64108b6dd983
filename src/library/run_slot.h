#pragma once

#include <tenon/tenon.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/engine.h"
#include "engine/engine_error.h"
#include "vm/loaded_program.h"
#include "vm/values/value.h"

namespace tenon::library {

/// How a run has ended that its engine does not have any more.
struct RunEnd {
  tenon_run_state state = TENON_RUN_RETURNED;
  std::optional<vm::Value> value;                  ///< TENON_RUN_RETURNED
  std::optional<engine::RunResult> result;         ///< other states, and where the program is not known
  std::optional<engine::EngineError> start_error;  ///< it has not started; `state` is TENON_RUN_FAILED
};

/// What the handle of a run shares with its engine.
struct RunSlot {
  RunSlot(std::uint64_t chosen, std::uint32_t chosen_flags, std::shared_ptr<const vm::LoadedProgram> of)
      : number(chosen), flags(chosen_flags), program(std::move(of)) {}

  const std::uint64_t number;
  const std::uint32_t flags;
  const std::shared_ptr<const vm::LoadedProgram> program;  ///< null: not known
  // Written once, with the engine in use; `is_begun` says that they can be read by any thread.
  runtime::RunId id;
  std::string name;   ///< empty: it has no store
  std::string title;  ///< of its function or agent
  std::atomic<bool> is_begun = false;
  // With the engine in use.
  bool is_freed = false;  ///< the handle is gone
  // Of the list of stops.
  std::uint64_t stop = 0;  ///< its place in the list; 0: none
  bool is_forgotten = false;
  // Written once, with the engine in use; `has_end` says that it can be read by any thread.
  RunEnd end;
  std::atomic<bool> has_end = false;
};

}  // namespace tenon::library
