// What a path names: a type of that module, in types, values and patterns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "types/check.h"

namespace tenon::types {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// `program.tn` and two modules that declare types of the same names.
class ThreeFiles final : public FileSystem {
 public:
  explicit ThreeFiles(std::string text) {
    texts_["program.tn"] = "use left\nuse right\n" + std::move(text);
    texts_["left.tn"] = "enum E { X, Y }\nstruct S { a: i32 }\nfn e() -> E { E::X }\nfn s() -> S { S { a: 1 } }\n";
    texts_["right.tn"] = "enum E { X, Z(i32) }\nstruct S { a: i32, b: i32 }\n";
  }
  Result<std::string, FileError> read_file(const std::string& path, std::size_t /*bytes_max*/) override {
    const auto found = texts_.find(path);
    if (found != texts_.end()) return found->second;
    return failure(FileError{"No such file or directory", true, 0});
  }

 private:
  std::map<std::string, std::string> texts_;
};

/// The errors of the program, a line each: `E2001 message`.
std::vector<std::string> errors(const std::string& text) {
  ThreeFiles files(text);
  std::vector<std::string> found;
  const Checked checked = check("program.tn", files, Strictness::Relaxed);
  for (const diagnostics::Diagnostic& diagnostic : checked.diagnostics.all()) {
    if (diagnostic.code.severity != diagnostics::Severity::Error) continue;
    found.push_back(diagnostic.code.text() + " " + diagnostic.message);
  }
  return found;
}

std::string match(const std::string& value, const std::string& arms) {
  return "fn f() -> i32 {\n    match " + value + " { " + arms + " }\n}\n";
}

TEST(Paths, CaseInPatternIsOfItsModule) {
  EXPECT_THAT(errors(match("left::e()", "left::E::X => 1, left::E::Y => 2")), IsEmpty());
  const std::string other =
      "E2115 mismatched types: a pattern for `right::E::X` cannot match a value of type `left::E`";
  EXPECT_THAT(errors(match("left::e()", "right::E::X => 1, _ => 2")), ElementsAre(other));
  EXPECT_THAT(errors(match("right::E::Z(1)", "right::E::X => 1, right::E::Z(n) => n")), IsEmpty());
  EXPECT_THAT(errors(match("left::e()", "left::E::Z => 1, _ => 2")), ElementsAre("E2006 `left::E` has no case `Z`"));
}

TEST(Paths, CaseInPatternNeedsAKnownModule) {
  for (const std::string path : {"nowhere::E::X", "a::b::E::X", "E::E::X", "left::left::E::X", "E::X"}) {
    EXPECT_THAT(
        errors(match("left::e()", path + " => 1, _ => 2")),
        ElementsAre("E2115 mismatched types: a pattern for `" + path + "` cannot match a value of type `left::E`"));
  }
}

TEST(Paths, StructPatternIsOfItsModule) {
  EXPECT_THAT(errors(match("left::s()", "left::S { a } => a")), IsEmpty());
  const std::string own = "struct S { c: i32 }\n";
  EXPECT_THAT(errors(own + match("S { c: 1 }", "S { c } => c")), IsEmpty());
  EXPECT_THAT(errors(own + match("S { c: 1 }", "left::S { c } => c")),
              ElementsAre("E2115 mismatched types: a pattern for `left::S` cannot match a value of type `program::S`"));
  EXPECT_THAT(errors(own + match("left::s()", "S { a } => a")),
              ElementsAre("E2115 mismatched types: a pattern for `program::S` cannot match a value of type `left::S`"));
}

TEST(Paths, NoPartOfAPathIsSkipped) {
  EXPECT_THAT(errors("fn f(x: a::left::S) -> i32 { 1 }\n"), ElementsAre("E2003 cannot find type `a::left::S`"));
  EXPECT_THAT(errors("fn f() -> left::S { left::nowhere::S { a: 1 } }\n"),
              ElementsAre("E2008 module `left` has no item `nowhere`"));
  EXPECT_THAT(errors("fn f() -> i32 { nowhere::S { a: 1 } }\n"),
              ElementsAre("E2001 cannot find `nowhere` in this scope"));
  EXPECT_THAT(errors("fn f() -> i32 { left::s }\n"), ElementsAre("E2013 `left::s` is not a value"));
  const std::string import = "use left::{E, S}\n";
  EXPECT_THAT(errors(import + "fn f() -> E { E::X }\n"), IsEmpty());
  EXPECT_THAT(errors(import + "fn f() -> E { E::E::X }\n"), ElementsAre("E2001 cannot find `E` in this scope"));
  EXPECT_THAT(errors(import + "fn f() -> E { E::E::X() }\n"), ElementsAre("E2001 cannot find `E` in this scope"));
  EXPECT_THAT(errors(import + "fn f() -> S { S::S { a: 1 } }\n"), ElementsAre("E2001 cannot find `S` in this scope"));
}

}  // namespace
}  // namespace tenon::types
