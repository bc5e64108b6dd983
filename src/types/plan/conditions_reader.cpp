// Expressions of contracts as conditions: comparisons of terms, joined by `&&`, `||` and `!`.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "json/text.h"
#include "syntax/literals.h"
#include "types/plan/conditions_nodes.h"
#include "types/table/type_parts.h"

namespace tenon::types {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::TokenKind;

namespace {

using Node = Condition::Node;

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
    case NodeKind::NamedType:
      return true;
    case NodeKind::UnaryExpression:
      return tree.main_text(node) == "!" || base_kind(node) == TypeKind::F64 ||
             tree.kind(tree.first(node)) == NodeKind::IntegerExpression;
    case NodeKind::BinaryExpression: {
      const TypeKind kind = base_kind(node);  // numbers overflow
      return kind == TypeKind::Boolean || kind == TypeKind::F64 || kind == TypeKind::String;
    }
    case NodeKind::CastExpression: {
      const TypeKind from = base_kind(tree.first(node));
      const TypeKind to = base_kind(node);
      return from == to || (from == TypeKind::I32 && (to == TypeKind::I64 || to == TypeKind::F64));
    }
    case NodeKind::CallExpression:
      return target.kind == TargetKind::EnumCase ||
             (target.kind == TargetKind::Conversion && base_kind(node) == TypeKind::Text);
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

std::int64_t capped(std::uint64_t value) {
  return value > static_cast<std::uint64_t>(integer_highest) ? integer_highest : static_cast<std::int64_t>(value);
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
          refinement.length_high ? capped(*refinement.length_high) : integer_highest};
}

/// Whether a value of the type can contain an f64. A type parameter can stand for one.
bool holds_f64(const TypeTable& types, TypeId type) {
  const auto is_f64 = [&](TypeId part) {
    return types.kind(part) == TypeKind::F64 || types.kind(part) == TypeKind::Parameter;
  };
  return find_within(types, type, TypeParts::OfValues, is_f64).exists();
}

/// A sum of integer terms, each counted once or subtracted once, and a constant.
struct Linear {
  std::map<std::string, std::pair<TermPointer, int>> terms;  ///< by text
  std::int64_t constant = 0;

