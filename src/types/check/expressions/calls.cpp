// Calls of functions, externs and constructors; holes.

#include "types/check/expressions/calls.h"

#include <algorithm>

#include "base/counted.h"
#include "diagnostics/kinds.h"
#include "diagnostics/nearest.h"
#include "syntax/literals.h"
#include "types/builtin_methods.h"
#include "types/check/body_checker.h"
#include "types/suggestions.h"
#include "types/table/type_parts.h"

namespace tenon::types {
namespace {

/// Of so many arguments that do not fit, another order is tried.
constexpr std::size_t reordered_arguments_max = 5;

}  // namespace

/// `Billing::handoff(input)` in the `turn` of another agent: the turn ends here, and the other one's answer is its
/// value.
TypeId CallChecker::check_handoff(NodeId node, FunctionId id, std::span<const NodeId> arguments) {
  const FunctionDeclaration& callee = program_.functions[id.index];
  const std::string name = program_.agents[callee.agent.index].name;
  const FunctionDeclaration& caller = body_.function;
  const bool in_turn = caller.agent.exists() && program_.agents[caller.agent.index].turn == body_.id;
  facts(node).target = {TargetKind::Function, id.index, 0};
  if (!in_turn || body_.in_branch || body_.depth.closures > 0 || body_.depth.guarded > 0) {
    diagnostics_.report(diagnostics::MisplacedHandoff, tree().span(node), name)
        .hint("hand off in an agent's `turn`, outside of parallel branches, closures, `try`, `catch` and `shield`");
  } else if (callee.result != caller.result) {
    diagnostics_.report(diagnostics::TypeMismatch, tree().span(node), describe(callee.result), describe(caller.result))
        .hint("the other agent's answer becomes the answer of this turn, so both must have the same type");
  }
  if (expect_count(node, name + "::handoff", 1, arguments.size())) {
    if (tree().kind(arguments[0]) == NodeKind::HoleExpression) {
      diagnostics_.report(diagnostics::MisplacedHole, tree().span(arguments[0]));
    } else {
      check_value(arguments[0], callee.parameters[1].type);
    }
  }
  return TypeTable::never;
}

bool CallChecker::expect_count(NodeId node, const std::string& name, std::size_t expected, std::size_t given) {
  if (expected == given) return true;
  diagnostics_.report(diagnostics::ArgumentCount, tree().span(node), name, counted(expected, "argument"),
                      counted_were(given));
  return false;
}

TypeId CallChecker::check_call(NodeId node, Expectation expected) {
  const NodeId callee = tree().first(node);
  const NodeId list = tree().find_child(node, NodeKind::Arguments);
  if (!callee.exists() || !list.exists()) return TypeTable::error;
  const std::vector<NodeId> arguments = tree().children(list);
  const auto check_all = [&] {
    for (const NodeId argument : arguments) {
      if (tree().kind(argument) != NodeKind::HoleExpression) check_expression(argument, Expectation::any());
    }
    return TypeTable::error;
  };
  if (tree().kind(callee) != NodeKind::NameExpression) {
    const TypeId type = check_expression(callee, Expectation::any());
    if (type != TypeTable::error)
      diagnostics_.report(diagnostics::NotAFunction, tree().span(callee),
                          std::string(tree().text(callee).substr(0, 60)));
    return check_all();
  }
  const std::vector<syntax::TokenIndex> path = tree().path(callee);
  // A name that is missing after `::` has been reported by the parser.
  if (path.empty() || tree().tokens[tree()[callee].end_token - 1].kind == TokenKind::ColonColon) return check_all();
  const std::string name(tree().text(path.back()));
  const NodeId type_arguments = tree().find_child(callee, NodeKind::TypeArguments);
  if (path.size() > 1) {
    if (const auto type = check_associated_call(node, callee, arguments, expected)) return *type;
    return check_all();
  }
  if (const auto local = find_local(name)) {
    if (this->local(*local).type == TypeTable::error) return check_all();
    diagnostics_.report(diagnostics::NotAFunction, tree().span(callee), name)
        .label(this->local(*local).span, "declared as a variable here");
    return check_all();
  }
  if (const auto function = checker_.names.find_function(name))
    return check_function_call(node, *function, type_arguments, arguments);
  if (const auto native = checker_.names.find_extern(name))
    return check_extern_call(node, *native, type_arguments, arguments);
  if (const auto world = checker_.names.find_effect_builtin(name))
    return check_extern_call(node, *world, type_arguments, arguments);
  if (const auto type = check_known_call(node, name, arguments, expected)) return *type;
  if (const auto type = body_.resolver.find_type(name)) return check_conversion(node, *type, arguments);
  // A text type that is declared nowhere is made by its name: `Analysis(text)`. For `Just(1)`, `Some` is meant, and
  // for a case of the enum that is expected, that case.
  const TypeKind goal = expected.has_type() ? types_.kind(types_.base(expected.type)) : TypeKind::Error;
  const bool is_case = (find_foreign_case(name) && (goal == TypeKind::Option || goal == TypeKind::Result)) ||
                       (goal == TypeKind::Enum && body_.find_member(types_.base(expected.type), name));
  if (name[0] >= 'A' && name[0] <= 'Z' && arguments.size() == 1 && !is_case) {
    const TypeId text = body_.resolver.undeclared_type(callee, name);
    return text == TypeTable::error ? check_all() : check_conversion(node, text, arguments);
  }
  // What is a function elsewhere is a method here: `len(items)`, `upper(name)`.
  const std::string_view method = find_known_elsewhere(name).value_or(name);
  if (!arguments.empty() && is_builtin_method(method)) {
    record(callee, TypeTable::error);
    diagnostics_.report(diagnostics::UnknownName, tree().span(callee), name)
        .hint(fmt::format("`{}` is a method: write `value.{}(…)`", method, method));
    return check_all();
  }
  checker_.names.report_unknown_name(callee, name, tree().span(callee), BodyNames::Use::Called, expected);
  return check_all();
}

/// `fail`, `Some`, `Ok`, `Err`, and `Option::from`: an `Option` stays as it is, any other value becomes `Some(value)`.
std::optional<TypeId> CallChecker::check_known_call(NodeId node, std::string_view name,
                                                    std::span<const NodeId> arguments, Expectation expected) {
  const std::string text(name);
  if (name == "fail") {
    facts(node).target = {TargetKind::Fail, 0, 0};
    if (expect_count(node, text, 1, arguments.size())) {
      const TypeId type = check_expression(arguments[0], Expectation::any());
      if (type != TypeTable::failure && type != TypeTable::error) coerce(arguments[0], type, TypeTable::string);
    }
    return TypeTable::never;
  }
  if (name == "endorse") return check_endorse(node, arguments);
  const bool from = name == "Option::from";
  const bool some = name == "Some" || from;
  const bool ok = name == "Ok";
  if (!some && !ok && name != "Err") return std::nullopt;
  facts(node).target = {TargetKind::EnumCase, 0, some || name == "Err" ? 1U : 0U};
  if (!expect_count(node, text, 1, arguments.size())) return TypeTable::error;
  if (tree().kind(arguments[0]) == NodeKind::HoleExpression) {
    diagnostics_.report(diagnostics::MisplacedHole, tree().span(arguments[0]));
    return TypeTable::error;
  }
  const TypeId goal = expected.has_type() ? types_.base(expected.type) : TypeId{};
  const bool same_kind = goal.exists() && types_.kind(goal) == (some ? TypeKind::Option : TypeKind::Result);
  if (from) {
    const TypeId item = same_kind ? types_.get(goal).arguments[0] : TypeId{};
    const TypeId type = check_kind(arguments[0], same_kind ? Expectation::value(item) : Expectation::any());
    record(arguments[0], type);
    if (type == TypeTable::error || body_.resolver.reject_context(type, arguments[0], "kept in an `Option`"))
      return TypeTable::error;
    const bool is_option = types_.kind(types_.base(type)) == TypeKind::Option;
    const TypeId result = same_kind ? goal : is_option ? types_.base(type) : types_.option(type);
    if (is_option) facts(node).target = {TargetKind::Conversion, result.index, 0};
    if (same_kind) coerce(arguments[0], type, is_option ? goal : item);
    return result;
  }
  if (name == "Err") {
    check_value(arguments[0], TypeTable::failure);
    return same_kind ? goal : TypeTable::any_result;
  }
  if (same_kind) {
    check_value(arguments[0], types_.get(goal).arguments[0]);
    return goal;
  }
  const TypeId type = check_expression(arguments[0], Expectation::any());
  if (type == TypeTable::error) return type;
  if (body_.resolver.reject_context(type, arguments[0], some ? "stored in an `Option`" : "stored in a `Result`"))
    return TypeTable::error;
  return some ? types_.option(type) : types_.result(type);
}

/// `endorse(value, "why")`: the value itself, for which the program answers.
TypeId CallChecker::check_endorse(NodeId node, std::span<const NodeId> arguments) {
  facts(node).target = {TargetKind::Endorse, 0, 0};
  // The standard library answers for itself.
  if (!program_.allows_endorse && !module_->is_of_library) {
    diagnostics_.report(diagnostics::EndorseForbidden, tree().span(tree().first(node)))
        .hint("let a person look at it: `approve(value, \"Is this right?\")`");
  }
  if (!expect_count(node, "endorse", 2, arguments.size())) return TypeTable::error;
  const TypeId type = check_value_of_any_type(arguments[0]);
  check_value(arguments[1], TypeTable::string);
  if (tree().kind(arguments[1]) != NodeKind::StringExpression || !syntax::plain_string(tree(), arguments[1])) {
    diagnostics_.report(diagnostics::ReasonNotConstant, tree().span(arguments[1]));
  }
  if (type == TypeTable::error) return type;
  const auto is_no_value = [&](TypeId part) { return !can_leave_run(types_.kind(part)); };
  if (!find_within(types_, type, TypeParts::OfValues, is_no_value).exists()) return type;
  diagnostics_.report(diagnostics::NotEndorsable, tree().span(arguments[0]), describe(type));
  return TypeTable::error;
}

/// `Option::Some`, of which only the last word is written. Returns whether it is reported.
bool CallChecker::reject_qualified_case(NodeId node, std::string_view owner, std::string_view name) {
  const auto known = find_foreign_case(name);
  if (!known || (owner != "Option" && owner != "Result") || module_->type_names.contains(std::string(owner))) {
    return false;
  }
  record(node, TypeTable::error);
  const std::string_view rest = *known == "None" || tree().kind(node) != NodeKind::NameExpression ? "" : "(…)";
  diagnostics_.report(diagnostics::UnknownName, tree().span(node), std::string(tree().text(node)))
      .hint(fmt::format("write `{}{}`", *known, rest))
      .fix = {tree().span(node), std::string(*known)};
  return true;
}

/// What a block has after `agent:` is called as `NAME::run(…)`. Returns whether it is reported: the name of something
/// else.
bool CallChecker::reject_other_agent(NodeId callee, std::span<const syntax::TokenIndex> path) {
  const bool is_of_block = tree().is_written(path.front()) && !tree().is_written(path.back());
  const auto named = path.first(path.size() - 1);
  if (!is_of_block || checker_.names.find_agent(named)) return false;
  bool is_known = checker_.names.find_callee(named).kind != TargetKind::None ||
                  (named.size() == 1 && checker_.names.is_module(tree().text(named.front())));
  for (std::size_t length = 1; length <= named.size(); ++length) {
    const std::optional<TypeId> type = body_.resolver.find_type(named.first(length));
    if (type == TypeTable::error) return false;
    is_known = is_known || type;
  }
  if (!is_known) return false;
  diagnostics_.report(diagnostics::InvalidOptionValue, tree().span(callee), "agent", "the name of an agent")
      .hint("write `agent: NAME`, where `agent NAME { … }` declares the agent");
  return true;
}

/// `Context::new()`, `Map::new()`, `Mood::Bad("rain")`, `Order::empty()`, `shop::total(order)`.
std::optional<TypeId> CallChecker::check_associated_call(NodeId node, NodeId callee, std::span<const NodeId> arguments,
                                                         Expectation expected) {
  const std::vector<syntax::TokenIndex> path = tree().path(callee);
  const std::string owner(tree().text(path[path.size() - 2]));
  const std::string name(tree().text(path.back()));
  const std::string whole(tree().text(callee));
  if (reject_other_agent(callee, path)) return std::nullopt;
  const NodeId type_arguments = tree().find_child(callee, NodeKind::TypeArguments);
  if (path.size() == 2 && name == "new" && (owner == "Context" || owner == "Map" || owner == "List")) {
    expect_count(node, whole, 0, arguments.size());
    if (owner == "Context") {
      facts(node).target = {TargetKind::NewContext, 0, 0};
      return TypeTable::context;
    }
    facts(node).target = {owner == "Map" ? TargetKind::NewMap : TargetKind::NewList, 0, 0};
    const TypeKind kind = owner == "Map" ? TypeKind::Map : TypeKind::List;
    if (expected.has_type() && types_.kind(types_.base(expected.type)) == kind) return types_.base(expected.type);
    if (expected.type == TypeTable::error) return TypeTable::error;
    diagnostics_.report(diagnostics::CannotInferType, tree().span(node), "an empty `" + owner + "`")
        .hint(fmt::format("add a type annotation: `let items: {}<String> = {}`", owner, whole + "()"));
    return TypeTable::error;
  }
  if (path.size() == 2 && owner == "Option" && name == "from")
    return check_known_call(node, whole, arguments, expected);
  if (path.size() == 2 && owner == "Map" && name == "from") {
    facts(node).target = {TargetKind::MapFrom, 0, 0};
    if (!expect_count(node, whole, 1, arguments.size())) return TypeTable::error;
    Expectation pairs = Expectation::any();
    if (expected.has_type() && types_.kind(types_.base(expected.type)) == TypeKind::Map) {
      pairs = Expectation::value(
          types_.list(types_.tuple({TypeTable::string, types_.get(types_.base(expected.type)).arguments[0]})));
    }
    const TypeId type = types_.base(check_expression(arguments[0], pairs));
    if (pairs.has_type()) return types_.base(expected.type);
    if (types_.kind(type) == TypeKind::List) {
      const Type pair = types_.get(types_.get(type).arguments[0]);
      if (pair.kind == TypeKind::Tuple && pair.arguments.size() == 2 && is_text(types_, pair.arguments[0]))
        return types_.map(pair.arguments[1]);
    }
    if (type != TypeTable::error) {
      diagnostics_.report(diagnostics::TypeMismatch, tree().span(arguments[0]), describe(type), "List<(String, …)>");
    }
    return TypeTable::error;
  }
  const Target target = checker_.names.find_callee(path);
  if (target.kind == TargetKind::Function) {
    return check_function_call(node, FunctionId{target.index}, type_arguments, arguments);
  }
  if (target.kind == TargetKind::Extern)
    return check_extern_call(node, ExternId{target.index}, type_arguments, arguments);
  if (path.size() == 2) {
    if (const auto imported = module_->imports.find(owner);
        imported != module_->imports.end() && imported->second.is_module) {
      if (const auto type = body_.resolver.find_type_in(imported->second.module, name))
        return check_conversion(node, *type, arguments);
      body_.resolver.report_not_in_module(tree().span(path.back()), imported->second.module, owner, name);
      return std::nullopt;
    }
  }
  if (reject_qualified_case(callee, owner, name)) return std::nullopt;
  const std::optional<TypeId> type = body_.resolver.find_type(std::span(path).first(path.size() - 1));
  if (!type) {
    checker_.names.report_unknown_name(callee, owner, tree().span(path[path.size() - 2]), BodyNames::Use::Type);
    return std::nullopt;
  }
  return check_case(node, *type, name, tree().span(path.back()), arguments, true);
}

TypeId CallChecker::check_case(NodeId node, TypeId type, std::string_view name, source::Span name_span,
                               std::span<const NodeId> arguments, bool is_call) {
  const auto give_up = [&] {
    for (const NodeId argument : arguments) {
      if (tree().kind(argument) != NodeKind::HoleExpression) check_expression(argument, Expectation::any());
    }
    return TypeTable::error;
  };
  if (is_call && types_.kind(type) == TypeKind::Struct) {
    std::vector<std::string_view> candidates;
    if (const auto methods = program_.methods.find(type.index); methods != program_.methods.end()) {
      for (const auto& [method, id] : methods->second) candidates.push_back(method);
    }
    std::sort(candidates.begin(), candidates.end());
    auto& report = diagnostics_.report(diagnostics::UnknownMethod, name_span, describe(type), std::string(name));
    if (const auto nearest = diagnostics::find_nearest(name, candidates)) {
      report.hint(fmt::format("did you mean `{}`?", *nearest));
    } else {
      report.hint(checker_.assignability.construction_hint(type));
    }
    return give_up();
  }
  if (types_.kind(type) != TypeKind::Enum) {
    if (type != TypeTable::error)
      diagnostics_.report(diagnostics::UnknownCase, name_span, describe(type), std::string(name));
    return give_up();
  }
  const std::optional<std::uint32_t> found = body_.find_member(type, name);
  if (!found) {
    const std::vector<Variant>& variants = types_.enum_type(type).variants;
    std::vector<std::string_view> candidates;
    for (std::size_t at = 0; at < variants.size() && !diagnostics_.is_full(); ++at) {
      candidates.push_back(variants[at].name);
    }
    auto& report = diagnostics_.report(diagnostics::UnknownCase, name_span, describe(type), std::string(name));
    if (const auto meant = find_meant(name, candidates)) report.hint(fmt::format("did you mean `{}`?", *meant));
    return give_up();
  }
  facts(node).target = {TargetKind::EnumCase, type.index, *found};
  const std::vector<TypeId> payload = types_.enum_type(type).variants[*found].payload;
  const std::string whole = describe(type) + "::" + std::string(name);
  if (is_call || !payload.empty()) {
    if (!expect_count(node, whole, payload.size(), arguments.size())) {
      give_up();
      return type;
    }
  }
  const std::size_t first = diagnostics_.all().size();
  std::vector<std::string> values;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    check_value(arguments[at], payload[at]);
    values.push_back(describe(payload[at]));
  }
  join_mismatches(first, arguments, payload, fmt::format("{}({})", whole, fmt::join(values, ", ")));
  return type;
}

