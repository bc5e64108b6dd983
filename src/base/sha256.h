#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

/// A SHA-256 digest (FIPS 180-4), compared as bytes.
struct Hash {
  static constexpr std::size_t size = 32;
  std::array<unsigned char, size> bytes{};

  friend auto operator<=>(const Hash&, const Hash&) = default;
  [[nodiscard]] std::string_view view() const { return {reinterpret_cast<const char*>(bytes.data()), size}; }
  [[nodiscard]] bool is_zero() const { return *this == Hash{}; }
  /// 64 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() const;
  /// From 32 raw bytes; nothing for any other size.
  [[nodiscard]] static std::optional<Hash> from_bytes(std::string_view raw);
  [[nodiscard]] static std::optional<Hash> from_hex(std::string_view digits);
};

[[nodiscard]] Hash sha256(std::string_view bytes);
/// The hash of the concatenation of both.
[[nodiscard]] Hash sha256(std::string_view first, std::string_view second);

}  // namespace tenon

template <>
struct std::hash<tenon::Hash> {
  std::size_t operator()(const tenon::Hash& digest) const noexcept {
    std::size_t first = 0;  // any part of a digest is a good hash
    std::memcpy(&first, digest.bytes.data(), sizeof first);
    return first;
  }
};
