// json_schema_suite FOLDER: runs the cases of the official JSON Schema suite (FOLDER/*.json and FOLDER/optional/*.json)
// against the validator. A schema that is rejected as unsupported passes; a valid instance that is rejected and an
// invalid one that is accepted fail. The validator does not support `format` as an assertion.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "json/json.h"
#include "json/reader.h"
#include "tests/support/json_schema/json_schema.h"

namespace {

using tenon::Json;

/// The number of required cases that the validator supports. Fewer mean that it has lost support for something.
constexpr std::size_t required_passed_min = 946;

struct Counts {
  std::size_t passed = 0, refused = 0, valid_rejected = 0, invalid_accepted = 0;
  std::map<std::string, std::size_t> refused_by_keyword;
};

const std::string& text_of(const Json& object, std::string_view name) {
  static const std::string none = "?";
  const Json* const value = object.find(name);
  return value != nullptr && value->is_string() ? value->as_string() : none;
}

void run_group(const std::string& file, const Json& group, Counts& counts) {
  const Json::Array& cases = group.find("tests")->items();
  const auto schema = tenon::test::Schema::compile(*group.find("schema"));
  if (!schema) {
    if (schema.error().kind == tenon::test::SchemaError::Kind::Unsupported) {
      counts.refused += cases.size();
      counts.refused_by_keyword[schema.error().keyword] += cases.size();
    } else {
      counts.valid_rejected += cases.size();
      fmt::print("{}: {}: the schema is refused as malformed: {}\n", file, text_of(group, "description"),
                 schema.error().message);
    }
    return;
  }
  for (const Json& test : cases) {
    const bool is_valid = test.find("valid")->as_boolean();
    const bool is_accepted = schema->validate(*test.find("data")).has_value();
    if (is_accepted == is_valid) {
      ++counts.passed;
      continue;
    }
    ++(is_valid ? counts.valid_rejected : counts.invalid_accepted);
    fmt::print("{}: {}: {}: {}\n", file, text_of(group, "description"), text_of(test, "description"),
               is_valid ? "valid, and rejected" : "invalid, and accepted");
  }
}

/// A case whose instance this project cannot read, for example because a number does not fit in an f64, counts as
/// unsupported.
bool run_file(const std::filesystem::path& path, Counts& counts) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const auto groups = tenon::parse_json(text);
  if (!groups) {
    fmt::print("{}: not read: {}\n", path.filename().string(), groups.error().message);
    return false;
  }
  for (const Json& group : groups->items()) run_group(path.filename().string(), group, counts);
  return true;
}

Counts run_folder(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  Counts counts;
  for (const auto& file : files) {
    if (file.filename() == "format-assertion.json") continue;
    if (!run_file(file, counts)) ++counts.valid_rejected;
  }
  return counts;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: json_schema_suite FOLDER\n");
    return 2;
  }
  std::size_t passed = 0, failed = 0;
  const std::filesystem::path folder = argv[1];
  for (const auto& [name, path] : {std::pair{"required", folder}, std::pair{"optional", folder / "optional"}}) {
    const Counts counts = run_folder(path);
    fmt::print("{} cases: {} passed, {} refused by name, {} valid rejected, {} invalid accepted\n", name, counts.passed,
               counts.refused, counts.valid_rejected, counts.invalid_accepted);
    for (const auto& [keyword, count] : counts.refused_by_keyword) fmt::print("  refused for {}: {}\n", keyword, count);
    if (name == std::string_view("required") && counts.passed < required_passed_min) {
      fmt::print("{} required cases passed once\n", required_passed_min);
      ++failed;
    }
    passed += counts.passed + counts.refused;
    failed += counts.valid_rejected + counts.invalid_accepted;
  }
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
