#include "compiler/compile.h"

#include <algorithm>
#include <cmath>

#include "base/ensure.h"
#include "base/json_text.h"
#include "compiler/function_compiler.h"
#include "diagnostics/kinds.h"
#include "syntax/literals.h"

namespace tenon::compiler {

using syntax::NodeId;
using syntax::NodeKind;
using types::TypeId;
using types::TypeKind;
using types::TypeTable;

Program compile(const types::CheckedProgram& checked, diagnostics::Diagnostics& diagnostics) {
  return ProgramCompiler(checked, diagnostics).run();
}

ProgramCompiler::ProgramCompiler(const types::CheckedProgram& checked, diagnostics::Diagnostics& diagnostics)
    : checked_(checked), diagnostics_(diagnostics) {
  program_.types = checked.types;
  for (const types::Module& module : checked.modules) {
    program_.sources.push_back({module.file->path(), std::string(module.file->text())});
  }
  // What it says is in the code of each `pursue`, and so belongs to the program as its modules do.
  if (!checked.plan_path.empty()) program_.sources.push_back({checked.plan_path, checked.plan_text});
}

Program ProgramCompiler::run() {
  for (std::uint32_t id = 0; id < checked_.externs.size(); ++id) {
    if (checked_.externs[id].builtin_effect == types::BuiltinEffect::Native) extern_instance(types::ExternId{id}, {});
  }
  for (std::uint32_t id = 0; id < checked_.functions.size(); ++id) {
    const types::FunctionDeclaration& function = checked_.functions[id];
    if (function.type_parameters.empty() && !function.is_test) instance(types::FunctionId{id}, {});
  }
  for (const types::FunctionId test : checked_.tests) compile_test(test);
  for (const types::AgentDeclaration& agent : checked_.agents) {
    const types::Module& module = checked_.modules[agent.module.index];
    Agent entry{agent.name,
                agent.documentation,
                place(module, agent.node, true),
                agent.state,
                agent.added_entries,
                instance(agent.turn, {}),
                instance(agent.initial_state, {}),
                no_function,
                instance(agent.run, {}),
                instance(agent.take_over, {})};
    if (agent.instructions.exists()) entry.instructions = instance(agent.instructions, {});
    program_.agents.push_back(std::move(entry));
  }
  // Instances are added while others are compiled.
  for (std::size_t at = 0; at < instances_.size(); ++at) {
    const Instance next = instances_[at];
    Function function = next.made ? *next.made
                                  : FunctionCompiler(*this, next.what.function, next.what.type_arguments,
                                                     next.what.strategy, next.what.part, next.what.holes)
                                        .run();
    program_.functions.resize(instances_.size());
    program_.functions[at] = std::move(function);
  }
  return std::move(program_);
}

std::uint32_t ProgramCompiler::instance(types::FunctionId function, const std::vector<TypeId>& type_arguments) {
  return instance(function, type_arguments, checked_.functions[function.index].strategy);
}

std::uint32_t ProgramCompiler::instance(types::FunctionId function, const std::vector<TypeId>& type_arguments,
                                        const types::Strategy& strategy, Part part, const Holes& holes) {
  const auto next = static_cast<std::uint32_t>(instances_.size());
  const auto [found, added] =
      instance_index_.emplace(InstanceKey{function, type_arguments, strategy, part, holes}, next);
  if (!added) return found->second;
  const auto is_large = [&](TypeId type) { return program_.types.count_parts(type) > types::type_parts_max; };
  const auto large = std::ranges::find_if(type_arguments, is_large);
  const bool is_one_too_many = !type_arguments.empty() && ++instance_counts_[function.index] > function_instances_max;
  if (large != type_arguments.end() || is_one_too_many) {
    const types::FunctionDeclaration& declaration = checked_.functions[function.index];
    const source::Span span = checked_.modules[declaration.module.index].tree->main_span(declaration.node);
    if (!diagnostics_.has_errors()) {
      auto& report =
          is_one_too_many
              ? diagnostics_.report(diagnostics::TooLarge, span, "instances of this function", function_instances_max)
              : diagnostics_.report(diagnostics::TypeTooLarge, span, program_.types.describe_briefly(*large),
                                    std::size_t{types::type_parts_max});
      report.hint(fmt::format("`{}` calls itself with ever larger types", declaration.name));
    }
    found->second = 0;
    return 0;
  }
  instances_.push_back({{function, type_arguments, strategy, part, holes}, std::nullopt});
  return next;
}

std::uint32_t ProgramCompiler::add_function(Function function) {
  instances_.push_back({InstanceKey{}, std::move(function)});
  return static_cast<std::uint32_t>(instances_.size() - 1);
}

std::uint32_t ProgramCompiler::add_tool(Tool tool) {
  program_.tools.push_back(std::move(tool));
  return static_cast<std::uint32_t>(program_.tools.size() - 1);
}

std::uint32_t ProgramCompiler::extern_instance(types::ExternId callee, const std::vector<TypeId>& type_arguments) {
  const auto next = static_cast<std::uint32_t>(program_.externs.size());
  const auto [found, added] = extern_index_.emplace(std::pair(callee.index, type_arguments), next);
  if (!added) return found->second;
  const types::ExternDeclaration& declaration = checked_.externs[callee.index];
  Extern entry;
  entry.builtin_effect = declaration.builtin_effect;
  entry.name = declaration.name;
  entry.documentation = declaration.documentation;
  entry.call_options = declaration.call_options;
  if (declaration.module.exists()) {
    entry.place = place(checked_.modules[declaration.module.index], declaration.node, true);
  }
  for (const types::Parameter& parameter : declaration.parameters) {
    entry.parameter_names.push_back(parameter.name);
    entry.parameters.push_back(substitute(parameter.type, declaration.type_parameter_types, type_arguments));
  }
  entry.result = substitute(declaration.result, declaration.type_parameter_types, type_arguments);
  program_.externs.push_back(std::move(entry));
  return next;
}

std::uint32_t ProgramCompiler::constant(Constant value) {
  std::string key(1, static_cast<char>('0' + value.index()));
  if (const auto* integer = std::get_if<std::int64_t>(&value)) key += std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&value)) key += fmt::format("{:a}", *number);
  if (const auto* text = std::get_if<std::string>(&value)) key += *text;
  const auto [found, added] =
      constant_index_.emplace(std::move(key), static_cast<std::uint32_t>(program_.constants.size()));
  if (added) program_.constants.push_back(std::move(value));
  return found->second;
}

