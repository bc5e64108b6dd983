#pragma once

#include <string>
#include <string_view>

namespace tenon {

/// Removes white space at both ends of a text that arrives in pieces: white space is kept until more text follows.
class TrimmedStream {
 public:
  [[nodiscard]] std::string take(std::string_view piece);

 private:
  bool has_begun_ = false;
  std::string kept_;  ///< white space
};

}  // namespace tenon
