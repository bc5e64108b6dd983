#pragma once

#include <string_view>

#include "syntax/parser.h"

namespace tenon::syntax {

// Clauses of functions and calls: budgets, strategies, contracts.

[[nodiscard]] bool at_budget(const Parser& p);
[[nodiscard]] bool at_strategy(const Parser& p);
[[nodiscard]] bool at_contract(const Parser& p);
/// The clauses between a function's head and its body: its budget, its contract, its strategy.
void parse_clauses(Parser& p);
void parse_contract_clauses(Parser& p);
/// `budget(…)` or `strategy(…)`: words with numbers.
void parse_limits_clause(Parser& p, NodeKind kind, std::string_view example);

}  // namespace tenon::syntax
