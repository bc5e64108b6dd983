// Runs the test blocks of the given programs with their scripts and a journal, and reconstructs each run from its
// artifacts. The last line is `N passed, N failed`.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include "algebra/extract.h"
#include "algebra/form.h"
#include "algebra/reconstruct.h"
#include "base/ensure.h"
#include "compiler/compile.h"
#include "engine/script_player.h"
#include "inference/answers/json_values.h"
#include "journal/open_store.h"
#include "tests/support/recorded_run.h"
#include "types/check.h"

namespace {

using namespace tenon;

/// A program and its tests. A test is an ordinary function of the program: a run names the function that it calls.
struct LoadedTests {
  std::shared_ptr<const runtime::ProgramImage> image;
  std::vector<bytecode::TestCase> tests;
};

std::optional<LoadedTests> load(const std::string& path) {
  RealFileSystem files;
  types::Checked checked = types::check(path, files, types::Strictness::Relaxed);
  if (checked.diagnostics.has_errors()) return std::nullopt;
  auto program = std::make_shared<bytecode::Program>(compiler::compile(checked.program, checked.diagnostics));
  if (checked.diagnostics.has_errors()) return std::nullopt;
  LoadedTests made;
  made.tests = std::exchange(program->tests, {});
  for (std::size_t at = 0; at < made.tests.size(); ++at) {
    program->functions[made.tests[at].function].name = fmt::format("test {}", at);
  }
  auto loaded = vm::LoadedProgram::load(std::move(program), inference::answers::make_json_reader);
  if (!loaded) return std::nullopt;
  made.image =
      std::make_shared<const runtime::ProgramImage>(*loaded, inference::prompting::PromptTemplates::builtin(), nullptr);
  return made;
}

/// Empty if the run was reconstructed, otherwise the problem.
std::string check(journal::Store& store, const std::shared_ptr<const runtime::ProgramImage>& image,
                  const bytecode::TestCase& test, std::size_t& calls) {
  engine::ScriptPlayer script(image->loaded(), test);
  // The script returns each answer once, so a request is repeated until it gets its answer.
  std::map<std::string, vm::Outcome> known;
  const test::RecordedAnswerer answerer = [&](const runtime::OpenRequest& open) -> std::optional<vm::Outcome> {
    auto found = known.find(open.request.key);
    if (found == known.end()) {
      auto outcome = script.answer(open.request);
      if (!outcome) return std::nullopt;
      found = known.emplace(open.request.key, std::move(*outcome)).first;
    }
    return found->second;
  };
  const std::string& function = image->program().functions[test.function].name;
  const auto run = test::record_run(store, image, function, "[]", answerer, {{}, 7, ""});
  const auto recorded = algebra::extract(store, run, test::images_of(image));
  if (!recorded) return recorded.error().message;
  const auto read = algebra::read_form(algebra::write_form(recorded->artifacts));
  if (!read) return read.error().message;
  const auto rebuilt = algebra::reconstruct(image, *read);
  if (!rebuilt) return rebuilt.error().message;
  if (*rebuilt != *recorded) return "what was rebuilt is another interaction";
  if (std::holds_alternative<algebra::Pending>(rebuilt->artifacts.h.front().result)) return "the run does not end";
  calls += rebuilt->artifacts.q.size();
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("tenon_algebra_{}", ::getpid());
  std::filesystem::create_directories(folder);
  std::size_t passed = 0, failed = 0, calls = 0;
  {
    auto store = journal::open_store((folder / "store.db").string(), {.durability = journal::Durability::Process});
    ENSURE(store.has_value());
    for (int at = 1; at < count; ++at) {
      const auto loaded = load(arguments[at]);
      if (!loaded) {
        fmt::print("{}: FAILED\nit cannot be loaded\n", arguments[at]);
        ++failed;
        continue;
      }
      for (const bytecode::TestCase& test : loaded->tests) {
        const std::string problem = check((*store)->journals(), loaded->image, test, calls);
        problem.empty() ? ++passed : ++failed;
        if (!problem.empty()) fmt::print("{}, {}: FAILED\n{}\n", arguments[at], test.name, problem);
      }
    }
  }
  std::filesystem::remove_all(folder);
  if (calls == 0) fmt::print("no test has made a call\n");
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed > 0 || calls == 0 ? 1 : 0;
}
