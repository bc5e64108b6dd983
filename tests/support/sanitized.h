#pragma once

namespace tenon::test {

/// Whether this is a build with a sanitizer (cmake/options.cmake); each of them replaces the heap.
#ifdef TENON_SANITIZED
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

/// The number of random cases that a test tries: all `count` in a release build, fewer with a sanitizer, which makes
/// each several times slower.
[[nodiscard]] constexpr unsigned cases(unsigned count) {
  return is_sanitized ? (count + 7) / 8 : count;
}

}  // namespace tenon::test
