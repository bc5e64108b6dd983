#include "project/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace tenon::project {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class FakeFiles final : public FileSystem {
 public:
  Result<std::string, FileError> read_file(const std::string& path, std::size_t) override {
    asked.push_back(path);
    if (path == unreadable) return failure(FileError{"Permission denied", false});
    const auto found = files.find(path);
    if (found == files.end()) return failure(FileError{"No such file or directory", true});
    return found->second;
  }
  std::map<std::string, std::string> files;
  std::string unreadable;
  std::vector<std::string> asked;
};

Manifest parse(std::string_view text) {
  auto manifest = parse_manifest(text, "project/tenon.toml");
  if (manifest) return *manifest;
  for (const ManifestProblem& problem : manifest.error()) ADD_FAILURE() << problem.line << ": " << problem.message;
  return {};
}

/// `LINE:COLUMN: message; hint`, for each problem.
std::vector<std::string> problems_of(std::string_view text) {
  auto manifest = parse_manifest(text, "tenon.toml");
  std::vector<std::string> lines;
  if (manifest) return lines;
  for (const ManifestProblem& problem : manifest.error()) {
    std::string line = std::to_string(problem.line) + ":" + std::to_string(problem.column) + ": " + problem.message;
    for (const std::string& hint : problem.hints) line += "; " + hint;
    lines.push_back(line);
  }
  return lines;
}

