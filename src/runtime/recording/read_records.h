#pragma once

#include <cstdint>

namespace tenon::runtime {

/// Which records of a run without a store are made: those that a listener reads.
enum class ReadRecords : std::uint8_t { None, Emitted, All };

}  // namespace tenon::runtime
