#include "cli/command_help.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/model_providers.h"

namespace tenon::cli {
namespace {

/// Columns of the text, and the widest name that has its description on the same line.
constexpr std::size_t text_columns = 100;
constexpr std::size_t name_columns_max = 26;

struct Row {
  std::string name;
  std::string description;
};

/// Wraps `text` at spaces; lines after the first start with `indent` spaces.
std::string wrap(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool is_first = column == indent;
    if (!is_first && column + 1 + word.size() > text_columns) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!is_first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string write_rows(std::string_view title, const std::vector<Row>& rows) {
  if (rows.empty()) return {};
  std::size_t width = 0;
  for (const Row& row : rows) {
    if (row.name.size() <= name_columns_max) width = std::max(width, row.name.size());
  }
  std::string out = fmt::format("\n{}:\n", title);
  for (const Row& row : rows) {
    const std::size_t indent = 2 + width + 2;
    out += "  " + row.name;
    if (!row.description.empty()) {
      out +=
          row.name.size() <= width ? std::string(indent - 2 - row.name.size(), ' ') : '\n' + std::string(indent, ' ');
      out += wrap(row.description, indent);
    }
    out += '\n';
  }
  return out;
}

std::string option_name(const CLI::Option& option) {
  std::string name;
  for (const std::string& one : option.get_snames()) name += (name.empty() ? "-" : ", -") + one;
  for (const std::string& one : option.get_lnames()) name += (name.empty() ? "--" : ", --") + one;
  const bool is_flag = option.get_items_expected_min() == 0;
  if (!is_flag) name += " " + option.get_type_name();
  if (is_flag && !option.get_type_name().empty()) name += "[=" + option.get_type_name() + "]";
  return name;
}

std::string option_description(const CLI::Option& option) {
  std::string text = option.get_description();
  if (option.get_required() && option.nonpositional()) text += " (required)";
  if (!option.get_default_str().empty()) text += fmt::format(" [default: {}]", option.get_default_str());
  return text;
}

std::string positional_name(const CLI::Option& option) {
  std::string name = option.get_name(true);
  if (option.get_items_expected_max() > 1) name += "...";
  return option.get_required() ? name : "[" + name + "]";
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::string write_subcommands(const CLI::App& app) {
  std::string out;
  std::vector<Row> rows;
  std::string group;
  for (const CLI::App* subcommand : subcommands_of(app)) {
    if (subcommand->get_group() != group) {
      out += write_rows(group, rows);
      rows.clear();
      group = subcommand->get_group();
    }
    rows.push_back({subcommand->get_name(), subcommand->get_description()});
  }
  return out + write_rows(group, rows);
}

std::string write_options(const CLI::App& app) {
  std::string out;
  for (const std::string& group : app.get_groups()) {
    std::vector<Row> rows;
    const auto add = [&](const CLI::Option* option) {
      if (option->get_group() == group) rows.push_back({option_name(*option), option_description(*option)});
    };
    for (const CLI::Option* option : app.get_options()) {
      if (option->nonpositional() && option != app.get_help_ptr()) add(option);
    }
    add(app.get_help_ptr());
    out += write_rows(group, rows);
  }
  return out;
}

constexpr std::string_view exit_codes_text = R"(Exit codes of all commands:
  0    Success
  1    The program or its run failed, or a file cannot be read or written: a diagnostic, a failed
       test, an unhandled failure, a cancelled run. `fmt --check`, `trace diff` and `store check` also
       exit with 1 if they find a difference or a problem.
  2    The command line or an environment variable is wrong: an unknown option, a missing argument,
       an unknown function, a value that does not fit its type. Nothing was run.
  3    The run waits for a person or a timer; continue it with `tenon resume`
  70   A bug in Tenon: an internal error. Please report it; a run with a store can be resumed.
  130  Ctrl-C (SIGINT) stopped the command before its run had ended
  143  SIGTERM stopped the command before its run had ended

Errors are printed on stderr as `error: MESSAGE`, or as `FILE:LINE:COLUMN: error: MESSAGE` if they have
a location. Stdout contains only the result.
)";

std::string write_models() {
  std::string text = "Values of --model and --judge:\n";
  for (const engine::ModelProvider& provider : engine::model_providers()) {
    text += fmt::format("  {:<15}{}\n", provider.form(), provider.description);
  }
  return text;
}

constexpr std::string_view values_text = R"(Values of --arg NAME=VALUE and --input VALUE:
  TEXT    A parameter of a text type takes the text unchanged
  JSON    A parameter of any other type takes JSON: 3, true, '["a", "b"]', '{"city": "Oslo"}'
  @FILE   The content of a file, unchanged
  @-      Everything on stdin, unchanged; at most one value can be @-
  @@TEXT  The text @TEXT

Examples:
  tenon run summarize.tn --arg text=@report.txt
  git diff | tenon run review.tn --arg patch=@-
)";

struct Topic {
  std::string_view name;
  std::string (*write)();
};
constexpr std::array topics = {Topic{"exit-codes", [] { return std::string(exit_codes_text); }},
                               Topic{"models", write_models}, Topic{"values", [] { return std::string(values_text); }}};

}  // namespace

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string make_usage(const CLI::App& app, std::string_view name) {
  std::string usage = fmt::format("Usage: {}", name);
  const bool has_subcommands = !subcommands_of(app).empty();
  usage += has_subcommands ? " COMMAND [OPTIONS]" : " [OPTIONS]";
  for (const CLI::Option* option : positionals_of(app)) usage += " " + positional_name(*option);
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional() && option->get_required()) usage += " " + option_name(*option);
  }
  return usage;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode /*mode*/) const {
  std::string out = fmt::format("{}\n\n{}\n", app->get_description(), make_usage(*app, name));
  out += write_subcommands(*app);
  std::vector<Row> arguments;
  for (const CLI::Option* option : positionals_of(*app)) {
    arguments.push_back({positional_name(*option), option_description(*option)});
  }
  out += write_rows("Arguments", arguments);
  out += write_options(*app);
  const std::string examples = app->get_footer();
  if (!examples.empty()) out += "\n" + examples;
  return out;
}

std::optional<std::string> find_help_topic(std::string_view topic) {
  const auto* const found =
      std::find_if(topics.begin(), topics.end(), [&](const Topic& one) { return one.name == topic; });
  if (found == topics.end()) return std::nullopt;
  return found->write();
}

std::vector<std::string_view> help_topics() {
  std::vector<std::string_view> names;
  for (const Topic& topic : topics) names.push_back(topic.name);
  return names;
}

}  // namespace tenon::cli
