#include "types/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>

#include "base/json_text.h"
#include "base/utf8.h"
#include "syntax/literals.h"

namespace tenon::types {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::TokenKind;

namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A range of integers, including both ends; the limits of i64 mean unbounded.
struct Integers {
  std::int64_t low = lowest;
  std::int64_t high = highest;
  [[nodiscard]] bool is_empty() const { return low > high; }
  [[nodiscard]] Integers operator&(const Integers& other) const {
    return {std::max(low, other.low), std::min(high, other.high)};
  }
};

/// NaN is never in such a range.
struct Numbers {
  double low = -infinity;
  double high = infinity;
  bool low_is_open = false, high_is_open = false;
  [[nodiscard]] bool is_empty() const { return low > high || (low == high && (low_is_open || high_is_open)); }
  [[nodiscard]] Numbers operator&(const Numbers& other) const {
    Numbers both = *this;
    if (other.low > low || (other.low == low && other.low_is_open)) {
      both.low = other.low;
      both.low_is_open = other.low_is_open;
    }
    if (other.high < high || (other.high == high && other.high_is_open)) {
      both.high = other.high;
      both.high_is_open = other.high_is_open;
    }
    return both;
  }
  [[nodiscard]] bool is_within(const Numbers& outer) const {
    const bool low_fits = low > outer.low || (low == outer.low && (low_is_open || !outer.low_is_open));
    const bool high_fits = high < outer.high || (high == outer.high && (high_is_open || !outer.high_is_open));
    return low_fits && high_fits;
  }
};

/// One comparison of a term.
struct Atom {
  enum class Kind : std::uint8_t {
    Holds,    ///< the term is a Boolean
    Integer,  ///< the term is within `integers`
    Number,   ///< the term is within `numbers`
    Equals,   ///< the term is `constant`: a text, an enum's case
  };
  Kind kind = Kind::Holds;
  std::string term;
  Integers integers;
  Integers domain;  ///< contains every value of the term
  Numbers numbers;
  std::string constant;
  /// Whether computing it may fail, for example because an index does not exist. If it fails, neither the condition nor
  /// its negation is true.
  bool is_partial = false;
};

struct Literal {
  const Atom* atom = nullptr;
  bool is_negated = false;
};
using Case = std::vector<Literal>;

}  // namespace

struct Condition::Node {
  enum class Kind : std::uint8_t { Always, Atom, Not, And, Or };
  Kind kind = Kind::Always;
  Atom atom;
  std::vector<std::shared_ptr<const Node>> parts;
};