/// `Email(text)`, `Analysis(text)`, `Cents(n)`: to a text type, a union or a refinement.
TypeId CallChecker::check_conversion(NodeId node, TypeId type, std::span<const NodeId> arguments) {
  const std::string name = describe(type);
  const TypeId base = types_.base(type);
  const TypeKind kind = types_.kind(base);
  const bool is_narrow = kind == TypeKind::Text || kind == TypeKind::Union || types_.kind(type) == TypeKind::Refined;
  if (!is_narrow) {
    if (type != TypeTable::error) {
      auto& report = diagnostics_.report(diagnostics::NotAFunction, tree().span(tree().first(node)), name);
      if (kind == TypeKind::Struct) report.hint(checker_.assignability.construction_hint(type));
      if (kind == TypeKind::Enum && !types_.enum_type(base).variants.empty()) {
        report.hint(fmt::format("write one of its cases: `{}::{}`", describe_as_code(base),
                                types_.enum_type(base).variants.front().name));
      }
      if (is_number(types_, base)) {
        report.hint(fmt::format("convert a number with `as {0}`, and a text with `.parse<{0}>()`", name));
      }
      if (kind == TypeKind::String) report.hint("convert a value with `.to_string()`");
    }
    for (const NodeId argument : arguments) check_expression(argument, Expectation::any());
    return TypeTable::error;
  }
  if (!expect_count(node, name, 1, arguments.size())) return type;
  facts(node).target = {TargetKind::Conversion, type.index, 0};
  TypeId from = base;
  if (kind == TypeKind::Text || (kind == TypeKind::Union && is_text(types_, base))) from = TypeTable::string;
  if (kind == TypeKind::Union && !is_text(types_, base)) from = TypeTable::i64;
  if (kind == TypeKind::Union) {
    // A literal is proven here and now.
    const NodeKind argument = tree().kind(arguments[0]);
    if (argument == NodeKind::StringExpression || argument == NodeKind::IntegerExpression) {
      const TypeId given = check_kind(arguments[0], Expectation::value(type));
      record(arguments[0], given);
      if (given == type) return type;
    }
  }
  check_value(arguments[0], from);
  return type;
}

