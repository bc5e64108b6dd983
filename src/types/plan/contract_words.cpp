#include "types/plan/contract_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "json/text.h"
#include "syntax/literals.h"
#include "types/table/type_parts.h"

namespace tenon::types {

using syntax::NodeId;
using syntax::NodeKind;

namespace {

/// As a template shows it; nothing for a number whose digits are only known in the run.
std::optional<std::string> shown(const Constant& constant) {
  if (const auto* const integer = std::get_if<std::int64_t>(&constant)) return std::to_string(*integer);
  if (const auto* const boolean = std::get_if<bool>(&constant)) return *boolean ? "true" : "false";
  if (const auto* const text = std::get_if<std::string>(&constant)) return *text;
  return std::nullopt;
}

/// As written in the program.
std::string literal(const Constant& constant) {
  if (const auto* const text = std::get_if<std::string>(&constant)) return make_json_string(*text);
  if (const auto* const number = std::get_if<double>(&constant)) return fmt::format("{}", *number);
  return *shown(constant);
}

std::optional<std::string> find_shown(const CallArguments& given, LocalId local) {
  const auto found = given.constants.find(local.index);
  return found == given.constants.end() ? std::nullopt : shown(found->second);
}

/// The variable that a `{{ name }}` shows; absent for any other piece of a text.
LocalId shown_local(const Module& module, NodeId piece) {
  const syntax::SyntaxTree& tree = *module.tree;
  if (tree.kind(piece) != NodeKind::TemplateHole) return {};
  const NodeId name = tree.first(piece);
  if (!name.exists() || tree.kind(name) != NodeKind::NameExpression) return {};
  const Target& target = module.facts_of(name).target;
  return target.kind == TargetKind::Local ? LocalId{target.index} : LocalId{};
}

/// The text of a StringExpression, if all its templates are constant.
std::optional<std::string> filled(const Module& module, NodeId text, const CallArguments& given) {
  const syntax::SyntaxTree& tree = *module.tree;
  if (tree.kind(text) != NodeKind::StringExpression) return std::nullopt;
  std::string whole;
  for (const syntax::StringPart& part : syntax::string_parts(tree, text)) {
    if (const auto* const literal = std::get_if<std::string>(&part)) {
      whole += *literal;
      continue;
    }
    const auto value = find_shown(given, shown_local(module, std::get<NodeId>(part)));
    if (!value) return std::nullopt;
    whole += *value;
  }
  return whole;
}

/// The words of a text in lower case: runs of ASCII letters and digits, and of other characters that are not ASCII.
std::set<std::string> list_words(std::string_view text) {
  std::set<std::string> words;
  std::string word;
  for (const char one : text) {
    const bool is_upper = one >= 'A' && one <= 'Z';
    const bool is_part = is_upper || (one >= 'a' && one <= 'z') || (one >= '0' && one <= '9') || (one & 0x80) != 0;
    if (is_part) word += static_cast<char>(is_upper ? one - 'A' + 'a' : one);
    if (!is_part && !word.empty()) words.insert(std::exchange(word, ""));
  }
  if (!word.empty()) words.insert(word);
  return words;
}

/// Whether the text mentions a part of the name, such as `language`, `languages` or `lang` of `target_language`.
bool mentions(const std::set<std::string>& words, const std::string& name) {
  constexpr std::size_t start_min = 3;
  const std::set<std::string> parts = list_words(name);
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
      if (word.size() < start_min || part.size() < start_min) return word == part;
      return word.starts_with(part) || part.starts_with(word);
    });
  });
}

}  // namespace

std::string words_of_expression(const CheckedProgram& program, const FunctionDeclaration& function, NodeId expression,
                                const CallArguments& given) {
  const Module& module = program.modules[function.module.index];
  std::string words(module.tree->text(expression));
  std::set<std::uint32_t> named;
  const auto visit = [&](const auto& self, NodeId node) -> void {
    const Target& target = module.facts_of(node).target;
    const auto found = given.constants.find(target.index);
    if (target.kind == TargetKind::Local && found != given.constants.end() && named.insert(target.index).second) {
      words += fmt::format(", with {} = {}", program.locals[target.index].name, literal(found->second));
    }
    for (NodeId child = module.tree->first(node); child.exists(); child = module.tree->next(child)) self(self, child);
  };
  visit(visit, expression);
  return words;
}

LocalId parameter_local(const CheckedProgram& program, const FunctionDeclaration& function, std::size_t parameter) {
  if (parameter >= function.parameters.size()) return {};
  const source::Span span = function.parameters[parameter].span;
  for (std::uint32_t at = 0; at < program.locals.size(); ++at) {
    if (program.locals[at].span == span && program.locals[at].name == function.parameters[parameter].name) {
      return LocalId{at};
    }
  }
  return {};
}

std::vector<std::size_t> implied_parameters(const CheckedProgram& program, const FunctionDeclaration& function,
                                            NodeId text, std::optional<std::size_t> state) {
  const Module& module = program.modules[function.module.index];
  std::vector<LocalId> said;
  std::optional<std::set<std::string>> words;  // that are written in the program
  if (module.tree->kind(text) == NodeKind::StringExpression) {
    words.emplace();
    for (const syntax::StringPart& part : syntax::string_parts(*module.tree, text)) {
      if (const auto* const literal = std::get_if<std::string>(&part)) {
        words->merge(list_words(*literal));
      } else if (const LocalId local = shown_local(module, std::get<NodeId>(part)); local.exists()) {
        said.push_back(local);
      }
    }
  }
  std::vector<std::size_t> implied;
  for (std::size_t at = 0; at < function.parameters.size(); ++at) {
    const TypeId type = function.parameters[at].type;
    if (at == state || type == TypeTable::context || program.types.kind(type) == TypeKind::Tools ||
        holds_secret(program.types, type)) {
      continue;
    }
    const bool is_shown = std::find(said.begin(), said.end(), parameter_local(program, function, at)) != said.end();
    if (!is_shown && (!words || mentions(*words, function.parameters[at].name))) implied.push_back(at);
  }
  return implied;
}

std::string key_of_parameter(const std::string& name) {
  return fmt::format("\n{}: ", name);
}

ContractWords words_of_text(const CheckedProgram& program, ModuleId module, NodeId text) {
  ContractWords found;
  auto plain = filled(program.modules[module.index], text, {});
  found.is_plain = plain.has_value();
  found.words = plain ? std::move(*plain) : std::string(program.modules[module.index].tree->text(text));
  if (found.is_plain) found.key = found.words;
  return found;
}

ContractWords words_in_call(const CheckedProgram& program, const FunctionDeclaration& function, NodeId text,
                            std::optional<std::size_t> state, const CallArguments& given) {
  auto whole = filled(program.modules[function.module.index], text, given);
  if (!whole) return words_of_text(program, function.module, text);
  ContractWords found;
  found.words = *whole;
  found.key = std::move(whole);
  for (const std::size_t at : implied_parameters(program, function, text, state)) {
    const std::string& name = function.parameters[at].name;
    const auto value = find_shown(given, parameter_local(program, function, at));
    if (!value) {
      found.key.reset();
    } else {
      found.words += fmt::format(", with {} = {}", name, *value);
      if (found.key) *found.key += key_of_parameter(name) + *value;
    }
  }
  return found;
}

}  // namespace tenon::types
