#include "project/manifest.h"

#include <fmt/format.h>

// One of the library's assertions does not hold of files that its next line refuses; the packaged one has none either.
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>
#include <cmath>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "base/duration.h"
#include "diagnostics/nearest.h"
#include "tools/native/native_caller.h"

namespace tenon::project {
namespace {

static_assert(TOML_EXCEPTIONS, "parse errors are caught below");

constexpr double thousandths = 1'000;
/// Limit for the ratio of a wait to the one before it.
constexpr double factor_max = 1'000;
/// Limit for the amount of a resource.
constexpr double resource_max = 1'000'000;

class ManifestReader {
 public:
  explicit ManifestReader(const std::string& path) {
    manifest_.path = path;
    manifest_.folder = std::filesystem::path(path).parent_path().string();
    if (manifest_.folder.empty()) manifest_.folder = ".";
  }

  Result<Manifest, std::vector<ManifestProblem>> read(const toml::table& root) {
    static constexpr std::string_view tables[] = {"model", "prompts", "externs", "budget", "retry", "trust", "agents"};
    for (const auto& [key, node] : root) {
      if (!knows(key, tables, "")) continue;
      const toml::table* const table = node.as_table();
      if (table == nullptr) {
        report(node.source(), fmt::format("`{}` must be a table", key.str()))
            .hints.push_back(fmt::format("write `[{}]`", key.str()));
        continue;
      }
      if (key == "model") read_model(*table);
      if (key == "prompts") read_prompts(*table);
      if (key == "externs") read_externs(*table);
      if (key == "budget") read_budget(*table);
      if (key == "retry") read_retry(*table);
      if (key == "trust") read_trust(*table);
      if (key == "agents") read_agents(*table);
    }
    if (!problems_.empty()) return failure(std::move(problems_));
    return std::move(manifest_);
  }

 private:
  ManifestProblem& report(const toml::source_region& where, std::string message) {
    problems_.push_back({where.begin.line, where.begin.column, std::move(message), {}});
    return problems_.back();
  }

  bool knows(const toml::key& key, std::span<const std::string_view> known, const std::string& table) {
    std::string all;
    for (const std::string_view name : known) {
      if (key == name) return true;
      all += fmt::format("{}`{}`", all.empty() ? "" : ", ", name);
    }
    const std::string where = table.empty() ? "the manifest" : fmt::format("`[{}]`", table);
    ManifestProblem& problem = report(key.source(), fmt::format("{} has no key `{}`", where, key.str()));
    const auto nearest = diagnostics::find_nearest(key.str(), known);
    problem.hints.push_back(nearest ? fmt::format("did you mean `{}`?", *nearest) : fmt::format("use one of {}", all));
    return false;
  }

  void read_text(const toml::node& node, const char* what, std::optional<std::string>& into) {
    if (const auto text = node.value_exact<std::string>(); text && !text->empty()) {
      into = *text;
    } else {
      report(node.source(), fmt::format("`{}` must be a string", what));
    }
  }

  /// One of a few texts, and its meaning.
  template <class Choice>
  struct Word {
    std::string_view text;
    Choice choice;
  };

  template <class Choice>
  void read_word(const toml::node& node, std::string_view what, std::span<const Word<Choice>> words, Choice& into) {
    const auto given = node.value_exact<std::string>();
    std::vector<std::string_view> texts;
    std::string all;
    for (const Word<Choice>& word : words) {
      if (given == word.text) {
        into = word.choice;
        return;
      }
      texts.push_back(word.text);
      all += fmt::format("{}`\"{}\"`", all.empty() ? "" : ", ", word.text);
    }
    ManifestProblem& problem = report(node.source(), fmt::format("`{}` must be one of {}", what, all));
    const auto nearest = given ? diagnostics::find_nearest(*given, texts) : std::nullopt;
    if (nearest) problem.hints.push_back(fmt::format("did you mean `\"{}\"`?", *nearest));
  }

