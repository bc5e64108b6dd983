#pragma once

namespace tenon::test {

/// How many of `count` random cases a test tries: a sanitizer makes each several times slower, and the release build
/// tries all.
[[nodiscard]] constexpr unsigned cases(unsigned count) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return (count + 4) / 5;
#else
  return count;
#endif
}

}  // namespace tenon::test
