#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "types/checked_program.h"
#include "types/plan_verdicts.h"

namespace tenon::types {

/// The value of a literal.
using Constant = std::variant<std::int64_t, double, bool, std::string>;

/// Nothing for whatever is no literal.
[[nodiscard]] std::optional<Constant> constant_of(const CheckedProgram& program, ModuleId module, syntax::NodeId node);

/// What is known of the arguments of one call, where a condition stands in the contract of what it calls.
struct CallArguments {
  /// A parameter whose argument is no literal is something else in each call: it has the same value only in conditions
  /// of the same one.
  std::uint32_t call = 0;
  std::map<std::uint32_t, Constant> constants;  ///< by the parameter's variable
};

/// A Boolean expression of the program about one value, in a form that can be compared with others: what they say of
/// the same term, `len()` of the value for example, is compared with constants; everything else is a term that holds or
/// does not. Contracts look at values alone, so that equal terms have equal values.
class Condition {
 public:
  struct Node;  // conditions.cpp

  /// Holds of every value.
  Condition();
  /// The expression, where `subject` is the value that is spoken of; it stands in a contract or is a closure's.
  Condition(const CheckedProgram& program, ModuleId module, syntax::NodeId expression, LocalId subject,
            const CallArguments& given = {});
  /// What holds of every value of the type: its refinements.
  Condition(const TypeTable& types, TypeId type);
  /// What holds of the value of a literal; of any other expression nothing is known.
  [[nodiscard]] static Condition of_literal(const CheckedProgram& program, ModuleId module, syntax::NodeId literal);

  [[nodiscard]] Condition operator&&(const Condition& other) const;

 private:
  explicit Condition(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  friend Relation relate(const Condition& given, const Condition& wanted);

  std::shared_ptr<const Node> root_;
};

/// More cases (`a || b` has two) of both conditions together are not looked at; then their relation is Open.
inline constexpr std::size_t condition_cases_max = 256;

/// What `given` says of `wanted`. What cannot be computed does not hold, so that a `wanted` that may fail is entailed
/// only where `given` has computed the same terms. `Open` also where it takes more than comparing terms to tell. Of a
/// `given` that nothing can satisfy, Open.
[[nodiscard]] Relation relate(const Condition& given, const Condition& wanted);

}  // namespace tenon::types
