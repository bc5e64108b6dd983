#pragma once

#include <span>

#include "compiler/code_builder.h"
#include "syntax/literals.h"

namespace tenon::compiler {

/// Strings with templates.
class TemplateCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  /// to = a string, with its templates filled in.
  void string(NodeId node, Register to);
  /// Whether the part is an `{{ if … }}` or `{{ for … }}`.
  [[nodiscard]] bool is_section(const syntax::StringPart& part) const;
  /// to = parts without sections, joined by one instruction.
  void join_parts(std::span<const syntax::StringPart> parts, Register to);

 private:
  void append_parts(NodeId owner, const syntax::TemplateParts& all, Register text);
  void append_if(NodeId node, const syntax::TemplateParts& all, Register text);
};

}  // namespace tenon::compiler
