#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace tenon::bench {

struct WholeProgramOptions {
  std::string program;             ///< path of steps.tn
  std::string function;            ///< `calls` or `generations`
  std::size_t runs = 1;            ///< at once
  std::uint64_t steps = 0;         ///< of all runs together
  bool is_full = true;             ///< an fsync for each commit; otherwise only the process's end is survived
  bool waits_for_commits = false;  ///< the one thread does nothing else meanwhile
};

/// Runs of a function of steps.tn, recorded in a new store of that path as `tenon serve` records them, on a thread that
/// commits and one that does everything else. Prints a line, and gives what it says.
[[nodiscard]] nlohmann::ordered_json measure_whole_programs(const std::string& store,
                                                            const WholeProgramOptions& options);

}  // namespace tenon::bench
