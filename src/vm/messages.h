#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bytecode/program.h"

namespace tenon::vm {

/// Parts of the messages of failures that differ between versions: a program can catch a failure and show its message
/// to a model, so it keeps the texts of its version. messages.cpp shows them in their places.
struct Messages {
  std::string_view wrong_value, wrong_pattern;
  std::string_view prompted_agent_returns, declared_to_return;
  std::string_view hands_off, hands_off_where, next_agent_returns, turn_returns, finally_between;
  std::string_view finally_budget;
};

[[nodiscard]] const Messages& messages_of(const bytecode::Program& program);
/// The amount of a budget as `counted` writes it; in older versions, one is in the plural, too.
[[nodiscard]] std::string budget_amount(const bytecode::Program& program, std::uint64_t amount, std::string_view unit,
                                        std::string_view units);
/// The length of a text in code points, likewise.
[[nodiscard]] std::string text_length(const bytecode::Program& program, std::uint64_t length);

}  // namespace tenon::vm
