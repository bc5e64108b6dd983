#pragma once

#include <stdexcept>

namespace tenon::report {

/// The reason why a report cannot be written, for users. Fails the call.
class RenderError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tenon::report
