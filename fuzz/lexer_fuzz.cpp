// Arbitrary bytes result in tokens that cover all bytes in order, with balanced strings and templates.
#include <cstdint>

#include "base/ensure.h"
#include "diagnostics/diagnostic.h"
#include "source/source_file.h"
#include "syntax/lexer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using tenon::syntax::TokenKind;
  const tenon::source::SourceFile file({0}, "fuzz.tn", std::string(reinterpret_cast<const char*>(data), size));
  tenon::diagnostics::Diagnostics diagnostics;
  std::uint32_t offset = 0;
  std::size_t strings = 0;
  std::size_t templates = 0;
  for (const tenon::syntax::Token& token : tenon::syntax::lex(file, diagnostics)) {
    ENSURE(token.offset == offset);
    offset += token.length;
    if (token.kind == TokenKind::StringStart) ++strings;
    if (token.kind == TokenKind::TemplateStart) ++templates;
    if (token.kind == TokenKind::StringEnd) ENSURE(strings-- > 0);
    if (token.kind == TokenKind::TemplateEnd) ENSURE(templates-- > 0);
  }
  ENSURE(offset == size);
  ENSURE(strings == 0 && templates == 0);
  return 0;
}
