#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bytecode/program.h"
#include "types/table/type_table.h"
#include "vm/values/labels.h"

namespace tenon::vm {

class Value;

/// The number of innermost calls of a stack that a report keeps.
inline constexpr std::size_t call_stack_entries_max = 64;

struct CallStackEntry {
  std::uint32_t function = 0;  ///< index into Program::functions
  bytecode::Place place;       ///< of the current instruction, or of the call
};

/// Innermost first. The calls of a branch are followed by those of the function that contains the block.
struct CallStack {
  std::vector<CallStackEntry> entries;
  std::uint64_t entries_left_out = 0;  ///< the number of outer entries beyond the limit
};

/// A failure that was not handled in the program.
struct FailureReport {
  types::FailureKind kind = types::FailureKind::Raised;
  std::string message;
  std::string place;  ///< `FILE:LINE:COL`
  std::string blame;  ///< the requirement, tool, model or budget that failed; may be empty
  LabelId label;      ///< of the message
  CallStack call_stack;
};

/// Whether the value is a valid Failure of the language.
[[nodiscard]] bool is_failure(const Value& value);

}  // namespace tenon::vm
