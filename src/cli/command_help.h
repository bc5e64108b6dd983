#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The text of `--help` and `tenon help`.
namespace tenon::cli {

/// A command's description, usage line, arguments, options by group, and its examples: the footer, one per line. An app
/// with subcommands lists those by group instead of arguments.
class HelpFormatter final : public CLI::FormatterBase {
 public:
  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

/// The commands of an app, in the order of the help.
[[nodiscard]] std::vector<const CLI::App*> subcommands_of(const CLI::App& app);

/// `Usage: NAME [OPTIONS] ARGUMENTS`, with the required options, without a line break.
[[nodiscard]] std::string make_usage(const CLI::App& app, std::string_view name);

/// The text of `tenon help TOPIC` for a topic that is not a command; nothing if there is no such topic.
[[nodiscard]] std::optional<std::string> find_help_topic(std::string_view topic);
[[nodiscard]] std::vector<std::string_view> help_topics();

}  // namespace tenon::cli
