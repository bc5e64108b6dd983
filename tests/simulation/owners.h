#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/program_image.h"
#include "tests/simulation/program_maker.h"
#include "tests/simulation/world.h"

/// Several hosts on one store, each with its own clock, which end, stop and lose each other.
namespace tenon::simulation {

struct OwnersScenario {
  const MadeProgram* program = nullptr;
  std::shared_ptr<const runtime::ProgramImage> image;
  Behaviour behaviour;
  std::uint64_t seed = 0;                       ///< of the disturbances
  std::uint64_t hosts = 1;                      ///< at the beginning
  std::uint64_t runs = 1;                       ///< of the program, at the same time
  std::vector<std::string> placed_agents = {};  ///< have hosts of their own
  bool is_disturbed = false;
  /// Hosts begin effects whether or not their leases hold: this must be noticed.
  bool ignores_leases = false;
};

struct OwnersReport {
  std::vector<std::string> problems;
  std::vector<std::string> interactions;  ///< Ledger::interaction of each run
  std::uint64_t records = 0;
  std::uint64_t repetitions = 0;  ///< effects that were performed again
  std::uint64_t hosts = 0;        ///< that were started
  std::uint64_t takeovers = 0;    ///< appends of a run by another owner than the one before
  std::uint64_t moves = 0;        ///< of runs to the hosts of another pool
};

/// The same scenario always returns the same report.
[[nodiscard]] OwnersReport simulate_owners(const OwnersScenario& scenario);

}  // namespace tenon::simulation
