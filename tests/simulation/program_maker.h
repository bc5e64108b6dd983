#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::simulation {

/// A program that uses every kind of effect, small enough to be run a hundred times.
struct MadeProgram {
  std::string source;
  /// Empty: `main` is run. Otherwise the agent of the conversation.
  std::string agent;
  std::vector<std::string> inputs;  ///< one turn each
  /// The run is upgraded to this program after `upgraded_at` turns, with a state of another shape; empty: no upgrade.
  std::string newer_source;
  std::uint64_t upgraded_at = 0;
  /// The program does the same in any order of outcomes: no failing branch cancels others, and no budget is shared by
  /// concurrent branches.
  bool is_confluent = true;
  bool has_branches = false;
};

/// The same seed gives the same program.
[[nodiscard]] MadeProgram make_program(std::uint64_t seed);

/// The extern whose arguments and value differ from run to run: programs pass it the values of `now` and `random`.
inline constexpr const char* varying_extern = "note";

/// With what the name of a step begins that is the first or the last one of a `shield` block; the rest is the same.
inline constexpr std::string_view shield_begins = "enter", shield_ends = "leave";

/// The externs that are called at most once.
inline constexpr std::array<std::string_view, 2> once_externs{"charge", "gamble"};

}  // namespace tenon::simulation
