// Expressions: literals, names, aggregates, access.

#include "types/check/expressions/expressions.h"

#include <re2/re2.h>
#include <algorithm>

#include "base/utf8.h"
#include "diagnostics/kinds.h"
#include "diagnostics/nearest.h"
#include "syntax/literals.h"
#include "types/builtin_methods.h"
#include "types/check/body_checker.h"
#include "types/suggestions.h"
#include "types/table/refinements.h"
#include "types/table/type_parts.h"

namespace tenon::types {

/// The items of a `for`, which can be a range; ranges are not allowed anywhere else.
TypeId ExpressionChecker::check_items(NodeId items) {
  body_.iterated_range = tree().without_parentheses(items);
  return types_.base(check_expression(items, Expectation::any()));
}

TypeId ExpressionChecker::check_expression(NodeId node, Expectation expected) {
  const std::size_t errors = diagnostics_.error_count();
  const TypeId type = body_.resolver.reject_large_type(check_kind(node, expected), node);
  record(node, type);
  // The inner expression was already checked against the expected type.
  const NodeKind kind = tree().kind(node);
  const bool is_inside = kind == NodeKind::Block || kind == NodeKind::IfExpression ||
                         kind == NodeKind::MatchExpression || kind == NodeKind::SelectExpression;
  if (is_inside && errors != diagnostics_.error_count()) return type;
  if (expected.kind == Expectation::Kind::Value) {
    coerce(node, type, expected.type);
  } else if (expected.kind == Expectation::Kind::Body && type != TypeTable::unit) {
    coerce(node, type, expected.type);
  }
  return type;
}

/// The value goes where a `type` is expected; gives that type.
TypeId ExpressionChecker::check_value(NodeId node, TypeId type) {
  const TypeId given = check_expression(node, Expectation::value(type));
  return given == TypeTable::never ? given : type;
}

TypeId ExpressionChecker::check_kind(NodeId node, Expectation expected) {
  switch (tree().kind(node)) {
    case NodeKind::IntegerExpression:
      return check_integer(node, expected, false);
    case NodeKind::FloatExpression:
      if (!syntax::float_value(tree().text(node))) {
        diagnostics_.report(diagnostics::NumberOutOfRange, tree().span(node), std::string(tree().text(node)), "f64");
      }
      return TypeTable::f64;
    case NodeKind::BooleanExpression:
      return TypeTable::boolean;
    case NodeKind::StringExpression:
      return check_string(node, expected);
    case NodeKind::NameExpression:
      return check_name(node, expected);
    case NodeKind::HoleExpression:
      diagnostics_.report(diagnostics::MisplacedHole, tree().span(node));
      return TypeTable::error;
    case NodeKind::ParenthesizedExpression: {
      const NodeId inner = tree().first(node);
      if (!inner.exists()) return TypeTable::error;
      // What is expected of the whole is expected of the inside; the inside reports.
      const TypeId type = check_kind(inner, expected);
      record(inner, type);
      return type;
    }
    case NodeKind::TupleExpression:
      return check_tuple(node, expected);
    case NodeKind::ListExpression:
      return check_list(node, expected);
    case NodeKind::StructExpression:
      return check_struct(node);
    case NodeKind::UnaryExpression:
      return checker_.operators.check_unary(node, expected);
    case NodeKind::BinaryExpression:
      return checker_.operators.check_binary(node, expected);
    case NodeKind::RangeExpression:
      return check_range(node);
    case NodeKind::CastExpression:
      return checker_.operators.check_cast(node);
    case NodeKind::CallExpression:
      return checker_.calls.check_call(node, expected);
    case NodeKind::MethodCallExpression:
      return checker_.methods.check_method_call(node, expected);
    case NodeKind::FieldExpression:
      return check_field(node);
    case NodeKind::IndexExpression:
      return check_index(node);
    case NodeKind::IfExpression:
      return checker_.branches.check_if(node, expected);
    case NodeKind::MatchExpression:
      return checker_.branches.check_match(node, expected);
    case NodeKind::SelectExpression:
      return checker_.branches.check_select(node, expected);
    case NodeKind::ToolsExpression:
      return checker_.tools.check_tools(node);
    case NodeKind::ForExpression:
      return checker_.branches.check_for(node, expected);
    case NodeKind::ParallelExpression:
      return checker_.branches.check_parallel(node);
    case NodeKind::Block:
      return checker_.statements.check_block(node, expected);
    case NodeKind::TryExpression:
      return check_try(node, expected);
    case NodeKind::CatchExpression:
      return checker_.branches.check_catch(node, expected);
    case NodeKind::FinallyExpression:
      return checker_.branches.check_finally(node, expected);
    case NodeKind::ShieldExpression:
      return checker_.branches.check_shield(node, expected);
    case NodeKind::BudgetExpression:
      return checker_.budgets.check_budget(node, expected);
    case NodeKind::PursueExpression:
      return checker_.pursuits.check_pursue(node, expected);
    case NodeKind::StrategyExpression:
      return checker_.contracts.check_strategy(node, expected);
    case NodeKind::ReturnExpression:
      return check_return(node);
    case NodeKind::BreakExpression:
    case NodeKind::ContinueExpression: {
      const std::string word(tree().text(node));
      if (body_.depth.finally_blocks > 0 && body_.depth.loops == 0) {
        diagnostics_.report(diagnostics::JumpOutOfFinally, tree().span(node), word);
      } else if (body_.in_branch && body_.depth.loops == 0) {
        diagnostics_.report(diagnostics::JumpOutOfBranch, tree().span(node), word);
      } else if (body_.depth.loops == 0 || body_.depth.closures > 0) {
        diagnostics_.report(diagnostics::OutsideLoop, tree().span(node), word);
      }
      return TypeTable::never;
    }
    case NodeKind::ClosureExpression:
      diagnostics_.report(diagnostics::MisplacedClosure, tree().span(node));
      return TypeTable::error;
    default:
      return TypeTable::error;  // Error: reported by the parser
  }
}

TypeId ExpressionChecker::check_integer(NodeId node, Expectation expected, bool negative) {
  TypeId type = TypeTable::i32;
  TypeId target;
  if (expected.has_type() && (is_integer(types_, expected.type))) {
    target = expected.type;
    type = types_.base(expected.type);
  }
  const std::string shown = (negative ? "-" : "") + std::string(tree().text(node));
  const auto magnitude = syntax::integer_value(tree().text(node));
  if (!magnitude && magnitude.error() == syntax::NumberError::Malformed) {
    diagnostics_.report(diagnostics::MalformedNumber, tree().span(node), shown).hint("add digits");
    return type;
  }
  const bool is_i32 = types_.kind(type) == TypeKind::I32;
  const std::uint64_t largest = is_i32 ? std::uint64_t{INT32_MAX} : std::uint64_t{INT64_MAX};
  if (!magnitude || *magnitude > largest + (negative ? 1U : 0U)) {
    auto& report = diagnostics_.report(diagnostics::NumberOutOfRange, tree().span(node), shown,
                                       describe(is_i32 ? TypeTable::i32 : TypeTable::i64));
    if (is_i32 && magnitude && *magnitude <= std::uint64_t{INT64_MAX}) report.hint("use the type `i64`");
    return type;
  }
  const auto value = negative ? static_cast<std::int64_t>(0 - *magnitude) : static_cast<std::int64_t>(*magnitude);
  if (!target.exists()) return type;
  if (types_.kind(type) == TypeKind::Union) {
    const auto* literals = std::get_if<std::vector<std::int64_t>>(&types_.union_type(type).literals);
    if (literals == nullptr) return TypeTable::i32;
    if (!body_.find_member(type, std::to_string(value))) {
      diagnostics_.report(diagnostics::LiteralNotInType, tree().span(node), shown, describe(target));
    }
    return target;
  }
  if (types_.kind(target) == TypeKind::Refined) {
    if (!is_within(types_.refinement(target), value)) {
      diagnostics_.report(diagnostics::LiteralNotInType, tree().span(node), shown, describe(target));
    }
    return target;
  }
  return type;
}

TypeId ExpressionChecker::check_string(NodeId node, Expectation expected) {
  checker_.templates.check_template_pieces(node);
  if (!expected.has_type()) return TypeTable::string;
  // A literal is looked at now, so that nothing is left to check when the program runs.
  const std::optional<std::string> text = syntax::plain_string(tree(), node);
  if (!text) return TypeTable::string;
  const TypeId base = types_.base(expected.type);
  const std::string shown = "\"" + text->substr(0, 60) + "\"";
  bool fits = true;
  std::optional<std::string> nearest;
  if (types_.kind(base) == TypeKind::Union) {
    const auto* literals = std::get_if<std::vector<std::string>>(&types_.union_type(base).literals);
    if (literals == nullptr) return TypeTable::string;
    fits = body_.find_member(base, *text).has_value();
    if (!fits && !diagnostics_.is_full()) {
      const std::vector<std::string_view> candidates(literals->begin(), literals->end());
      nearest = diagnostics::find_nearest(*text, candidates);
    }
  } else if (types_.kind(expected.type) != TypeKind::Refined || base != TypeTable::string) {
    return TypeTable::string;
  }
  if (types_.kind(expected.type) == TypeKind::Refined) {
    const Refinement& refinement = types_.refinement(expected.type);
    fits = fits && is_within_length(refinement, count_code_points(*text)) &&
           (!refinement.pattern || RE2::FullMatch(*text, *refinement.pattern));
  }
  if (!fits) {
    auto& report =
        diagnostics_.report(diagnostics::LiteralNotInType, tree().span(node), shown, describe(expected.type));
    if (nearest) report.hint(fmt::format("did you mean \"{}\"?", *nearest));
  }
  return expected.type;
}

TypeId ExpressionChecker::check_name(NodeId node, Expectation expected) {
  const std::vector<syntax::TokenIndex> path = tree().path(node);
  // A name that is missing after `::` has been reported by the parser.
  if (path.empty() || tree().tokens[tree()[node].end_token - 1].kind == TokenKind::ColonColon) return TypeTable::error;
  const std::string name(tree().text(path.back()));
  if (path.size() == 1) {
    if (const auto local = find_local(name)) {
      facts(node).target = {TargetKind::Local, local->index, 0};
      return this->local(*local).type;
    }
    if (name == "None") {
      if (expected.has_type() && types_.kind(types_.base(expected.type)) == TypeKind::Option) {
        facts(node).target = {TargetKind::EnumCase, 0, 0};
        return types_.base(expected.type);
      }
      facts(node).target = {TargetKind::EnumCase, 0, 0};
      // Comparing with None needs no more than that it is an Option.
      return TypeTable::any_option;
    }
    if (checker_.names.find_function(name) || checker_.names.find_extern(name) || body_.resolver.find_type(name) ||
        checker_.names.is_module(name)) {
      report_not_a_value(node, path);
      return TypeTable::error;
    }
    checker_.names.report_unknown_name(node, name, tree().span(node), BodyNames::Use::Value, expected);
    return TypeTable::error;
  }
  // `Enum::Case`, `module::Enum::Case`.
  std::string owner(tree().text(path[path.size() - 2]));
  if (checker_.calls.reject_qualified_case(node, owner, name)) return TypeTable::error;
  const std::optional<TypeId> type = body_.resolver.find_type(std::span(path).first(path.size() - 1));
  if (!type && body_.resolver.find_type(path)) {
    report_not_a_value(node, path);
    return TypeTable::error;
  }
  if (!type) {
    checker_.names.report_unknown_name(node, owner, tree().span(path[path.size() - 2]), BodyNames::Use::Type);
    return TypeTable::error;
  }
  return checker_.calls.check_case(node, *type, name, tree().span(path.back()), {}, false);
}

/// A function, a type or a module where a value is needed.
void ExpressionChecker::report_not_a_value(NodeId node, std::span<const syntax::TokenIndex> path) {
  const std::string name(tree().text(node));
  auto& report = diagnostics_.report(diagnostics::NotAValue, tree().span(node), name);
  const auto type = body_.resolver.find_type(path);
  if (checker_.names.find_callee(path).kind != TargetKind::None) {
    report.hint(fmt::format("call it: `{}(…)`", name));
  } else if (!type) {
    report.hint(fmt::format("it is a module: write `{}::NAME` for one of its items", name));
  } else if (checker_.names.find_agent(path)) {
    report.hint(fmt::format("call the agent: `{}::run(input)`", name));
  } else if (types_.kind(*type) == TypeKind::Enum) {
    const std::vector<Variant>& cases = types_.enum_type(*type).variants;
    report.hint(fmt::format("write one of its cases: `{}::{}`", name, cases.empty() ? "…" : cases.front().name));
  } else if (types_.kind(*type) == TypeKind::Struct) {
    report.hint(checker_.assignability.construction_hint(*type));
  } else if (const TypeKind kind = types_.kind(types_.base(*type)); kind == TypeKind::Text || kind == TypeKind::Union) {
    report.hint(checker_.assignability.conversion_hint(*type));
  } else {
    report.hint("it is the name of a type");
  }
}

TypeId ExpressionChecker::check_range(NodeId node) {
  TypeId type = TypeTable::i32;
  std::vector<NodeId> sides;
  for (NodeId side = tree().first(node); side.exists(); side = tree().next(side)) sides.push_back(side);
  if (sides.size() != 2) {
    diagnostics_.report(diagnostics::CannotInferType, tree().span(node), "a range without both ends")
        .hint("write `0..n`");
    return TypeTable::error;
  }
  const bool second_first = tree().kind(sides[0]) == NodeKind::IntegerExpression;
  const TypeId known = check_expression(sides[second_first ? 1 : 0], Expectation::any());
  type = types_.base(known);
  if (types_.kind(type) == TypeKind::Union) type = TypeTable::i64;
  if (known != TypeTable::error && !is_integer(types_, type)) {
    diagnostics_.report(diagnostics::TypeMismatch, tree().span(sides[second_first ? 1 : 0]), describe(known), "i32");
    return TypeTable::error;
  }
  check_value(sides[second_first ? 0 : 1], type);
  if (node != body_.iterated_range) {
    diagnostics_.report(diagnostics::MisplacedRange, tree().span(node))
        .hint("write `for i in 0..n`, or a list such as `[0, 1, 2]`");
    return TypeTable::error;
  }
  return types_.range(type);
}

TypeId ExpressionChecker::check_list(NodeId node, Expectation expected) {
  TypeId element;
  if (expected.has_type() && types_.kind(types_.base(expected.type)) == TypeKind::List) {
    element = types_.get(types_.base(expected.type)).arguments[0];
  }
  const NodeId first = tree().first(node);
  if (expected.has_type() && types_.kind(expected.type) == TypeKind::Tools && report_list_of_tools(node, expected.type))
    return TypeTable::error;
  if (!first.exists()) {
    if (element.exists()) return types_.list(element);
    if (expected.kind != Expectation::Kind::Nothing && expected.type != TypeTable::error) {
      diagnostics_.report(diagnostics::CannotInferType, tree().span(node), "an empty list")
          .hint("add a type annotation: `let xs: List<String> = []`");
    }
    return TypeTable::error;
  }
  if (element.exists()) {
    for (NodeId item = first; item.exists(); item = tree().next(item)) check_value(item, element);
    return types_.list(element);
  }
  std::optional<TypeId> joined;
  for (NodeId item = first; item.exists(); item = tree().next(item)) {
    const Expectation hint =
        joined && is_number(types_, *joined) ? Expectation{Expectation::Kind::Value, *joined} : Expectation::any();
    TypeId type = check_kind(item, hint);
    record(item, type);
    if (body_.resolver.reject_context(type, item, "stored in a list")) type = TypeTable::error;
    if (!joined || *joined == TypeTable::error || *joined == TypeTable::any_option) {
      joined = type;
    } else if (const auto common = checker_.assignability.common_type(*joined, type)) {
      joined = common;
    } else {
      coerce(item, type, *joined);
    }
  }
  if (*joined == TypeTable::unit) {
    diagnostics_.report(diagnostics::ValueExpected, tree().span(first));
    return TypeTable::error;
  }
  return *joined == TypeTable::error ? TypeTable::error : types_.list(*joined);
}

/// `[look]` for `tools { look }`. Returns whether it is reported, which makes its names no mistakes of their own.
bool ExpressionChecker::report_list_of_tools(NodeId node, TypeId tools) {
  const std::vector<NodeId> items = tree().children(node);
  std::string names;
  for (const NodeId item : items) {
    if (tree().kind(item) != NodeKind::NameExpression) return false;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", tree().text(item));
  }
  for (const NodeId item : items) record(item, TypeTable::error);
  const std::string meant = names.empty() ? "tools {}" : fmt::format("tools {{ {} }}", names);
  diagnostics_.report(diagnostics::TypeMismatch, tree().span(node), "List", describe(tools))
      .hint(fmt::format("a set of functions is written `{}`", meant))
      .fix = {tree().span(node), meant};
  return true;
}

TypeId ExpressionChecker::check_tuple(NodeId node, Expectation expected) {
  std::vector<TypeId> hints;
  if (expected.has_type() && types_.kind(expected.type) == TypeKind::Tuple) hints = types_.get(expected.type).arguments;
  std::vector<NodeId> nodes;
  std::vector<TypeId> items;
  for (NodeId item = tree().first(node); item.exists(); item = tree().next(item)) {
    const bool hinted = items.size() < hints.size();
    nodes.push_back(item);
    items.push_back(hinted ? check_value(item, hints[items.size()]) : check_expression(item, Expectation::any()));
  }
  if (items.empty()) return TypeTable::unit;
  if (items.size() == 1) return items[0];
  for (std::size_t at = 0; at < items.size(); ++at) {
    if (body_.resolver.reject_context(items[at], nodes[at], "stored in a tuple")) return TypeTable::error;
  }
  return types_.tuple(std::move(items));
}

TypeId ExpressionChecker::check_struct(NodeId node) {
  const NodeId name_node = tree().first(node);
  const std::vector<syntax::TokenIndex> path = tree().path(name_node);
  const std::string name(tree().text(path.back()));
  const std::optional<TypeId> type = body_.resolver.find_type(path);
  const std::vector<NodeId> given = tree().children(node, NodeKind::FieldInitializer);
  if (!type || types_.kind(*type) != TypeKind::Struct) {
    const std::optional<TypeId> owner = body_.resolver.find_type(std::span(path).first(path.size() - 1));
    if (owner && types_.kind(*owner) == TypeKind::Enum) {
      diagnostics_.report(diagnostics::NotAStruct, tree().span(name_node), std::string(tree().text(name_node)))
          .hint(fmt::format("remove the field names, enum cases have positional values: `{}(…)`",
                            tree().text(name_node)));
      record(name_node, TypeTable::error);
    } else if (!type) {
      checker_.names.report_unknown_name(name_node, name, tree().span(name_node), BodyNames::Use::Type);
    } else {
      diagnostics_.report(diagnostics::NotAStruct, tree().span(name_node), name);
    }
    for (const NodeId field : given) {
      if (tree().first(field).exists()) check_expression(tree().first(field), Expectation::any());
    }
    return TypeTable::error;
  }
  const std::vector<Field> fields = types_.struct_type(*type).fields;
  std::vector<bool> seen(fields.size(), false);
  bool has_unknown = false;  // most likely a field that is missing, misspelt
  for (const NodeId initializer : given) {
    const std::string field_name(tree().main_text(initializer));
    const std::optional<std::uint32_t> found = body_.find_member(*type, field_name);
    const NodeId value = tree().first(initializer);
    if (!found) {
      std::vector<std::string_view> candidates;
      for (std::size_t at = 0; at < fields.size() && !diagnostics_.is_full(); ++at)
        candidates.push_back(fields[at].name);
      auto& report =
          diagnostics_.report(diagnostics::UnknownField, tree().main_span(initializer), describe(*type), field_name);
      if (const auto meant = find_meant(field_name, candidates)) report.hint(fmt::format("did you mean `{}`?", *meant));
      if (value.exists()) check_expression(value, Expectation::any());
      has_unknown = true;
      continue;
    }
    const std::uint32_t position = *found;
    const TypeId field_of = fields[position].type;
    if (seen[position]) diagnostics_.report(diagnostics::SpecifiedTwice, tree().main_span(initializer), field_name);
    seen[position] = true;
    facts(initializer).target = {TargetKind::Field, position, 0};
    if (value.exists()) {
      check_value(value, field_of);
    } else if (const auto local = find_local(field_name)) {  // `Point { x }` is `Point { x: x }`
      record(initializer, this->local(*local).type);
      facts(initializer).target.detail = local->index;
      coerce(initializer, this->local(*local).type, field_of);
    } else {
      checker_.names.report_unknown_name(initializer, field_name, tree().main_span(initializer), BodyNames::Use::Value);
    }
  }
  for (std::size_t at = 0; at < fields.size() && !has_unknown; ++at) {
    if (seen[at]) continue;
    diagnostics_.report(diagnostics::MissingField, tree().span(name_node), describe(*type), fields[at].name);
  }
  return *type;
}

TypeId ExpressionChecker::check_index(NodeId node) {
  const NodeId owner = tree().first(node);
  const NodeId index = owner.exists() ? tree().next(owner) : NodeId{};
  if (!index.exists()) return TypeTable::error;
  const TypeId type = types_.base(check_expression(owner, Expectation::any()));
  const TypeKind kind = types_.kind(type);
  if (kind == TypeKind::List) {
    const TypeId given = types_.base(check_expression(index, Expectation::any()));
    if (given != TypeTable::error && !is_integer(types_, given)) {
      diagnostics_.report(diagnostics::TypeMismatch, tree().span(index), describe(given), "i32");
    }
    return types_.get(type).arguments[0];
  }
  if (kind == TypeKind::Map) {
    check_value(index, TypeTable::string);
    return types_.get(type).arguments[0];
  }
  check_expression(index, Expectation::any());
  if (type != TypeTable::error) {
    auto& report = diagnostics_.report(diagnostics::NotIndexable, tree().span(owner), describe(type));
    checker_.assignability.hint_handling(report, type);
    if (is_text(types_, type)) report.hint("use `.slice(from, to)` or `.chars()` on a text");
    if (kind == TypeKind::Tuple) report.hint("access the items of a tuple with `.0`, `.1`, …");
  }
  return TypeTable::error;
}

TypeId ExpressionChecker::field_type(NodeId node, TypeId owner, std::string_view name, Target& target) {
  const TypeId base = types_.base(owner);
  if (types_.kind(base) == TypeKind::Struct) {
    if (const auto position = body_.find_member(base, name)) {
      target = {TargetKind::Field, *position, 0};
      return types_.struct_type(base).fields[*position].type;
    }
  } else if (types_.kind(base) == TypeKind::Tuple) {
    const std::vector<TypeId>& items = types_.get(base).arguments;
    const auto index = syntax::integer_value(name);
    if (index && *index < items.size()) {
      target = {TargetKind::Field, static_cast<std::uint32_t>(*index), 0};
      return items[*index];
    }
  }
  if (base == TypeTable::error) return base;
  std::vector<std::string_view> candidates;
  if (types_.kind(base) == TypeKind::Struct && !diagnostics_.is_full()) {
    for (const Field& field : types_.struct_type(base).fields) candidates.push_back(field.name);
  }
  std::string of = describe(owner);
  // The type of an agent's scratchpad has no name in the program.
  if (of.ends_with("Scratchpad") && tree().main_text(tree().first(node)) == "scratchpad") of = "scratchpad";
  auto& report =
      diagnostics_.report(diagnostics::UnknownField, tree().main_span(node), std::move(of), std::string(name));
  if (const auto meant = find_meant(name, candidates)) {
    report.hint(fmt::format("did you mean `{}`?", *meant));
  } else if (types_.kind(base) == TypeKind::Option) {
    hint_field_of_option(report, base, name);
  } else if (const auto call = checker_.methods.find_meant_call(base, name)) {
    hint_call(report, *call, name);
  } else if (const auto advice = find_advice(types_, base, name, builtin_method_names(types_, base))) {
    report.hint(*advice);
  } else {
    checker_.assignability.hint_handling(report, base);
  }
  return TypeTable::error;
}

/// A method that is written without `(…)`, or as in another language.
void ExpressionChecker::hint_call(diagnostics::Diagnostic& report, std::string_view call, std::string_view name) {
  const bool is_name = call.substr(0, call.find_first_of("(<")) == name;
  report.hint(is_name ? fmt::format("it is a method: write `.{}`", call) : fmt::format("use `.{}` instead", call));
}

/// The field may be one of the value that is held, or a method of either.
void ExpressionChecker::hint_field_of_option(diagnostics::Diagnostic& report, TypeId option, std::string_view name) {
  const TypeId held = types_.base(types_.get(option).arguments[0]);
  std::vector<std::string_view> fields;
  if (types_.kind(held) == TypeKind::Struct) {
    for (const Field& field : types_.struct_type(held).fields) fields.push_back(field.name);
  }
  bool is_field = std::ranges::find(fields, name) != fields.end();
  if (types_.kind(held) == TypeKind::Tuple) {
    const auto item = syntax::integer_value(name);
    is_field = item && *item < types_.get(held).arguments.size();
  }
  std::optional<std::string> meant = is_field ? std::string(name) : find_meant(name, fields);
  if (const auto own = meant ? std::nullopt : checker_.methods.find_meant_call(option, name)) {
    return *own == "unwrap()" ? checker_.assignability.hint_handling(report, option) : hint_call(report, *own, name);
  }
  if (!meant) meant = checker_.methods.find_meant_call(held, name);
  if (!meant) return checker_.assignability.hint_handling(report, option);
  report.hint(fmt::format("the value may be `None`: use `?.{}`", *meant));
}

/// `E.A` for the case `E::A` of an enum. Returns whether it is reported.
bool ExpressionChecker::reject_dot_of_case(NodeId node, NodeId owner, std::string_view name) {
  if (tree().kind(owner) != NodeKind::NameExpression) return false;
  const std::vector<syntax::TokenIndex> path = tree().path(owner);
  if (path.size() != 1 || find_local(std::string(tree().text(owner)))) return false;
  const auto type = body_.resolver.find_type(path);
  if (!type || types_.kind(*type) != TypeKind::Enum || !body_.find_member(*type, name)) return false;
  record(owner, TypeTable::error);
  const std::string meant = fmt::format("{}::{}", tree().text(owner), name);
  diagnostics_.report(diagnostics::NotAValue, tree().span(owner), std::string(tree().text(owner)))
      .hint(fmt::format("write the case as `{}`", meant))
      .fix = {tree().span(node), meant};
  return true;
}

TypeId ExpressionChecker::check_field(NodeId node) {
  const NodeId owner = tree().first(node);
  if (!owner.exists()) return TypeTable::error;
  const std::string_view name = tree().main_text(node);
  if (reject_dot_of_case(node, owner, name)) return TypeTable::error;
  const TypeId type = check_expression(owner, Expectation::any());
  bool optional = false;
  for (syntax::TokenIndex at = tree()[node].main_token; at-- > tree()[owner].end_token - 1 && !optional;) {
    optional = tree().tokens[at].kind == TokenKind::QuestionDot;
  }
  Target target;
  if (!optional) {
    const TypeId field = field_type(node, type, name, target);
    facts(node).target = target;
    return field;
  }
  if (type == TypeTable::error) return type;
  if (types_.kind(type) != TypeKind::Option) {
    diagnostics_.report(diagnostics::OptionalAccess, tree().main_span(node), describe(type))
        .hint(fmt::format("use `.{}`", name));
    return TypeTable::error;
  }
  const TypeId field = field_type(node, types_.get(type).arguments[0], name, target);
  target.detail = 1;  // through `?.`
  facts(node).target = target;
  if (field == TypeTable::error || types_.kind(field) == TypeKind::Option) return field;
  return types_.option(field);
}

TypeId ExpressionChecker::check_try(NodeId node, Expectation expected) {
  const NodeId inner = tree().first(node);
  if (!inner.exists()) return TypeTable::error;
  Expectation hint = Expectation::any();
  if (expected.has_type() && types_.kind(expected.type) == TypeKind::Result)
    hint = Expectation::value(types_.get(expected.type).arguments[0]);
  ++body_.depth.guarded;
  const TypeId type = check_expression(inner, hint);
  --body_.depth.guarded;
  if (type == TypeTable::error) return type;
  if (body_.resolver.reject_context(type, inner, "stored in a `Result`")) return TypeTable::error;
  return types_.result(type == TypeTable::never ? TypeTable::unit : hint.has_type() ? hint.type : type);
}

TypeId ExpressionChecker::check_return(NodeId node) {
  const NodeId value = tree().first(node);
  const TypeId declared = body_.function.result;
  if (body_.depth.finally_blocks > 0) {
    diagnostics_.report(diagnostics::JumpOutOfFinally, tree().span(node), "return");
  } else if (body_.depth.closures > 0) {
    diagnostics_.report(diagnostics::ReturnInClosure, tree().span(node));
  } else if (body_.in_branch) {
    diagnostics_.report(diagnostics::JumpOutOfBranch, tree().span(node), "return");
  }
  if (!value.exists()) {
    if (declared != TypeTable::unit && declared != TypeTable::error) {
      diagnostics_.report(diagnostics::ReturnMismatch, tree().span(node), "()", describe(declared));
    }
    return TypeTable::never;
  }
  const TypeId given = check_kind(value, Expectation::value(declared));
  record(value, given);
  const bool narrows =
      types_.kind(declared) == TypeKind::Refined && is_assignable(types_.base(given), types_.base(declared));
  if (is_assignable(given, declared) || narrows) {
    if (narrows && !is_assignable(given, declared)) facts(value).narrowed_to = declared;
  } else if (!checker_.assignability.has_reported(given)) {
    checker_.assignability.hint_mismatch(
        diagnostics_.report(diagnostics::ReturnMismatch, tree().span(value), describe(given), describe(declared)),
        value, given, declared);
  }
  return TypeTable::never;
}

}  // namespace tenon::types
