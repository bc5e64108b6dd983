#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::vm {

/// The length of a string in bytes. An operation that would exceed it fails with `Index`.
inline constexpr std::size_t text_bytes_max = 256U * 1024U * 1024U;
/// The length of a list or map. An operation that would exceed it fails with `Index`.
inline constexpr std::size_t list_items_max = 16U * 1024U * 1024U;
/// The nesting that rendering, JSON and conversions support. Deeper values can exist, but cannot be shown.
inline constexpr std::size_t value_depth_max = 10'000;
/// The maximum size of a compiled pattern in bytes; a pattern that needs more is rejected.
inline constexpr std::int64_t pattern_memory_max = 8 * 1024 * 1024;

}  // namespace tenon::vm