namespace {

using Node = Condition::Node;
using NodePointer = std::shared_ptr<const Node>;

NodePointer make(Node node) {
  return std::make_shared<const Node>(std::move(node));
}
NodePointer make_not(NodePointer inner) {
  return make({Node::Kind::Not, {}, {std::move(inner)}});
}
NodePointer make_truth(bool value) {
  return value ? make({}) : make_not(make({}));
}
NodePointer make_atom(Atom atom) {
  return make({Node::Kind::Atom, std::move(atom), {}});
}
NodePointer make_both(NodePointer left, NodePointer right) {
  return make({Node::Kind::And, {}, {std::move(left), std::move(right)}});
}
NodePointer make_range(std::string term, Integers range, Integers domain = {}) {
  return make_atom({Atom::Kind::Integer, std::move(term), range, domain, {}, {}});
}

/// Whether the node itself, apart from its parts, can always be computed; false if that is not known.
bool is_total(const CheckedProgram& program, const Module& module, NodeId node) {
  const syntax::SyntaxTree& tree = *module.tree;
  const Target& target = module.facts_of(node).target;
  const auto base_kind = [&](NodeId of) { return program.types.kind(program.types.base(module.facts_of(of).type)); };
  switch (tree.kind(node)) {
    case NodeKind::IntegerExpression:
    case NodeKind::FloatExpression:
    case NodeKind::BooleanExpression:
    case NodeKind::StringExpression:
    case NodeKind::TemplateHole:
    case NodeKind::NameExpression:
    case NodeKind::ParenthesizedExpression:
    case NodeKind::TupleExpression:
    case NodeKind::ListExpression:
    case NodeKind::StructExpression:
    case NodeKind::FieldInitializer:
    case NodeKind::FieldExpression:
    case NodeKind::Arguments:
    case NodeKind::ClosureExpression:
    case NodeKind::IfExpression:
    case NodeKind::LetCondition:
    case NodeKind::MatchExpression:
    case NodeKind::MatchArm:
    case NodeKind::Guard:
    case NodeKind::FieldPattern:
      return true;
    case NodeKind::UnaryExpression:
      return tree.main_text(node) == "!" || base_kind(node) == TypeKind::F64 ||
             tree.kind(tree.first(node)) == NodeKind::IntegerExpression;
    case NodeKind::BinaryExpression: {
      const TypeKind kind = base_kind(node);  // numbers overflow
      return kind == TypeKind::Boolean || kind == TypeKind::F64 || kind == TypeKind::String;
    }
    case NodeKind::CallExpression:
      return target.kind == TargetKind::EnumCase;
    case NodeKind::MethodCallExpression: {
      constexpr std::array total = {"all",         "any",          "contains",     "contains_key", "ends_with",
                                    "first",       "get",          "is_empty",     "is_err",       "is_none",
                                    "is_ok",       "is_some",      "last",         "len",          "lines",
                                    "starts_with", "to_lowercase", "to_uppercase", "trim",         "unwrap_or"};
      const bool is_builtin = target.kind == TargetKind::Builtin || target.kind == TargetKind::Method;
      return is_builtin && std::find(total.begin(), total.end(), tree.main_text(node)) != total.end();
    }
    default:
      return is_pattern(tree.kind(node));
  }
}

constexpr std::string_view subject_term = "$";
std::string length_of(std::string_view term) {
  return fmt::format("len({})", term);
}

std::int64_t capped(std::uint64_t value) {
  return value > static_cast<std::uint64_t>(highest) ? highest : static_cast<std::int64_t>(value);
}

/// The limits of the number in the refinement.
Integers range_of(const Refinement& refinement) {
  Integers range;
  if (const auto* low = std::get_if<std::int64_t>(&refinement.low)) range.low = *low;
  if (const auto* high = std::get_if<std::int64_t>(&refinement.high)) range.high = *high;
  return range;
}
Integers length_range_of(const Refinement& refinement) {
  return {capped(refinement.length_low.value_or(0)),
          refinement.length_high ? capped(*refinement.length_high) : highest};
}

NodePointer refinements_of(const TypeTable& types, TypeId type, const std::string& term) {
  NodePointer all = make({});
  for (; types.kind(type) == TypeKind::Refined; type = types.get(type).arguments[0]) {
    const Refinement& refinement = types.refinement(type);
    if (refinement.low.index() == 2 || refinement.high.index() == 2) {
      Numbers range;
      if (const auto* low = std::get_if<double>(&refinement.low)) range.low = *low;
      if (const auto* high = std::get_if<double>(&refinement.high)) range.high = *high;
      range.high_is_open = refinement.high_is_exclusive;
      all = make_both(all, make_atom({Atom::Kind::Number, term, {}, {}, range, {}}));
    } else if (refinement.low.index() == 1 || refinement.high.index() == 1) {
      all = make_both(all, make_range(term, range_of(refinement)));
    }
    if (refinement.length_low || refinement.length_high) {
      all = make_both(all, make_range(length_of(term), length_range_of(refinement), {0, highest}));
    }
  }
  return all;
}

/// Converts an expression of one module.
class Reader {
 public:
  Reader(const CheckedProgram& program, ModuleId module, NodeId whole, LocalId subject, const CallArguments& given)
      : program_(program),
        module_(program.modules[module.index]),
        tree_(*module_.tree),
        whole_(tree_.span(whole)),
        subject_(subject),
        given_(given) {}

  NodePointer condition(NodeId node) {
    NodePointer read = read_condition(node);
    return can_be_computed(node) ? read : mark_partial(std::move(read));
  }

