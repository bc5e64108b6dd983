// Calls of methods, and closures.

#include "types/check/expressions/methods.h"

#include <algorithm>

#include "base/counted.h"
#include "diagnostics/kinds.h"
#include "diagnostics/nearest.h"
#include "types/builtin_methods.h"
#include "types/check/body_checker.h"

namespace tenon::types {

/// A call `value.name(…)`: a method of its struct or enum, a declared function whose first parameter takes the value,
/// or a method of the language; in this order.
TypeId MethodChecker::check_method_call(NodeId node, Expectation expected) {
  const NodeId receiver = tree().first(node);
  const NodeId list = tree().find_child(node, NodeKind::Arguments);
  if (!receiver.exists() || !list.exists()) return TypeTable::error;
  const std::vector<NodeId> arguments = tree().children(list);
  const std::string name(tree().main_text(node));
  const NodeId type_arguments = tree().find_child(node, NodeKind::TypeArguments);
  bool optional = false;
  for (syntax::TokenIndex at = tree()[node].main_token; at-- > tree()[receiver].end_token - 1 && !optional;) {
    optional = tree().tokens[at].kind == TokenKind::QuestionDot;
  }
  TypeId type = check_expression(receiver, Expectation::any());
  if (optional) {
    if (type != TypeTable::error && types_.kind(type) != TypeKind::Option) {
      diagnostics_.report(diagnostics::OptionalAccess, tree().main_span(node), describe(type))
          .hint(fmt::format("use `.{}`", name));
      type = TypeTable::error;
    } else if (type != TypeTable::error) {
      type = types_.get(type).arguments[0];
    }
  }
  if (type == TypeTable::error) return check_unknown(arguments);
  Target target = find_declared(type, name);
  target.detail = optional ? 1 : 0;
  TypeId result;
  if (target.kind != TargetKind::None) {
    result = check_declared_method(node, target, type, type_arguments, arguments);
  } else {
    result =
        check_builtin_method(node, type, name, type_arguments, arguments, optional ? Expectation::any() : expected);
    facts(node).target.detail = target.detail;
  }
  if (!optional || result == TypeTable::error || types_.kind(result) == TypeKind::Option) return result;
  return result == TypeTable::unit ? result : types_.option(result);
}

/// The method of a receiver's type, or the function or extern whose first parameter takes the receiver; or none.
Target MethodChecker::find_declared(TypeId receiver, const std::string& name) const {
  const TypeId base = types_.base(receiver);
  if (const auto methods = program_.methods.find(base.index); methods != program_.methods.end()) {
    if (const auto method = methods->second.find(name); method != methods->second.end()) {
      return {TargetKind::Function, method->second.index, 0};
    }
  }
  const auto takes = [&](const std::vector<Parameter>& parameters, bool is_generic) {
    if (parameters.empty()) return false;
    const TypeId first = parameters[0].type;
    if (is_generic) {
      // The kind decides whether it is called; the types are checked later, with the type arguments.
      const TypeKind kind = types_.kind(types_.base(first));
      return kind == TypeKind::Parameter || kind == types_.kind(base);
    }
    return is_assignable(receiver, first) || is_assignable(base, types_.base(first)) ||
           types_.kind(first) == TypeKind::Parameter;
  };
  if (const auto id = checker_.names.find_function(name)) {
    const FunctionDeclaration& function = program_.functions[id->index];
    if (takes(function.parameters, !function.type_parameters.empty())) return {TargetKind::Function, id->index, 0};
  }
  if (const auto id = checker_.names.find_extern(name)) {
    if (takes(program_.externs[id->index].parameters, false)) return {TargetKind::Extern, id->index, 0};
  }
  return {};
}

/// `arguments` are those after the receiver.
TypeId MethodChecker::check_declared_method(NodeId node, const Target& target, TypeId receiver, NodeId type_arguments,
                                            std::span<const NodeId> arguments) {
  const bool is_function = target.kind == TargetKind::Function;
  const std::string name(tree().main_text(node));
  const std::vector<Parameter>& parameters =
      is_function ? program_.functions[target.index].parameters : program_.externs[target.index].parameters;
  facts(node).target = target;
  std::vector<TypeId> given = body_.resolver.resolve_type_arguments(type_arguments);
  std::span<const TypeId> type_parameters;
  if (is_function) type_parameters = program_.functions[target.index].type_parameter_types;
  if (given.size() != type_parameters.size()) {
    diagnostics_.report(diagnostics::TypeArgumentCount, tree().main_span(node), name,
                        counted(type_parameters.size(), "type argument"), counted_were(given.size()));
    given.resize(type_parameters.size(), TypeTable::error);
  }
  facts(node).type_arguments = given;
  std::vector<TypeId> types;
  for (const Parameter& parameter : parameters)
    types.push_back(checker_.assignability.substitute(parameter.type, type_parameters, given));
  // The receiver has its type already: as an argument it is only held against the parameter.
  if (!types.empty()) coerce(tree().first(node), receiver, types[0]);
  checker_.calls.check_arguments(
      node, name, parameters.empty() ? std::span<const Parameter>() : std::span(parameters).subspan(1),
      types.empty() ? std::span<const TypeId>() : std::span<const TypeId>(types).subspan(1), arguments);
  const TypeId result = is_function ? program_.functions[target.index].result : program_.externs[target.index].result;
  return checker_.assignability.substitute(result, type_parameters, given);
}

/// `text.parse_json<Order>()`; the type may come from the surroundings.
TypeId MethodChecker::check_parse_json(NodeId node, NodeId type_arguments, std::span<const NodeId> arguments,
                                       Expectation expected) {
  const NodeId type_node = type_arguments.exists() ? tree().first(type_arguments) : NodeId{};
  const TypeId type = type_node.exists()    ? body_.resolver.resolve_type(type_node)
                      : expected.has_type() ? expected.type
                                            : TypeId{};
  checker_.calls.expect_count(node, "parse_json", 0, arguments.size());
  if (!type.exists()) {
    diagnostics_.report(diagnostics::CannotInferType, tree().span(node), "the result of `parse_json`")
        .hint("specify the type: `.parse_json<Order>()`");
    return TypeTable::error;
  }
  if (type == TypeTable::error) return type;
  if (!is_answerable(type)) {
    diagnostics_.report(diagnostics::NotRepresentableInJson, tree().span(type_node.exists() ? type_node : node),
                        describe(type));
    return TypeTable::error;
  }
  facts(node).target = {TargetKind::ReadJson, type.index, 0};
  return type;
}

/// `text.parse<i32>()`; the type may come from the surroundings.
TypeId MethodChecker::check_parse(NodeId node, NodeId type_arguments, std::span<const NodeId> arguments,
                                  Expectation expected) {
  const NodeId type_node = type_arguments.exists() ? tree().first(type_arguments) : NodeId{};
  const TypeId type = type_node.exists()    ? body_.resolver.resolve_type(type_node)
                      : expected.has_type() ? types_.base(expected.type)
                                            : TypeTable::error;
  std::optional<Builtin> builtin;
  if (type == TypeTable::i32) builtin = Builtin::StringParseI32;
  if (type == TypeTable::i64) builtin = Builtin::StringParseI64;
  if (type == TypeTable::f64) builtin = Builtin::StringParseF64;
  if (type == TypeTable::boolean) builtin = Builtin::StringParseBoolean;
  checker_.calls.expect_count(node, "parse", 0, arguments.size());
  if (!builtin) {
    diagnostics_.report(diagnostics::CannotInferType, tree().span(node), "the result of `parse`")
        .hint("specify the type: `.parse<i32>()`, `i64`, `f64` or `Boolean`");
    return TypeTable::error;
  }
  facts(node).target = {TargetKind::Builtin, static_cast<std::uint32_t>(*builtin), 0};
  return type;
}

TypeId MethodChecker::check_unknown(std::span<const NodeId> arguments) {
  for (const NodeId argument : arguments) {
    const NodeKind kind = tree().kind(argument);
    if (kind != NodeKind::HoleExpression && kind != NodeKind::ClosureExpression) {
      check_expression(argument, Expectation::any());
    }
  }
  return TypeTable::error;
}

void MethodChecker::report_unknown_method(NodeId node, TypeId receiver, std::string_view name) {
  const bool is_full = diagnostics_.is_full();
  auto& report =
      diagnostics_.report(diagnostics::UnknownMethod, tree().main_span(node), describe(receiver), std::string(name));
  if (is_full) return;
  std::vector<std::string_view> candidates = builtin_method_names(types_, receiver);
  if (const auto own = program_.methods.find(types_.base(receiver).index); own != program_.methods.end()) {
    for (const auto& [own_name, id] : own->second) candidates.push_back(own_name);
  }
  for (const auto& [function, id] : module_->functions) candidates.push_back(function);
  std::sort(candidates.begin(), candidates.end());
  if (types_.kind(types_.base(receiver)) == TypeKind::Option) {
    const TypeId held = types_.get(types_.base(receiver)).arguments[0];
    if (find_declared(held, std::string(name)).kind != TargetKind::None || find_builtin_method(types_, held, name)) {
      report.hint(fmt::format("the value may be `None`: use `?.{}`", name));
      return;
    }
    const auto own = find_meant_call(receiver, name);
    if (const auto call = own ? std::nullopt : find_meant_call(held, name)) {
      report.hint(fmt::format("the value may be `None`: use `?.{}`", *call));
      return;
    }
  }
  const auto has_method = [&](std::string_view method) {
    return std::ranges::find(candidates, method) != candidates.end();
  };
  const bool counts_some = name == "count" && tree().first(tree().find_child(node, NodeKind::Arguments)).exists();
  if (counts_some && has_method("filter")) {
    report.hint("use `.filter(…).len()` instead");
  } else if (counts_some && has_method("split")) {
    const NodeId counted = tree().first(tree().find_child(node, NodeKind::Arguments));
    const bool is_closure = tree().kind(counted) == NodeKind::ClosureExpression;
    report.hint(is_closure ? "use `.chars().filter(…).len()` instead" : "use `.split(…).len() - 1` instead");
  } else if (counts_some && has_method("keys")) {
    report.hint("use `.values().filter(…).len()`, or count in a loop: `for (key, value) in m { … }`");
  } else if (const auto advice = find_advice(types_, receiver, name, candidates)) {
    report.hint(*advice);
  } else if (const auto nearest = diagnostics::find_nearest(name, candidates)) {
    report.hint(fmt::format("did you mean `{}`?", *nearest));
  } else if (const auto misspelt = find_nearest_elsewhere(name, candidates)) {
    report.hint(fmt::format("did you mean `{}`?", *misspelt));
  } else {
    checker_.assignability.hint_handling(report, is_method_of_result(receiver, name) ? receiver : TypeTable::error);
  }
}

/// Whether what a `Result` holds has the method.
bool MethodChecker::is_method_of_result(TypeId receiver, std::string_view name) {
  if (types_.kind(types_.base(receiver)) != TypeKind::Result) return false;
  const TypeId held = types_.get(types_.base(receiver)).arguments[0];
  return find_declared(held, std::string(name)).kind != TargetKind::None ||
         find_builtin_method(types_, held, name).has_value();
}

/// The call of the receiver's method that is meant by a name without `(…)`, by that of another language or a
/// misspelled one: `len()` for `length`.
std::optional<std::string> MethodChecker::find_meant_call(TypeId receiver, std::string_view name) {
  if (const Target own = find_declared(receiver, std::string(name)); own.kind != TargetKind::None) {
    const auto& parameters = own.kind == TargetKind::Function ? program_.functions[own.index].parameters
                                                              : program_.externs[own.index].parameters;
    return fmt::format("{}({})", name, parameters.size() > 1 ? "…" : "");
  }
  const std::vector<std::string_view> methods = builtin_method_names(types_, receiver);
  const auto method = find_meant_method(types_, receiver, name, methods);
  if (!method) return std::nullopt;
  if (*method == "parse") return "parse<i32>()";
  if (*method == "parse_json") return "parse_json<…>()";
  const auto signature = find_builtin_method(types_, receiver, *method);
  return fmt::format("{}({})", *method, signature && !signature->parameters.empty() ? "…" : "");
}

/// Methods that need more of their receiver than its kind. Returns whether the call can be checked further.
bool MethodChecker::check_receiver(NodeId node, TypeId receiver, std::string_view name) {
  if (name == "to_string" || name == "to_json") {
    checker_.assignability.reject_secret(receiver, tree().first(node), "converted to text");
    body_.resolver.reject_tools(receiver, tree().first(node), "converted to text");
  }
  const bool is_ordering = name == "sum" || name == "min" || name == "max" || name == "sorted";
  if (!is_ordering || types_.kind(types_.base(receiver)) != TypeKind::List) return true;
  const TypeId element = types_.get(types_.base(receiver)).arguments[0];
  if (is_number(types_, element) || (name != "sum" && is_text(types_, element)) || element == TypeTable::error) {
    return true;
  }
  diagnostics_.report(diagnostics::UnknownMethod, tree().main_span(node), describe(receiver), std::string(name))
      .hint(name == "sum" ? "`sum` requires a list of numbers" : "only numbers and texts can be ordered");
  return false;
}

TypeId MethodChecker::check_builtin_method(NodeId node, TypeId receiver, std::string_view name, NodeId type_arguments,
                                           std::span<const NodeId> arguments, Expectation expected) {
  if (name == "parse" && is_text(types_, receiver)) return check_parse(node, type_arguments, arguments, expected);
  if (name == "parse_json" && is_text(types_, receiver)) {
    return check_parse_json(node, type_arguments, arguments, expected);
  }
  const std::optional<MethodSignature> method = find_builtin_method(types_, receiver, name);
  if (!method) {
    report_unknown_method(node, receiver, name);
    return check_unknown(arguments);
  }
  if (!check_receiver(node, receiver, name)) return check_unknown(arguments);
  facts(node).target = method->target;
  if (method->changes_receiver) checker_.names.check_mutable_receiver(tree().first(node), name);
  if (!checker_.calls.expect_count(node, std::string(name), method->parameters.size(), arguments.size())) {
    return check_unknown(arguments);
  }
  TypeId first_argument, closure_result;
  const std::size_t first = diagnostics_.all().size();
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const TypeId parameter = method->parameters[at];
    if (tree().kind(arguments[at]) == NodeKind::HoleExpression) {
      diagnostics_.report(diagnostics::MisplacedHole, tree().span(arguments[at]))
          .hint("the model can only fill in arguments of functions and externs, not of built-in methods");
    } else if (!parameter.exists()) {
      first_argument = check_expression(arguments[at], Expectation::any());
      if (name == "inject") {
        checker_.assignability.reject_secret(first_argument, arguments[at], "injected");
        body_.resolver.reject_tools(first_argument, arguments[at], "injected");
      }
    } else if (types_.kind(parameter) != TypeKind::Closure) {
      check_value(arguments[at], parameter);
      if (types_.kind(receiver) == TypeKind::Tools) checker_.tools.check_tool_names(tree().first(node), arguments[at]);
    } else {
      closure_result = check_closure_argument(arguments[at], parameter, *method, first_argument, expected);
    }
  }
  if (diagnostics_.all().size() > first + 1) {
    std::vector<std::string> values;
    for (const TypeId parameter : method->parameters) values.push_back(parameter.exists() ? describe(parameter) : "_");
    checker_.calls.join_mismatches(first, arguments, method->parameters,
                                   fmt::format("{}({})", name, fmt::join(values, ", ")));
  }
  const bool has_closure_result = closure_result.exists() && closure_result != TypeTable::error;
  switch (method->form) {
    case MethodSignature::ResultForm::Given:
      return method->result;
    case MethodSignature::ResultForm::Initial:
      return first_argument.exists() ? first_argument : TypeTable::error;
    case MethodSignature::ResultForm::ListOfClosure:
      if (body_.resolver.reject_context(closure_result, arguments.back(), "stored in a list")) return TypeTable::error;
      return has_closure_result ? types_.list(closure_result) : TypeTable::error;
    case MethodSignature::ResultForm::OptionOfClosure:
      if (body_.resolver.reject_context(closure_result, arguments.back(), "stored in an `Option`")) {
        return TypeTable::error;
      }
      return has_closure_result ? types_.option(closure_result) : TypeTable::error;
  }
  return TypeTable::error;
}