template <class Declaration>
TypeId CallChecker::check_declared(NodeId node, const Declaration& callee, NodeId type_arguments,
                                   std::span<const NodeId> arguments) {
  const std::vector<TypeId> given =
      check_type_arguments(node, callee.name, callee.type_parameters.size(), type_arguments);
  facts(node).type_arguments = given;
  const auto substituted = [&](TypeId type) {
    return checker_.assignability.substitute(type, callee.type_parameter_types, given);
  };
  std::vector<TypeId> types;
  for (const Parameter& parameter : callee.parameters) types.push_back(substituted(parameter.type));
  check_arguments(node, callee.name, callee.parameters, types, arguments);
  return substituted(callee.result);
}

TypeId CallChecker::check_function_call(NodeId node, FunctionId id, NodeId type_arguments,
                                        std::span<const NodeId> arguments) {
  const FunctionDeclaration& function = program_.functions[id.index];
  if (function.role == FunctionRole::TakeOver) return check_handoff(node, id, arguments);
  facts(node).target = {TargetKind::Function, id.index, 0};
  checker_.names.check_agent_access(node, function);
  return check_declared(node, function, type_arguments, arguments);
}

TypeId CallChecker::check_extern_call(NodeId node, ExternId id, NodeId type_arguments,
                                      std::span<const NodeId> arguments) {
  const ExternDeclaration function = program_.externs[id.index];
  facts(node).target = {TargetKind::Extern, id.index, 0};
  if (function.builtin_effect == BuiltinEffect::Approve) return check_approve(node, type_arguments, arguments);
  const bool has_hole = std::any_of(arguments.begin(), arguments.end(),
                                    [&](NodeId argument) { return tree().kind(argument) == NodeKind::HoleExpression; });
  if (has_hole) checker_.names.reject_notification(node, id);
  const TypeId result = check_declared(node, function, type_arguments, arguments);
  if (!facts(node).type_arguments.empty() && result != TypeTable::error && !is_answerable(result, Answerer::Person)) {
    diagnostics_.report(diagnostics::AskTypeNotSupported, tree().span(node), function.name, describe(result));
  }
  return result;
}

