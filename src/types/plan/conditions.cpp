#include "types/plan/conditions.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "types/plan/conditions_nodes.h"

namespace tenon::types {
namespace {

using Node = Condition::Node;
using Case = std::vector<Literal>;

/// To find a literal in a condition takes as long as to copy this many.
constexpr std::size_t literal_steps = 4;

/// Adds the partial terms that have been computed, without a failure, whenever the condition (or its negation) is
/// true: for `a && b` both, for `a || b` only `a` must have been evaluated.
void list_computed(const Node& node, bool is_negated, std::set<std::string_view>& terms) {
  switch (node.kind) {
    case Node::Kind::Always:
      return;
    case Node::Kind::Not:
      return list_computed(*node.parts[0], !is_negated, terms);
    case Node::Kind::Atom:
      terms.insert(node.atom.partial.begin(), node.atom.partial.end());
      return;
    case Node::Kind::And:
    case Node::Kind::Or:
      for (const NodePointer& part : node.parts) {
        list_computed(*part, is_negated, terms);
        if ((node.kind == Node::Kind::And) == is_negated) return;
      }
      return;
  }
}

/// All partial terms of the condition.
void list_partial(const Node& node, std::set<std::string_view>& terms) {
  terms.insert(node.atom.partial.begin(), node.atom.partial.end());
  for (const NodePointer& part : node.parts) list_partial(*part, terms);
}

std::size_t count_atoms(const Node& node) {
  std::size_t count = node.kind == Node::Kind::Atom ? 1 : 0;
  for (const NodePointer& part : node.parts) count += count_atoms(*part);
  return count;
}

/// The cases in which the condition is true (or false). False: there are too many of them, or no steps are left.
class Cases {
 public:
  explicit Cases(ComparisonSteps& steps) : steps_(steps) {}

  /// Restricts each case to those in which `node`, or its negation, is also true.
  bool narrow(const Node& node, bool is_negated) {
    switch (node.kind) {
      case Node::Kind::Always:
        if (is_negated) cases_.clear();
        return true;
      case Node::Kind::Not:
        return narrow(*node.parts[0], !is_negated);
      case Node::Kind::Atom:
        return narrow(node.atom, is_negated);
      case Node::Kind::And:
      case Node::Kind::Or:
        break;
    }
    if ((node.kind == Node::Kind::And) != is_negated) {
      return std::all_of(node.parts.begin(), node.parts.end(),
                         [&](const NodePointer& part) { return narrow(*part, is_negated); });
    }
    const std::vector<Case> before = std::move(cases_);
    std::vector<Case> all;
    for (const NodePointer& part : node.parts) {
      cases_ = before;
      if (!take_copy()) return false;
      if (!narrow(*part, is_negated)) return false;
      all.insert(all.end(), cases_.begin(), cases_.end());
    }
    cases_ = std::move(all);
    return cases_.size() <= condition_cases_max;
  }

  [[nodiscard]] bool any_possible() const {
    return std::any_of(cases_.begin(), cases_.end(), [&](const Case& one) { return is_possible(one, steps_); });
  }

 private:
  /// Steps for a copy of all cases.
  bool take_copy() {
    std::size_t literals = 0;
    for (const Case& one : cases_) literals += one.size();
    return steps_.take(literals);
  }

  bool narrow(const Atom& atom, bool is_negated) {
    if (!steps_.take(literal_steps * cases_.size())) return false;
    if (!is_negated || atom.kind != Atom::Kind::Integer) {
      for (Case& one : cases_) one.push_back({&atom, is_negated});
      return true;
    }
    // An integer that is not in a range is below or above it.
    std::vector<Case> all;
    for (const Integers& side :
         {Integers{integer_lowest, atom.integers.low - (atom.integers.low == integer_lowest ? 0 : 1)},
          Integers{atom.integers.high + (atom.integers.high == integer_highest ? 0 : 1), integer_highest}}) {
      const bool is_nothing = (side.low == integer_lowest && atom.integers.low == integer_lowest) ||
                              (side.high == integer_highest && atom.integers.high == integer_highest);
      if (is_nothing) continue;
      if (!take_copy()) return false;
      made_.push_back(std::make_shared<Atom>(atom));
      made_.back()->integers = side;
      for (const Case& one : cases_) {
        all.push_back(one);
        all.back().push_back({made_.back().get(), false});
      }
    }
    cases_ = std::move(all);
    return cases_.size() <= condition_cases_max;
  }

  ComparisonSteps& steps_;
  std::vector<Case> cases_{Case{}};
  std::vector<std::shared_ptr<Atom>> made_;
};

}  // namespace

Condition::Condition() : root_(make_node({})) {}

Condition::Condition(const CheckedProgram& program, ModuleId module, syntax::NodeId expression, LocalId subject,
                     const CallArguments& given)
    : root_(read_condition(program, module, expression, subject, given)) {}

Condition::Condition(const TypeTable& types, TypeId type) : root_(read_refinements(types, type)) {}

Condition Condition::of_value(const CheckedProgram& program, ModuleId module, syntax::NodeId value) {
  return Condition(read_value(program, module, value));
}

Condition Condition::operator&&(const Condition& other) const {
  return Condition(make_both(root_, other.root_));
}

bool may_hold(const Condition& given, ComparisonSteps& steps) {
  Cases cases(steps);
  return !cases.narrow(*given.root_, false) || cases.any_possible();
}

bool may_hold(const Condition& given, const Condition& wanted, ComparisonSteps& steps) {
  Cases cases(steps);
  return !cases.narrow(*given.root_, false) || !cases.narrow(*wanted.root_, false) || cases.any_possible();
}

std::size_t size_of(const Condition& condition) {
  return count_atoms(*condition.root_);
}

Relation relate(const Condition& given, const Condition& wanted) {
  ComparisonSteps unlimited;
  const auto may_be = [&](std::optional<bool> wanted_holds) {
    Cases cases(unlimited);
    if (!cases.narrow(*given.root_, false)) return true;
    if (wanted_holds && !cases.narrow(*wanted.root_, !*wanted_holds)) return true;
    return cases.any_possible();
  };
  if (!may_be(std::nullopt)) return Relation::Open;
  std::set<std::string_view> computed;
  std::set<std::string_view> needed;
  list_computed(*given.root_, false, computed);
  list_partial(*wanted.root_, needed);
  const bool may_fail = !std::includes(computed.begin(), computed.end(), needed.begin(), needed.end());
  if (!may_fail && !may_be(false)) return Relation::Entails;
  return may_be(true) ? Relation::Open : Relation::Contradicts;
}

}  // namespace tenon::types
