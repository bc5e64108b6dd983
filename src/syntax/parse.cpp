#include "syntax/parse.h"

#include "syntax/brackets.h"
#include "syntax/damage.h"
#include "syntax/lexer.h"
#include "syntax/parse_items.h"
#include "syntax/parser.h"

namespace tenon::syntax {

SyntaxTree parse(const source::SourceFile& file, diagnostics::Diagnostics& diagnostics) {
  SyntaxTree tree(file);
  diagnostics::Diagnostics lexical;
  tree.tokens = lex(file, lexical);
  report_lexical(file, lexical, diagnostics, tree.damage);
  balance_brackets(file, tree.tokens, diagnostics, tree.damage);
  tree.nodes.reserve(tree.tokens.size() / 2);
  Parser p(tree, diagnostics);
  tree.root = parse_file(p);
  Node& root = tree.nodes[tree.root.index];
  root.first_token = 0;
  root.end_token = static_cast<TokenIndex>(tree.tokens.size());
  // Only after parsing: the parser can read the lines of these errors.
  for (const diagnostics::Diagnostic& found : lexical.all()) add_damage(tree.damage, found.span);
  return tree;
}

}  // namespace tenon::syntax
