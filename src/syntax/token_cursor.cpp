#include "syntax/token_cursor.h"

namespace tenon::syntax {

TokenCursor::TokenCursor(const SyntaxTree& tree) : tree_(tree) {
  significant_.reserve(tree.tokens.size() / 2 + end_padding);
  kinds_.reserve(tree.tokens.size() / 2 + end_padding);
  const auto add = [&](TokenIndex at) {
    significant_.push_back(at);
    kinds_.push_back(tree.tokens[at].kind);
  };
  for (TokenIndex at = 0; at < tree.tokens.size(); ++at) {
    if (!is_trivia(tree.tokens[at].kind)) add(at);
  }
  for (std::size_t padding = 0; padding < end_padding; ++padding) add(significant_.back());
}

std::size_t TokenCursor::column() const {
  constexpr std::size_t column_max = 1'000;
  const std::string_view before = file().text().substr(0, token().offset);
  std::size_t columns = 0;
  while (columns < column_max && columns < before.size() && before[before.size() - 1 - columns] != '\n') ++columns;
  return columns;
}

}  // namespace tenon::syntax
