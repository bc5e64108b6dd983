#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "tests/support/recorded_run.h"

namespace tenon::test {

/// Generates programs that use everything the algebra supports: externs, questions, completed functions, holes, selects
/// with two clauses of one function, nested parallel blocks, caught and uncaught failures, budgets. `main(ctx:
/// Context, n: i32) -> i32`. The same seed gives the same program.
class InteractionGenerator {
 public:
  explicit InteractionGenerator(std::uint32_t seed) : random_(seed) {}
  [[nodiscard]] std::string generate();

 private:
  [[nodiscard]] std::size_t below(std::size_t end) { return random_() % end; }
  [[nodiscard]] std::string number() { return std::to_string(below(10)); }
  [[nodiscard]] std::string name() { return "v" + std::to_string(next_name_++); }
  [[nodiscard]] std::string expression(std::size_t depth);
  [[nodiscard]] std::string parallel(std::size_t depth);
  [[nodiscard]] std::string choice(std::size_t depth);
  [[nodiscard]] std::string body(std::size_t depth, std::size_t statements);

  std::mt19937 random_;
  std::size_t next_name_ = 0;
};

/// Answers depend only on the request and the seed, never on the order: numbers, choices, in `failures_percent` of the
/// cases a failure, in `silences_percent` no answer.
[[nodiscard]] RecordedAnswerer answer_by_hash(const std::shared_ptr<const runtime::ProgramImage>& image,
                                              std::uint32_t seed, std::uint32_t failures_percent,
                                              std::uint32_t silences_percent);

}  // namespace tenon::test
