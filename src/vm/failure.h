#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bytecode/program.h"
#include "types/type_table.h"
#include "vm/labels.h"

namespace tenon::vm {

class Value;

/// The innermost calls of a stack that a report keeps.
inline constexpr std::size_t call_stack_entries_max = 64;

struct CallStackEntry {
  std::uint32_t function = 0;  ///< index into Program::functions
  bytecode::Place place;       ///< of the instruction that runs, or of the call
};

/// Innermost first. The calls of a branch are followed by those of the function whose block it belongs to.
struct CallStack {
  std::vector<CallStackEntry> entries;
  std::uint64_t entries_left_out = 0;  ///< further out than those kept
};

/// A failure that nobody in the program has handled.
struct FailureReport {
  types::FailureKind kind = types::FailureKind::Raised;
  std::string message;
  std::string place;  ///< `FILE:LINE:COL`
  std::string blame;  ///< the requirement, tool, model or budget that failed; may be empty
  LabelId label;      ///< of the message
  CallStack call_stack;
};

/// Whether the value is a whole Failure, as programs have it.
[[nodiscard]] bool is_failure(const Value& value);

}  // namespace tenon::vm
