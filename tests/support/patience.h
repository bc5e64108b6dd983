#pragma once

#include <chrono>

namespace tenon::test {

/// How long a test waits for what must happen. Only a test that fails takes that long: the machine may be busy, and a
/// build with a sanitizer is several times slower.
inline constexpr std::chrono::seconds patience{60};

}  // namespace tenon::test