/// `approve(value, "Pay {{ value }}?")`: the value, once a person has said yes to it, or another one in its place. Its
/// type follows from the value.
TypeId CallChecker::check_approve(NodeId node, NodeId type_arguments, std::span<const NodeId> arguments) {
  if (!expect_count(node, "approve", 2, arguments.size())) return TypeTable::error;
  const std::vector<TypeId> given = body_.resolver.resolve_type_arguments(type_arguments);
  const TypeId type = given.size() == 1 ? given[0] : check_value_of_any_type(arguments[0]);
  if (given.size() == 1) check_value(arguments[0], type);
  check_value(arguments[1], TypeTable::string);
  facts(node).type_arguments = {type};
  if (type == TypeTable::error) return type;
  if (is_answerable(type, Answerer::Person) && !holds_secret(types_, type)) return type;
  diagnostics_.report(diagnostics::AskTypeNotSupported, tree().span(arguments[0]), "approve", describe(type));
  return TypeTable::error;
}

TypeId CallChecker::check_value_of_any_type(NodeId node) {
  if (tree().kind(node) == NodeKind::HoleExpression) {
    diagnostics_.report(diagnostics::MisplacedHole, tree().span(node));
    return TypeTable::error;
  }
  return check_expression(node, Expectation::any());
}