  /// False if the constant would be too large.
  bool add(const Linear& other, int sign) {
    for (const auto& [text, term] : other.terms) {
      int& count = terms.emplace(text, std::pair(term.first, 0)).first->second.second;
      count += sign * term.second;
      if (count == 0) terms.erase(text);
    }
    const bool has_overflowed = sign > 0 ? __builtin_add_overflow(constant, other.constant, &constant)
                                         : __builtin_sub_overflow(constant, other.constant, &constant);
    constexpr std::int64_t constant_max = std::int64_t{1} << 62;
    return !has_overflowed && constant < constant_max && constant > -constant_max;
  }
};

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
        if (NodePointer read = inspection(node)) return mark_partial(read, partial_terms(tree_.first(node)));
        break;
      default:
        break;
    }
    return mark_partial(make_equal(term(node), make_boolean(true)), partial_terms(node));
  }

  /// What is true for `subject`, which is the value of the expression.
  NodePointer value(const TermPointer& subject, NodeId node) {
    if (const auto number = integer(node)) return make_range(typed(subject, node), {*number, *number});
    if (const auto number = this->number(node)) return make_number(subject, {*number, *number, false, false});
    if (const auto content = text(node)) return make_equal(subject, make_text(*content));
    if (const auto truth = boolean(node)) return make_equal(subject, make_boolean(*truth));
    const auto nothing = [&] { return make_range(make_length(subject), {0, 0}); };
    const TargetKind target = facts(node).target.kind;
    NodePointer all = make_always();
    switch (tree_.kind(node)) {
      case NodeKind::ParenthesizedExpression:
        return value(subject, tree_.first(node));
      case NodeKind::StructExpression:
        for (const NodeId field : tree_.children(node, NodeKind::FieldInitializer)) {
          if (!tree_.first(field).exists()) continue;
          all = make_both(all, value(field_of(subject, tree_.main_text(field)), tree_.first(field)));
        }
        return all;
      case NodeKind::TupleExpression: {
        std::size_t at = 0;
        for (const NodeId item : tree_.children(node)) {
          all = make_both(all, value(field_of(subject, std::to_string(at++)), item));
        }
        return all;
      }
      case NodeKind::ListExpression: {
        const std::vector<NodeId> items = tree_.children(node);
        if (std::any_of(items.begin(), items.end(),
                        [&](NodeId item) { return tree_.kind(item) == NodeKind::SpreadExpression; })) {
          return all;
        }
        const auto count = static_cast<std::int64_t>(items.size());
        all = make_range(make_length(subject), {count, count});
        for (std::int64_t at = 0; at < count; ++at) {
          const TermPointer item = make_term("index", {subject, make_integer(at)});
          all = make_both(all, mark_partial(value(item, items[static_cast<std::size_t>(at)]), {item->text}));
        }
        return all;
      }
      case NodeKind::NameExpression:
        return is_case(node) ? make_equal(subject, term(node)) : all;
      case NodeKind::CallExpression:
        if (target == TargetKind::NewList || target == TargetKind::NewMap) return nothing();
        if (target != TargetKind::EnumCase) return all;
        if (base_kind(node) == TypeKind::Option) {
          return make_both(make_not(make_equal(subject, make_constant("None"))),
                           value(value_of(subject, facts(node).type), argument(node)));
        }
        return term(node)->is_constant ? make_equal(subject, term(node)) : all;
      default:
        return all;
    }
  }

  /// Constants in the program's text.
  [[nodiscard]] std::optional<std::int64_t> integer(NodeId node) const {
    if (tree_.kind(node) == NodeKind::ParenthesizedExpression) return integer(tree_.first(node));
    if (tree_.kind(node) == NodeKind::UnaryExpression && operation(node) == TokenKind::Minus) {
      const auto value = integer(tree_.first(node));
      if (!value || *value == integer_lowest) return std::nullopt;
      return -*value;
    }
    if (is_widening(node)) return integer(tree_.first(node));
    if (const auto* const value = find_given<std::int64_t>(node)) return *value;
    if (tree_.kind(node) != NodeKind::IntegerExpression) return std::nullopt;
    const auto value = syntax::integer_value(tree_.text(node));
    if (!value || *value > static_cast<std::uint64_t>(integer_highest)) return std::nullopt;
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
    if (is_text_conversion(node)) return text(argument(node));
    if (const auto* const value = find_given<std::string>(node)) return *value;
    return tree_.kind(node) == NodeKind::StringExpression ? syntax::plain_string(tree_, node) : std::nullopt;
  }

  /// With the range or the possible values of the type.
  [[nodiscard]] static TermPointer typed(const TypeTable& types, TermPointer term, TypeId type) {
    Term found = *term;
    for (; types.kind(type) == TypeKind::Refined; type = types.get(type).arguments[0]) {
      found.range = found.range & range_of(types.refinement(type));
    }
    const TypeKind kind = types.kind(type);
    if (kind == TypeKind::I32) found.range = found.range & Integers{INT32_MIN, INT32_MAX};
    found.is_integer |= kind == TypeKind::I32 || kind == TypeKind::I64;
    if (!found.is_constant && found.values.empty()) {
      if (kind == TypeKind::Boolean) found.values = {"true", "false"};
      if (kind == TypeKind::Enum) {
        const std::vector<Variant>& variants = types.enum_type(type).variants;
        const bool are_plain = std::all_of(variants.begin(), variants.end(),
                                           [](const Variant& variant) { return variant.payload.empty(); });
        for (std::uint32_t at = 0; are_plain && at < variants.size(); ++at) found.values.push_back(case_name(type, at));
      }
      if (kind == TypeKind::Union) {
        const auto& literals = types.union_type(type).literals;
        if (const auto* const texts = std::get_if<std::vector<std::string>>(&literals)) {
          for (const std::string& one : *texts) found.values.push_back(make_json_string(one));
        }
        if (const auto* const numbers = std::get_if<std::vector<std::int64_t>>(&literals)) {
          found.is_integer = true;
          for (const std::int64_t one : *numbers) found.values.push_back(std::to_string(one));
        }
      }
    }
    return std::make_shared<const Term>(std::move(found));
  }

 private:
  [[nodiscard]] const NodeFacts& facts(NodeId node) const { return module_.facts_of(node); }
  [[nodiscard]] TokenKind operation(NodeId node) const { return tree_.tokens[tree_[node].main_token].kind; }
  [[nodiscard]] bool is_builtin(NodeId node) const {
    const TargetKind kind = facts(node).target.kind;
    return kind == TargetKind::Builtin || kind == TargetKind::Method;
  }
  [[nodiscard]] TypeKind base_kind(TypeId type) const { return program_.types.kind(program_.types.base(type)); }
  [[nodiscard]] TypeKind base_kind(NodeId node) const { return base_kind(facts(node).type); }
  [[nodiscard]] bool is_integer(TypeId type) const {
    const TypeKind kind = base_kind(type);
    if (kind != TypeKind::Union) return kind == TypeKind::I32 || kind == TypeKind::I64;
    return program_.types.union_type(program_.types.base(type)).literals.index() == 1;
  }
  /// A conversion of an integer that always succeeds and keeps its value.
  [[nodiscard]] bool is_widening(NodeId node) const {
    if (tree_.kind(node) != NodeKind::CastExpression) return false;
    const TypeKind from = base_kind(tree_.first(node));
    const TypeKind to = base_kind(node);
    return to == TypeKind::I64 && (from == TypeKind::I32 || from == TypeKind::I64);
  }
  /// `Story(text)`, which is a text with the same content.
  [[nodiscard]] bool is_text_conversion(NodeId node) const {
    return tree_.kind(node) == NodeKind::CallExpression && facts(node).target.kind == TargetKind::Conversion &&
           base_kind(node) == TypeKind::Text && argument(node).exists();
  }
  /// The first argument of a call.
  [[nodiscard]] NodeId argument(NodeId call) const {
    const NodeId arguments = tree_.find_child(call, NodeKind::Arguments);
    return arguments.exists() ? tree_.first(arguments) : NodeId{};
  }

  [[nodiscard]] TermPointer typed(TermPointer term, NodeId node) const {
    return typed(program_.types, std::move(term), facts(node).type);
  }
  static TermPointer field_of(const TermPointer& record, std::string_view name) {
    return make_term(fmt::format(".{}", name), {record});
  }
  /// The value in an Option that is not None.
  [[nodiscard]] TermPointer value_of(const TermPointer& option, TypeId type) const {
    const TypeId inner = program_.types.get(program_.types.base(type)).arguments[0];
    return typed(program_.types, make_term(fmt::format("value:{}", program_.types.base(inner).index), {option}), inner);
  }
  static std::string case_name(TypeId type, std::uint32_t number) {
    return fmt::format("case {}.{}", type.index, number);
  }

  [[nodiscard]] bool can_be_computed(NodeId node) const {
    if (!is_total(program_, module_, node)) return false;
    for (NodeId child = tree_.first(node); child.exists(); child = tree_.next(child)) {
      if (!can_be_computed(child)) return false;
    }
    return true;
  }
  std::vector<std::string> partial_terms(NodeId node) {
    if (can_be_computed(node)) return {};
    return {term(node)->text};
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

  /// Equal terms have equal values.
  TermPointer term(NodeId node) {
    if (const auto value = integer(node)) return make_integer(*value);
    if (const auto value = text(node)) return make_text(*value);
    if (const auto value = boolean(node)) return make_boolean(*value);
    if (const auto value = number(node)) return make_term(fmt::format("number {:a}", *value));
    if (tree_.kind(node) == NodeKind::ParenthesizedExpression || is_widening(node)) return term(tree_.first(node));
    if (is_text_conversion(node)) return term(argument(node));
    if (is_length(node)) return make_length(term(tree_.first(node)), length_range(tree_.first(node)));
    return typed(operation_of(node), node);
  }

  TermPointer operation_of(NodeId node) {
    const Target& target = facts(node).target;
    const NodeKind kind = tree_.kind(node);
    const TypeId type = program_.types.base(facts(node).type);
    if (kind == NodeKind::NamePattern) return make_term(bound(tree_.main_span(node).offset));
    if (is_case(node)) {
      return make_constant(program_.types.kind(type) == TypeKind::Option ? "None" : case_name(type, target.detail));
    }
    if (target.kind == TargetKind::Local) return make_term(local(LocalId{target.index}));
    if (kind == NodeKind::FieldExpression && base_kind(tree_.first(node)) != TypeKind::Option) {
      return field_of(term(tree_.first(node)), tree_.main_text(node));
    }
    if (kind == NodeKind::IndexExpression) {
      return make_term("index", {term(tree_.first(node)), term(tree_.next(tree_.first(node)))});
    }
    if (kind == NodeKind::CallExpression && target.kind == TargetKind::EnumCase) return enum_case(node, type);
    std::string head = fmt::format("{}", syntax::name_of(kind));
    if (target.kind != TargetKind::None) {
      head += fmt::format(":{}.{}.{}", static_cast<int>(target.kind), target.index, target.detail);
    }
    const bool is_named = target.kind == TargetKind::None || target.kind == TargetKind::Builtin ||
                          target.kind == TargetKind::Method || target.kind == TargetKind::Field;
    if (is_named) head += fmt::format(" {}", make_json_string(tree_.main_text(node)));
    // The text between the parts of these is more than one token.
    const bool is_leaf = !tree_.first(node).exists() && target.kind == TargetKind::None;
    if (kind == NodeKind::StringExpression || kind == NodeKind::RangeExpression || is_leaf) {
      head += make_json_string(tree_.text(node));
    }
    head += fmt::format(":{}", facts(node).type.index);
    std::vector<TermPointer> parts;
    for (NodeId child = tree_.first(node); child.exists(); child = tree_.next(child)) parts.push_back(term(child));
    return make_term(std::move(head), std::move(parts));
  }

  /// A case with values: a constant if these are.
  TermPointer enum_case(NodeId node, TypeId type) {
    std::vector<TermPointer> parts;
    for (const NodeId one : tree_.children(tree_.find_child(node, NodeKind::Arguments))) parts.push_back(term(one));
    const bool is_constant =
        program_.types.kind(type) == TypeKind::Enum &&
        std::all_of(parts.begin(), parts.end(), [](const auto& part) { return part->is_constant; });
    Term made = *make_term(case_name(type, facts(node).target.detail), std::move(parts));
    made.is_constant = is_constant;
    return std::make_shared<const Term>(std::move(made));
  }

  /// A variable that the expression itself binds, in a closure, is numbered independently of its name; another one is
  /// a parameter, which does not equal anything outside of its call.
  std::string local(LocalId id) {
    if (id == subject_) return "$";
    const source::Span span = program_.locals[id.index].span;
    const bool is_inside = span.file == whole_.file && span.offset >= whole_.offset && span.end() <= whole_.end();
    return is_inside ? bound(span.offset) : fmt::format("parameter {} of call {}", id.index, given_.call);
  }
  std::string bound(std::uint32_t offset) {
    const auto next = static_cast<std::uint32_t>(bound_.size());
    return fmt::format("bound {}", bound_.emplace(offset, next).first->second);
  }

  [[nodiscard]] bool is_length(NodeId node) const {
    return tree_.kind(node) == NodeKind::MethodCallExpression && tree_.main_text(node) == "len" && is_builtin(node) &&
           base_kind(tree_.first(node)) != TypeKind::Option;
  }
  [[nodiscard]] Integers length_range(NodeId receiver) const {
    Integers range{0, integer_highest};
    TypeId type = facts(receiver).type;
    for (; program_.types.kind(type) == TypeKind::Refined; type = program_.types.get(type).arguments[0]) {
      range = range & length_range_of(program_.types.refinement(type));
    }
    return range;
  }

  /// `x.is_empty()`, `x.is_some()` and the like; null for other methods.
  NodePointer inspection(NodeId node) {
    if (!is_builtin(node)) return nullptr;
    const NodeId receiver = tree_.first(node);
    const TypeKind kind = base_kind(receiver);
    const std::string_view method = tree_.main_text(node);
    if (method == "is_empty" && kind != TypeKind::Option) {
      return make_range(make_length(term(receiver), length_range(receiver)), {0, 0});
    }
    if (kind == TypeKind::Option && (method == "is_none" || method == "is_some")) {
      NodePointer is_none = make_equal(term(receiver), make_constant("None"));
      return method == "is_none" ? is_none : make_not(std::move(is_none));
    }
    if (kind == TypeKind::Result && (method == "is_ok" || method == "is_err")) {
      Term is_ok = *make_term("is_ok", {term(receiver)});
      is_ok.values = {"true", "false"};
      return make_equal(std::make_shared<const Term>(std::move(is_ok)), make_boolean(method == "is_ok"));
    }
    return nullptr;
  }

  /// Null if it is neither a comparison nor a logical operator.
  NodePointer binary(NodeId node) {
    const NodeId left = tree_.first(node);
    const NodeId right = tree_.next(left);
    const TokenKind operation = this->operation(node);
    if (operation == TokenKind::AmpersandAmpersand) return make_both(condition(left), condition(right));
    if (operation == TokenKind::PipePipe) return make_node({Node::Kind::Or, {}, {condition(left), condition(right)}});
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
    if (operation == TokenKind::EqualEqual) {
      if (const auto value = boolean(right)) return *value ? condition(left) : make_not(condition(left));
      if (const auto value = boolean(left)) return *value ? condition(right) : make_not(condition(right));
    }
    std::vector<std::string> partial = partial_terms(left);
    for (std::string& one : partial_terms(right)) partial.push_back(std::move(one));
    return mark_partial(compare_values(left, operation, right), partial);
  }

  NodePointer compare_values(NodeId left, TokenKind operation, NodeId right) {
    if (is_integer(facts(left).type) && is_integer(facts(right).type)) {
      return compare_integers(linear(left), operation, linear(right));
    }
    if (operation == TokenKind::EqualEqual) {
      const bool is_flipped = is_literal(left) && !is_literal(right);
      return is_flipped ? equals(term(right), facts(right).type, left) : equals(term(left), facts(left).type, right);
    }
    if (const auto value = number(right)) return make_number(term(left), numbers(operation, *value));
    if (const auto value = number(left)) return make_number(term(right), numbers(flipped(operation), *value));
    const bool is_upward = operation == TokenKind::Less || operation == TokenKind::LessEqual;
    const bool is_strict = operation == TokenKind::Less || operation == TokenKind::Greater;
    const bool is_total = base_kind(left) != TypeKind::F64 && base_kind(right) != TypeKind::F64;
    return make_order(term(is_upward ? left : right), term(is_upward ? right : left), is_strict, is_total);
  }

  /// Constants, and values that are made of their parts.
  [[nodiscard]] bool is_literal(NodeId node) const {
    if (is_case(node) || text(node) || boolean(node) || integer(node) || number(node)) return true;
    if (tree_.kind(node) == NodeKind::ParenthesizedExpression) return is_literal(tree_.first(node));
    return tree_.kind(node) == NodeKind::ListExpression ||
           (tree_.kind(node) == NodeKind::CallExpression && facts(node).target.kind == TargetKind::EnumCase);
  }

  /// Whether the term, of that type, equals the expression.
  NodePointer equals(const TermPointer& left, TypeId type, NodeId right) {
    if (tree_.kind(right) == NodeKind::ParenthesizedExpression) return equals(left, type, tree_.first(right));
    const TypeKind kind = base_kind(type);
    if (is_integer(type) && is_integer(facts(right).type)) {
      Linear one;
      one.terms.emplace(left->text, std::pair(left, 1));
      return compare_integers(one, TokenKind::EqualEqual, linear(right));
    }
    if (kind == TypeKind::F64) {
      if (const auto value = number(right)) return make_number(left, {*value, *value, false, false});
      // NaN is not less or equal to anything.
      return make_both(make_order(left, term(right), false, false), make_order(term(right), left, false, false));
    }
    const bool is_some = tree_.kind(right) == NodeKind::CallExpression && kind == TypeKind::Option &&
                         facts(right).target.kind == TargetKind::EnumCase && argument(right).exists();
    if (is_some) {
      return make_both(
          make_not(make_equal(left, make_constant("None"))),
          equals(value_of(left, type), program_.types.get(program_.types.base(type)).arguments[0], argument(right)));
    }
    const bool is_empty_text = text(right) == "" && (kind == TypeKind::String || kind == TypeKind::Text);
    const bool is_empty_list = tree_.kind(right) == NodeKind::ListExpression && !tree_.first(right).exists();
    if (is_empty_text || (is_empty_list && kind == TypeKind::List)) return make_range(make_length(left), {0, 0});
    const TermPointer other = term(right);
    if (other->is_constant || !holds_f64(program_.types, type)) return make_equal(left, other);
    // Numbers in it may not equal themselves, and 0.0 equals -0.0.
    const bool is_sorted = left->text < other->text;
    return make_equal(make_term("==", {is_sorted ? left : other, is_sorted ? other : left}), make_boolean(true));
  }

  /// As a sum; an expression that is not one is a term of it.
  Linear linear(NodeId node) {
    Linear sum;
    if (const auto value = integer(node)) {
      if (sum.add({{}, *value}, 1)) return sum;
    } else if (tree_.kind(node) == NodeKind::ParenthesizedExpression || is_widening(node)) {
      return linear(tree_.first(node));
    } else if (tree_.kind(node) == NodeKind::BinaryExpression &&
               (operation(node) == TokenKind::Plus || operation(node) == TokenKind::Minus)) {
      sum = linear(tree_.first(node));
      if (sum.add(linear(tree_.next(tree_.first(node))), operation(node) == TokenKind::Plus ? 1 : -1)) return sum;
    }
    Linear whole;
    TermPointer one = term(node);
    whole.terms.emplace(one->text, std::pair(one, 1));
    return whole;
  }

  static NodePointer compare_integers(const Linear& left, TokenKind operation, const Linear& right) {
    Linear sum = left;
    if (sum.add(right, -1)) {
      if (sum.terms.empty()) {
        const Integers range = integers(operation, 0);
        return make_truth(range.low <= sum.constant && sum.constant <= range.high);
      }
      const auto& [first, first_count] = sum.terms.begin()->second;
      const auto& [last, last_count] = sum.terms.rbegin()->second;
      if (sum.terms.size() == 1 && first_count == 1) return make_range(first, integers(operation, -sum.constant));
      if (sum.terms.size() == 1 && first_count == -1) {
        return make_range(first, integers(flipped(operation), sum.constant));
      }
      if (sum.terms.size() == 2 && first_count == 1 && last_count == -1) {
        return make_range(first, integers(operation, -sum.constant), last);
      }
      if (sum.terms.size() == 2 && first_count == -1 && last_count == 1) {
        return make_range(last, integers(operation, -sum.constant), first);
      }
    }
    return make_range(whole_term(left), integers(operation, 0), whole_term(right));
  }

  /// The value of a sum as one term, of which only that is known.
  static TermPointer whole_term(const Linear& sum) {
    if (sum.terms.empty()) return make_integer(sum.constant);
    const auto& [only, count] = sum.terms.begin()->second;
    if (sum.terms.size() == 1 && count == 1 && sum.constant == 0) return only;
    std::vector<TermPointer> parts{make_integer(sum.constant)};
    std::string head = "sum";
    for (const auto& [text, term] : sum.terms) {
      head += fmt::format(" {}", term.second);
      parts.push_back(term.first);
    }
    Term made = *make_term(std::move(head), std::move(parts));
    made.is_integer = true;
    return std::make_shared<const Term>(std::move(made));
  }

  static Integers integers(TokenKind operation, std::int64_t value) {
    switch (operation) {
      case TokenKind::Less:
        return value == integer_lowest ? Integers{1, 0} : Integers{integer_lowest, value - 1};
      case TokenKind::LessEqual:
        return {integer_lowest, value};
      case TokenKind::Greater:
        return value == integer_highest ? Integers{1, 0} : Integers{value + 1, integer_highest};
      case TokenKind::GreaterEqual:
        return {value, integer_highest};
      default:
        return {value, value};
    }
  }
  static Numbers numbers(TokenKind operation, double value) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
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

}  // namespace