  void read_count(const toml::node& node, std::string_view what, std::uint64_t low, std::uint64_t high,
                  std::optional<std::uint64_t>& into) {
    const auto number = node.value_exact<std::int64_t>();
    if (number && *number >= 0 && static_cast<std::uint64_t>(*number) >= low &&
        static_cast<std::uint64_t>(*number) <= high) {
      into = static_cast<std::uint64_t>(*number);
      return;
    }
    const bool is_bounded = high < INT64_MAX;
    report(node.source(), is_bounded ? fmt::format("`{}` must be an integer from {} to {}", what, low, high)
                                     : fmt::format("`{}` must be an integer of at least {}", what, low));
  }

  void read_model(const toml::table& table) {
    static constexpr std::string_view keys[] = {"default", "judge", "openai"};
    for (const auto& [key, node] : table) {
      if (!knows(key, keys, "model")) continue;
      if (key == "default") {
        read_text(node, "default", manifest_.model);
      } else if (key == "judge") {
        read_text(node, "judge", manifest_.judge);
      } else if (const toml::table* const fields = node.as_table()) {
        read_request_fields(*fields);
      } else {
        report(node.source(), "`openai` must be a table").hints.push_back("write `[model.openai]`");
      }
    }
  }

  void read_request_fields(const toml::table& table) {
    using inference::AdjacentMessages, inference::SamplingFields, inference::SchemaField, inference::Thoughts,
        inference::TokenLimitField;
    static constexpr std::string_view keys[] = {"token_limit_field", "sampling_fields",   "schema_field",
                                                "omit_fields",       "adjacent_messages", "thoughts"};
    static constexpr Word<Thoughts> thoughts[] = {{"separate", Thoughts::Separate}, {"keep", Thoughts::Keep}};
    static constexpr Word<AdjacentMessages> adjacent[] = {
        {"learn", AdjacentMessages::Learn}, {"join", AdjacentMessages::Join}, {"keep", AdjacentMessages::Keep}};
    static constexpr Word<TokenLimitField> token_limits[] = {
        {"by_host", TokenLimitField::ByHost},
        {"max_completion_tokens", TokenLimitField::MaxCompletionTokens},
        {"max_tokens", TokenLimitField::MaxTokens}};
    static constexpr Word<SamplingFields> samplings[] = {{"send", SamplingFields::Send},
                                                         {"omit", SamplingFields::Omit}};
    static constexpr Word<SchemaField> schemas[] = {{"json_schema", SchemaField::JsonSchema},
                                                    {"json_object", SchemaField::JsonObject},
                                                    {"omit", SchemaField::Omit}};
    inference::RequestFields& fields = manifest_.request_fields;
    for (const auto& [key, node] : table) {
      if (!knows(key, keys, "model.openai")) continue;
      if (key == "token_limit_field") read_word<TokenLimitField>(node, key.str(), token_limits, fields.token_limit);
      if (key == "sampling_fields") read_word<SamplingFields>(node, key.str(), samplings, fields.sampling);
      if (key == "schema_field") read_word<SchemaField>(node, key.str(), schemas, fields.schema);
      if (key == "omit_fields") read_omitted_fields(node, fields.omitted);
      if (key == "adjacent_messages") read_word<AdjacentMessages>(node, key.str(), adjacent, fields.adjacent);
      if (key == "thoughts") read_word<Thoughts>(node, key.str(), thoughts, fields.thoughts);
    }
  }

  void read_omitted_fields(const toml::node& node, inference::OmittedFields& omitted) {
    using inference::OmittedFields;
    static constexpr Word<bool OmittedFields::*> words[] = {{"temperature", &OmittedFields::temperature},
                                                            {"seed", &OmittedFields::seed},
                                                            {"stream_options", &OmittedFields::stream_options},
                                                            {"max_tokens", &OmittedFields::token_limit}};
    const toml::array* const array = node.as_array();
    if (array == nullptr) {
      report(node.source(), "`omit_fields` must be a list")
          .hints.push_back("write for example `omit_fields = [\"seed\"]`");
      return;
    }
    for (const toml::node& item : *array) {
      bool OmittedFields::*field = nullptr;
      read_word<bool OmittedFields::*>(item, "omit_fields", words, field);
      if (field != nullptr) omitted.*field = true;
    }
  }

