#include "completion/completion.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "completion/suggestions.h"
#include "syntax/lexer.h"

namespace tenon::completion {
namespace {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::TokenKind;

constexpr std::array<std::string_view, 14> kind_names = {"variable", "field", "method",     "function", "extern",
                                                         "agent",    "type",  "case",       "module",   "value",
                                                         "keyword",  "block", "block_kind", "option"};

/// Written at the place while the text is checked: the name that is being completed.
constexpr std::string_view placeholder = "completed_name_";

bool is_word(char byte) {
  return byte == '_' || std::isalnum(static_cast<unsigned char>(byte)) != 0;
}

/// Whether a name at the offset is a token of code, and not a part of a comment or of a text.
bool is_code(std::string_view text, std::size_t offset) {
  const source::SourceFile file({0}, "", std::string(text));
  diagnostics::Diagnostics ignored;
  for (const syntax::Token& token : syntax::lex(file, ignored)) {
    if (token.offset == offset && token.length == placeholder.size()) return token.kind == TokenKind::Identifier;
    if (token.offset > offset) return false;
  }
  return false;
}

/// Names that begin like the word come first; of too many suggestions only the first ones stay.
void shorten(Completions& completions, std::string_view word) {
  std::vector<Suggestion>& all = completions.suggestions;
  std::set<std::string> seen;
  std::erase_if(all, [&](const Suggestion& one) { return !seen.insert(one.label).second; });
  if (all.size() <= suggestions_max) return;
  std::ranges::stable_partition(all, [&](const Suggestion& one) { return one.label.starts_with(word); });
  all.resize(suggestions_max);
  completions.is_complete = false;
}

}  // namespace

std::string_view name_of(NameKind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

Completions complete(const std::string& path, std::string_view text, std::size_t offset, FileSystem& files) {
  Completions completions{offset, offset, {}, true};
  while (completions.from > 0 && is_word(text[completions.from - 1])) --completions.from;
  while (completions.to < text.size() && is_word(text[completions.to])) ++completions.to;
  const std::string_view word = text.substr(completions.from, offset - completions.from);
  if (!word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0) return completions;
  std::string changed(text.substr(0, completions.from));
  changed += placeholder;
  changed += text.substr(completions.to);
  if (!is_code(changed, completions.from)) return completions;
  CheckedText checked(path, changed, completions.from, files);
  if (!checked.has_name()) return completions;
  completions.suggestions = Suggestions(checked).take();
  shorten(completions, word);
  return completions;
}

}  // namespace tenon::completion