NodePointer read_condition(const CheckedProgram& program, ModuleId module, NodeId expression, LocalId subject,
                           const CallArguments& given) {
  return Reader(program, module, expression, subject, given).condition(expression);
}

NodePointer read_value(const CheckedProgram& program, ModuleId module, NodeId value) {
  const CallArguments none;
  return Reader(program, module, value, {}, none).value(make_term("$"), value);
}

NodePointer read_refinements(const TypeTable& types, TypeId type) {
  const TermPointer subject = make_term("$");
  NodePointer all = make_always();
  for (TypeId at = type; types.kind(at) == TypeKind::Refined; at = types.get(at).arguments[0]) {
    const Refinement& refinement = types.refinement(at);
    if (refinement.low.index() == 2 || refinement.high.index() == 2) {
      Numbers range;
      if (const auto* low = std::get_if<double>(&refinement.low)) range.low = *low;
      if (const auto* high = std::get_if<double>(&refinement.high)) range.high = *high;
      range.high_is_open = refinement.high_is_exclusive;
      all = make_both(all, make_number(subject, range));
    } else if (refinement.low.index() == 1 || refinement.high.index() == 1) {
      all = make_both(all, make_range(Reader::typed(types, subject, type), range_of(refinement)));
    }
    if (refinement.length_low || refinement.length_high) {
      all = make_both(all, make_range(make_length(subject), length_range_of(refinement)));
    }
  }
  return all;
}

std::optional<Constant> constant_of(const CheckedProgram& program, ModuleId module, NodeId node) {
  const CallArguments none;
  const Reader reader(program, module, node, {}, none);
  if (const auto value = reader.integer(node)) return *value;
  if (const auto value = reader.number(node)) return *value;
  if (const auto value = reader.boolean(node)) return *value;
  if (const auto value = reader.text(node)) return *value;
  return std::nullopt;
}

}  // namespace tenon::types
