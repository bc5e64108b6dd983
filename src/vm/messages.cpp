#include "vm/messages.h"

#include "base/counted.h"

namespace tenon::vm {
namespace {

constexpr Messages first{
    // "5x" … i32
    .wrong_value = " is no ",
    .wrong_pattern = " is no pattern: ",
    // prompts `Clerk` … String … i32
    .prompted_agent_returns = "`, whose turn gives ",
    .declared_to_return = ", and is declared to give ",
    // … Clerk … was called where no agent has a turn
    .hands_off = "leaves the turn to `",
    .hands_off_where = "`, and ",
    .next_agent_returns = "`, which gives ",
    .turn_returns = ", and the turn gives ",
    .finally_between = "`, and a `finally` stands in between; write `",
    // … 1000 instructions in all, and these are used up
    .finally_budget = "a `finally` goes on when a budget is spent, but with no more than ",
};

constexpr Messages second{
    .wrong_value = " is not a valid ",
    .wrong_pattern = " is not a valid pattern: ",
    .prompted_agent_returns = "`, whose turn returns ",
    .declared_to_return = ", but is declared to return ",
    .hands_off = "hands the turn off to `",
    .hands_off_where = "`, but ",
    .next_agent_returns = "`, which returns ",
    .turn_returns = ", but the turn returns ",
    .finally_between = "`, but there is a `finally` in between; write `",
    .finally_budget = "a `finally` continues after a budget is spent, but with no more than ",
};

/// As `counted`; before the version `singular`, one is in the plural, too.
std::string counted_since(MessageVersion singular, const bytecode::Program& program, std::uint64_t count,
                          std::string_view noun, std::string_view plural) {
  if (program.messages >= singular || count != 1) return counted(count, noun, plural);
  return "1 " + (plural.empty() ? std::string(noun) + "s" : std::string(plural));
}

}  // namespace

const Messages& messages_of(const bytecode::Program& program) {
  return program.messages == MessageVersion::First ? first : second;
}

std::string budget_amount(const bytecode::Program& program, std::uint64_t amount, std::string_view unit,
                          std::string_view units) {
  return counted_since(MessageVersion::Fourth, program, amount, unit, units);
}

std::string text_length(const bytecode::Program& program, std::uint64_t length) {
  return counted_since(MessageVersion::Fifth, program, length, "code point", {});
}

}  // namespace tenon::vm
