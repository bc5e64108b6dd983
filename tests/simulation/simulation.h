#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/program_image.h"
#include "runtime/recovery.h"
#include "tests/simulation/gated_store.h"
#include "tests/simulation/program_maker.h"
#include "tests/simulation/world.h"

namespace tenon::simulation {

/// What happens to a process while it works on a run.
enum class Disturbance : std::uint8_t {
  None,
  EndProcess,    ///< at a moment: the process ends, and the power with it
  TearWrite,     ///< the power fails at a write or sync of the disk; some sectors of what was not synced are kept
  FailWrite,     ///< one write or sync fails; the process ends in good order
  FillDisk,      ///< writes fail for want of space for a while; the process goes on with the same store
  Stop,          ///< at a moment the process is told to stop; it ends in good order
  Cancel,        ///< at a moment somebody cancels the turn, or the run of a function
  CancelStored,  ///< at a moment the process stops, and the run is cancelled in its store
  TakeOver,      ///< at a moment another runtime goes on with the run, while the first one still wants to
};
inline constexpr std::uint64_t disturbance_count = 9;
[[nodiscard]] const char* disturbance_name(Disturbance disturbance);

struct Disturbed {
  Disturbance what = Disturbance::None;
  std::uint64_t at = 0;  ///< which moment (Moments), or which operation of the disk (FaultyDisk)
};

struct Scenario {
  const MadeProgram* program = nullptr;
  std::shared_ptr<const runtime::ProgramImage> image;
  std::shared_ptr<const runtime::ProgramImage> newer;  ///< of MadeProgram::newer_source; null: none
  Manners manners;
  Betrayal betrayal = Betrayal::None;
  /// What becomes of the first process, of the one after it, and so on. The processes after these are not disturbed.
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

/// The same scenario gives the same report.
[[nodiscard]] Report simulate(const Scenario& scenario);

/// Checked, compiled and loaded. The program has no errors; they end the process.
[[nodiscard]] std::shared_ptr<const runtime::ProgramImage> make_image(const std::string& source);
/// That of a run's program: `newer` for its hash, else `image`.
[[nodiscard]] runtime::ImageSource image_source(std::shared_ptr<const runtime::ProgramImage> image,
                                                std::shared_ptr<const runtime::ProgramImage> newer);

}  // namespace tenon::simulation