std::vector<TypeId> CallChecker::check_type_arguments(NodeId node, const std::string& name, std::size_t expected,
                                                      NodeId type_arguments) {
  std::vector<TypeId> given = body_.resolver.resolve_type_arguments(type_arguments);
  if (given.size() == expected) return given;
  auto& report = diagnostics_.report(diagnostics::TypeArgumentCount, tree().span(tree().first(node)), name,
                                     counted(expected, "type argument"), counted_were(given.size()));
  if (given.empty()) report.hint(fmt::format("specify the type: `{}<…>(…)`", name));
  given.resize(expected, TypeTable::error);
  return given;
}

void CallChecker::check_arguments(NodeId node, const std::string& name, std::span<const Parameter> parameters,
                                  std::span<const TypeId> types, std::span<const NodeId> arguments) {
  const auto declared = [&] {
    std::string signature;
    for (const Parameter& parameter : parameters) {
      if (!signature.empty()) signature += ", ";
      signature += parameter.name.empty() ? "Context" : parameter.name + ": " + describe(parameter.type);
    }
    return fmt::format("{}({})", name, signature);
  };
  if (parameters.size() != arguments.size()) {
    diagnostics_
        .report(diagnostics::ArgumentCount, tree().span(node), name, counted(parameters.size(), "argument"),
                counted_were(arguments.size()))
        .hint(fmt::format("it is declared as `{}`", declared()));
    // Which argument is missing or too many is unknown, so none is held against a parameter.
    for (const NodeId argument : arguments) {
      const NodeKind kind = tree().kind(argument);
      if (kind != NodeKind::HoleExpression && kind != NodeKind::ClosureExpression) {
        check_expression(argument, Expectation::value(TypeTable::error));
      } else {
        record(argument, TypeTable::error);
      }
    }
    return;
  }
  const std::size_t first = diagnostics_.all().size();
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const bool is_hole = tree().kind(arguments[at]) == NodeKind::HoleExpression;
    if (is_hole) {
      check_hole(arguments[at], parameters[at].name, types[at]);
    } else {
      check_value(arguments[at], types[at]);
    }
  }
  if (diagnostics_.all().size() > first + 1) join_mismatches(first, arguments, types, declared());
}

