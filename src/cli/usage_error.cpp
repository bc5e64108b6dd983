#include "cli/usage_error.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/command_help.h"
#include "diagnostics/nearest.h"

namespace tenon::cli {
namespace {

/// The command that the arguments were parsed for, with its name: the app itself, `run`, or `store check`.
struct ChosenCommand {
  const CLI::App* app;
  std::string name;  ///< empty: none was chosen
};

ChosenCommand find_chosen(const CLI::App& app) {
  ChosenCommand chosen{&app, ""};
  for (;;) {
    const std::vector<CLI::App*> parsed = chosen.app->get_subcommands();
    if (parsed.empty()) return chosen;
    chosen.app = parsed.front();
    chosen.name += (chosen.name.empty() ? "" : " ") + chosen.app->get_name();
  }
}

std::vector<std::string_view> subcommand_names(const CLI::App& app) {
  std::vector<std::string_view> names;
  for (const CLI::App* subcommand : subcommands_of(app)) {
    names.push_back(subcommand->get_name());
  }
  return names;
}

std::string unknown_option(const ChosenCommand& chosen, const std::string& argument) {
  const std::string option = argument.substr(0, argument.find('='));
  const std::string_view name = std::string_view(option).substr(std::min(option.find_first_not_of('-'), option.size()));
  std::vector<std::string_view> names;
  for (const CLI::Option* known : chosen.app->get_options()) {
    for (const std::string& one : known->get_lnames()) names.push_back(one);
  }
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    return option.starts_with("--") ? fmt::format("`{}` must follow `tenon {}`", option, chosen.name)
                                    : fmt::format("unknown option `{}`; did you mean `--{}`?", option, name);
  }
  return fmt::format("unknown option `{}`{}", option, suggest(name, names, "--"));
}

/// What was given and does not belong to the command line; empty if nothing.
std::string describe_extras(const CLI::App& app, const ChosenCommand& chosen) {
  const std::vector<std::string> extras = app.remaining(true);
  const auto is_option = [](const std::string& text) { return text.size() > 1 && text.front() == '-'; };
  if (extras.empty()) return {};
  const std::vector<std::string_view> subcommands = subcommand_names(*chosen.app);
  if (!subcommands.empty() && !is_option(extras.front())) {
    return fmt::format("unknown command `{} {}`{}", chosen.name, extras.front(), suggest(extras.front(), subcommands));
  }
  const auto option = std::find_if(extras.begin(), extras.end(), is_option);
  if (option != extras.end()) return unknown_option(chosen, *option);
  return fmt::format("unexpected argument `{}`", extras.front());
}

std::string describe_missing(const CLI::App& app) {
  std::vector<std::string> missing;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    missing.push_back(option->nonpositional() ? fmt::format("`{} {}`", option->get_name(), option->get_type_name())
                                              : fmt::format("`{}`", option->get_name(true)));
  }
  if (missing.empty()) return fmt::format("missing command: one of {}", fmt::join(subcommand_names(app), ", "));
  return fmt::format("missing {}", fmt::join(missing, " and "));
}

/// The option's name that the library's message starts with.
std::string option_in(const std::string& message) {
  return message.substr(0, message.find_first_of(": "));
}

std::string describe_value(const CLI::ParseError& error) {
  const std::string message = error.what();
  const std::size_t colon = message.find(": ");
  if (colon == std::string::npos) return message;
  return fmt::format("invalid value for `{}`: {}", message.substr(0, colon), message.substr(colon + 2));
}

std::string describe_mismatch(const CLI::App& app, const std::string& message) {
  const std::string name = option_in(message);
  const CLI::Option* const option = app.get_option_no_throw(name);
  if (option == nullptr) return message;
  if (option->get_items_expected_min() == 0) return fmt::format("`{}` does not take a value", name);
  const bool has_value = !message.ends_with("missing") && option->count() > 0;
  if (has_value) return fmt::format("`{}` is given more than once", name);
  return fmt::format("`{}` requires a value: `{} {}`", name, name, option->get_type_name());
}

std::string describe_excluded(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const CLI::Option* other : option->get_excludes()) {
      if (option->count() > 0 && other->count() > 0) {
        return fmt::format("`{}` cannot be combined with `{}`", option->get_name(), other->get_name());
      }
    }
  }
  return "the options cannot be combined";
}

}  // namespace

std::function<std::string(const std::string&)> one_of(std::vector<std::string> values) {
  return [values = std::move(values)](const std::string& given) -> std::string {
    if (std::find(values.begin(), values.end(), given) != values.end()) return {};
    return fmt::format("expected {} or {}, got `{}`", fmt::join(values.begin(), values.end() - 1, ", "), values.back(),
                       given);
  };
}

std::string suggest(std::string_view name, const std::vector<std::string_view>& candidates, std::string_view prefix) {
  const auto nearest = diagnostics::find_nearest(name, candidates);
  return nearest ? fmt::format("; did you mean `{}{}`?", prefix, *nearest) : std::string();
}

UsageError describe_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  const ChosenCommand chosen = find_chosen(app);
  std::string message = describe_extras(app, chosen);
  if (!message.empty()) return {message, chosen.name};
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    message = describe_missing(*chosen.app);
  } else if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) {
    message = describe_value(error);
  } else if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    message = describe_excluded(*chosen.app);
  } else {
    message = describe_mismatch(*chosen.app, error.what());
  }
  return {message, chosen.name};
}

}  // namespace tenon::cli
