#include "cli/given_value.h"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::cli {
namespace {

constexpr std::size_t value_bytes_max = std::size_t{1} << 30U;

}  // namespace

Result<std::string, std::string> read_given_value(const std::string& text, const Environment& environment) {
  if (!text.starts_with('@')) return text;
  const std::string rest = text.substr(1);
  if (rest.starts_with('@')) return rest;
  if (rest == "-") return environment.read_input();
  auto content = environment.system.files.read_file(rest, value_bytes_max);
  if (content) return std::move(*content);
  return failure(fmt::format("cannot read `{}`: {}\n  write `@{}` to pass this text instead of a file's content", rest,
                             content.error().message, text));
}

Result<void, UsageError> read_given_pairs(std::string_view option, std::string_view form,
                                          const std::vector<std::string>& texts, const RunCommand& run,
                                          std::vector<std::pair<std::string, std::string>>& pairs) {
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      // The text after `=` may be a secret.
      return failure(UsageError{
          fmt::format("invalid value for `{}`: expected {}, got `{}`", option, form, text.substr(0, equals))});
    }
    std::string name = text.substr(0, equals);
    const auto same = [&](const auto& other) { return other.first == name; };
    if (std::any_of(run.arguments.begin(), run.arguments.end(), same) ||
        std::any_of(run.variables.begin(), run.variables.end(), same)) {
      return failure(UsageError{fmt::format("the argument `{}` is given more than once", name)});
    }
    pairs.emplace_back(std::move(name), text.substr(equals + 1));
  }
  const auto is_stdin = [](const auto& pair) { return pair.second == "@-"; };
  if (std::count_if(pairs.begin(), pairs.end(), is_stdin) > 1) {
    return failure(UsageError{"only one argument can be `@-`, because stdin is read once"});
  }
  return {};
}

}  // namespace tenon::cli