void CallChecker::join_mismatches(std::size_t first, std::span<const NodeId> arguments, std::span<const TypeId> types,
                                  const std::string& declared) {
  const std::vector<diagnostics::Diagnostic>& all = diagnostics_.all();
  std::vector<diagnostics::Diagnostic> kept;
  std::vector<std::size_t> wrong;  // positions of the arguments that do not fit
  std::size_t report = 0;          // of the first one, among `kept`
  bool has_common_hint = true;
  for (std::size_t at = first; at < all.size(); ++at) {
    const diagnostics::Diagnostic& found = all[at];
    const auto argument = std::ranges::find_if(arguments, [&](NodeId one) { return tree().span(one) == found.span; });
    if (found.code != diagnostics::TypeMismatch.code || argument == arguments.end()) {
      kept.push_back(found);
      continue;
    }
    const auto position = static_cast<std::size_t>(argument - arguments.begin());
    wrong.push_back(position);
    if (wrong.size() == 1) {
      report = kept.size();
      kept.push_back(found);
      continue;
    }
    has_common_hint = has_common_hint && found.hints == kept[report].hints;
    kept[report].label(found.span, fmt::format("expected `{}`, found `{}`", describe(types[position]),
                                               describe(facts(arguments[position]).type)));
  }
  if (wrong.size() < 2) return;
  kept[report].fix.reset();
  if (!has_common_hint || kept[report].hints.empty()) {
    std::vector<std::size_t> order = wrong;
    const auto fits = [&] {
      for (std::size_t at = 0; at < order.size(); ++at) {
        if (!is_assignable(facts(arguments[order[at]]).type, types[wrong[at]])) return false;
      }
      return true;
    };
    bool is_order = false;
    while (!is_order && order.size() <= reordered_arguments_max && std::ranges::next_permutation(order).found) {
      is_order = fits();
    }
    const std::string_view cause = is_order ? "the arguments are in the wrong order: " : "";
    kept[report].hints = {fmt::format("{}it is declared as `{}`", cause, declared)};
  }
  diagnostics_.replace_from(first, std::move(kept));
}

void CallChecker::check_hole(NodeId hole, const std::string& name, TypeId type) {
  record(hole, type);
  // The hole of an action is the state, which no model supplies.
  if (body_.action.exists()) {
    const std::vector<NodeId> arguments = tree().children(tree().find_child(body_.action, NodeKind::Arguments));
    if (std::any_of(arguments.begin(), arguments.end(), [&](NodeId one) { return one.index == hole.index; })) return;
  }
  checker_.names.require_own_context(hole, "_");
  if (!is_answerable(type)) {
    diagnostics_.report(diagnostics::HoleTypeNotSupported, tree().span(hole),
                        name.empty() ? "this argument" : "`" + name + "`", describe(type));
  }
}

}  // namespace tenon::types
