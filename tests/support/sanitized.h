#pragma once

namespace tenon::test {

/// The number of random cases that a test tries: all `count` in a release build, fewer with a sanitizer, which makes
/// each several times slower.
[[nodiscard]] constexpr unsigned cases(unsigned count) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return (count + 4) / 5;
#else
  return count;
#endif
}

}  // namespace tenon::test