std::uint32_t ProgramCompiler::add_site(Site site) {
  program_.sites.push_back(std::move(site));
  return static_cast<std::uint32_t>(program_.sites.size() - 1);
}

std::uint32_t ProgramCompiler::add_jump_table(JumpTable table) {
  program_.jump_tables.push_back(std::move(table));
  return static_cast<std::uint32_t>(program_.jump_tables.size() - 1);
}

std::uint32_t ProgramCompiler::add_budget(Budget budget) {
  program_.budgets.push_back(budget);
  return static_cast<std::uint32_t>(program_.budgets.size() - 1);
}

std::uint16_t ProgramCompiler::type_operand(TypeId type) {
  if (type.index <= UINT16_MAX) return static_cast<std::uint16_t>(type.index);
  if (!diagnostics_.has_errors()) diagnostics_.report(diagnostics::TooLarge, {}, "types", std::size_t{UINT16_MAX} + 1);
  return 0;
}

TypeId ProgramCompiler::substitute(TypeId type, std::span<const TypeId> parameters, std::span<const TypeId> arguments) {
  for (std::size_t at = 0; at < parameters.size() && at < arguments.size(); ++at) {
    if (type == parameters[at]) return arguments[at];
  }
  if (parameters.empty() || program_.types.get(type).arguments.empty()) return type;
  types::Type copy = program_.types.get(type);
  for (TypeId& argument : copy.arguments) argument = substitute(argument, parameters, arguments);
  return program_.types.intern(std::move(copy));
}

