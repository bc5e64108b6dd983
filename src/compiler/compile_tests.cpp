// Tests with their scripts, whose answers are written as JSON.

#include <fmt/format.h>

#include <cmath>

#include "compiler/program_compiler.h"
#include "diagnostics/kinds.h"
#include "json/text.h"
#include "syntax/literals.h"
#include "types/extern_calls.h"

namespace tenon::compiler {

using syntax::NodeId;
using syntax::NodeKind;
using types::TypeId;
using types::TypeKind;
using types::TypeTable;

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

void ProgramCompiler::add_script(TestCase& test, const types::Module& module, NodeId entry, bool is_model) {
  const syntax::SyntaxTree& tree = *module.tree;
  const NodeId value = syntax::scripted_answer(tree, entry);
  const std::string_view name = tree.main_text(entry);
  const types::Target& target = module.facts_of(entry).target;
  ScriptedAnswer answer;
  answer.place = place(module, entry);
  answer.kind = !is_model          ? RequestKind::Extern
                : name == "select" ? RequestKind::Select
                : name == "_"      ? RequestKind::Fill
                                   : RequestKind::Complete;
  answer.callee = target.kind == types::TargetKind::Function ? checked_.functions[target.index].name
                  : target.kind == types::TargetKind::Extern ? checked_.externs[target.index].name
                                                             : std::string(name);
  if (answer.kind == RequestKind::Select && target.kind == types::TargetKind::None &&
      tree.kind(value) == NodeKind::CallExpression) {
    answer.callee = tree.text(tree.path(tree.first(value)).back());  // the name of a tool
  }
  const ConstantWriter writer(module, checked_.types);
  bool constant = true;
  if (!is_model && syntax::is_unanswered(tree, value)) {
    answer.fails = true;
    answer.answer = types::unanswered_message;
  } else if (module.facts_of(value).target.kind == types::TargetKind::Fail) {
    const std::vector<NodeId> arguments = tree.children(tree.find_child(value, NodeKind::Arguments));
    const auto text = arguments.size() == 1 ? syntax::plain_string(tree, arguments[0]) : std::nullopt;
    answer.fails = true;
    answer.answer = text.value_or("");
    constant = text.has_value();
  } else if (answer.kind == RequestKind::Select || answer.kind == RequestKind::Fill) {
    constant = writer.write_all(tree.children(tree.find_child(value, NodeKind::Arguments)), answer.answer);
  } else {
    constant = writer.write(value, answer.answer);
  }
  if (!constant) diagnostics_.report(diagnostics::ScriptNotConstant, tree.span(value));
  add_limits(answer, module, entry);
  test.answers.push_back(std::move(answer));
}

/// Which requests it answers: of what is asked, the texts that it contains; of an extern's call, the arguments.
void ProgramCompiler::add_limits(ScriptedAnswer& answer, const types::Module& module, NodeId entry) {
  const syntax::SyntaxTree& tree = *module.tree;
  const auto report = [&](NodeId node) { diagnostics_.report(diagnostics::ScriptNotConstant, tree.span(node)); };
  if (const NodeId condition = tree.find_child(entry, NodeKind::ScriptCondition); condition.exists()) {
    for (const NodeId part : tree.children(condition)) {
      std::optional<std::string> text = syntax::plain_string(tree, part);
      if (!text) report(part);
      answer.contained.push_back(std::move(text).value_or(""));
    }
  }
  if (const NodeId list = tree.find_child(entry, NodeKind::Arguments); list.exists()) {
    const ConstantWriter writer(module, checked_.types);
    for (const NodeId argument : tree.children(list)) {
      std::string& text = answer.arguments.emplace_back();
      if (tree.kind(argument) == NodeKind::HoleExpression) {
        text = bytecode::any_argument;
      } else if (!writer.write(argument, text)) {
        report(argument);
      }
    }
  }
}

}  // namespace tenon::compiler
