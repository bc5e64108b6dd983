#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "types/plan/conditions.h"

/// The form in which conditions are compared. Internal to conditions*.cpp.
namespace tenon::types {

inline constexpr std::int64_t integer_lowest = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t integer_highest = std::numeric_limits<std::int64_t>::max();

/// A range of integers, including both ends; the limits of i64 mean unbounded.
struct Integers {
  std::int64_t low = integer_lowest;
  std::int64_t high = integer_highest;
  [[nodiscard]] bool is_empty() const { return low > high; }
  [[nodiscard]] Integers operator&(const Integers& other) const {
    return {low > other.low ? low : other.low, high < other.high ? high : other.high};
  }
};

/// NaN is never in such a range.
struct Numbers {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_is_open = false, high_is_open = false;
};

struct Term;
using TermPointer = std::shared_ptr<const Term>;

/// An expression. Contracts only inspect values, so terms with equal texts have equal values in the same state.
struct Term {
  std::string text;                ///< of the head and all parts
  std::string head;                ///< an operation on the parts, or a variable or constant without parts
  std::vector<TermPointer> parts;  ///< equal heads with equal parts have equal values
  /// Different constants have different values. Not set for f64: -0.0 and 0.0 are equal.
  bool is_constant = false;
  std::optional<std::string> content;  ///< of a constant text
  bool is_integer = false;
  Integers range;                   ///< contains every value of an integer
  std::vector<std::string> values;  ///< texts of constants: the only possible values; empty if they are unknown
};

/// A comparison that is true or false.
struct Atom {
  enum class Kind : std::uint8_t {
    Equal,    ///< `left` is `right`; a Boolean is the constant `true` or `false`
    Integer,  ///< `left - right`, or `left` if there is no `right`, is within `integers`
    Number,   ///< `left`, an f64, is within `numbers`
    Order,    ///< `left` is less than `right`, or less or equal if it is not strict
  };
  Kind kind = Kind::Equal;
  TermPointer left, right;
  Integers integers;
  Numbers numbers;
  bool is_strict = false;
  /// For Order: of two values one is always less or both are equal. Not set for f64, because of NaN.
  bool is_total = false;
  /// Texts of the terms whose computation may fail, for example because an index does not exist. If one of them fails,
  /// neither the condition nor its negation is true.
  std::vector<std::string> partial;
};

struct Condition::Node {
  enum class Kind : std::uint8_t { Always, Atom, Not, And, Or };
  Kind kind = Kind::Always;
  Atom atom;
  std::vector<std::shared_ptr<const Node>> parts;
};
using NodePointer = std::shared_ptr<const Condition::Node>;

/// An atom, or its negation.
struct Literal {
  const Atom* atom = nullptr;
  bool is_negated = false;
};

/// Whether all literals can be true at once, as far as known. A negated Integer is not among them. True if not enough
/// steps are left.
[[nodiscard]] bool is_possible(const std::vector<Literal>& literals, ComparisonSteps& steps);

/// The expression as a condition about `subject`.
[[nodiscard]] NodePointer read_condition(const CheckedProgram& program, ModuleId module, syntax::NodeId expression,
                                         LocalId subject, const CallArguments& given);
/// What is true for the value of an expression that consists of literals.
[[nodiscard]] NodePointer read_value(const CheckedProgram& program, ModuleId module, syntax::NodeId value);
/// The refinements of the type.
[[nodiscard]] NodePointer read_refinements(const TypeTable& types, TypeId type);

[[nodiscard]] NodePointer make_node(Condition::Node node);
[[nodiscard]] NodePointer make_both(NodePointer left, NodePointer right);
[[nodiscard]] NodePointer make_not(NodePointer inner);
[[nodiscard]] NodePointer make_always();
[[nodiscard]] NodePointer make_truth(bool value);
[[nodiscard]] NodePointer make_atom(Atom atom);
[[nodiscard]] NodePointer make_equal(TermPointer left, TermPointer right);
[[nodiscard]] NodePointer make_range(TermPointer left, Integers range, TermPointer right = nullptr);
[[nodiscard]] NodePointer make_number(TermPointer term, Numbers range);
[[nodiscard]] NodePointer make_order(TermPointer low, TermPointer high, bool is_strict, bool is_total);
/// A comparison with these partial terms. If one of them fails, its negation is not true either.
[[nodiscard]] NodePointer mark_partial(const NodePointer& read, const std::vector<std::string>& terms);

[[nodiscard]] TermPointer make_term(std::string head, std::vector<TermPointer> parts = {});
[[nodiscard]] TermPointer make_constant(std::string text);
[[nodiscard]] TermPointer make_boolean(bool value);
[[nodiscard]] TermPointer make_text(const std::string& content);
[[nodiscard]] TermPointer make_integer(std::int64_t value);
/// The number of code points or items of a value; `range` contains it.
[[nodiscard]] TermPointer make_length(TermPointer of, Integers range = {0, integer_highest});

}  // namespace tenon::types
