#pragma once

#include <stdexcept>

namespace tenon::report {

/// Why there is no report, for people. Ends the call that asked for it.
class RenderError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tenon::report