  void read_prompts(const toml::table& table) {
    static constexpr std::string_view keys[] = {"style"};
    for (const auto& [key, node] : table) {
      if (knows(key, keys, "prompts")) read_text(node, "style", manifest_.style);
    }
  }

  void read_externs(const toml::table& table) {
    static constexpr std::string_view keys[] = {"libraries", "threads"};
    for (const auto& [key, node] : table) {
      if (!knows(key, keys, "externs")) continue;
      if (key == "threads") {
        std::optional<std::uint64_t> threads;
        read_count(node, "threads", 0, tools::extern_threads_max, threads);
        if (threads) manifest_.threads = static_cast<std::uint32_t>(*threads);
      } else {
        read_libraries(node);
      }
    }
  }

  void read_libraries(const toml::node& node) {
    const toml::array* const array = node.as_array();
    if (array == nullptr) {
      report(node.source(), "`libraries` must be a list")
          .hints.push_back("write for example `libraries = [\"libops.so\"]`");
      return;
    }
    for (const toml::node& item : *array) {
      const auto library = item.value_exact<std::string>();
      if (library && !library->empty()) {
        manifest_.libraries.push_back(*library);
      } else {
        report(item.source(), "a library must be a string: its path");
      }
    }
  }

  void read_budget(const toml::table& table) {
    static constexpr std::string_view keys[] = {"calls", "tokens", "instructions", "depth", "time"};
    for (const auto& [key, node] : table) {
      if (key == "cost") {
        report(key.source(), "a budget cannot limit the cost: prices of models are not known")
            .hints.push_back("limit `calls` or `tokens` instead");
        continue;
      }
      if (!knows(key, keys, "budget")) continue;
      std::optional<std::uint64_t>& bound = manifest_.budget.*bytecode::find_bound(key.str()).value();
      if (key == "time") {
        read_duration(node, "time", 0, bound);
      } else {
        read_count(node, key.str(), key == "depth" ? 1 : 0, INT64_MAX, bound);
      }
    }
  }

  void read_trust(const toml::table& table) {
    static constexpr std::string_view keys[] = {"person", "endorse"};
    for (const auto& [key, node] : table) {
      if (!knows(key, keys, "trust")) continue;
      const auto value = node.value_exact<bool>();
      if (!value) {
        report(node.source(), fmt::format("`{}` must be `true` or `false`", key.str()));
      } else {
        (key == "person" ? manifest_.trusts_person : manifest_.allows_endorse) = *value;
      }
    }
  }

  void read_duration(const toml::node& node, std::string_view what, std::uint64_t low,
                     std::optional<std::uint64_t>& into) {
    const auto text = node.value_exact<std::string>();
    into = text ? read_duration_ms(*text) : std::nullopt;
    if (into && *into >= low) return;
    into.reset();
    report(node.source(), fmt::format("`{}` must be a string with a number and a unit", what))
        .hints.push_back(
            fmt::format("use one of the units `ms`, `s`, `m`, `h` and `d`, for example `{} = \"30s\"`", what));
  }

  void read_retry(const toml::table& table) {
    static constexpr std::string_view keys[] = {"initial", "factor", "max_interval", "max_elapsed"};
    effects::RetrySettings& retry = manifest_.retry;
    for (const auto& [key, node] : table) {
      if (!knows(key, keys, "retry")) continue;
      if (key == "initial") read_duration(node, "initial", 1, retry.initial_ms);
      if (key == "max_interval") read_duration(node, "max_interval", 1, retry.interval_max_ms);
      if (key == "max_elapsed") read_duration(node, "max_elapsed", 0, retry.elapsed_max_ms);
      if (key == "factor") {
        const auto factor = node.is_number() ? node.value<double>() : std::nullopt;
        if (factor && *factor >= 1 && *factor <= factor_max) {
          retry.factor_thousandths = static_cast<std::uint64_t>(std::llround(*factor * thousandths));
        } else {
          report(node.source(), fmt::format("`factor` must be a number from 1 to {:.0f}", factor_max));
        }
      }
    }
  }

