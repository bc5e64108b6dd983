// Arbitrary bytes result in a well-formed tree, diagnostics that can be rendered, and, if there are no errors, a text
// that is stable under formatting.
#include <cstdint>
#include <cstdio>

#include "base/ensure.h"
#include "diagnostics/render.h"
#include "source/source_file.h"
#include "syntax/literals.h"
#include "syntax/parse.h"
#include "syntax/show.h"
#include "tests/support/tree_properties.h"

namespace {

void expect_none(const std::string& problem) {
  if (problem.empty()) return;
  std::fprintf(stderr, "%s\n", problem.c_str());
  ENSURE(problem.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenon;
  const source::SourceFile file({0}, "fuzz.tn", std::string(reinterpret_cast<const char*>(data), size));
  diagnostics::Diagnostics diagnostics;
  const syntax::SyntaxTree tree = syntax::parse(file, diagnostics);
  expect_none(test::find_tree_problem(tree));
  const source::SourceFile* const files[] = {&file};
  for (const diagnostics::Diagnostic& diagnostic : diagnostics.all()) {
    ENSURE(diagnostic.span.end() <= size);
    ENSURE(!diagnostics::render(diagnostic, files, diagnostics::Colour::On).empty());
    ENSURE(!diagnostics::render_json(diagnostic, files).empty());
  }
  ENSURE(!syntax::show_tree(tree).empty());
  for (std::uint32_t index = 0; index < tree.nodes.size(); ++index) {
    if (tree.kind({index}) == syntax::NodeKind::StringExpression)
      static_cast<void>(syntax::string_parts(tree, {index}));
  }
  if (!diagnostics.has_errors()) expect_none(test::find_format_problem(tree));
  return 0;
}
