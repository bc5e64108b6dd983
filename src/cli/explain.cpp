#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cli/commands.h"
#include "diagnostics/nearest.h"
#include "diagnostics/pages.h"

namespace tenon::cli {

int explain(const ExplainCommand& command, const Environment& environment) {
  std::string code = command.code;
  for (char& letter : code) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  if (const auto page = diagnostics::find_page(code)) {
    environment.write_output(*page);
    return exit_done;
  }
  const std::vector<std::string_view> codes = diagnostics::page_codes();
  std::string hint;
  if (const auto nearest = diagnostics::find_nearest(code, codes)) hint = fmt::format("; did you mean `{}`?", *nearest);
  return fail(fmt::format("unknown diagnostic `{}`{}", command.code, hint), environment, exit_usage);
}

}  // namespace tenon::cli
