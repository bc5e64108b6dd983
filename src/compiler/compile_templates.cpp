// Strings with templates. A string without sections is assembled by one instruction; one with sections is written piece
// by piece, each appended to the text so far. In both cases spans keep their labels.

#include <algorithm>

#include "compiler/control_compiler.h"
#include "compiler/template_compiler.h"
#include "syntax/literals.h"

namespace tenon::compiler {

using syntax::StringPart;

namespace {

bool is_text(const StringPart& part) {
  return std::holds_alternative<std::string>(part);
}

}  // namespace

void TemplateCompiler::string(NodeId node, Register to) {
  const syntax::TemplateParts parts = syntax::template_parts(tree(), node);
  const std::vector<StringPart>& own = parts.at(node.index);
  if (own.empty()) return load_string(to, "");
  if (own.size() == 1 && is_text(own[0])) return load_string(to, std::get<std::string>(own[0]));
  at(node);
  if (parts.size() == 1 &&
      std::none_of(own.begin(), own.end(), [&](const StringPart& part) { return is_section(part); })) {
    return join_parts(own, to);
  }
  // Separate from `to`: a section may read the variable that receives the text.
  const Register text = allocate();
  load_string(text, "");
  append_parts(node, parts, text);
  emit(Opcode::Take, to, text);
}

bool TemplateCompiler::is_section(const StringPart& part) const {
  return !is_text(part) && tree().kind(std::get<NodeId>(part)) != NodeKind::TemplateHole;
}

void TemplateCompiler::join_parts(std::span<const StringPart> parts, Register to) {
  const Register window = allocate(parts.size());
  const Place place = emitter_.place();
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const auto at_part = static_cast<Register>(window + part);
    if (is_text(parts[part])) {
      load_string(at_part, std::get<std::string>(parts[part]));
    } else {
      into(tree().first(std::get<NodeId>(parts[part])), at_part);
    }
  }
  emitter_.set_place(place);
  emit(Opcode::Template, to, window, static_cast<std::uint16_t>(parts.size()));
}

/// Appends the contents of a string or of a section's body to `text`.
void TemplateCompiler::append_parts(NodeId owner, const syntax::TemplateParts& all, Register text) {
  const auto found = all.find(owner.index);
  if (found == all.end()) return;
  const std::span<const StringPart> parts = found->second;
  for (std::size_t begin = 0; begin < parts.size();) {
    if (is_section(parts[begin])) {
      const NodeId section = std::get<NodeId>(parts[begin++]);
      if (tree().kind(section) == NodeKind::TemplateFor) {
        control().loop_over(section,
                            [&] { append_parts(tree().find_child(section, NodeKind::TemplateBody), all, text); });
      } else {
        append_if(section, all, text);
      }
      continue;
    }
    std::size_t end = begin;
    while (end < parts.size() && !is_section(parts[end])) ++end;
    const Temporaries scope(*this);
    const Register piece = allocate();
    at(owner);
    if (end - begin == 1 && is_text(parts[begin])) {
      load_string(piece, std::get<std::string>(parts[begin]));
    } else {
      join_parts(parts.subspan(begin, end - begin), piece);
    }
    emit(Opcode::Append, text, piece);
    begin = end;
  }
}

void TemplateCompiler::append_if(NodeId node, const syntax::TemplateParts& all, Register text) {
  const NodeId head = tree().first(node);
  const NodeId body = tree().next(head);
  const NodeId otherwise = tree().next(body);
  std::vector<std::size_t> fails;
  {
    const Temporaries scope(*this);
    fails = control().condition(head);
    append_parts(body, all, text);
  }
  if (!otherwise.exists()) return land_all(fails);
  const std::size_t end = emit_jump(Opcode::Jump);
  land_all(fails);
  if (tree().kind(otherwise) == NodeKind::TemplateIf) {
    append_if(otherwise, all, text);
  } else {
    append_parts(otherwise, all, text);
  }
  land(end);
}

}  // namespace tenon::compiler
