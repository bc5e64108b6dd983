#include "tools/native/native_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/externs/declared_program.h"
#include "tests/support/folders.h"

namespace tenon::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<ExternProblem> open_problems(const std::vector<std::string>& names, const std::string& folder = ".") {
  auto libraries = NativeLibraries::open(names, folder);
  EXPECT_FALSE(libraries.has_value());
  return libraries ? std::vector<ExternProblem>() : libraries.error();
}

TEST(NativeLibraries, AreOpenedByPath) {
  const std::vector<std::string> relative = {"libextern_plain.so"};
  const auto libraries = NativeLibraries::open(relative, test::externs_folder().string());
  ASSERT_TRUE(libraries.has_value());
  ASSERT_EQ(libraries->all().size(), 1U);
  EXPECT_EQ(libraries->describe(), "libextern_plain.so");
  const NativeLibrary& library = *libraries->all()[0];
  const ExportedSymbol* const add = library.find_symbol("add");
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(add->kind, SymbolKind::Function);
  EXPECT_NE(library.address_of(*add), nullptr);
  EXPECT_EQ(library.find_symbol("table_of_numbers")->kind, SymbolKind::Data);
  EXPECT_EQ(library.find_symbol("strlen"), nullptr);  // used, not defined
  EXPECT_EQ(library.find_symbol("copied"), nullptr);  // static
}

TEST(NativeLibraries, OneFileIsOneLibrary) {
  const std::vector<std::string> names = {test_library("extern_plain"), test_library("extern_other_plain"),
                                          test::externs_folder().string() + "/./libextern_plain.so"};
  auto libraries = NativeLibraries::open(names);
  ASSERT_TRUE(libraries.has_value());
  EXPECT_EQ(libraries->all().size(), 2U);
  const NativeLibraries copy = *libraries;
  libraries->append(copy);
  EXPECT_EQ(libraries->all().size(), 2U);
}

TEST(NativeLibraries, OfTheSystemAreSearched) {
  const std::vector<std::string> names = {"system:libm.so.6"};
  const auto libraries = NativeLibraries::open(names);
  ASSERT_TRUE(libraries.has_value()) << libraries.error().front().message;
  EXPECT_NE(libraries->all()[0]->find_symbol("cos"), nullptr);
  EXPECT_THAT(open_problems({"system:libno_such_library.so.1"})[0].message, HasSubstr("cannot load library"));
  EXPECT_EQ(open_problems({"system:/lib/libm.so.6"})[0].message,
            "cannot load library `system:/lib/libm.so.6`: it does not name a library");
}

TEST(NativeLibraries, TellWhatCannotBeOpened) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "native_libraries";
  std::filesystem::create_directories(folder / "libfolder.so");
  std::ofstream(folder / "libtext.so") << std::string(4'096, 'x');
  std::ofstream(folder / "libempty.so");
  const auto problems = open_problems(
      {"libmissing.so", "sub/libmissing.so", "libfolder.so", "libtext.so", "libempty.so", ""}, folder.string());
  ASSERT_EQ(problems.size(), 6U);
  EXPECT_EQ(problems[0].code.text(), "E4001");
  EXPECT_EQ(problems[3].code.text(), "E4002");
  EXPECT_EQ(problems[0].message, "cannot find library `libmissing.so`");
  EXPECT_THAT(problems[0].hints, ElementsAre("write `system:libmissing.so` for a system library"));
  EXPECT_THAT(problems[1].hints, ElementsAre("looked for at `" + (folder / "sub/libmissing.so").string() + "`"));
  EXPECT_EQ(problems[2].message, "cannot load library `libfolder.so`: it is not a file");
  EXPECT_EQ(problems[3].message, "cannot load library `libtext.so`: invalid ELF header");
  EXPECT_EQ(problems[4].message, "cannot load library `libempty.so`: file too short");
  EXPECT_EQ(problems[5].message, "cannot load library ``: not a valid path");
  EXPECT_FALSE(problems[0].place.has_value());
  std::filesystem::remove_all(folder);
}

TEST(NativeLibraries, ALibraryOfTheSystemIsNotFoundByItsBareName) {
  // The dynamic linker would find it; a name without `system:` is a path.
  EXPECT_EQ(open_problems({"libm.so.6"})[0].message, "cannot find library `libm.so.6`");
}

}  // namespace
}  // namespace tenon::tools
