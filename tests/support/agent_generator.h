#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "graph/edit.h"

namespace tenon::test {

/// Generates agents of blocks with valid edges, in layouts that the formatter would change, with comments between all
/// parts. The same seed gives the same agents.
class AgentGenerator {
 public:
  explicit AgentGenerator(std::uint32_t seed) : random_(seed) {}
  [[nodiscard]] std::string generate();

 private:
  [[nodiscard]] std::size_t below(std::size_t end) { return random_() % end; }
  [[nodiscard]] bool chance(std::size_t one_in) { return below(one_in) == 0; }
  void line(const std::string& text);
  void comment();
  void sequence(std::size_t count_max);
  void block(const std::string& name, const std::vector<std::string>& names);
  void edges(const std::string& kind, const std::vector<std::string>& names);

  std::mt19937 random_;
  std::string out_;
  std::size_t depth_ = 0;
  std::size_t count_ = 0;
};

/// A random edit of a random agent of the text, which is not necessarily valid.
[[nodiscard]] graph::Edit random_edit(const std::string& text, std::mt19937& random);

}  // namespace tenon::test
