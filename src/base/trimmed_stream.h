#pragma once

#include <string>
#include <string_view>

namespace tenon {

/// A text that comes in pieces, without the white space around it: what may be its end is kept until more follows.
class TrimmedStream {
 public:
  [[nodiscard]] std::string take(std::string_view piece);

 private:
  bool has_begun_ = false;
  std::string kept_;  ///< white space
};

}  // namespace tenon