Place ProgramCompiler::place(const types::Module& module, NodeId node, bool main_token) const {
  const source::Span span = main_token ? module.tree->main_span(node) : module.tree->span(node);
  const source::Position position = module.file->position(span.offset);
  return {span.file.index, position.line, position.column};
}

void ProgramCompiler::compile_test(types::FunctionId id) {
  const types::FunctionDeclaration& declaration = checked_.functions[id.index];
  const types::Module& module = checked_.modules[declaration.module.index];
  TestCase test;
  test.name = declaration.name;
  test.place = place(module, declaration.node);
  test.function = instance(id, {});
  const NodeId body = module.tree->find_child(declaration.node, NodeKind::Block);
  if (body.exists()) {
    for (const NodeId section : module.tree->children(body, NodeKind::ScriptSection)) {
      const bool is_model = module.tree->main_text(section) == "model";
      for (const NodeId entry : module.tree->children(section, NodeKind::ScriptEntry))
        add_script(test, module, entry, is_model);
    }
  }
  program_.tests.push_back(std::move(test));
}

namespace {

/// Constants of a script, as JSON in the form in which a model answers.
class ConstantWriter {
 public:
  ConstantWriter(const types::Module& module, const TypeTable& table)
      : module_(module), tree_(*module.tree), types_(table) {}

  bool write(NodeId node, std::string& out) const {
    switch (tree_.kind(node)) {
      case NodeKind::IntegerExpression: {
        const auto value = syntax::integer_value(tree_.text(node));
        if (!value) return false;
        out += std::to_string(*value);
        return true;
      }
      case NodeKind::FloatExpression: {
        const auto value = syntax::float_value(tree_.text(node));
        if (!value || !std::isfinite(*value)) return false;
        out += fmt::format("{}", *value);
        return true;
      }
      case NodeKind::BooleanExpression:
        out += tree_.text(node);
        return true;
      case NodeKind::StringExpression: {
        const auto text = syntax::plain_string(tree_, node);
        if (!text) return false;
        append_json_string(out, *text);
        return true;
      }
      case NodeKind::ParenthesizedExpression:
        return write(tree_.first(node), out);
      case NodeKind::UnaryExpression:
        if (tree_.main_text(node) != "-") return false;
        out += '-';
        return write(tree_.first(node), out);
      case NodeKind::ListExpression:
      case NodeKind::TupleExpression:
        if (!tree_.first(node).exists() && tree_.kind(node) == NodeKind::TupleExpression) {
          out += "null";
          return true;
        }
        return write_all(tree_.children(node), out);
      case NodeKind::StructExpression:
        return write_struct(node, out);
      case NodeKind::NameExpression:
        return write_case(node, {}, out);
      case NodeKind::CallExpression: {
        const std::vector<NodeId> arguments = tree_.children(tree_.find_child(node, NodeKind::Arguments));
        const types::Target& target = module_.facts_of(node).target;
        if (target.kind == types::TargetKind::Conversion && arguments.size() == 1) return write(arguments[0], out);
        if (target.kind == types::TargetKind::NewMap || target.kind == types::TargetKind::NewList) {
          out += target.kind == types::TargetKind::NewMap ? "{}" : "[]";
          return true;
        }
        if (target.kind == types::TargetKind::MapFrom && arguments.size() == 1) return write_map(arguments[0], out);
        return write_case(node, arguments, out);
      }
      default:
        return false;
    }
  }

  bool write_all(const std::vector<NodeId>& items, std::string& out) const {
    out += '[';
    for (std::size_t at = 0; at < items.size(); ++at) {
      if (at > 0) out += ',';
      if (!write(items[at], out)) return false;
    }
    out += ']';
    return true;
  }

