#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::test {

enum class Constructs : std::uint8_t {
  ThatNeverFail,  ///< functions, loops, early returns, an agent with a state, closures, matches, parallel loops
  NoWaysUp,       ///< failures, contexts, models, tools, budgets, records and maps, too
  All,            ///< and what makes values trusted
};

/// The text of a program that decides on what externs return in many ways, and passes texts on to `sink`. It ends,
/// whatever the externs `flag`, `count` and `word` return. The same seed gives the same program. With all constructs,
/// it also uses what `declarations_of_random_programs` declares.
[[nodiscard]] std::string make_random_program(std::uint64_t seed, Constructs constructs);

/// `type`: of what `sink` gets: `trusted String`, or `String`, so that nothing is refused.
[[nodiscard]] std::string declarations_of_random_programs(std::string_view type);

/// How many seeds a test tries: 200, or what the environment's TENON_TRUST_PROGRAMS says.
[[nodiscard]] std::uint64_t random_program_count();

}  // namespace tenon::test