  /// Constants in the program's text.
  [[nodiscard]] std::optional<std::int64_t> integer(NodeId node) const {
    if (tree_.kind(node) == NodeKind::ParenthesizedExpression) return integer(tree_.first(node));
    if (tree_.kind(node) == NodeKind::UnaryExpression && operation(node) == TokenKind::Minus) {
      const auto value = integer(tree_.first(node));
      if (!value || *value == lowest) return std::nullopt;
      return -*value;
    }
    if (const auto* const value = find_given<std::int64_t>(node)) return *value;
    if (tree_.kind(node) != NodeKind::IntegerExpression) return std::nullopt;
    const auto value = syntax::integer_value(tree_.text(node));
    if (!value || *value > static_cast<std::uint64_t>(highest)) return std::nullopt;
    return static_cast<std::int64_t>(*value);
  }
  [[nodiscard]] std::optional<double> number(NodeId node) const {
    if (tree_.kind(node) == NodeKind::ParenthesizedExpression) return number(tree_.first(node));
    if (tree_.kind(node) == NodeKind::UnaryExpression && operation(node) == TokenKind::Minus) {
      const auto value = number(tree_.first(node));
      if (!value) return std::nullopt;
      return -*value;
    }
    if (const auto* const value = find_given<double>(node)) return *value;
    if (tree_.kind(node) == NodeKind::FloatExpression) {
      const auto value = syntax::float_value(tree_.text(node));
      if (value) return *value;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<bool> boolean(NodeId node) const {
    if (tree_.kind(node) == NodeKind::ParenthesizedExpression) return boolean(tree_.first(node));
    if (const auto* const value = find_given<bool>(node)) return *value;
    if (tree_.kind(node) != NodeKind::BooleanExpression) return std::nullopt;
    return tree_.text(node) == "true";
  }
  [[nodiscard]] std::optional<std::string> text(NodeId node) const {
    if (tree_.kind(node) == NodeKind::ParenthesizedExpression) return text(tree_.first(node));
    if (const auto* const value = find_given<std::string>(node)) return *value;
    return tree_.kind(node) == NodeKind::StringExpression ? syntax::plain_string(tree_, node) : std::nullopt;
  }

  /// The same for all expressions with the same value.
  std::string term(NodeId node) {
    const Target& target = facts(node).target;
    if (const auto value = integer(node)) return std::to_string(*value);
    if (const auto value = text(node)) return make_json_string(*value);
    if (const auto value = boolean(node)) return *value ? "true" : "false";
    if (const auto* const value = find_given<double>(node)) return fmt::format("number {:a}", *value);
    switch (tree_.kind(node)) {
      case NodeKind::ParenthesizedExpression:
        return term(tree_.first(node));
      case NodeKind::MethodCallExpression:
        if (tree_.main_text(node) == "len" && is_builtin(node)) return length_of(term(tree_.first(node)));
        break;
      case NodeKind::NamePattern:
        return variable(node);
      default:
        break;
    }
    // `None` is the same for all types.
    if (is_case(node) && base_kind(node) == TypeKind::Option) return "None";
    if (target.kind == TargetKind::Local) return local(LocalId{target.index});
    std::string all = fmt::format("{}", syntax::name_of(tree_.kind(node)));
    if (target.kind != TargetKind::None) {
      all += fmt::format(":{}.{}.{}", static_cast<int>(target.kind), target.index, target.detail);
    }
    const bool is_named = target.kind == TargetKind::None || target.kind == TargetKind::Builtin ||
                          target.kind == TargetKind::Method || target.kind == TargetKind::Field;
    // The main token of an index is the first token of its list.
    if (is_named && tree_.kind(node) != NodeKind::IndexExpression) all += fmt::format(" {}", tree_.main_text(node));
    // The text between the parts of these is more than one token.
    const NodeKind kind = tree_.kind(node);
    if (kind == NodeKind::StringExpression || kind == NodeKind::RangeExpression) all += tree_.text(node);
    all += fmt::format(":{}(", facts(node).type.index);
    for (NodeId child = tree_.first(node); child.exists(); child = tree_.next(child)) all += term(child) + ",";
    if (!tree_.first(node).exists() && target.kind == TargetKind::None) all += tree_.text(node);
    return all + ")";
  }

 private:
  [[nodiscard]] const NodeFacts& facts(NodeId node) const { return module_.facts_of(node); }
  [[nodiscard]] TokenKind operation(NodeId node) const { return tree_.tokens[tree_[node].main_token].kind; }
  [[nodiscard]] bool is_builtin(NodeId node) const {
    const TargetKind kind = facts(node).target.kind;
    return kind == TargetKind::Builtin || kind == TargetKind::Method;
  }
  [[nodiscard]] TypeKind base_kind(NodeId node) const {
    return program_.types.kind(program_.types.base(facts(node).type));
  }
  [[nodiscard]] bool is_integer(NodeId node) const {
    const TypeKind kind = base_kind(node);
    return kind == TypeKind::I32 || kind == TypeKind::I64;
  }

  [[nodiscard]] bool can_be_computed(NodeId node) const {
    if (!is_total(program_, module_, node)) return false;
    for (NodeId child = tree_.first(node); child.exists(); child = tree_.next(child)) {
      if (!can_be_computed(child)) return false;
    }
    return true;
  }

  /// For a comparison or its negation; the operands of logical operators are visited one by one.
  static NodePointer mark_partial(NodePointer read) {
    if (read->kind == Node::Kind::Not) return make_not(mark_partial(read->parts[0]));
    if (read->kind != Node::Kind::Atom || read->atom.is_partial) return read;
    Atom atom = read->atom;
    atom.is_partial = true;
    return make_atom(std::move(atom));
  }

  NodePointer read_condition(NodeId node) {
    switch (tree_.kind(node)) {
      case NodeKind::ParenthesizedExpression:
        return condition(tree_.first(node));
      case NodeKind::BooleanExpression:
      case NodeKind::NameExpression:
        if (const auto value = boolean(node)) return make_truth(*value);
        break;
      case NodeKind::UnaryExpression:
        if (operation(node) == TokenKind::Bang) return make_not(condition(tree_.first(node)));
        break;
      case NodeKind::BinaryExpression:
        if (NodePointer compared = binary(node)) return compared;
        break;
      case NodeKind::MethodCallExpression:
        if (tree_.main_text(node) == "is_empty" && is_builtin(node)) {
          return make_range(length_of(term(tree_.first(node))), {0, 0}, length_domain(tree_.first(node)));
        }
        break;
      default:
        break;
    }
    return make_atom({Atom::Kind::Holds, term(node), {}, {}, {}, {}});
  }

  /// An enum's case without values.
  [[nodiscard]] bool is_case(NodeId node) const {
    return tree_.kind(node) == NodeKind::NameExpression && facts(node).target.kind == TargetKind::EnumCase;
  }

  /// The argument for the parameter that the node mentions, if it is a constant of the type.
  template <class T>
  [[nodiscard]] const T* find_given(NodeId node) const {
    const Target& target = facts(node).target;
    if (tree_.kind(node) != NodeKind::NameExpression || target.kind != TargetKind::Local) return nullptr;
    const auto found = given_.constants.find(target.index);
    return found == given_.constants.end() ? nullptr : std::get_if<T>(&found->second);
  }

  /// A variable that the expression itself binds, in a closure, is numbered independently of its name; another one is
  /// a parameter, which does not equal anything outside of its call.
  std::string local(LocalId id) {
    if (id == subject_) return std::string(subject_term);
    const source::Span span = program_.locals[id.index].span;
    const bool is_inside = span.file == whole_.file && span.offset >= whole_.offset && span.end() <= whole_.end();
    return is_inside ? bound(span.offset) : fmt::format("parameter {} of call {}", id.index, given_.call);
  }
  std::string variable(NodeId pattern) { return bound(tree_.main_span(pattern).offset); }
  std::string bound(std::uint32_t offset) {
    const auto next = static_cast<std::uint32_t>(bound_.size());
    return fmt::format("bound {}", bound_.emplace(offset, next).first->second);
  }

  [[nodiscard]] Integers length_domain(NodeId receiver) const {
    Integers domain{0, highest};
    TypeId type = facts(receiver).type;
    for (; program_.types.kind(type) == TypeKind::Refined; type = program_.types.get(type).arguments[0]) {
      domain = domain & length_range_of(program_.types.refinement(type));
    }
    return domain;
  }
  [[nodiscard]] Integers domain_of(NodeId node) const {
    if (tree_.kind(node) == NodeKind::ParenthesizedExpression) return domain_of(tree_.first(node));
    if (tree_.kind(node) == NodeKind::MethodCallExpression && tree_.main_text(node) == "len" && is_builtin(node)) {
      return length_domain(tree_.first(node));
    }
    Integers domain;
    if (base_kind(node) == TypeKind::I32) {
      domain = {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    }
    TypeId type = facts(node).type;
    for (; program_.types.kind(type) == TypeKind::Refined; type = program_.types.get(type).arguments[0]) {
      domain = domain & range_of(program_.types.refinement(type));
    }
    return domain;
  }

  /// Null if it is neither a comparison nor a logical operator.
  NodePointer binary(NodeId node) {
    const NodeId left = tree_.first(node);
    const NodeId right = tree_.next(left);
    const TokenKind operation = this->operation(node);
    if (operation == TokenKind::AmpersandAmpersand) return make_both(condition(left), condition(right));
    if (operation == TokenKind::PipePipe) return make({Node::Kind::Or, {}, {condition(left), condition(right)}});
    if (!is_comparison(operation)) return nullptr;
    if (operation == TokenKind::BangEqual) return make_not(compare(left, TokenKind::EqualEqual, right));
    return compare(left, operation, right);
  }

  static bool is_comparison(TokenKind operation) {
    switch (operation) {
      case TokenKind::EqualEqual:
      case TokenKind::BangEqual:
      case TokenKind::Less:
      case TokenKind::LessEqual:
      case TokenKind::Greater:
      case TokenKind::GreaterEqual:
        return true;
      default:
        return false;
    }
  }
  static TokenKind flipped(TokenKind operation) {
    switch (operation) {
      case TokenKind::Less:
        return TokenKind::Greater;
      case TokenKind::LessEqual:
        return TokenKind::GreaterEqual;
      case TokenKind::Greater:
        return TokenKind::Less;
      case TokenKind::GreaterEqual:
        return TokenKind::LessEqual;
      default:
        return operation;
    }
  }

  NodePointer compare(NodeId left, TokenKind operation, NodeId right) {
    if (is_constant(left) && !is_constant(right)) return compare(right, flipped(operation), left);
    if (const auto holds = compare_constants(left, operation, right)) return make_truth(*holds);
    if (const auto value = integer(right); value && is_integer(left)) {
      return make_range(term(left), integers(operation, *value), domain_of(left));
    }
    if (const auto value = number(right); value && base_kind(left) == TypeKind::F64) {
      return make_atom({Atom::Kind::Number, term(left), {}, {}, numbers(operation, *value), {}});
    }
    if (operation == TokenKind::EqualEqual) {
      if (const auto value = boolean(right)) return *value ? condition(left) : make_not(condition(left));
      if (is_constant(right)) return make_atom({Atom::Kind::Equals, term(left), {}, {}, {}, term(right)});
      std::string one = term(left);
      std::string other = term(right);
      if (other < one) std::swap(one, other);
      return make_atom({Atom::Kind::Holds, fmt::format("{} == {}", one, other), {}, {}, {}, {}});
    }
    return order(left, operation, right);
  }

  /// Nothing unless both sides are constants whose order is known.
  [[nodiscard]] std::optional<bool> compare_constants(NodeId left, TokenKind operation, NodeId right) const {
    if (const auto one = integer(left), other = integer(right); one && other) {
      const Integers range = integers(operation, *other);
      return range.low <= *one && *one <= range.high;
    }
    if (const auto one = text(left), other = text(right); one && other && operation == TokenKind::EqualEqual) {
      return *one == *other;
    }
    return std::nullopt;
  }

  /// Two terms: for integers and strings `a >= b` is the negation of `a < b`; for others each is a separate term.
  NodePointer order(NodeId left, TokenKind operation, NodeId right) {
    if (operation == TokenKind::Greater || operation == TokenKind::GreaterEqual) {
      return order(right, flipped(operation), left);
    }
    const auto holds = [&](NodeId low, std::string_view sign, NodeId high) {
      std::string words = fmt::format("{} {} {}", term(low), sign, term(high));
      return make_atom({Atom::Kind::Holds, std::move(words), {}, {}, {}, {}});
    };
    if (operation == TokenKind::Less) return holds(left, "<", right);
    if (base_kind(left) == TypeKind::F64 || base_kind(right) == TypeKind::F64) return holds(left, "<=", right);
    return make_not(holds(right, "<", left));
  }

  [[nodiscard]] bool is_constant(NodeId node) const {
    if (is_case(node)) return true;
    return text(node) || boolean(node) || integer(node) || number(node);
  }

  static Integers integers(TokenKind operation, std::int64_t value) {
    switch (operation) {
      case TokenKind::Less:
        return value == lowest ? Integers{1, 0} : Integers{lowest, value - 1};
      case TokenKind::LessEqual:
        return {lowest, value};
      case TokenKind::Greater:
        return value == highest ? Integers{1, 0} : Integers{value + 1, highest};
      case TokenKind::GreaterEqual:
        return {value, highest};
      default:
        return {value, value};
    }
  }
  static Numbers numbers(TokenKind operation, double value) {
    switch (operation) {
      case TokenKind::Less:
        return {-infinity, value, false, true};
      case TokenKind::LessEqual:
        return {-infinity, value, false, false};
      case TokenKind::Greater:
        return {value, infinity, true, false};
      case TokenKind::GreaterEqual:
        return {value, infinity, false, false};
      default:
        return {value, value, false, false};
    }
  }

  const CheckedProgram& program_;
  const Module& module_;
  const syntax::SyntaxTree& tree_;
  source::Span whole_;
  LocalId subject_;
  const CallArguments& given_;
  std::map<std::uint32_t, std::uint32_t> bound_;  ///< variables that the expression itself binds, by their position
};

/// Whether all of them can be true at once, as far as known.
bool is_possible(const std::vector<Literal>& literals) {
  struct Known {
    std::optional<bool> holds;
    Integers integers;
    std::optional<Numbers> numbers;
    std::vector<Numbers> not_numbers;
    std::optional<std::string> constant;
    std::vector<std::string> not_constants;
  };
  std::map<std::string_view, Known> terms;
  for (const Literal& literal : literals) {
    const Atom& atom = *literal.atom;
    Known& known = terms[atom.term];
    switch (atom.kind) {
      case Atom::Kind::Holds:
        if (known.holds == literal.is_negated) return false;
        known.holds = !literal.is_negated;
        break;
      case Atom::Kind::Integer:
        known.integers = known.integers & atom.integers & atom.domain;
        if (known.integers.is_empty()) return false;
        break;
      case Atom::Kind::Number:
        if (literal.is_negated) {
          known.not_numbers.push_back(atom.numbers);
        } else {
          known.numbers = known.numbers.value_or(Numbers{}) & atom.numbers;
        }
        break;
      case Atom::Kind::Equals:
        if (literal.is_negated) {
          known.not_constants.push_back(atom.constant);
        } else if (known.constant && *known.constant != atom.constant) {
          return false;
        } else {
          known.constant = atom.constant;
        }
        break;
    }
  }
  return std::all_of(terms.begin(), terms.end(), [](const auto& entry) {
    const Known& known = entry.second;
    if (known.numbers) {
      if (known.numbers->is_empty()) return false;
      for (const Numbers& without : known.not_numbers) {
        if (known.numbers->is_within(without)) return false;
      }
    }
    return !known.constant || std::find(known.not_constants.begin(), known.not_constants.end(), *known.constant) ==
                                  known.not_constants.end();
  });
}

/// Adds the partial terms that have been computed, without a failure, whenever the condition (or its negation) is
/// true: for `a && b` both, for `a || b` only `a` must have been evaluated.
void list_computed(const Node& node, bool is_negated, std::set<std::string_view>& terms) {
  switch (node.kind) {
    case Node::Kind::Always:
      return;
    case Node::Kind::Not:
      return list_computed(*node.parts[0], !is_negated, terms);
    case Node::Kind::Atom:
      if (node.atom.is_partial) terms.insert(node.atom.term);
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
  if (node.kind == Node::Kind::Atom && node.atom.is_partial) terms.insert(node.atom.term);
  for (const NodePointer& part : node.parts) list_partial(*part, terms);
}

/// The cases in which the condition is true (or false). False: there are too many of them.
class Cases {
 public:
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
      if (!narrow(*part, is_negated)) return false;
      all.insert(all.end(), cases_.begin(), cases_.end());
    }
    cases_ = std::move(all);
    return cases_.size() <= condition_cases_max;
  }

  [[nodiscard]] bool any_possible() const { return std::any_of(cases_.begin(), cases_.end(), is_possible); }

 private:
  bool narrow(const Atom& atom, bool is_negated) {
    if (!is_negated || atom.kind != Atom::Kind::Integer) {
      for (Case& one : cases_) one.push_back({&atom, is_negated});
      return true;
    }
    // An integer that is not in a range is below or above it.
    std::vector<Case> all;
    for (const Integers& side : {Integers{lowest, atom.integers.low - (atom.integers.low == lowest ? 0 : 1)},
                                 Integers{atom.integers.high + (atom.integers.high == highest ? 0 : 1), highest}}) {
      const bool is_nothing = (side.low == lowest && atom.integers.low == lowest) ||
                              (side.high == highest && atom.integers.high == highest);
      if (is_nothing) continue;
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

  std::vector<Case> cases_{Case{}};
  std::vector<std::shared_ptr<Atom>> made_;
};

}  // namespace

std::optional<Constant> constant_of(const CheckedProgram& program, ModuleId module, NodeId node) {
  const CallArguments none;
  const Reader reader(program, module, node, {}, none);
  if (const auto value = reader.integer(node)) return *value;
  if (const auto value = reader.number(node)) return *value;
  if (const auto value = reader.boolean(node)) return *value;
  if (const auto value = reader.text(node)) return *value;
  return std::nullopt;
}

Condition::Condition() : root_(make({})) {}

Condition::Condition(const CheckedProgram& program, ModuleId module, NodeId expression, LocalId subject,
                     const CallArguments& given)
    : root_(Reader(program, module, expression, subject, given).condition(expression)) {}

Condition::Condition(const TypeTable& types, TypeId type)
    : root_(refinements_of(types, type, std::string(subject_term))) {}

Condition Condition::of_literal(const CheckedProgram& program, ModuleId module, NodeId literal) {
  const auto constant = constant_of(program, module, literal);
  if (!constant) return {};
  const std::string term(subject_term);
  if (const auto* const value = std::get_if<std::int64_t>(&*constant)) {
    return Condition(make_range(term, {*value, *value}));
  }
  if (const auto* const value = std::get_if<double>(&*constant)) {
    return Condition(make_atom({Atom::Kind::Number, term, {}, {}, {*value, *value, false, false}, {}}));
  }
  if (const auto* const text = std::get_if<std::string>(&*constant)) {
    const auto length = static_cast<std::int64_t>(count_code_points(*text));
    return Condition(make_both(make_atom({Atom::Kind::Equals, term, {}, {}, {}, make_json_string(*text)}),
                               make_range(length_of(term), {length, length}, {0, highest})));
  }
  return {};
}

Condition Condition::operator&&(const Condition& other) const {
  return Condition(make_both(root_, other.root_));
}

Relation relate(const Condition& given, const Condition& wanted) {
  const auto may_be = [&](std::optional<bool> wanted_holds) {
    Cases cases;
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
