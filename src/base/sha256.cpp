#include "base/sha256.h"

// The interface above these functions (EVP) takes locks for each digest, which costs as much as a short digest, and
// reads a configuration on first use.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include "base/ensure.h"

namespace tenon {
namespace {

int digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

}  // namespace

std::string Hash::hex() const {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(2 * size, '0');
  for (std::size_t at = 0; at < size; ++at) {
    text[2 * at] = digits[bytes[at] >> 4U];
    text[2 * at + 1] = digits[bytes[at] & 0x0FU];
  }
  return text;
}

std::optional<Hash> Hash::from_bytes(std::string_view raw) {
  if (raw.size() != size) return std::nullopt;
  Hash hash;
  std::memcpy(hash.bytes.data(), raw.data(), size);
  return hash;
}

std::optional<Hash> Hash::from_hex(std::string_view digits) {
  if (digits.size() != 2 * size) return std::nullopt;
  Hash hash;
  for (std::size_t at = 0; at < size; ++at) {
    const int high = digit_value(digits[2 * at]);
    const int low = digit_value(digits[2 * at + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    hash.bytes[at] = static_cast<unsigned char>(high * 16 + low);
  }
  return hash;
}

Hash sha256(std::string_view bytes) {
  return sha256(bytes, {});
}

Hash sha256(std::string_view first, std::string_view second) {
  Hash hash;
  SHA256_CTX context;
  const bool done = SHA256_Init(&context) == 1 && SHA256_Update(&context, first.data(), first.size()) == 1 &&
                    SHA256_Update(&context, second.data(), second.size()) == 1 &&
                    SHA256_Final(hash.bytes.data(), &context) == 1;
  ENSURE(done);
  return hash;
}

}  // namespace tenon
