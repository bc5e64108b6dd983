// What models are shown of contracts: the requirements, before they answer; what is judged, in words.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/contract_compiler.h"
#include "compiler/requirement_compiler.h"
#include "compiler/template_compiler.h"
#include "types/table/type_parts.h"

namespace tenon::compiler {

using types::Contract;
using types::ContractKind;
using types::TypeId;

using types::TypeTable;

namespace {

/// The maximum length, in characters, of a value that is shown next to an expression; a longer one is omitted.
constexpr std::uint16_t shown_term_max = 200;

}  // namespace

void RequirementCompiler::inject_requirements() {
  for (const Contract& contract : declaration_.contracts) {
    if (contract.kind != ContractKind::Ensures) continue;
    const Temporaries scope(*this);
    const bool is_shown_whole = contract.words.exists() || contract.is_judged;
    const bool speaks_of_value = contract.is_judged && scope_.speaks_of(contract.expression, contract.result);
    const bool is_code = !is_shown_whole || (speaks_of_value && !can_show_before_value(contract.expression));
    std::vector<NodeId> terms;
    if (is_code) list_terms(contract.expression, terms);
    const Register parts = allocate(1 + terms.size());
    std::optional<std::size_t> says_nothing;
    if (is_code) {
      load_string(parts, scope_.code_of(contract.expression));
    } else {
      const NodeId words = contract.words.exists() ? contract.words : contract.expression;
      const std::size_t begin = here();
      if (speaks_of_value) {
        text_before_value(contract, parts);
      } else {
        into(words, parts);
      }
      or_code(begin, contract.expression, parts);
      says_nothing = jump_if_blank(words, parts);
    }
    for (std::size_t at = 0; at < terms.size(); ++at) show_term(terms[at], static_cast<Register>(parts + 1 + at));
    emit(Opcode::Template, parts, parts, static_cast<std::uint16_t>(1 + terms.size()));
    emit(Opcode::InjectAs, function_.context_register, parts, static_cast<std::uint16_t>(EntryRole::Requirement));
    if (says_nothing) land(*says_nothing);
  }
}

void RequirementCompiler::or_code(std::size_t begin, NodeId node, Register to) {
  const Temporaries scope(*this);
  const std::size_t end = here();
  if (begin == end) return;
  const Register caught = allocate();
  const std::size_t done = emit_jump(Opcode::Jump);
  add_handler(begin, end, here(), caught);
  load_string(to, scope_.code_of(node));
  land(done);
}

/// The function's parameters and entries of its agent's state, or parts of these, that an expression mentions, each
/// once. Contexts, tools and secrets are omitted.
void RequirementCompiler::list_terms(NodeId node, std::vector<NodeId>& terms) {
  NodeId root = node;
  while (tree().kind(root) == NodeKind::FieldExpression && facts(root).target.detail == 0) root = tree().first(root);
  const types::Target& target = facts(root).target;
  const bool is_parameter = target.kind == types::TargetKind::Local && target.index >= scope_.first_local &&
                            target.index < scope_.first_local + declaration_.parameters.size();
  if (tree().kind(root) != NodeKind::NameExpression || !(is_parameter || scope_.is_state(root))) {
    for (NodeId child = tree().first(node); child.exists(); child = tree().next(child)) list_terms(child, terms);
    return;
  }
  const TypeTable& types = program_.type_table();
  const types::TypeKind kind = kind_of(node);
  if (kind == types::TypeKind::Context || kind == types::TypeKind::Tools || kind == types::TypeKind::Unit ||
      types::holds_secret(types, type_of(node))) {
    return;
  }
  const bool is_listed =
      std::any_of(terms.begin(), terms.end(), [&](NodeId other) { return tree().text(other) == tree().text(node); });
  if (!is_listed) terms.push_back(node);
}

/// to = `, with limit = 20`. A long value is in the context, or does not concern the model: then the text is empty.
void RequirementCompiler::show_term(NodeId term, Register to) {
  const Temporaries scope(*this);
  const Register parts = allocate(2);
  const auto value = static_cast<Register>(parts + 1);
  into(term, value);
  std::vector<std::size_t> left_out;
  if (!is_plain(kind_of(term))) {
    load_string(to, "");
    const std::size_t begin = here();
    emit(Opcode::CallBuiltin, value, static_cast<std::uint16_t>(types::Builtin::ToJson), value);
    const std::size_t end = here();
    emit(Opcode::Length, parts, value);
    const std::size_t fits =
        emit_jump(Opcode::JumpIf, contracts().compare_short(Opcode::LessEqualShort, parts, shown_term_max));
    left_out.push_back(emit_jump(Opcode::Jump));
    add_handler(begin, end, here(), parts);
    left_out.push_back(emit_jump(Opcode::Jump));
    land(fits);
  }
  load_string(parts, fmt::format(", with {} = ", tree().text(term)));
  emit(Opcode::Template, to, parts, 2);
  land_all(left_out);
}

/// Whether a text that mentions the value can be shown before there is one: it has no section that depends on it.
bool RequirementCompiler::can_show_before_value(NodeId text) const {
  if (tree().kind(text) != NodeKind::StringExpression) return false;
  const std::vector<syntax::StringPart> pieces = syntax::string_parts(tree(), text);
  return !pieces.empty() &&
         std::none_of(pieces.begin(), pieces.end(), [&](const auto& piece) { return templates().is_section(piece); });
}

/// to = a text that mentions the value, before there is one: these parts are shown as they are written.
void RequirementCompiler::text_before_value(const Contract& contract, Register to) {
  std::vector<syntax::StringPart> pieces = syntax::string_parts(tree(), contract.expression);
  for (syntax::StringPart& piece : pieces) {
    const auto* const hole = std::get_if<NodeId>(&piece);
    if (hole == nullptr || !scope_.speaks_of(*hole, contract.result)) continue;
    piece = fmt::format("`{}`", tree().text(tree().first(*hole)));
  }
  templates().join_parts(pieces, to);
}

std::optional<std::size_t> RequirementCompiler::jump_if_blank(NodeId node, Register text) {
  if (scope_.is_never_blank(node)) return std::nullopt;
  const Temporaries scope(*this);
  const Register length = allocate();
  emit(Opcode::CallBuiltin, length, static_cast<std::uint16_t>(types::Builtin::StringTrim), text);
  emit(Opcode::Length, length, length);
  return emit_jump(Opcode::JumpUnless, contracts().compare_short(Opcode::GreaterShort, length, 0));
}

void RequirementCompiler::describe_subject(std::optional<Register> value, Register to) {
  const Temporaries scope(*this);
  const TypeTable& types = program_.type_table();
  std::vector<std::pair<std::string, Register>> shown;
  for (std::size_t at = 0; at < function_.parameters.size(); ++at) {
    const TypeId type = function_.parameters[at];
    if (type == TypeTable::context || types.kind(type) == types::TypeKind::Tools || types::holds_secret(types, type)) {
      continue;
    }
    shown.emplace_back(function_.parameter_names[at], static_cast<Register>(at));
  }
  std::string head = fmt::format("The function: {}", declaration_.name);
  if (!declaration_.documentation.empty()) head += " // " + declaration_.documentation;
  const types::Module& contracts = program_.checked().modules[program_.checked().contracts_module.index];
  const std::uint32_t one_line = program_.instance(contracts.functions.at("one_line"), {});
  const Register parts = allocate(1 + 2 * shown.size() + 2);
  load_string(parts, head);
  std::size_t next = 1;
  const auto add = [&](const std::string& name, Register from) {
    load_string(static_cast<Register>(parts + next), fmt::format("\n{}: ", name));
    emit(Opcode::Render, static_cast<Register>(parts + next + 1), from);
    emit_wide(Opcode::Call, static_cast<Register>(parts + next + 1), one_line);
    next += 2;
  };
  for (const auto& [name, from] : shown) add("Its argument " + name, from);
  if (value && function_.result != TypeTable::unit) add("Its value", *value);
  emit(Opcode::Template, to, parts, static_cast<std::uint16_t>(next));
}

}  // namespace tenon::compiler
