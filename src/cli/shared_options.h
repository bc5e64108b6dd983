#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/parse_number.h"
#include "cli/command_line.h"

// Options that several commands have.
namespace tenon::cli {

inline constexpr std::uint64_t grace_seconds_max = 24 * 60 * 60;

/// Groups of options in the help.
inline constexpr const char* program_group = "Program";
inline constexpr const char* model_group = "Model";
inline constexpr const char* inspection_group = "Inspection";

/// An option that takes a decimal number from `least` to `most`; `number` is also the default.
template <class Number>
CLI::Option* add_number(CLI::App& app, const std::string& name, Number& number, const std::string& help,
                        Number most = std::numeric_limits<Number>::max(), Number least = 0) {
  const auto read = [least, most](const std::string& text) -> std::optional<Number> {
    const auto value = parse_number<Number>(text);
    return value && *value >= least && *value <= most ? value : std::nullopt;
  };
  const bool is_whole = std::is_integral_v<Number>;
  return app
      .add_option_function<std::string>(
          name, [&number, read](const std::string& text) { number = *read(text); }, help)
      ->type_name(is_whole ? "N" : "NUMBER")
      ->check([=](const std::string& text) -> std::string {
        if (read(text)) return {};
        const bool is_bounded = most != std::numeric_limits<Number>::max() || (is_whole && sizeof(Number) <= 4);
        const std::string bound =
            is_bounded ? fmt::format("from {} to {}", least, most) : fmt::format("of at least {}", least);
        return fmt::format("expected a {}number {}, got `{}`", is_whole ? "whole " : "", bound, text);
      });
}

/// An option that may be repeated, with one value each time.
CLI::Option* add_repeatable(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                            const std::string& form, const std::string& help);
void add_model_options(CLI::App& app, ModelChoice& model);
void add_trace_and_prompts_options(CLI::App& app, std::string& trace, bool& show_prompts);
void add_durability_option(CLI::App& app, StoreChoice& store);
void add_grace_option(CLI::App& app, std::uint32_t& seconds);
void add_reports_option(CLI::App& app, StoreChoice& store);
void add_extern_option(CLI::App& app, std::vector<std::string>& externs);
CLI::Option* add_prompts_option(CLI::App& app, std::string& prompts);
void add_repair_option(CLI::App& app, std::uint32_t& repairs);
/// `scope`: what a budget is for, such as `each run`.
void add_budget_option(CLI::App& app, std::vector<std::string>& budgets, std::string_view scope);
void add_retry_option(CLI::App& app, std::vector<std::string>& texts);

}  // namespace tenon::cli
