#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::simulation {

/// A program that meets the world in every way that the language has, small enough to be run a hundred times.
struct MadeProgram {
  std::string source;
  /// Empty: `main` is run. Otherwise it is talked to.
  std::string agent;
  std::vector<std::string> inputs;  ///< a turn each
  /// Takes over before the turn that has `taken_over_at` turns before it, with a state of another shape; empty: nothing
  /// does.
  std::string newer_source;
  std::uint64_t taken_over_at = 0;
  /// The order in which outcomes arrive makes no difference to what the program does: no branch that fails takes others
  /// along, and no budget is spent by several at once.
  bool is_confluent = true;
  bool has_branches = false;
};

/// The same seed gives the same program.
[[nodiscard]] MadeProgram make_program(std::uint64_t seed);

/// The extern whose arguments and value differ from run to run: programs show it what `now` and `random` gave.
inline constexpr const char* varying_extern = "note";

}  // namespace tenon::simulation
