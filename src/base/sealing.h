#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/sha256.h"

namespace tenon {

/// A key of 32 bytes that encrypts and decrypts. It is never printed, and its memory is wiped.
class SealingKey {
 public:
  static constexpr std::size_t size = 32;

  /// From 32 raw bytes; nothing for any other size.
  [[nodiscard]] static std::optional<SealingKey> from_bytes(std::string_view raw);
  /// From 64 hexadecimal digits, as in TENON_SECRET_KEY and in a key file; white space around them is ignored.
  [[nodiscard]] static std::optional<SealingKey> from_hex(std::string_view digits);
  /// A new key from the system's random numbers.
  [[nodiscard]] static SealingKey random();

  SealingKey(const SealingKey&) = default;
  SealingKey& operator=(const SealingKey&) = default;
  ~SealingKey();

  /// 64 hexadecimal digits: only for the file that stores the key.
  [[nodiscard]] std::string reveal_hex() const;
  /// Identifies the key without revealing it: 16 hexadecimal digits.
  [[nodiscard]] std::string id() const;
  /// HMAC-SHA-256 of the bytes: only the owner of the key can compute this hash, so its input cannot be guessed.
  [[nodiscard]] Hash keyed_hash(std::string_view purpose, std::string_view bytes) const;

 private:
  SealingKey() = default;

  std::array<unsigned char, size> bytes_{};
};

/// Encrypts the bytes with AES-256-GCM. `bound` must be the same for decryption; it is not part of the result. The
/// nonce is an HMAC of both (synthetic, as in RFC 5297): equal bytes with an equal key and equal bounds have an equal
/// result. So repeating it after a crash does not change anything, and no source of random numbers can fail.
[[nodiscard]] std::string seal(const SealingKey& key, std::string_view bytes, std::string_view bound);
/// Nothing if the key, the bounds or the bytes differ.
[[nodiscard]] std::optional<std::string> open_sealed(const SealingKey& key, std::string_view sealed,
                                                     std::string_view bound);

/// Base64 with `+` and `/`, padded (RFC 4648).
[[nodiscard]] std::string to_base64(std::string_view bytes);
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace tenon
