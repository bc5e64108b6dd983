#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::vm {

/// One text's length in bytes. Above it, what would make it fails with `Index`.
inline constexpr std::size_t text_bytes_max = 256U * 1024U * 1024U;
/// One list's or map's length. Above it, what would make it fails with `Index`.
inline constexpr std::size_t list_items_max = 16U * 1024U * 1024U;
/// Nesting that rendering, JSON and conversions follow. Deeper values exist, but cannot be shown.
inline constexpr std::size_t value_depth_max = 10'000;
/// What a compiled pattern may take, in bytes; one that needs more is refused.
inline constexpr std::int64_t pattern_memory_max = 8 * 1024 * 1024;

}  // namespace tenon::vm
