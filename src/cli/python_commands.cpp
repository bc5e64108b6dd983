#include "cli/commands.h"
#include "cli/python_command.h"

namespace tenon::cli {

int stubs(const StubsCommand& command, const Environment& environment) {
  std::vector<std::string> arguments = {"stubs"};
  if (!command.output.empty()) arguments.insert(arguments.end(), {"--output", command.output});
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), command.files.begin(), command.files.end());
  return become_python_command("tenon.__main__", std::move(arguments), "`tenon stubs`", environment);
}

int ray(const RayCommand& command, const Environment& environment) {
  return become_python_command("tenon.ray.__main__", command.arguments, "`tenon ray`", environment);
}

}  // namespace tenon::cli
