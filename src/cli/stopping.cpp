#include "cli/stopping.h"

#include <unistd.h>

namespace tenon::cli {
namespace {

/// Added to the grace time, for the work that remains after it.
constexpr std::chrono::seconds notice_margin{2};

}  // namespace

int exit_code_of_stop(const Environment& environment) {
  return exit_signal_base + environment.stop_signal->load();
}

void run_until_stopped(runtime::Runtime& runtime, std::chrono::seconds grace_max,
                       const std::function<std::chrono::milliseconds()>& grace, const Environment& environment) {
  *environment.stop_seconds_max = static_cast<unsigned>((grace_max + notice_margin).count());
  runtime.run(environment.interrupted, grace);
  *environment.stop_seconds_max = 0;
  ::alarm(0);
}

void run_until_stopped(runtime::Runtime& runtime, std::chrono::seconds grace, const Environment& environment) {
  run_until_stopped(
      runtime, grace, [grace] { return grace; }, environment);
}

}  // namespace tenon::cli
