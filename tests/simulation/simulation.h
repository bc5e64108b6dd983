#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/program_image.h"
#include "runtime/recovery/recovery.h"
#include "tests/simulation/gated_store.h"
#include "tests/simulation/program_maker.h"
#include "tests/simulation/world.h"

namespace tenon::simulation {

/// A disturbance of a process that works on a run.
enum class Disturbance : std::uint8_t {
  None,
  EndProcess,    ///< at a moment: the process ends, together with a power loss
  TearWrite,     ///< power loss at a write or sync; some of the unsynced sectors survive
  FailWrite,     ///< one write or sync fails; the process exits in an orderly way
  FillDisk,      ///< the disk is full for a while; the process continues with the same store
  Stop,          ///< at a moment the process is asked to stop; it exits in an orderly way
  Cancel,        ///< at a moment the turn, or the run of a function, is cancelled
  CancelStored,  ///< at a moment the process stops, and the run is cancelled in its store
  TakeOver,      ///< at a moment another runtime resumes the run, while the first one still works on it
};
inline constexpr std::uint64_t disturbance_count = 9;
[[nodiscard]] const char* disturbance_name(Disturbance disturbance);

struct Disturbed {
  Disturbance what = Disturbance::None;
  std::uint64_t at = 0;  ///< the number of the moment (Moments) or disk operation (FaultyDisk)
};

struct Scenario {
  const MadeProgram* program = nullptr;
  std::shared_ptr<const runtime::ProgramImage> image;
  std::shared_ptr<const runtime::ProgramImage> newer;  ///< of MadeProgram::newer_source; null: none
  Behaviour behaviour;
  Betrayal betrayal = Betrayal::None;
  /// The disturbance of the first process, of the second, and so on. Later processes are not disturbed.
  std::vector<Disturbed> lives;
};

struct Report {
  std::vector<std::string> problems;
  std::string interaction;            ///< Ledger::interaction
  std::uint64_t moments = 0;          ///< of the first process
  std::uint64_t disk_operations = 0;  ///< of the first process
  std::uint64_t records = 0;
  std::uint64_t repetitions = 0;  ///< effects that were performed again
  std::uint64_t lives = 0;
  bool is_cancelled = false;
};

/// The same scenario always returns the same report.
[[nodiscard]] Report simulate(const Scenario& scenario);

/// The image of a run's program: `newer` if the hash matches, otherwise `image`.
[[nodiscard]] runtime::ImageSource image_source(std::shared_ptr<const runtime::ProgramImage> image,
                                                std::shared_ptr<const runtime::ProgramImage> newer);

}  // namespace tenon::simulation
