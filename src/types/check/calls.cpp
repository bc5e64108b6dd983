// Calls: of functions, externs, methods, constructors; holes.

#include <algorithm>

#include "diagnostics/kinds.h"
#include "diagnostics/nearest.h"
#include "types/check/checker.h"

namespace tenon::types {

std::optional<FunctionId> Checker::find_function(std::string_view name) {
  const std::string key(name);
  // An agent's functions know each other by their own names.
  const bool in_agent = function_.exists() && program_.functions[function_.index].agent.exists();
  if (in_agent) {
    const AgentDeclaration& agent = program_.agents[program_.functions[function_.index].agent.index];
    const auto& own = program_.methods[agent.state.index];
    if (const auto found = own.find(key);
        found != own.end() && program_.functions[found->second.index].role == FunctionRole::Written)
      return found->second;
  }
  if (const auto found = module_->functions.find(key); found != module_->functions.end()) return found->second;
  const auto imported = module_->imports.find(key);
  if (imported == module_->imports.end() || imported->second.is_module) return std::nullopt;
  const Module& from = program_.modules[imported->second.module.index];
  const auto found = from.functions.find(key);
  return found == from.functions.end() ? std::nullopt : std::optional(found->second);
}

std::optional<ExternId> Checker::find_extern(std::string_view name) {
  const std::string key(name);
  if (const auto found = module_->externs.find(key); found != module_->externs.end()) return found->second;
  const auto imported = module_->imports.find(key);
  if (imported == module_->imports.end() || imported->second.is_module) return std::nullopt;
  const Module& from = program_.modules[imported->second.module.index];
  const auto found = from.externs.find(key);
  return found == from.externs.end() ? std::nullopt : std::optional(found->second);
}

std::optional<ExternId> Checker::find_effect_builtin(std::string_view name) const {
  const auto found = program_.effect_builtins.find(std::string(name));
  return found == program_.effect_builtins.end() ? std::nullopt : std::optional(found->second);
}

bool Checker::expect_count(NodeId node, const std::string& name, std::size_t wanted, std::size_t given) {
  if (wanted == given) return true;
  diagnostics_.report(diagnostics::ArgumentCount, tree().span(node), name, diagnostics::counted(wanted, "argument"),
                      diagnostics::counted_were(given));
  return false;
}

TypeId Checker::check_call(NodeId node, Wanted wanted) {
  const NodeId callee = tree().first(node);
  const NodeId list = tree().find_child(node, NodeKind::Arguments);
  if (!callee.exists() || !list.exists()) return TypeTable::error;
  const std::vector<NodeId> arguments = tree().children(list);
  const auto check_all = [&] {
    for (const NodeId argument : arguments) {
      if (tree().kind(argument) != NodeKind::HoleExpression) check_expression(argument, Wanted::any());
    }
    return TypeTable::error;
  };
  if (tree().kind(callee) != NodeKind::NameExpression) {
    const TypeId type = check_expression(callee, Wanted::any());
    if (type != TypeTable::error)
      diagnostics_.report(diagnostics::NotAFunction, tree().span(callee),
                          std::string(tree().text(callee).substr(0, 60)));
    return check_all();
  }
  const std::vector<syntax::TokenIndex> path = tree().path(callee);
  // A name that is missing behind `::` has been told by the parser.
  if (path.empty() || tree().tokens[tree()[callee].end_token - 1].kind == TokenKind::ColonColon) return check_all();
  const std::string name(tree().text(path.back()));
  const NodeId type_arguments = tree().find_child(callee, NodeKind::TypeArguments);
  if (path.size() > 1) {
    if (const auto type = check_associated_call(node, callee, arguments, wanted)) return *type;
    return check_all();
  }
  if (const auto local = find_local(name)) {
    if (program_.locals[local->index].type == TypeTable::error) return check_all();
    diagnostics_.report(diagnostics::NotAFunction, tree().span(callee), name)
        .label(program_.locals[local->index].span, "declared as a variable here");
    return check_all();
  }
  if (const auto function = find_function(name)) return check_function_call(node, *function, type_arguments, arguments);
  if (const auto native = find_extern(name)) return check_extern_call(node, *native, type_arguments, arguments);
  if (const auto world = find_effect_builtin(name)) return check_extern_call(node, *world, type_arguments, arguments);
  if (const auto type = check_known_call(node, name, arguments, wanted)) return *type;
  if (const auto type = find_type(name)) return check_conversion(node, *type, arguments);
  // A text type that is declared nowhere is made by its name: `Analysis(text)`.
  if (name[0] >= 'A' && name[0] <= 'Z' && arguments.size() == 1) {
    const TypeId text = undeclared_type(callee, name);
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
  report_unknown_name(callee, name, tree().span(callee), NameUse::Called);
  return check_all();
}

/// `fail`, `Some`, `Ok`, `Err`, and `Option::from`: an `Option` stays as it is, any other value becomes `Some(value)`.
std::optional<TypeId> Checker::check_known_call(NodeId node, std::string_view name, std::span<const NodeId> arguments,
                                                Wanted wanted) {
  const std::string text(name);
  if (name == "fail") {
    facts(node).target = {TargetKind::Fail, 0, 0};
    if (expect_count(node, text, 1, arguments.size())) {
      const TypeId type = check_expression(arguments[0], Wanted::any());
      if (type != TypeTable::failure && type != TypeTable::error) coerce(arguments[0], type, TypeTable::string);
    }
    return TypeTable::never;
  }
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
  const TypeId goal = wanted.has_type() ? types_.base(wanted.type) : TypeId{};
  const bool same_kind = goal.exists() && types_.kind(goal) == (some ? TypeKind::Option : TypeKind::Result);
  if (from) {
    const TypeId item = same_kind ? types_.get(goal).arguments[0] : TypeId{};
    const TypeId type = check_kind(arguments[0], same_kind ? Wanted::value(item) : Wanted::any());
    record(arguments[0], type);
    if (type == TypeTable::error || refuse_context(type, arguments[0], "kept in an `Option`")) return TypeTable::error;
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
  const TypeId type = check_expression(arguments[0], Wanted::any());
  if (type == TypeTable::error) return type;
  if (refuse_context(type, arguments[0], some ? "stored in an `Option`" : "stored in a `Result`"))
    return TypeTable::error;
  return some ? types_.option(type) : types_.result(type);
}

/// `Context::new()`, `Map::new()`, `Mood::Bad("rain")`, `Order::empty()`, `shop::total(order)`.
std::optional<TypeId> Checker::check_associated_call(NodeId node, NodeId callee, std::span<const NodeId> arguments,
                                                     Wanted wanted) {
  const std::vector<syntax::TokenIndex> path = tree().path(callee);
  const std::string owner(tree().text(path[path.size() - 2]));
  const std::string name(tree().text(path.back()));
  const std::string whole(tree().text(callee));
  const NodeId type_arguments = tree().find_child(callee, NodeKind::TypeArguments);
  if (path.size() == 2 && name == "new" && (owner == "Context" || owner == "Map" || owner == "List")) {
    expect_count(node, whole, 0, arguments.size());
    if (owner == "Context") {
      facts(node).target = {TargetKind::NewContext, 0, 0};
      return TypeTable::context;
    }
    facts(node).target = {owner == "Map" ? TargetKind::NewMap : TargetKind::NewList, 0, 0};
    const TypeKind kind = owner == "Map" ? TypeKind::Map : TypeKind::List;
    if (wanted.has_type() && types_.kind(types_.base(wanted.type)) == kind) return types_.base(wanted.type);
    if (wanted.type == TypeTable::error) return TypeTable::error;
    diagnostics_.report(diagnostics::CannotInferType, tree().span(node), "an empty `" + owner + "`")
        .hint(fmt::format("add a type annotation: `let items: {}<String> = {}`", owner, whole + "()"));
    return TypeTable::error;
  }
  if (path.size() == 2 && owner == "Option" && name == "from") return check_known_call(node, whole, arguments, wanted);
  if (path.size() == 2 && owner == "Map" && name == "from") {
    facts(node).target = {TargetKind::MapFrom, 0, 0};
    if (!expect_count(node, whole, 1, arguments.size())) return TypeTable::error;
    Wanted pairs = Wanted::any();
    if (wanted.has_type() && types_.kind(types_.base(wanted.type)) == TypeKind::Map) {
      pairs = Wanted::value(
          types_.list(types_.tuple({TypeTable::string, types_.get(types_.base(wanted.type)).arguments[0]})));
    }
    const TypeId type = types_.base(check_expression(arguments[0], pairs));
    if (pairs.has_type()) return types_.base(wanted.type);
    if (types_.kind(type) == TypeKind::List) {
      const Type pair = types_.get(types_.get(type).arguments[0]);
      if (pair.kind == TypeKind::Tuple && pair.arguments.size() == 2 && is_text(pair.arguments[0]))
        return types_.map(pair.arguments[1]);
    }
    if (type != TypeTable::error) {
      diagnostics_.report(diagnostics::TypeMismatch, tree().span(arguments[0]), describe(type), "List<(String, …)>");
    }
    return TypeTable::error;
  }
  const Target target = find_callee(path);
  if (target.kind == TargetKind::Function) {
    return check_function_call(node, FunctionId{target.index}, type_arguments, arguments);
  }
  if (target.kind == TargetKind::Extern)
    return check_extern_call(node, ExternId{target.index}, type_arguments, arguments);
  if (path.size() == 2) {
    if (const auto imported = module_->imports.find(owner);
        imported != module_->imports.end() && imported->second.is_module) {
      if (const auto type = find_type_in(imported->second.module, name))
        return check_conversion(node, *type, arguments);
      report_not_in_module(tree().span(path.back()), imported->second.module, owner, name);
      return std::nullopt;
    }
  }
  std::optional<TypeId> type = path.size() == 2 ? find_type(owner) : std::nullopt;
  if (path.size() == 3) {
    if (const auto imported = module_->imports.find(std::string(tree().text(path[0])));
        imported != module_->imports.end()) {
      type = find_type_in(imported->second.module, owner);
    }
  }
  if (!type) {
    report_unknown_name(callee, owner, tree().span(path[path.size() - 2]), NameUse::Type);
    return std::nullopt;
  }
  return check_case(node, *type, name, tree().span(path.back()), arguments, true);
}

TypeId Checker::check_case(NodeId node, TypeId type, std::string_view name, source::Span name_span,
                           std::span<const NodeId> arguments, bool is_call) {
  const auto give_up = [&] {
    for (const NodeId argument : arguments) {
      if (tree().kind(argument) != NodeKind::HoleExpression) check_expression(argument, Wanted::any());
    }
    return TypeTable::error;
  };
  if (const auto methods = program_.methods.find(type.index);
      is_call && methods != program_.methods.end() && types_.kind(type) != TypeKind::Enum) {
    std::vector<std::string_view> candidates;
    for (const auto& [method, id] : methods->second) candidates.push_back(method);
    std::sort(candidates.begin(), candidates.end());
    auto& report = diagnostics_.report(diagnostics::UnknownMethod, name_span, describe(type), std::string(name));
    if (const auto nearest = diagnostics::find_nearest(name, candidates))
      report.hint(fmt::format("did you mean `{}`?", *nearest));
    return give_up();
  }
  if (types_.kind(type) != TypeKind::Enum) {
    if (type != TypeTable::error)
      diagnostics_.report(diagnostics::UnknownCase, name_span, describe(type), std::string(name));
    return give_up();
  }
  const std::optional<std::uint32_t> found = cases_.find(type, name);
  if (!found) {
    const std::vector<Variant>& variants = types_.enum_type(type).variants;
    std::vector<std::string_view> candidates;
    for (std::size_t at = 0; at < variants.size() && !diagnostics_.is_full(); ++at) {
      candidates.push_back(variants[at].name);
    }
    auto& report = diagnostics_.report(diagnostics::UnknownCase, name_span, describe(type), std::string(name));
    if (const auto nearest = diagnostics::find_nearest(name, candidates))
      report.hint(fmt::format("did you mean `{}`?", *nearest));
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
  for (std::size_t at = 0; at < arguments.size(); ++at) check_value(arguments[at], payload[at]);
  return type;
}

/// `Email(text)`, `Analysis(text)`, `Cents(n)`: to a text type, a union or a refinement.
TypeId Checker::check_conversion(NodeId node, TypeId type, std::span<const NodeId> arguments) {
  const std::string name = describe(type);
  const TypeId base = types_.base(type);
  const TypeKind kind = types_.kind(base);
  const bool is_narrow = kind == TypeKind::Text || kind == TypeKind::Union || types_.kind(type) == TypeKind::Refined;
  if (!is_narrow) {
    if (type != TypeTable::error) {
      auto& report = diagnostics_.report(diagnostics::NotAFunction, tree().span(tree().first(node)), name);
      if (kind == TypeKind::Struct) report.hint(fmt::format("construct it with `{} {{ … }}`", name));
      if (kind == TypeKind::String) report.hint("convert a value with `.to_string()`");
    }
    for (const NodeId argument : arguments) check_expression(argument, Wanted::any());
    return TypeTable::error;
  }
  if (!expect_count(node, name, 1, arguments.size())) return type;
  facts(node).target = {TargetKind::Conversion, type.index, 0};
  TypeId from = base;
  if (kind == TypeKind::Text || (kind == TypeKind::Union && is_text(base))) from = TypeTable::string;
  if (kind == TypeKind::Union && !is_text(base)) from = TypeTable::i64;
  if (kind == TypeKind::Union) {
    // A literal is proven here and now.
    const NodeKind argument = tree().kind(arguments[0]);
    if (argument == NodeKind::StringExpression || argument == NodeKind::IntegerExpression) {
      const TypeId given = check_kind(arguments[0], Wanted::value(type));
      record(arguments[0], given);
      if (given == type) return type;
    }
  }
  check_value(arguments[0], from);
  return type;
}

TypeId Checker::check_function_call(NodeId node, FunctionId id, NodeId type_arguments,
                                    std::span<const NodeId> arguments) {
  const FunctionDeclaration& function = program_.functions[id.index];
  if (function.role == FunctionRole::TakeOver) return check_handoff(node, id, arguments);
  facts(node).target = {TargetKind::Function, id.index, 0};
  check_agent_access(node, function);
  const std::vector<TypeId> given =
      check_type_arguments(node, function.name, function.type_parameters.size(), type_arguments);
  facts(node).type_arguments = given;
  std::vector<TypeId> types;
  for (const Parameter& parameter : function.parameters)
    types.push_back(substitute(parameter.type, function.type_parameter_types, given));
  check_arguments(node, function.name, function.parameters, types, arguments);
  return substitute(function.result, function.type_parameter_types, given);
}

/// For what a model would call: it does not tell what the program does.
void Checker::refuse_notice(NodeId node, ExternId id) {
  const ExternDeclaration& told = program_.externs[id.index];
  if (!is_notification(told.builtin_effect)) return;
  diagnostics_.report(diagnostics::NotificationByModel, tree().span(node), told.name)
      .hint("let the model call one of your functions or produce a text, then call it from there");
}

TypeId Checker::check_extern_call(NodeId node, ExternId id, NodeId type_arguments, std::span<const NodeId> arguments) {
  const ExternDeclaration function = program_.externs[id.index];
  facts(node).target = {TargetKind::Extern, id.index, 0};
  const bool has_hole = std::any_of(arguments.begin(), arguments.end(),
                                    [&](NodeId argument) { return tree().kind(argument) == NodeKind::HoleExpression; });
  if (has_hole) refuse_notice(node, id);
  const std::vector<TypeId> given =
      check_type_arguments(node, function.name, function.type_parameters.size(), type_arguments);
  facts(node).type_arguments = given;
  std::vector<TypeId> types;
  for (const Parameter& parameter : function.parameters)
    types.push_back(substitute(parameter.type, function.type_parameter_types, given));
  check_arguments(node, function.name, function.parameters, types, arguments);
  const TypeId result = substitute(function.result, function.type_parameter_types, given);
  if (!given.empty() && result != TypeTable::error && !is_answerable(result, Answerer::Person)) {
    diagnostics_.report(diagnostics::AskTypeNotSupported, tree().span(node), function.name, describe(result));
  }
  return result;
}

std::vector<TypeId> Checker::check_type_arguments(NodeId node, const std::string& name, std::size_t promised,
                                                  NodeId type_arguments) {
  std::vector<TypeId> given = resolve_type_arguments(type_arguments);
  if (given.size() == promised) return given;
  auto& report =
      diagnostics_.report(diagnostics::TypeArgumentCount, tree().span(tree().first(node)), name,
                          diagnostics::counted(promised, "type argument"), diagnostics::counted_were(given.size()));
  if (given.empty()) report.hint(fmt::format("specify the type: `{}<…>(…)`", name));
  given.resize(promised, TypeTable::error);
  return given;
}

void Checker::check_arguments(NodeId node, const std::string& name, std::span<const Parameter> parameters,
                              std::span<const TypeId> types, std::span<const NodeId> arguments) {
  if (parameters.size() != arguments.size()) {
    std::string signature;
    for (const Parameter& parameter : parameters) {
      if (!signature.empty()) signature += ", ";
      signature += parameter.name.empty() ? "Context" : parameter.name + ": " + describe(parameter.type);
    }
    diagnostics_
        .report(diagnostics::ArgumentCount, tree().span(node), name,
                diagnostics::counted(parameters.size(), "argument"), diagnostics::counted_were(arguments.size()))
        .hint(fmt::format("it is declared as `{}({})`", name, signature));
  }
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const bool is_hole = tree().kind(arguments[at]) == NodeKind::HoleExpression;
    if (at >= parameters.size()) {
      if (!is_hole) check_expression(arguments[at], Wanted::any());
    } else if (is_hole) {
      check_hole(arguments[at], parameters[at].name, types[at]);
    } else {
      check_value(arguments[at], types[at]);
    }
  }
}

void Checker::check_hole(NodeId hole, const std::string& name, TypeId type) {
  record(hole, type);
  // The one of an action stands for the state, which no model gives.
  if (action_.exists()) {
    const std::vector<NodeId> arguments = tree().children(tree().find_child(action_, NodeKind::Arguments));
    if (std::any_of(arguments.begin(), arguments.end(), [&](NodeId one) { return one.index == hole.index; })) return;
  }
  require_own_context(hole, "_");
  if (!is_answerable(type)) {
    diagnostics_.report(diagnostics::HoleTypeNotSupported, tree().span(hole),
                        name.empty() ? "this argument" : "`" + name + "`", describe(type));
  }
}

/// A call `value.name(…)`: a method of its struct or enum, a declared function whose first parameter takes the value,
/// or a method of the language; in this order.
TypeId Checker::check_method_call(NodeId node, Wanted wanted) {
  const NodeId receiver = tree().first(node);
  const NodeId list = tree().find_child(node, NodeKind::Arguments);
  if (!receiver.exists() || !list.exists()) return TypeTable::error;
  std::vector<NodeId> arguments = tree().children(list);
  const std::string name(tree().main_text(node));
  const NodeId type_arguments = tree().find_child(node, NodeKind::TypeArguments);
  bool optional = false;
  for (syntax::TokenIndex at = tree()[node].main_token; at-- > tree()[receiver].end_token - 1 && !optional;) {
    optional = tree().tokens[at].kind == TokenKind::QuestionDot;
  }
  TypeId type = check_expression(receiver, Wanted::any());
  if (optional) {
    if (type != TypeTable::error && types_.kind(type) != TypeKind::Option) {
      diagnostics_.report(diagnostics::OptionalAccess, tree().main_span(node), describe(type))
          .hint(fmt::format("use `.{}`", name));
      type = TypeTable::error;
    } else if (type != TypeTable::error) {
      type = types_.get(type).arguments[0];
    }
  }
  const auto wrap = [&](TypeId result) {
    if (!optional || result == TypeTable::error || types_.kind(result) == TypeKind::Option) return result;
    return result == TypeTable::unit ? result : types_.option(result);
  };
  if (type == TypeTable::error) {
    for (const NodeId argument : arguments) {
      const NodeKind kind = tree().kind(argument);
      if (kind != NodeKind::HoleExpression && kind != NodeKind::ClosureExpression)
        check_expression(argument, Wanted::any());
    }
    return type;
  }
  const TypeId base = types_.base(type);
  FunctionId function;
  if (const auto methods = program_.methods.find(base.index); methods != program_.methods.end()) {
    if (const auto method = methods->second.find(name); method != methods->second.end()) function = method->second;
  }
  ExternId native;
  if (!function.exists()) {
    function = find_function(name).value_or(FunctionId{});
    const auto takes = [&](const std::vector<Parameter>& parameters) {
      if (function.exists() && !program_.functions[function.index].type_parameters.empty() && !parameters.empty()) {
        // With its type arguments it is decided below; by its kind it is meant or not.
        const TypeKind kind = types_.kind(types_.base(parameters[0].type));
        return kind == TypeKind::Parameter || kind == types_.kind(base);
      }
      return !parameters.empty() &&
             (is_assignable(type, parameters[0].type) || is_assignable(base, types_.base(parameters[0].type)) ||
              types_.kind(parameters[0].type) == TypeKind::Parameter);
    };
    if (function.exists() && !takes(program_.functions[function.index].parameters)) function = FunctionId{};
    if (!function.exists()) native = find_extern(name).value_or(ExternId{});
    if (native.exists() && !takes(program_.externs[native.index].parameters)) native = ExternId{};
  }
  if (function.exists() || native.exists()) {
    const bool declared = function.exists();
    arguments.insert(arguments.begin(), receiver);
    // The receiver has its type already: as an argument it is only held against the parameter.
    const std::vector<Parameter>& parameters =
        declared ? program_.functions[function.index].parameters : program_.externs[native.index].parameters;
    facts(node).target = {declared ? TargetKind::Function : TargetKind::Extern,
                          declared ? function.index : native.index, optional ? 1U : 0U};
    std::vector<TypeId> given = resolve_type_arguments(type_arguments);
    std::span<const TypeId> type_parameters;
    if (declared) type_parameters = program_.functions[function.index].type_parameter_types;
    if (given.size() != type_parameters.size()) {
      diagnostics_.report(diagnostics::TypeArgumentCount, tree().main_span(node), name,
                          diagnostics::counted(type_parameters.size(), "type argument"),
                          diagnostics::counted_were(given.size()));
      given.resize(type_parameters.size(), TypeTable::error);
    }
    facts(node).type_arguments = given;
    std::vector<TypeId> types;
    for (const Parameter& parameter : parameters) types.push_back(substitute(parameter.type, type_parameters, given));
    if (!types.empty()) coerce(receiver, type, types[0]);
    check_arguments(node, name, parameters.empty() ? std::span<const Parameter>() : std::span(parameters).subspan(1),
                    types.empty() ? std::span<const TypeId>() : std::span<const TypeId>(types).subspan(1),
                    std::span<const NodeId>(arguments).subspan(1));
    const TypeId result = declared ? program_.functions[function.index].result : program_.externs[native.index].result;
    return wrap(substitute(result, type_parameters, given));
  }
  const TypeId result =
      check_builtin_method(node, type, name, type_arguments, arguments, optional ? Wanted::any() : wanted);
  facts(node).target.detail = optional ? 1 : 0;
  return wrap(result);
}

/// `xs.push(x)` needs a place that it can change.
void Checker::check_mutable_receiver(NodeId receiver, std::string_view name) {
  const NodeId root = tree().root_of_place(receiver);
  const Target& target = facts(root).target;
  if (tree().kind(root) != NodeKind::NameExpression || target.kind != TargetKind::Local) {
    diagnostics_.report(diagnostics::NotAssignable, tree().span(receiver), "this expression")
        .hint(fmt::format("bind the value with `let` first: `{}` modifies its receiver", name));
    return;
  }
  refuse_state_change(receiver, target.index);
  for (std::size_t at = 0; contract_scope_ && at < *contract_scope_; ++at) {
    if (scope_[at].second.index != target.index) continue;
    diagnostics_.report(diagnostics::ContractSideEffect, tree().span(receiver),
                        fmt::format("a change to `{}`", tree().text(root)));
    return;
  }
  for (std::size_t at = 0; at < branch_start_; ++at) {
    if (scope_[at].second.index == target.index) {
      diagnostics_.report(diagnostics::AssignmentInBranch, tree().span(receiver), std::string(tree().text(root)))
          .hint("return the result as the value of the branch instead");
      return;
    }
  }
}

/// `text.parse_json<Order>()`; the type may come from the surroundings.
TypeId Checker::check_parse_json(NodeId node, NodeId type_arguments, std::span<const NodeId> arguments, Wanted wanted) {
  const NodeId wanted_type = type_arguments.exists() ? tree().first(type_arguments) : NodeId{};
  const TypeId type = wanted_type.exists() ? resolve_type(wanted_type) : wanted.has_type() ? wanted.type : TypeId{};
  expect_count(node, "parse_json", 0, arguments.size());
  if (!type.exists()) {
    diagnostics_.report(diagnostics::CannotInferType, tree().span(node), "the result of `parse_json`")
        .hint("specify the type: `.parse_json<Order>()`");
    return TypeTable::error;
  }
  if (type == TypeTable::error) return type;
  if (!is_answerable(type)) {
    diagnostics_.report(diagnostics::NotRepresentableInJson, tree().span(wanted_type.exists() ? wanted_type : node),
                        describe(type));
    return TypeTable::error;
  }
  facts(node).target = {TargetKind::ReadJson, type.index, 0};
  return type;
}

TypeId Checker::check_builtin_method(NodeId node, TypeId receiver, std::string_view name, NodeId type_arguments,
                                     std::span<const NodeId> arguments, Wanted wanted) {
  const auto check_all = [&] {
    for (const NodeId argument : arguments) {
      const NodeKind kind = tree().kind(argument);
      if (kind != NodeKind::HoleExpression && kind != NodeKind::ClosureExpression)
        check_expression(argument, Wanted::any());
    }
    return TypeTable::error;
  };
  if (name == "parse" && is_text(receiver)) {
    const NodeId wanted_type = type_arguments.exists() ? tree().first(type_arguments) : NodeId{};
    const TypeId type = wanted_type.exists() ? resolve_type(wanted_type)
                        : wanted.has_type()  ? types_.base(wanted.type)
                                             : TypeTable::error;
    std::optional<Builtin> builtin;
    if (type == TypeTable::i32) builtin = Builtin::StringParseI32;
    if (type == TypeTable::i64) builtin = Builtin::StringParseI64;
    if (type == TypeTable::f64) builtin = Builtin::StringParseF64;
    if (type == TypeTable::boolean) builtin = Builtin::StringParseBoolean;
    expect_count(node, "parse", 0, arguments.size());
    if (!builtin) {
      diagnostics_.report(diagnostics::CannotInferType, tree().span(node), "the result of `parse`")
          .hint("specify the type: `.parse<i32>()`, `i64`, `f64` or `Boolean`");
      return TypeTable::error;
    }
    facts(node).target = {TargetKind::Builtin, static_cast<std::uint32_t>(*builtin), 0};
    return type;
  }
  if (name == "parse_json" && is_text(receiver)) return check_parse_json(node, type_arguments, arguments, wanted);
  const std::optional<MethodSignature> method = find_builtin_method(types_, receiver, name);
  if (!method) {
    std::vector<std::string_view> candidates;
    if (diagnostics_.is_full()) {
      diagnostics_.report(diagnostics::UnknownMethod, tree().main_span(node), describe(receiver), std::string(name));
      return check_all();
    }
    candidates = builtin_method_names(types_, receiver);
    if (const auto own = program_.methods.find(types_.base(receiver).index); own != program_.methods.end()) {
      for (const auto& [own_name, id] : own->second) candidates.push_back(own_name);
    }
    for (const auto& [function, id] : module_->functions) candidates.push_back(function);
    std::sort(candidates.begin(), candidates.end());
    auto& report =
        diagnostics_.report(diagnostics::UnknownMethod, tree().main_span(node), describe(receiver), std::string(name));
    const auto elsewhere = find_known_elsewhere(name);
    if (elsewhere && std::find(candidates.begin(), candidates.end(), *elsewhere) != candidates.end()) {
      report.hint(fmt::format("use `{}` instead", *elsewhere));
    } else if (const auto nearest = diagnostics::find_nearest(name, candidates)) {
      report.hint(fmt::format("did you mean `{}`?", *nearest));
    } else if (const auto misspelt = find_nearest_elsewhere(name, candidates)) {
      report.hint(fmt::format("did you mean `{}`?", *misspelt));
    }
    return check_all();
  }
  if (name == "to_string" || name == "to_json") {
    refuse_secret(receiver, tree().first(node), "converted to text");
    refuse_tools(receiver, tree().first(node), "converted to text");
  }
  const bool sums = name == "sum" || name == "min" || name == "max" || name == "sorted";
  if (sums && types_.kind(types_.base(receiver)) == TypeKind::List) {
    const TypeId element = types_.get(types_.base(receiver)).arguments[0];
    if (!is_number(element) && (name == "sum" || !is_text(element)) && element != TypeTable::error) {
      diagnostics_.report(diagnostics::UnknownMethod, tree().main_span(node), describe(receiver), std::string(name))
          .hint(name == "sum" ? "`sum` requires a list of numbers" : "only numbers and texts can be ordered");
      return check_all();
    }
  }
  facts(node).target = method->target;
  if (method->changes_receiver) check_mutable_receiver(tree().first(node), name);
  if (!expect_count(node, std::string(name), method->parameters.size(), arguments.size())) return check_all();
  TypeId first_argument, closure_result;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const TypeId parameter = method->parameters[at];
    if (tree().kind(arguments[at]) == NodeKind::HoleExpression) {
      diagnostics_.report(diagnostics::MisplacedHole, tree().span(arguments[at]))
          .hint("the model can only fill in arguments of functions and externs, not of built-in methods");
    } else if (!parameter.exists()) {
      first_argument = check_expression(arguments[at], Wanted::any());
      if (name == "inject") {
        refuse_secret(first_argument, arguments[at], "injected");
        refuse_tools(first_argument, arguments[at], "injected");
      }
    } else if (types_.kind(parameter) != TypeKind::Closure) {
      check_value(arguments[at], parameter);
      if (types_.kind(receiver) == TypeKind::Tools) check_tool_names(tree().first(node), arguments[at]);
    } else {
      std::vector<TypeId> inputs = types_.get(parameter).arguments;
      const TypeId promised = inputs.back();
      inputs.pop_back();
      for (TypeId& input : inputs) {
        if (input == TypeTable::error) input = first_argument.exists() ? first_argument : TypeTable::error;
      }
      const bool is_promised = promised != TypeTable::error;
      Wanted inner = is_promised ? Wanted::value(promised) : Wanted::any();
      if (!is_promised && method->form == MethodSignature::ResultForm::Initial && first_argument.exists()) {
        inner = Wanted::value(first_argument);
      } else if (!is_promised && wanted.has_type() && !types_.get(types_.base(wanted.type)).arguments.empty()) {
        inner = Wanted{Wanted::Kind::Value, types_.get(types_.base(wanted.type)).arguments[0]};
      }
      closure_result = check_closure(arguments[at], inputs, inner);
    }
  }
  switch (method->form) {
    case MethodSignature::ResultForm::Given:
      return method->result;
    case MethodSignature::ResultForm::Initial:
      return first_argument.exists() ? first_argument : TypeTable::error;
    case MethodSignature::ResultForm::ListOfClosure:
      if (refuse_context(closure_result, arguments.back(), "stored in a list")) return TypeTable::error;
      return closure_result.exists() && closure_result != TypeTable::error ? types_.list(closure_result)
                                                                           : TypeTable::error;
    case MethodSignature::ResultForm::OptionOfClosure:
      if (refuse_context(closure_result, arguments.back(), "stored in an `Option`")) return TypeTable::error;
      return closure_result.exists() && closure_result != TypeTable::error ? types_.option(closure_result)
                                                                           : TypeTable::error;
  }
  return TypeTable::error;
}

TypeId Checker::check_closure(NodeId node, std::span<const TypeId> parameters, Wanted wanted) {
  if (tree().kind(node) != NodeKind::ClosureExpression) {
    const TypeId type = check_expression(node, Wanted::any());
    if (type != TypeTable::error) {
      diagnostics_.report(diagnostics::ClosureExpected, tree().span(node), describe(type));
    }
    return TypeTable::error;
  }
  const Scope scope(*this);
  std::size_t count = 0;
  NodeId part = tree().first(node);
  for (; part.exists() && syntax::is_pattern(tree().kind(part)); part = tree().next(part), ++count) {
    check_pattern(part, count < parameters.size() ? parameters[count] : TypeTable::error);
  }
  if (count != parameters.size()) {
    diagnostics_.report(diagnostics::ClosureParameterCount, tree().span(node),
                        diagnostics::counted(parameters.size(), "parameter"), count);
  }
  if (!part.exists()) return TypeTable::error;
  ++depth_.closures;
  const std::size_t loops = std::exchange(depth_.loops, 0);
  const TypeId type = check_expression(part, wanted);
  depth_.loops = loops;
  --depth_.closures;
  const TypeId result = wanted.has_type() ? wanted.type : type;
  record(node, result);
  if (result == TypeTable::unit) {
    diagnostics_.report(diagnostics::ValueExpected, tree().span(part));
    return TypeTable::error;
  }
  return result;
}

}  // namespace tenon::types
