#include "cli/given_value.h"

#include <fmt/format.h>

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

}  // namespace tenon::cli
