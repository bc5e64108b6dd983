// One mistake is one error: what is reported of a program that lacks one token.
#include "types/check/rules/consequences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "syntax/parse.h"
#include "tests/support/folders.h"
#include "tests/support/read_file.h"
#include "tests/support/sanitized.h"
#include "types/check.h"

namespace tenon::types {
namespace {

/// One file in place of the one on disk.
class ChangedFile final : public FileSystem {
 public:
  ChangedFile(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {}
  Result<std::string, FileError> read_file(const std::string& path, std::size_t bytes_max) override {
    return path == path_ ? text_ : RealFileSystem().read_file(path, bytes_max);
  }

 private:
  std::string path_, text_;
};

/// The errors of a program, a line each: `3:9 E2001`.
std::vector<std::string> errors(const std::string& path, std::string text) {
  const source::SourceFile file({0}, path, text);
  ChangedFile files(path, std::move(text));
  std::vector<std::string> found;
  const Checked checked = check(path, files, Strictness::Relaxed);
  for (const diagnostics::Diagnostic& diagnostic : checked.diagnostics.all()) {
    if (diagnostic.code.severity != diagnostics::Severity::Error) continue;
    const source::Position at = file.position(diagnostic.span.offset);
    found.push_back(std::to_string(at.line) + ":" + std::to_string(at.column) + " " + diagnostic.code.text());
  }
  return found;
}

TEST(Consequences, AMissingTokenIsOneError) {
  constexpr std::size_t errors_max = 3;
  constexpr unsigned tokens = 20;  // of so many that follow one another, `tried` are left out in turn
  constexpr unsigned tried = test::cases(tokens);
  std::size_t number = 0;
  std::size_t places = 0;
  std::size_t single = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::source_folder() / "examples")) {
    if (entry.path().extension() != ".tn") continue;
    const std::string text = test::read_file(entry.path());
    const source::SourceFile file({0}, entry.path().string(), text);
    diagnostics::Diagnostics ignored;
    for (const syntax::Token& token : syntax::parse(file, ignored).tokens) {
      if (syntax::is_trivia(token.kind) || token.length == 0 || number++ % tokens >= tried) continue;
      std::string damaged = text;
      damaged.replace(token.offset, token.length, token.kind == syntax::TokenKind::StringText ? "" : " ");
      const std::vector<std::string> found = errors(entry.path().string(), damaged);
      if (found.empty()) continue;  // a comma or a `;` that need not be there, or another word of a text
      ++places;
      if (found.size() == 1) ++single;
      EXPECT_LE(found.size(), errors_max) << entry.path() << ":" << file.position(token.offset).line << " without "
                                          << text.substr(token.offset, token.length) << "\n"
                                          << ::testing::PrintToString(found);
    }
  }
  EXPECT_GE(places, test::cases(3'000));
  EXPECT_GE(single * 100, places * 95) << single << " of " << places << " places give one error";
}

TEST(Consequences, KeepsErrorsThatAreIndependent) {
  EXPECT_EQ(errors("a.tn",
                   "struct P { x: i32 }\n"
                   "fn a(p: P) -> i32 {\n"
                   "    let y = p.\n"
                   "}\n"
                   "fn b(p: P) -> i32 {\n"
                   "    let z = p.q\n"
                   "    let w = \"a\" + 1 2\n"
                   "    missing(w)\n"
                   "    z\n"
                   "}\n"
                   "fn c(p: P, n: i32) -> i32 {\n"
                   "    if n == 0 {\n"
                   "        return p.x\n"
                   "    let k = a(p, 3)\n"
                   "    k + unknown\n"
                   "}\n"
                   "fn d() -> String {\n"
                   "    c(1).to_string()\n"
                   "}\n"),
            (std::vector<std::string>{"3:15 E1101", "7:21 E1106", "13:19 E1101", "18:5 E2102"}));
}

TEST(Consequences, SuppressesWhatFollowsFromADamagedDeclaration) {
  EXPECT_EQ(errors("a.tn",
                   "struct P { x i32, y: i32 }\n"
                   "fn f(a: i32 b: i32) -> i32 { a + b }\n"
                   "fn g(p: P) -> i32 { p.x + p.y + f(1, 2) + f(1) + h() }\n"),
            (std::vector<std::string>{"1:14 E1101", "2:13 E1101", "3:50 E2001"}));
  EXPECT_EQ(errors("a.tn",
                   "fn f() -> i32 {\n    let = 1\n    let text = "
                   "\"one\n    lost + text.len() + 1\n}\n"),
            (std::vector<std::string>{"2:9 E1101", "3:16 E1004"}));
}

}  // namespace
}  // namespace tenon::types
