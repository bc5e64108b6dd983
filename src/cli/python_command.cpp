#include "cli/python_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "cli/commands.h"
#include "engine/extern_binding.h"

namespace tenon::cli {
namespace {

constexpr const char* program = R"py(import importlib, sys
module = sys.argv.pop(1)
try:
    main = importlib.import_module(module).main
except ModuleNotFoundError as error:
    if error.name not in ("tenon", "tenon.ray", "ray"):
        raise
    missing = "ray" if error.name == "ray" else "tenon"
    package = "tenon[ray]" if module.startswith("tenon.ray") else "tenon"
    sys.exit(f"error: the Python package `{missing}` is not installed for {sys.executable}\n"
             f"  = hint: install `{package}` with pip, or set the variable TENON_PYTHON to a Python that has it")
sys.exit(main())
)py";

/// As a process that no one has prepared gets them.
void restore_signals() {
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

int become_python_command(std::string_view module, std::vector<std::string> arguments, std::string_view what,
                          const Environment& environment) {
  std::string python = engine::find_python(environment.system);
  if (python.empty()) return fail(fmt::format("{} needs Python, and there is no `python3`", what), environment);
  std::vector<std::string> whole = {python, "-c", program, std::string(module)};
  whole.insert(whole.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& argument : whole) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  restore_signals();
  ::execv(python.c_str(), pointers.data());
  return fail(fmt::format("cannot start `{}`: {}", python, std::generic_category().message(errno)), environment);
}

}  // namespace tenon::cli