 private:
  bool write_struct(NodeId node, std::string& out) const {
    out += '{';
    bool first = true;
    for (const NodeId field : tree_.children(node, NodeKind::FieldInitializer)) {
      if (!tree_.first(field).exists()) return false;
      if (!first) out += ',';
      first = false;
      append_json_string(out, tree_.main_text(field));
      out += ':';
      if (!write(tree_.first(field), out)) return false;
    }
    out += '}';
    return true;
  }

  /// `[("a", 1), …]`
  bool write_map(NodeId pairs, std::string& out) const {
    if (tree_.kind(pairs) != NodeKind::ListExpression) return false;
    out += '{';
    bool first = true;
    for (const NodeId pair : tree_.children(pairs)) {
      const NodeId key = tree_.first(pair);
      if (tree_.kind(pair) != NodeKind::TupleExpression || !key.exists()) return false;
      if (!first) out += ',';
      first = false;
      if (!write(key, out)) return false;
      out += ':';
      if (!write(tree_.next(key), out)) return false;
    }
    out += '}';
    return true;
  }

  bool write_case(NodeId node, const std::vector<NodeId>& payload, std::string& out) const {
    const types::Target& target = module_.facts_of(node).target;
    if (target.kind != types::TargetKind::EnumCase) return false;
    const TypeId type = types_.base(module_.facts_of(node).type);
    if (types_.kind(type) == TypeKind::Option) {
      if (!payload.empty()) return write(payload[0], out);
      out += "null";
      return true;
    }
    if (types_.kind(type) != TypeKind::Enum) return false;
    const std::string& name = types_.enum_type(type).variants[target.detail].name;
    if (payload.empty()) {
      append_json_string(out, name);
      return true;
    }
    out += '{';
    append_json_string(out, name);
    out += ':';
    if (!(payload.size() == 1 ? write(payload[0], out) : write_all(payload, out))) return false;
    out += '}';
    return true;
  }

  const types::Module& module_;
  const syntax::SyntaxTree& tree_;
  const TypeTable& types_;
};

}  // namespace

void ProgramCompiler::add_script(TestCase& test, const types::Module& module, NodeId entry, bool is_model) {
  const syntax::SyntaxTree& tree = *module.tree;
  const NodeId value = tree.first(entry);
  const std::string_view name = tree.main_text(entry);
  const types::Target& target = module.facts_of(entry).target;
  ScriptedAnswer answer;
  answer.place = place(module, entry);
  answer.kind = !is_model          ? ScriptKind::Extern
                : name == "select" ? ScriptKind::Select
                : name == "_"      ? ScriptKind::Fill
                                   : ScriptKind::Completion;
  answer.callee = target.kind == types::TargetKind::Function ? checked_.functions[target.index].name
                  : target.kind == types::TargetKind::Extern ? checked_.externs[target.index].name
                                                             : std::string(name);
  if (answer.kind == ScriptKind::Select && target.kind == types::TargetKind::None &&
      tree.kind(value) == NodeKind::CallExpression) {
    answer.callee = tree.text(tree.path(tree.first(value)).back());  // the name of a tool
  }
  const ConstantWriter writer(module, checked_.types);
  bool constant = true;
  if (module.facts_of(value).target.kind == types::TargetKind::Fail) {
    const std::vector<NodeId> arguments = tree.children(tree.find_child(value, NodeKind::Arguments));
    const auto text = arguments.size() == 1 ? syntax::plain_string(tree, arguments[0]) : std::nullopt;
    answer.fails = true;
    answer.answer = text.value_or("");
    constant = text.has_value();
  } else if (answer.kind == ScriptKind::Select || answer.kind == ScriptKind::Fill) {
    constant = writer.write_all(tree.children(tree.find_child(value, NodeKind::Arguments)), answer.answer);
  } else {
    constant = writer.write(value, answer.answer);
  }
  if (!constant) diagnostics_.report(diagnostics::ScriptNotConstant, tree.span(value));
  test.answers.push_back(std::move(answer));
}

}  // namespace tenon::compiler
