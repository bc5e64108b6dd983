#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "diagnostics/diagnostic.h"
#include "source/source_file.h"
#include "syntax/parse.h"
#include "tests/support/tree_properties.h"

namespace tenon::test {

/// A text with its tree, whose invariants it checks.
struct ParsedFile {
  source::SourceFile file;
  diagnostics::Diagnostics diagnostics;
  syntax::SyntaxTree tree;

  explicit ParsedFile(std::string text)
      : file({0}, "test.tn", std::move(text)), tree(syntax::parse(file, diagnostics)) {
    EXPECT_EQ(find_tree_problem(tree), "");
    diagnostics.sort();
  }

  /// A line each: `2:9 E1003 expected …`.
  [[nodiscard]] std::string errors() const {
    return list([](const diagnostics::Diagnostic& error) { return error.code.text() + ' ' + error.message; });
  }
  /// The same without the codes.
  [[nodiscard]] std::string messages() const {
    return list([](const diagnostics::Diagnostic& error) { return error.message; });
  }

 private:
  template <class Describe>
  [[nodiscard]] std::string list(const Describe& describe) const {
    std::string lines;
    for (const diagnostics::Diagnostic& error : diagnostics.all()) {
      const source::Position place = file.position(error.span.offset);
      lines += std::to_string(place.line) + ':' + std::to_string(place.column) + ' ' + describe(error) + '\n';
    }
    return lines;
  }
};

}  // namespace tenon::test
