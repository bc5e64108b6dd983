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
  bool is_full = true;             ///< an fsync for each commit; otherwise runs survive only the end of the process
  bool waits_for_commits = false;  ///< the main thread commits and does nothing else meanwhile
};

/// Runs a function of steps.tn and records the runs in a new store at that path as `tenon serve` does, with one thread
/// that commits and one that does everything else. Prints a line and returns its figures.
[[nodiscard]] nlohmann::ordered_json measure_whole_programs(const std::string& store,
                                                            const WholeProgramOptions& options);

}  // namespace tenon::bench