  void read_agents(const toml::table& table) {
    for (const auto& [key, node] : table) {
      if (const toml::table* const agent = node.as_table()) {
        read_placement(std::string(key.str()), *agent);
      } else {
        report(node.source(), fmt::format("`{}` must be a table", key.str()))
            .hints.push_back(fmt::format("write `[agents.{}]`", key.str()));
      }
    }
  }

  void read_placement(const std::string& agent, const toml::table& table) {
    static constexpr std::string_view keys[] = {"placement", "num_cpus", "num_gpus", "resources"};
    static constexpr Word<bool> placements[] = {{"actor", true}};
    bool is_placed = false;
    AgentPlacement needs;
    for (const auto& [key, node] : table) {
      if (!knows(key, keys, "agents." + agent)) continue;
      if (key == "placement") read_word<bool>(node, key.str(), placements, is_placed);
      if (key == "num_cpus") read_amount(node, key.str(), needs.num_cpus);
      if (key == "num_gpus") read_amount(node, key.str(), needs.num_gpus);
      if (key == "resources") read_resources(node, needs);
    }
    if (is_placed || needs != AgentPlacement{}) manifest_.placements.emplace(agent, std::move(needs));
  }

  void read_resources(const toml::node& node, AgentPlacement& needs) {
    const toml::table* const table = node.as_table();
    if (table == nullptr) {
      report(node.source(), "`resources` must be a table")
          .hints.push_back("write for example `resources = { tpu = 1 }`");
      return;
    }
    for (const auto& [key, amount] : *table) {
      std::optional<double> read;
      read_amount(amount, key.str(), read);
      if (read) needs.resources.emplace(key.str(), *read);
    }
  }

  void read_amount(const toml::node& node, std::string_view what, std::optional<double>& into) {
    const auto amount = node.is_number() ? node.value<double>() : std::nullopt;
    if (amount && *amount >= 0 && *amount <= resource_max) {
      into = *amount;
    } else {
      report(node.source(), fmt::format("`{}` must be a number from 0 to {:.0f}", what, resource_max));
    }
  }

  Manifest manifest_;
  std::vector<ManifestProblem> problems_;
};

}  // namespace

Result<Manifest, std::vector<ManifestProblem>> parse_manifest(std::string_view text, const std::string& path) {
  if (text.size() > manifest_bytes_max) {
    return failure(std::vector<ManifestProblem>{
        {0,
         0,
         fmt::format("the manifest is too large: maximum {} bytes, found {}", manifest_bytes_max, text.size()),
         {}}});
  }
  try {
    return ManifestReader(path).read(toml::parse(text, std::string_view(path)));
  } catch (const toml::parse_error& error) {
    return failure(std::vector<ManifestProblem>{{error.source().begin.line,
                                                 error.source().begin.column,
                                                 fmt::format("invalid TOML: {}", error.description()),
                                                 {}}});
  }
}

Result<std::optional<Manifest>, ManifestError> find_manifest(FileSystem& files, const std::string& program_path) {
  std::filesystem::path folder = std::filesystem::path(program_path).lexically_normal().parent_path();
  for (;;) {
    const std::string path = (folder / manifest_name).string();
    const auto text = files.read_file(path, manifest_bytes_max);
    if (text) {
      auto manifest = parse_manifest(*text, path);
      if (!manifest) return failure(ManifestError{path, std::move(manifest.error())});
      return std::move(*manifest);
    }
    if (!text.error().is_missing) return failure(ManifestError{path, {{0, 0, text.error().message, {}}}});
    if (!folder.has_relative_path()) return std::nullopt;
    folder = folder.parent_path();
  }
}

}  // namespace tenon::project