/// `parameter`: the closure type of the method's signature; `first_argument`: the type of an argument before it, if
/// there is one; `expected`: of the method's result.
TypeId MethodChecker::check_closure_argument(NodeId argument, TypeId parameter, const MethodSignature& method,
                                             TypeId first_argument, Expectation expected) {
  std::vector<TypeId> inputs = types_.get(parameter).arguments;
  const TypeId declared = inputs.back();
  inputs.pop_back();
  for (TypeId& input : inputs) {
    if (input == TypeTable::error && first_argument.exists()) input = first_argument;
  }
  Expectation result = Expectation::any();
  if (declared != TypeTable::error) {
    result = Expectation::value(declared);
  } else if (method.form == MethodSignature::ResultForm::Initial && first_argument.exists()) {
    result = Expectation::value(first_argument);
  } else if (expected.has_type() && !types_.get(types_.base(expected.type)).arguments.empty()) {
    result = Expectation::value(types_.get(types_.base(expected.type)).arguments[0]);
  }
  return check_closure(argument, inputs, result);
}

TypeId MethodChecker::check_closure(NodeId node, std::span<const TypeId> parameters, Expectation expected) {
  if (tree().kind(node) != NodeKind::ClosureExpression) {
    const TypeId type = check_expression(node, Expectation::any());
    if (type != TypeTable::error) {
      diagnostics_.report(diagnostics::ClosureExpected, tree().span(node), describe(type));
    }
    return TypeTable::error;
  }
  const Scope scope(body_);
  std::size_t count = 0;
  NodeId part = tree().first(node);
  for (; part.exists() && syntax::is_pattern(tree().kind(part)); part = tree().next(part), ++count) {
    checker_.patterns.check_pattern(part, count < parameters.size() ? parameters[count] : TypeTable::error);
  }
  if (count != parameters.size()) {
    diagnostics_.report(diagnostics::ClosureParameterCount, tree().span(node), counted(parameters.size(), "parameter"),
                        count);
  }
  if (!part.exists()) return TypeTable::error;
  ++body_.depth.closures;
  const std::size_t loops = std::exchange(body_.depth.loops, 0);
  const TypeId type = check_expression(part, expected);
  body_.depth.loops = loops;
  --body_.depth.closures;
  const TypeId result = expected.has_type() ? expected.type : type;
  record(node, result);
  if (result == TypeTable::unit) {
    diagnostics_.report(diagnostics::ValueExpected, tree().span(part));
    return TypeTable::error;
  }
  return result;
}

}  // namespace tenon::types
