#include "engine/program.h"

#include "tests/support/engine_testing.h"

namespace tenon::engine {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class ProgramTest : public test::EngineTest {};

TEST_F(ProgramTest, TheErrorsOfAProgramAreReturned) {
  const std::string path = file("wrong.tn", "fn main() -> i32 { \"two\" }\n");
  const auto program = load({path}, {}, system);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().kind, EngineError::Kind::Program);
  ASSERT_EQ(program.error().problems.list.size(), 1U);
  const Problem& problem = program.error().problems.list[0];
  EXPECT_EQ(problem.severity, diagnostics::Severity::Error);
  EXPECT_EQ(problem.path, path);
  EXPECT_EQ(problem.line, 1U);
  EXPECT_EQ(problem.column, 20U);
  EXPECT_THAT(problem.code, testing::StartsWith("E"));
  EXPECT_THAT(problem.text, HasSubstr(problem.message));
  EXPECT_THAT(problem.styled, HasSubstr("\x1b["));
  EXPECT_THAT(describe(program.error()), HasSubstr(path + ":1:20: error[" + problem.code + "]"));
}

TEST_F(ProgramTest, ATextIsCompiledAsIfTheFileContainedIt) {
  file("part.tn", "fn two() -> i32 { 2 }\n");
  const std::string path = folder.file("unwritten.tn");
  const auto compiled = compile({path, "use part\nfn main() -> i32 { part::two() }\n"}, system);
  ASSERT_TRUE(compiled.has_value()) << describe(compiled.error());
  EXPECT_TRUE(runtime::find_function(compiled->loaded->program(), "main").has_value());
  EXPECT_EQ(find_errors({path, "fn main() -> i32 { 2 }\n"}, system), std::nullopt);
  EXPECT_THAT(find_errors({path, "fn main() -> i32 { x }\n"}, system).value_or(""), HasSubstr("unwritten.tn:1:20"));
}

TEST_F(ProgramTest, AMissingFileIsAProblemOfTheProgram) {
  const auto program = load({folder.file("none.tn")}, {}, system);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().kind, EngineError::Kind::Program);
  EXPECT_THAT(describe(program.error()), HasSubstr("none.tn"));
}

TEST_F(ProgramTest, TheManifestCompletesTheSettings) {
  const std::string path = file("main.tn", "fn main() -> i32 { 2 }\n");
  file("tenon.toml", "[model]\ndefault = \"script:answers\"\n[budget]\ncalls = 7\n[externs]\nthreads = 3\n");
  Settings settings;
  settings.repairs = 5;
  const auto program = load({path}, settings, system);
  ASSERT_TRUE(program.has_value()) << describe(program.error());
  EXPECT_EQ(program->settings.model.spec, "script:" + folder.file("answers"));
  EXPECT_EQ(program->settings.prompts, "default");
  EXPECT_EQ(program->options.budgets.model_calls, 7U);
  EXPECT_EQ(program->options.repairs_max, 5U);
  EXPECT_EQ(program->threads, 3U);

  settings.model.spec = "openai:other";
  EXPECT_EQ(load({path}, settings, system)->settings.model.spec, "openai:other");
}

TEST_F(ProgramTest, ABrokenManifestIsReportedWithItsPlaces) {
  const std::string path = file("main.tn", "fn main() -> i32 { 2 }\n");
  file("tenon.toml", "[model]\ndefault = 5\ncolour = \"red\"\n");
  const auto program = load({path}, {}, system);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().kind, EngineError::Kind::Program);
  std::vector<std::uint32_t> lines;
  for (const Problem& problem : program.error().problems.list) {
    EXPECT_EQ(problem.path, folder.file("tenon.toml"));
    EXPECT_THAT(problem.code, IsEmpty());
    lines.push_back(problem.line);
  }
  EXPECT_THAT(lines, UnorderedElementsAre(2U, 3U));
}

TEST_F(ProgramTest, AMissingLibraryAndAMissingFunctionAreProblems) {
  const std::string path = file("main.tn", "extern fn add(x: i32, y: i32) -> i32\nfn main() -> i32 { add(1, 2) }\n");
  Settings settings;
  settings.externs = {folder.file("libnone.so")};
  const auto program = load({path}, settings, system);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().kind, EngineError::Kind::Program);
  EXPECT_THAT(describe(program.error()), HasSubstr("libnone.so"));

  const auto unbound = load({path}, {}, system);
  ASSERT_FALSE(unbound.has_value());
  EXPECT_THAT(describe(unbound.error()), HasSubstr("main.tn:1"));
}

TEST_F(ProgramTest, AnUnknownStyleIsAnErrorOfUsage) {
  const std::string path = file("main.tn", "fn main() -> i32 { 2 }\n");
  Settings settings;
  settings.prompts = folder.file("no_style");
  const auto program = load({path}, settings, system);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().kind, EngineError::Kind::Usage);
}

}  // namespace
}  // namespace tenon::engine
