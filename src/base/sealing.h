#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/sha256.h"

namespace tenon {

/// 32 bytes that seal and open. Nothing prints it; its memory is wiped.
class SealingKey {
 public:
  static constexpr std::size_t size = 32;

  /// Of `size` raw bytes; nothing for any other number.
  [[nodiscard]] static std::optional<SealingKey> from_bytes(std::string_view raw);
  /// Of 64 hexadecimal digits, as TENON_SECRET_KEY and a key file have it; blanks around them are no part of it.
  [[nodiscard]] static std::optional<SealingKey> from_hex(std::string_view digits);
  /// A new one, of the system's random numbers.
  [[nodiscard]] static SealingKey random();

  SealingKey(const SealingKey&) = default;
  SealingKey& operator=(const SealingKey&) = default;
  ~SealingKey();

  /// 64 hexadecimal digits: for the file that keeps it, and for nothing else.
  [[nodiscard]] std::string reveal_hex() const;
  /// Tells keys apart and says nothing of them: 16 hexadecimal digits.
  [[nodiscard]] std::string id() const;
  /// HMAC-SHA-256 of the bytes: a hash that only who has the key can compute, so that what is hashed cannot be guessed.
  [[nodiscard]] Hash keyed_hash(std::string_view purpose, std::string_view bytes) const;

 private:
  SealingKey() = default;

  std::array<unsigned char, size> bytes_{};
};

/// The bytes under AES-256-GCM. `bound`: what has to be the same when they are opened; it is no part of the result. The
/// nonce is an HMAC of both (a synthetic one, as in RFC 5297): the same bytes under the same key and bounds are the
/// same result, so that doing it again after a crash changes nothing, and no source of random numbers can fail.
[[nodiscard]] std::string seal(const SealingKey& key, std::string_view bytes, std::string_view bound);
/// Nothing for another key, other bounds or changed bytes.
[[nodiscard]] std::optional<std::string> open_sealed(const SealingKey& key, std::string_view sealed,
                                                     std::string_view bound);

/// Base 64 with `+` and `/`, padded (RFC 4648).
[[nodiscard]] std::string to_base64(std::string_view bytes);
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace tenon
