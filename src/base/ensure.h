#pragma once

namespace tenon {

/// Prints the violated condition and its location to stderr, and ends the process.
[[noreturn]] void stop_on_broken_condition(const char* condition, const char* file, int line);

}  // namespace tenon

/// Checks a condition that only a bug in Tenon itself can violate. Enabled in every build.
#define ENSURE(condition) \
  ((condition) ? static_cast<void>(0) : ::tenon::stop_on_broken_condition(#condition, __FILE__, __LINE__))
