#pragma once

#include <cstdint>
#include <string>

namespace tenon::test {

enum class Constructs : bool {
  ThatNeverFail,  ///< functions, loops, early returns, an agent with a state, closures, matches, parallel loops
  All,            ///< failures, contexts, models, tools, budgets, records, maps and what makes values trusted, too
};

/// The text of a program that decides on what externs return in many ways, and passes texts on to `sink`. It ends,
/// whatever the externs `flag`, `count` and `word` return. The same seed gives the same program. With all constructs,
/// it also uses what `proofs_test.cpp` declares.
[[nodiscard]] std::string make_random_program(std::uint64_t seed, Constructs constructs);

/// How many seeds a test tries: 200, or what the environment's TENON_TRUST_PROGRAMS says.
[[nodiscard]] std::uint64_t random_program_count();

}  // namespace tenon::test