TEST(Manifest, HoldsEveryKey) {
  const Manifest manifest = parse(R"(
[model]
default = "openai:gpt-4o-mini"
[model.openai]
token_limit_field = "max_tokens"
sampling_fields = "omit"
schema_field = "json_object"
[prompts]
style = "slides"
[externs]
libraries = ["build/libops.so", "system:libm.so.6"]
threads = 8
[budget]
calls = 100
tokens = 200_000
instructions = 5_000_000
depth = 1000
time = "30s"
[agents.Solver]
num_gpus = 0.5
resources = { fpga = 2 }
[agents.Clerk]
placement = "actor"
[agents.Writer]
)");
  EXPECT_EQ(manifest.path, "project/tenon.toml");
  EXPECT_EQ(manifest.folder, "project");
  EXPECT_EQ(manifest.model, "openai:gpt-4o-mini");
  EXPECT_EQ(manifest.request_fields.token_limit, inference::TokenLimitField::MaxTokens);
  EXPECT_EQ(manifest.request_fields.sampling, inference::SamplingFields::Omit);
  EXPECT_EQ(manifest.request_fields.schema, inference::SchemaField::JsonObject);
  EXPECT_EQ(manifest.style, "slides");
  EXPECT_THAT(manifest.libraries, ElementsAre("build/libops.so", "system:libm.so.6"));
  EXPECT_EQ(manifest.threads, 8U);
  EXPECT_EQ(manifest.budget.model_calls, 100U);
  EXPECT_EQ(manifest.budget.tokens, 200'000U);
  EXPECT_EQ(manifest.budget.instructions, 5'000'000U);
  EXPECT_EQ(manifest.budget.depth, 1'000U);
  EXPECT_EQ(manifest.budget.milliseconds, 30'000U);
  EXPECT_EQ(manifest.placements, (AgentPlacements{{"Clerk", {}}, {"Solver", {{}, 0.5, {{"fpga", 2}}}}}));
}

TEST(Manifest, MayBeEmpty) {
  const Manifest manifest = parse("# nothing yet\n");
  EXPECT_FALSE(manifest.model.has_value());
  EXPECT_EQ(manifest.request_fields.token_limit, inference::TokenLimitField::ByHost);
  EXPECT_EQ(manifest.request_fields.sampling, inference::SamplingFields::Send);
  EXPECT_EQ(manifest.request_fields.schema, inference::SchemaField::JsonSchema);
  EXPECT_THAT(manifest.libraries, IsEmpty());
  EXPECT_FALSE(manifest.budget.milliseconds.has_value());
}

TEST(Manifest, PlacementsOfAgentsAreChecked) {
  EXPECT_THAT(problems_of("[agents]\nSolver = 1\n"),
              ElementsAre("2:10: `Solver` must be a table; write `[agents.Solver]`"));
  EXPECT_THAT(problems_of("[agents.Solver]\nnum_gpu = 1\nplacement = \"actors\"\nnum_cpus = -1\n"
                          "resources = { fpga = \"two\" }\n"),
              UnorderedElementsAre("2:1: `[agents.Solver]` has no key `num_gpu`; did you mean `num_gpus`?",
                                   "3:13: `placement` must be one of `\"actor\"`; did you mean `\"actor\"`?",
                                   "4:12: `num_cpus` must be a number from 0 to 1000000",
                                   "5:22: `fpga` must be a number from 0 to 1000000"));
  EXPECT_THAT(problems_of("[agents.Solver]\nresources = 4\n"),
              ElementsAre("2:13: `resources` must be a table; write for example `resources = { tpu = 1 }`"));
}

TEST(Manifest, SaysWhoIsTrusted) {
  EXPECT_FALSE(parse("").trusts_person);
  EXPECT_TRUE(parse("").allows_endorse);
  EXPECT_TRUE(parse("trust.person = true").trusts_person);
  EXPECT_FALSE(parse("trust.endorse = false").allows_endorse);
  EXPECT_THAT(problems_of("[trust]\nperson = \"yes\"\npersons = true\n"),
              UnorderedElementsAre("2:10: `person` must be `true` or `false`",
                                   "3:1: `[trust]` has no key `persons`; did you mean `person`?"));
}

TEST(Manifest, TimesHaveUnits) {
  const auto time = [](const std::string& text) { return parse("budget.time = \"" + text + "\"").budget.milliseconds; };
  EXPECT_EQ(time("250ms"), 250U);
  EXPECT_EQ(time("2m"), 120'000U);
  EXPECT_EQ(time("1h"), 3'600'000U);
  EXPECT_EQ(time("7d"), 604'800'000U);
  const std::string message =
      "1:15: `time` must be a string with a number and a unit; use one of the units `ms`, `s`, `m`, `h` and `d`, for "
      "example `time = \"30s\"`";
  for (const std::string text :
       {"\"30\"", "\"s\"", "\"30 s\"", "\"-1s\"", "\"99999999999999999999s\"", "\"999999999999999999d\"", "30"}) {
    EXPECT_THAT(problems_of("budget.time = " + text), ElementsAre(message)) << text;
  }
}

TEST(Manifest, DescribesARunThatWaitsForServices) {
  const effects::RetrySettings retry =
      parse("[retry]\ninitial = \"2s\"\nfactor = 1.5\nmax_interval = \"1h\"\nmax_elapsed = \"0s\"\n").retry;
  EXPECT_EQ(retry, (effects::RetrySettings{2'000, 1'500, 3'600'000, 0}));
  EXPECT_EQ(parse("").retry, effects::RetrySettings{});
  EXPECT_EQ(problems_of("retry.initial = \"0s\"").size(), 1U);
  EXPECT_EQ(problems_of("retry.max_elapsed = 3").size(), 1U);
  EXPECT_THAT(problems_of("retry.factor = 0.5"), ElementsAre("1:16: `factor` must be a number from 1 to 1000"));
}

TEST(Manifest, ReportsEveryUnknownKeyWithItsLine) {
  EXPECT_THAT(problems_of("[extern]\nlibraries = []\n[budget]\ncals = 3\nspeed = 1\n[tests]\n"),
              testing::UnorderedElementsAre(
                  "1:2: the manifest has no key `extern`; did you mean `externs`?",
                  "4:1: `[budget]` has no key `cals`; did you mean `calls`?",
                  "5:1: `[budget]` has no key `speed`; use one of `calls`, `tokens`, `instructions`, `depth`, `time`",
                  "6:2: the manifest has no key `tests`; use one of `model`, `prompts`, `externs`, `budget`, `retry`, "
                  "`trust`, `agents`"));
}

TEST(Manifest, RefusesABudgetOfCost) {
  EXPECT_THAT(problems_of("[budget]\ncost = 2.5\n"),
              testing::ElementsAre("2:1: a budget cannot limit the cost: prices of models are not known; limit `calls` "
                                   "or `tokens` instead"));
}

TEST(Manifest, FieldsOfARequestAreNamed) {
  const auto fields = [](const std::string& text) { return parse("[model.openai]\n" + text).request_fields; };
  EXPECT_EQ(fields("token_limit_field = \"by_host\"").token_limit, inference::TokenLimitField::ByHost);
  EXPECT_EQ(fields("token_limit_field = \"max_completion_tokens\"").token_limit,
            inference::TokenLimitField::MaxCompletionTokens);
  EXPECT_EQ(fields("sampling_fields = \"send\"").sampling, inference::SamplingFields::Send);
  EXPECT_EQ(fields("schema_field = \"json_schema\"").schema, inference::SchemaField::JsonSchema);
  EXPECT_EQ(fields("schema_field = \"omit\"").schema, inference::SchemaField::Omit);
  EXPECT_EQ(fields("adjacent_messages = \"join\"").adjacent, inference::AdjacentMessages::Join);
  EXPECT_EQ(fields("thoughts = \"keep\"").thoughts, inference::Thoughts::Keep);
  const inference::OmittedFields omitted = fields("omit_fields = [\"seed\", \"max_tokens\"]").omitted;
  EXPECT_TRUE(omitted.seed && omitted.token_limit && !omitted.temperature && !omitted.stream_options);
  EXPECT_THAT(problems_of("[model.openai]\nomit_fields = [\"sed\"]\n"),
              ElementsAre("2:16: `omit_fields` must be one of `\"temperature\"`, `\"seed\"`, `\"stream_options\"`, "
                          "`\"max_tokens\"`; did you mean `\"seed\"`?"));
  EXPECT_THAT(problems_of("[model.openai]\nomit_fields = \"seed\"\n"),
              ElementsAre("2:15: `omit_fields` must be a list; write for example `omit_fields = [\"seed\"]`"));
  EXPECT_THAT(
      problems_of("[model.openai]\nschema_field = \"json_shema\"\nsampling_fields = true\n"
                  "token_limit_field = \"tokens\"\ntemprature = 1\n"),
      testing::UnorderedElementsAre(
          "2:16: `schema_field` must be one of `\"json_schema\"`, `\"json_object\"`, `\"omit\"`; did you mean "
          "`\"json_schema\"`?",
          "3:19: `sampling_fields` must be one of `\"send\"`, `\"omit\"`",
          "4:21: `token_limit_field` must be one of `\"by_host\"`, `\"max_completion_tokens\"`, `\"max_tokens\"`",
          "5:1: `[model.openai]` has no key `temprature`; use one of `token_limit_field`, `sampling_fields`, "
          "`schema_field`, `omit_fields`, `adjacent_messages`, `thoughts`"));
  EXPECT_THAT(problems_of("model.openai = \"omit\""),
              ElementsAre("1:16: `openai` must be a table; write `[model.openai]`"));
}

TEST(Manifest, ReportsValuesOfAnotherForm) {
  EXPECT_THAT(problems_of("model = \"builtin\"\n"), ElementsAre("1:9: `model` must be a table; write `[model]`"));
  EXPECT_THAT(problems_of("[model]\ndefault = 3\n"), ElementsAre("2:11: `default` must be a string"));
  EXPECT_THAT(problems_of("[prompts]\nstyle = \"\"\n"), ElementsAre("2:9: `style` must be a string"));
  EXPECT_THAT(problems_of("[externs]\nlibraries = \"a.so\"\n"),
              ElementsAre("2:13: `libraries` must be a list; write for example `libraries = [\"libops.so\"]`"));
  EXPECT_THAT(problems_of("[externs]\nlibraries = [\"a.so\", 3]\n"),
              ElementsAre("2:22: a library must be a string: its path"));
  EXPECT_THAT(problems_of("[externs]\nthreads = 257\n"),
              ElementsAre("2:11: `threads` must be an integer from 0 to 256"));
  EXPECT_THAT(problems_of("[budget]\ncalls = -1\n"), ElementsAre("2:9: `calls` must be an integer of at least 0"));
  EXPECT_THAT(problems_of("[budget]\ndepth = 0\n"), ElementsAre("2:9: `depth` must be an integer of at least 1"));
  EXPECT_THAT(problems_of("[budget]\ntokens = 1.5\n"), ElementsAre("2:10: `tokens` must be an integer of at least 0"));
}

TEST(Manifest, ReportsThePositionOfASyntaxError) {
  const auto problems = problems_of("[model]\ndefault = \"builtin\n");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0], HasSubstr("2:"));
  EXPECT_THAT(problems[0], HasSubstr("invalid TOML"));
  EXPECT_THAT(problems_of(std::string(100'000, '[')), testing::SizeIs(1));
  EXPECT_THAT(problems_of("a = " + std::string(100'000, '[')), testing::SizeIs(1));
  EXPECT_THAT(problems_of(std::string("a = \0", 5)), testing::SizeIs(1));
  EXPECT_THAT(problems_of("a = \"\xff\""), testing::SizeIs(1));
  EXPECT_THAT(problems_of(std::string(manifest_bytes_max + 1, '#')),
              ElementsAre(HasSubstr("0:0: the manifest is too large")));
}

TEST(FindManifest, LooksUpwards) {
  FakeFiles files;
  files.files["/a/tenon.toml"] = "[model]\ndefault = \"builtin\"\n";
  const auto found = find_manifest(files, "/a/b/c/main.tn");
  ASSERT_TRUE(found.has_value());
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->folder, "/a");
  EXPECT_THAT(files.asked, ElementsAre("/a/b/c/tenon.toml", "/a/b/tenon.toml", "/a/tenon.toml"));
}

TEST(FindManifest, MayFindNone) {
  FakeFiles files;
  EXPECT_FALSE(find_manifest(files, "/a/main.tn")->has_value());
  EXPECT_THAT(files.asked, ElementsAre("/a/tenon.toml", "/tenon.toml"));
  files.asked.clear();
  EXPECT_FALSE(find_manifest(files, "main.tn")->has_value());
  EXPECT_THAT(files.asked, ElementsAre("tenon.toml"));
}

TEST(FindManifest, ReportsTheProblemsOfTheNearestOne) {
  FakeFiles files;
  files.files["/a/tenon.toml"] = "";
  files.files["/a/b/tenon.toml"] = "nonsense";
  auto found = find_manifest(files, "/a/b/main.tn");
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().path, "/a/b/tenon.toml");
  EXPECT_EQ(found.error().problems.size(), 1U);
  files.unreadable = "/a/b/tenon.toml";
  found = find_manifest(files, "/a/b/main.tn");
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().problems[0].message, "Permission denied");
}

}  // namespace
}  // namespace tenon::project
