#pragma once

#include <exception>
#include <string>
#include <utility>

namespace tenon {

/// A condition that only a bug in Tenon itself can violate does not hold. It leaves objects in an unknown state: what
/// owns them stops using them and reports the message; see docs/internals/engine.md.
class BrokenCondition final : public std::exception {
 public:
  explicit BrokenCondition(std::string message) : message_(std::move(message)) {}
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// Throws BrokenCondition with the condition and its location.
[[noreturn]] void throw_broken_condition(const char* condition, const char* file, int line);

}  // namespace tenon

/// Checks a condition that only a bug in Tenon itself can violate. Enabled in every build.
#define ENSURE(condition) \
  ((condition) ? static_cast<void>(0) : ::tenon::throw_broken_condition(#condition, __FILE__, __LINE__))
