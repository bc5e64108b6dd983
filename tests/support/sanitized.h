#pragma once

namespace tenon::test {

/// Whether this is a build with a sanitizer that replaces the heap.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

/// The number of random cases that a test tries: all `count` in a release build, fewer with a sanitizer, which makes
/// each several times slower.
[[nodiscard]] constexpr unsigned cases(unsigned count) {
  return is_sanitized ? (count + 4) / 5 : count;
}

}  // namespace tenon::test
