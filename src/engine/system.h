#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"

namespace tenon::engine {

enum class NoticeKind : std::uint8_t {
  Progress,  ///< what takes a while, such as fetching a model
  Warning,   ///< a problem that does not stop the runs
};

/// What an engine uses of its process. The engine reads no environment variable, file or clock in another way, and
/// prints nothing.
struct System {
  FileSystem& files;
  Clock& clock;
  std::function<std::string(const char*)> variable;     ///< of the environment; empty if unset
  std::function<std::vector<std::string>()> variables;  ///< all of the environment: `NAME=value`
  std::function<double()> random_unit;                  ///< in [0, 1)
  /// Receives sentences for the operator, on any thread. May be empty.
  std::function<void(NoticeKind kind, std::string_view text)> on_notice = {};
  /// The program `tenon`: it runs externs that are declared `extern(process)`. Empty: this program is another one.
  std::string executable = "/proc/self/exe";
  /// The path of the library of std::report; empty: it is in the folder of `executable`.
  std::string report_library = {};
  /// The command that runs externs declared `extern(process)` instead, from its path on.
  std::vector<std::string> worker = {};

  void notify(NoticeKind kind, std::string_view text) const {
    if (on_notice) on_notice(kind, text);
  }
};

}  // namespace tenon::engine
