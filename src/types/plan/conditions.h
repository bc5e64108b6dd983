#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "types/checked_program.h"
#include "types/plan/plan_verdicts.h"

namespace tenon::types {

/// The value of a literal.
using Constant = std::variant<std::int64_t, double, bool, std::string>;

/// Nothing if it is not a literal.
[[nodiscard]] std::optional<Constant> constant_of(const CheckedProgram& program, ModuleId module, syntax::NodeId node);

/// What is known about the arguments of a call, for a condition in the contract of the called function.
struct CallArguments {
  /// A parameter whose argument is not a literal is different in each call: it has the same value only in conditions of
  /// the same call.
  std::uint32_t call = 0;
  std::map<std::uint32_t, Constant> constants;  ///< by the parameter's variable
};

/// How much comparing conditions may cost: literals that are copied, and what takes as long. Where nothing is
/// left, a comparison finds that everything is possible.
struct ComparisonSteps {
  std::size_t left = SIZE_MAX;

  /// False if there are fewer.
  bool take(std::size_t steps) {
    const bool are_left = steps <= left;
    left -= are_left ? steps : left;
    return are_left;
  }
};

/// A Boolean expression about one value, in a form that can be compared with others: comparisons of terms, such as the
/// `len()` of the value, with constants and with one another; everything else is a term that is either true or false.
/// Contracts only inspect values, so equal terms have equal values.
class Condition {
 public:
  struct Node;  // conditions_nodes.h

  /// True for every value.
  Condition();
  /// The expression about the value `subject`; it is part of a contract or a closure.
  Condition(const CheckedProgram& program, ModuleId module, syntax::NodeId expression, LocalId subject,
            const CallArguments& given = {});
  /// What is true for all values of the type: its refinements.
  Condition(const TypeTable& types, TypeId type);
  /// What is true for the value of an expression: of literals, in structs, tuples, lists and options as well; nothing
  /// is known about other expressions.
  [[nodiscard]] static Condition of_value(const CheckedProgram& program, ModuleId module, syntax::NodeId value);

  [[nodiscard]] Condition operator&&(const Condition& other) const;

 private:
  explicit Condition(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  friend Relation relate(const Condition& given, const Condition& wanted);
  friend bool may_hold(const Condition& given, ComparisonSteps& steps);
  friend bool may_hold(const Condition& given, const Condition& wanted, ComparisonSteps& steps);
  friend std::size_t size_of(const Condition& condition);

  std::shared_ptr<const Node> root_;
};

/// The maximum number of cases (`a || b` has two) of both conditions together; beyond it their relation is Open.
inline constexpr std::size_t condition_cases_max = 256;

/// What `given` says about `wanted`. A condition that cannot be computed is false, so a `wanted` that may fail is
/// entailed only if `given` computes the same terms. `Open` if comparing terms is not sufficient, or if nothing can
/// satisfy `given`.
[[nodiscard]] Relation relate(const Condition& given, const Condition& wanted);

/// Whether something may satisfy the condition.
[[nodiscard]] bool may_hold(const Condition& condition, ComparisonSteps& steps);
/// The same for both at once: if `given` may hold alone, and not with `wanted`, they contradict each other.
[[nodiscard]] bool may_hold(const Condition& given, const Condition& wanted, ComparisonSteps& steps);
/// The number of comparisons in the condition.
[[nodiscard]] std::size_t size_of(const Condition& condition);

}  // namespace tenon::types
