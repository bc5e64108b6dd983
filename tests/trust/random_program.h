#pragma once

#include <cstdint>
#include <string>

namespace tenon::test {

/// The text of a program that decides on what externs return in many ways, and passes texts on to `sink`: functions
/// with loops and early returns, an agent with a state, closures, matches. It ends, and never fails, whatever the
/// externs `flag`, `count` and `word` return. The same seed gives the same program.
[[nodiscard]] std::string make_random_program(std::uint64_t seed);

/// How many seeds a test tries: 200, or what the environment's TENON_TRUST_PROGRAMS says.
[[nodiscard]] std::uint64_t random_program_count();

}  // namespace tenon::test
