// Declarations: the names of a module, and the types of what they name. Bodies are checked later.

#include "types/declarations/declarations.h"

#include <fmt/format.h>
#include <algorithm>
#include <set>

#include "diagnostics/kinds.h"
#include "syntax/literals.h"
#include "types/declarations/builtin_effects.h"
#include "types/declarations/distinct_names.h"
#include "types/declarations/recursive_types.h"
#include "types/table/type_parts.h"

namespace tenon::types {

void Declarations::run() {
  const auto count = static_cast<std::uint32_t>(program_.modules.size());
  for (std::uint32_t module = 0; module < count; ++module) collect_names(ModuleId{module});
  for (std::uint32_t module = 0; module < count; ++module) resolve_imports(ModuleId{module});
  for (std::uint32_t module = 0; module < count; ++module) collect_types(ModuleId{module});
  for (std::uint32_t module = 0; module < count; ++module) {
    program_.modules[module].aliases = resolver_.take_aliases(ModuleId{module});
  }
  check_recursive_types();
  for (std::uint32_t module = 0; module < count; ++module) collect_functions(ModuleId{module});
  register_effect_builtins();
  find_judge();
}

void Declarations::enter_module(ModuleId module) {
  module_id_ = module;
  module_ = &program_.modules[module.index];
  resolver_.enter(module);
}

void Declarations::register_effect_builtins() {
  for (ExternDeclaration& function : make_builtin_effects(types_)) {
    program_.effect_builtins.emplace(function.name, ExternId{static_cast<std::uint32_t>(program_.externs.size())});
    program_.externs.push_back(std::move(function));
  }
}

bool Declarations::declare(const std::string& name, source::Span span) {
  const auto [found, added] = module_->declared_at.emplace(name, span);
  if (added) return true;
  diagnostics_.report(diagnostics::DeclaredTwice, span, name).label(found->second, "first declared here");
  return false;
}

void Declarations::collect_names(ModuleId module) {
  enter_module(module);
  for (NodeId item = tree().first(tree().root); item.exists(); item = tree().next(item)) {
    const NodeKind kind = tree().kind(item);
    if (kind != NodeKind::StructItem && kind != NodeKind::EnumItem && kind != NodeKind::TypeItem &&
        kind != NodeKind::AgentItem) {
      continue;
    }
    const std::string name(tree().main_text(item));
    const source::Span span = tree().main_span(item);
    const bool may_be_own = name == "Tools" || name == "ToolResult" || name == "ContextEntry";
    if (!may_be_own && resolver_.find_type(name) && !module_->type_names.contains(name) &&
        !resolver_.has_alias(module, name)) {
      diagnostics_.report(diagnostics::DeclaredTwice, span, name).hint("this is the name of a built-in type");
      continue;
    }
    if (!declare(name, span)) continue;
    if (kind == NodeKind::StructItem || kind == NodeKind::AgentItem) {
      module_->type_names.emplace(name, types_.add_struct({name, tree().documentation(item), {}}));
    } else if (kind == NodeKind::EnumItem) {
      module_->type_names.emplace(name, types_.add_enum({name, tree().documentation(item), {}}));
    } else {
      resolver_.add_alias(module, name, item);
    }
  }
}

void Declarations::resolve_imports(ModuleId module) {
  enter_module(module);
  for (const auto& [name, imported] : module_->imports) {
    if (imported.is_module) continue;
    const Module& from = program_.modules[imported.module.index];
    bool declared = from.type_names.contains(name) || resolver_.has_alias(imported.module, name);
    for (NodeId item = from.tree->first(from.tree->root); item.exists() && !declared; item = from.tree->next(item)) {
      const NodeKind kind = from.tree->kind(item);
      declared = (kind == NodeKind::FunctionItem || kind == NodeKind::ExternItem) && from.tree->main_text(item) == name;
    }
    if (!declared) {
      resolver_.report_not_in_module(module_->declared_at.at(name), imported.module, from.file->path(), name);
      module_->missing_imports.insert(name);
    }
  }
}

void Declarations::collect_types(ModuleId module) {
  enter_module(module);
  for (NodeId item = tree().first(tree().root); item.exists(); item = tree().next(item)) {
    const NodeKind kind = tree().kind(item);
    const std::string name(tree().main_text(item));
    const auto declared = module_->type_names.find(name);
    if (kind == NodeKind::TypeItem) {
      if (resolver_.is_alias(module, name, item)) resolver_.resolve_alias(module, name);
    } else if (kind == NodeKind::StructItem && declared != module_->type_names.end()) {
      if (types_.kind(declared->second) != TypeKind::Struct || !types_.struct_type(declared->second).fields.empty())
        continue;
      std::vector<Field> fields;
      std::set<std::string> names;
      for (const NodeId field : tree().children(item, NodeKind::FieldItem)) {
        const std::string field_name(tree().main_text(field));
        bool is_trusted = false;
        const NodeId type_node = resolver_.without_trusted(tree().find_child(field, std::size_t{0}), is_trusted);
        TypeId type = type_node.exists() ? resolver_.resolve_declared_type(field, type_node) : TypeTable::error;
        if (resolver_.reject_context(type, type_node, "stored in a field")) type = TypeTable::error;
        if (!names.insert(field_name).second) {
          diagnostics_.report(diagnostics::DeclaredTwice, tree().main_span(field), field_name);
          continue;
        }
        fields.push_back({field_name, type, documentation_of_field(field, type_node), is_trusted});
      }
      types_.mutable_struct(declared->second).fields = std::move(fields);
    } else if (kind == NodeKind::EnumItem && declared != module_->type_names.end()) {
      if (types_.kind(declared->second) != TypeKind::Enum || !types_.enum_type(declared->second).variants.empty())
        continue;
      std::vector<Variant> variants;
      std::set<std::string> names;
      for (const NodeId variant : tree().children(item, NodeKind::VariantItem)) {
        const std::string variant_name(tree().main_text(variant));
        std::vector<TypeId> payload;
        for (NodeId part = tree().first(variant); part.exists(); part = tree().next(part)) {
          const TypeId type = resolver_.resolve_type(part);
          payload.push_back(resolver_.reject_context(type, part, "stored in an enum case") ? TypeTable::error : type);
        }
        if (!names.insert(variant_name).second) {
          diagnostics_.report(diagnostics::DeclaredTwice, tree().main_span(variant), variant_name);
          continue;
        }
        variants.push_back({variant_name, tree().documentation(variant), std::move(payload)});
      }
      types_.mutable_enum(declared->second).variants = std::move(variants);
    } else if (kind == NodeKind::AgentItem && declared != module_->type_names.end()) {
      collect_agent_state(item, declared->second);
    }
  }
}

/// A type of infinite size is reported once for each cycle, at the member that is declared first.
void Declarations::check_recursive_types() {
  const std::vector<std::vector<TypeId>> cycles = find_recursive_types(types_);
  if (cycles.empty()) return;
  std::unordered_map<std::uint32_t, std::size_t> cycle_of;  // by type
  for (std::size_t at = 0; at < cycles.size(); ++at) {
    for (const TypeId type : cycles[at]) cycle_of.emplace(type.index, at);
  }
  std::vector<bool> is_reported(cycles.size(), false);
  for (const Module& module : program_.modules) {
    for (NodeId item = module.tree->first(module.tree->root); item.exists(); item = module.tree->next(item)) {
      const NodeKind kind = module.tree->kind(item);
      if (kind != NodeKind::StructItem && kind != NodeKind::EnumItem) continue;
      const auto declared = module.type_names.find(std::string(module.tree->main_text(item)));
      if (declared == module.type_names.end()) continue;
      const auto found = cycle_of.find(declared->second.index);
      if (found == cycle_of.end() || is_reported[found->second]) continue;
      is_reported[found->second] = true;
      auto& report = diagnostics_.report(diagnostics::RecursiveType, module.tree->main_span(item), declared->first);
      const std::vector<TypeId>& cycle = cycles[found->second];
      const bool has_enum =
          std::any_of(cycle.begin(), cycle.end(), [&](TypeId type) { return types_.kind(type) == TypeKind::Enum; });
      report.hint("wrap the inner value in an `Option`, a `List` or a `Map`");
      if (has_enum) report.hint("or add a non-recursive case to the enum");
    }
  }
}

void Declarations::collect_functions(ModuleId module) {
  enter_module(module);
  for (NodeId item = tree().first(tree().root); item.exists(); item = tree().next(item)) {
    switch (tree().kind(item)) {
      case NodeKind::FunctionItem:
        collect_function(item, TypeId{});
        break;
      case NodeKind::ExternItem:
        collect_extern(item);
        break;
      case NodeKind::AgentItem:
        collect_agent(item);
        break;
      case NodeKind::TestItem:
        collect_test(item);
        break;
      case NodeKind::TrustItem:
        collect_trust(item);
        break;
      case NodeKind::ImplItem: {
        const std::string name(tree().main_text(item));
        const std::optional<TypeId> type = resolver_.find_type(name);
        const TypeKind kind = type ? types_.kind(*type) : TypeKind::Error;
        if (kind != TypeKind::Struct && kind != TypeKind::Enum) {
          diagnostics_.report(diagnostics::UnknownType, tree().main_span(item), name)
              .hint("an `impl` must name a `struct` or `enum` of the program");
          break;
        }
        resolver_.set_self_type(*type);
        for (const NodeId method : tree().children(item, NodeKind::FunctionItem)) collect_function(method, *type);
        resolver_.set_self_type(TypeId{});
        break;
      }
      default:
        break;
    }
  }
}

void Declarations::collect_function(NodeId node, TypeId self) {
  FunctionDeclaration function;
  function.module = module_id_;
  function.node = node;
  function.name = std::string(tree().main_text(node));
  function.documentation = tree().documentation(node);
  if (const NodeId list = tree().find_child(node, NodeKind::TypeParameters); list.exists()) {
    for (const NodeId parameter : tree().children(list)) {
      const std::string name(tree().main_text(parameter));
      function.type_parameters.push_back(name);
      // Parameters of different functions are different types.
      const TypeId type = types_.parameter(name);
      function.type_parameter_types.push_back(type);
    }
  }
  resolver_.set_type_parameters(function);
  function.parameters = collect_parameters(node, self, false);
  if (const NodeId result = tree().find_child(node, NodeKind::ReturnType); result.exists()) {
    const NodeId type_node = resolver_.without_trusted(tree().first(result), function.has_trusted_result);
    function.result = resolver_.resolve_type(type_node);
    function.result_documentation = resolver_.documentation_of_name(type_node, TypeResolver::Enums::Included);
    if (function.result == TypeTable::context) resolver_.reject_context(function.result, result, "returned");
  }
  for (std::size_t at = 0; at < function.parameters.size() && !function.own_context; ++at) {
    if (function.parameters[at].type == TypeTable::context) function.own_context = at;
  }
  resolver_.set_type_parameters({});
  const FunctionId id{static_cast<std::uint32_t>(program_.functions.size())};
  if (self.exists()) {
    auto& methods = program_.methods[self.index];
    const std::string short_name = function.name;
    if (const auto existing = methods.find(short_name); existing != methods.end()) {
      const FunctionDeclaration& first = program_.functions[existing->second.index];
      diagnostics_.report(diagnostics::DeclaredTwice, tree().main_span(node), short_name)
          .label(program_.modules[first.module.index].tree->main_span(first.node), "first declared here");
    } else {
      methods.emplace(short_name, id);
    }
    function.name = types_.describe(self) + "::" + short_name;
  } else if (declare(function.name, tree().main_span(node))) {
    module_->functions.emplace(function.name, id);
  }
  program_.functions.push_back(std::move(function));
}

std::vector<Parameter> Declarations::collect_parameters(NodeId owner, TypeId self, bool is_extern) {
  std::vector<Parameter> parameters;
  DistinctNames names;
  const NodeId list = tree().find_child(owner, NodeKind::Parameters);
  if (!list.exists()) return parameters;
  for (const NodeId node : tree().children(list, NodeKind::Parameter)) {
    const std::string name(tree().main_text(node));
    const NodeId type_node = tree().first(node);
    if (name == "self" && !type_node.exists() && !agent_name_.empty()) {
      // The function is checked as if it were not there.
      diagnostics_.report(diagnostics::SelfInAgent, tree().main_span(node), agent_name_)
          .hint("remove it: every function of an agent can use `state`");
      continue;
    }
    Parameter parameter{name, TypeTable::error, tree().main_span(node), documentation_of_parameter(node, type_node)};
    if (type_node.exists()) {
      const NodeId given =
          resolver_.without_trusted(type_node, parameter.is_trusted, is_extern ? &parameter.asks_approval : nullptr);
      if (given.exists()) parameter.type = resolver_.resolve_declared_type(node, given);
    } else if (name == "Context") {
      parameter.name.clear();
      parameter.type = TypeTable::context;
    } else if (name == "self" && self.exists()) {
      parameter.type = self;
      if (!parameters.empty() && parameters[0].name != name) {
        diagnostics_.report(diagnostics::SelfNotFirst, parameter.span)
            .hint(fmt::format("move it before `{}`", parameters[0].name.empty() ? "Context" : parameters[0].name));
      }
    } else if (name == "self") {
      diagnostics_.report(diagnostics::ParameterTypeMissing, parameter.span, name)
          .hint("`self` has a type only in the methods of an `impl`");
    } else if (name[0] >= 'A' && name[0] <= 'Z') {
      diagnostics_.report(diagnostics::ParameterTypeMissing, parameter.span, name)
          .hint(fmt::format("write `name: {}`", name));
    } else {
      parameter.type = TypeTable::string;
    }
    if (is_extern && parameter.type == TypeTable::context) {
      resolver_.report_context(parameter.span, "passed to an `extern fn`");
    }
    if (is_extern) resolver_.reject_tools(parameter.type, node, "passed to an `extern fn`");
    if (!parameter.name.empty() && !add_new(names, tree().main_text(node))) {
      diagnostics_.report(diagnostics::DeclaredTwice, parameter.span, name);
    }
    // A `self` is checked as the first one, wherever it is.
    const bool is_first = name == "self" && !type_node.exists();
    parameters.insert(is_first ? parameters.begin() : parameters.end(), std::move(parameter));
  }
  return parameters;
}

void Declarations::collect_extern(NodeId node) {
  ExternDeclaration function;
  function.module = module_id_;
  function.node = node;
  function.name = std::string(tree().main_text(node));
  function.documentation = tree().documentation(node);
  function.parameters = collect_parameters(node, TypeId{}, true);
  if (const NodeId result = tree().find_child(node, NodeKind::ReturnType); result.exists()) {
    function.result = resolver_.resolve_type(resolver_.without_trusted(tree().first(result), function.is_vouched));
    resolver_.reject_context(function.result, result, "returned from an `extern fn`");
  }
  if (const NodeId options = tree().find_child(node, NodeKind::ExternOptions); options.exists()) {
    function.call_options = collect_extern_call_options(options);
  }
  check_approval(function);
  const ExternId id{static_cast<std::uint32_t>(program_.externs.size())};
  if (tree().find_child(node, NodeKind::ContractClause).exists()) {
    FunctionDeclaration call;
    call.role = FunctionRole::ExternCall;
    call.module = module_id_;
    call.node = node;
    call.name = function.name;
    call.documentation = function.documentation;
    call.parameters = function.parameters;
    call.result = function.result;
    call.performs = id;
    function.wrapper = FunctionId{static_cast<std::uint32_t>(program_.functions.size())};
    program_.functions.push_back(std::move(call));
  }
  if (declare(function.name, tree().main_span(node))) module_->externs.emplace(function.name, id);
  program_.externs.push_back(std::move(function));
}

/// A person looks at all arguments of a call, so none of them may be a secret.
void Declarations::check_approval(const ExternDeclaration& callee) {
  const auto asking = std::ranges::find_if(callee.parameters, &Parameter::asks_approval);
  if (asking == callee.parameters.end()) return;
  for (const Parameter& parameter : callee.parameters) {
    if (!holds_secret(types_, parameter.type)) continue;
    diagnostics_.report(diagnostics::ApprovalOfSecret, asking->span, callee.name)
        .label(parameter.span, "a secret, which cannot be shown");
    return;
  }
}

ExternCallOptions Declarations::collect_extern_call_options(NodeId options) {
  ExternCallOptions call_options;
  std::set<std::string> seen;
  for (const NodeId option : tree().children(options, NodeKind::ExternOption)) {
    const std::string name(tree().main_text(option));
    if (name != "acts" && name != "once" && name != "process" && name != "within") {
      diagnostics_.report(diagnostics::UnknownExternOption, tree().main_span(option), name)
          .hint("use `acts`, `once`, `process` or `within: 5s`");
      continue;
    }
    if (!seen.insert(name).second) diagnostics_.report(diagnostics::SpecifiedTwice, tree().span(option), name);
    const NodeId value = tree().first(option);
    if (name != "within") {
      if (value.exists()) diagnostics_.report(diagnostics::ExternOptionValue, tree().span(option), name);
      (name == "once" ? call_options.is_once : name == "acts" ? call_options.acts : call_options.is_process) = true;
      continue;
    }
    const std::string_view unit = tree().text(tree()[option].end_token - 1);
    const auto factor = syntax::unit_milliseconds(unit);
    if (!value.exists() || tree().kind(value) != NodeKind::IntegerExpression || !factor) {
      diagnostics_.report(diagnostics::InvalidTimeLimit, tree().span(option)).hint("write for example `within: 5s`");
      continue;
    }
    const auto number = syntax::integer_value(tree().text(value));
    if (!number || *number > UINT64_MAX / *factor) {
      diagnostics_.report(diagnostics::NumberOutOfRange, tree().span(value), std::string(tree().text(value)), "i64");
    } else if (*number == 0) {
      diagnostics_.report(diagnostics::ZeroTimeLimit, tree().span(option));
    } else {
      call_options.within_ms = *number * *factor;
    }
  }
  return call_options;
}

void Declarations::collect_trust(NodeId node) {
  const std::string source(tree().main_text(node));
  if (source != "person") {
    diagnostics_.report(diagnostics::UnknownTrust, tree().main_span(node), source).hint("write `trust person`");
  } else if (module_id_.index != 0) {
    diagnostics_.report(diagnostics::TrustInModule, tree().main_span(node))
        .hint("write it in the program's own file, which answers for it");
  } else {
    program_.trusts_person = true;
  }
}

void Declarations::collect_test(NodeId node) {
  // Only the entry file's tests are the program's; a used module has its own run.
  if (module_id_.index != 0) return;
  FunctionDeclaration function;
  function.module = module_id_;
  function.node = node;
  function.is_test = true;
  const NodeId title = tree().find_child(node, NodeKind::StringExpression);
  if (title.exists()) {
    std::string_view text = tree().text(title);
    if (text.size() >= 2) text = text.substr(1, text.size() - 2);
    function.name = std::string(text);
  }
  if (!test_names_.insert(function.name).second) {
    diagnostics_.report(diagnostics::DuplicateTest, tree().span(title.exists() ? title : node), function.name);
  }
  program_.tests.push_back(FunctionId{static_cast<std::uint32_t>(program_.functions.size())});
  program_.functions.push_back(std::move(function));
}

/// The doc comment of a field; without one, that of the `type` name which is its type. That of an enum is shown beside
/// fields anyway.
std::string Declarations::documentation_of_field(NodeId field, NodeId type_node) {
  std::string words = tree().documentation(field);
  return words.empty() ? resolver_.documentation_of_name(type_node, TypeResolver::Enums::LeftOut) : words;
}

std::string Declarations::documentation_of_parameter(NodeId parameter, NodeId type_node) {
  std::string words = tree().documentation(parameter);
  return words.empty() ? resolver_.documentation_of_name(type_node, TypeResolver::Enums::Included) : words;
}

/// The entries of `state { … }` are the fields of a struct of the agent's name.
void Declarations::collect_agent_state(NodeId item, TypeId type) {
  if (types_.kind(type) != TypeKind::Struct || !types_.struct_type(type).fields.empty()) return;
  const NodeId section = tree().find_child(item, NodeKind::StateSection);
  if (!section.exists()) return;
  std::vector<Field> fields;
  DistinctNames names;
  for (const NodeId field : tree().children(section, NodeKind::StateField)) {
    const std::string name(tree().main_text(field));
    const NodeId type_node = tree().first(field);
    TypeId entry = type_node.exists() ? resolver_.resolve_declared_type(field, type_node) : TypeTable::error;
    if (resolver_.reject_context(entry, type_node, "stored in a field")) entry = TypeTable::error;
    if (!add_new(names, tree().main_text(field))) {
      diagnostics_.report(diagnostics::DeclaredTwice, tree().main_span(field), name);
      continue;
    }
    fields.push_back({name, entry, documentation_of_field(field, type_node)});
  }
  types_.mutable_struct(type).fields = std::move(fields);
}

void Declarations::find_judge() {
  if (!program_.contracts_module.exists()) return;
  const Module& module = program_.modules[program_.contracts_module.index];
  program_.judge = module.functions.at("judge");
  program_.verdict = module.type_names.at("Verdict");
}

}  // namespace tenon::types
