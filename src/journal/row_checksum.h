#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tenon::journal {

/// FNV-1a with 64 bits: a change of a single byte always changes it.
/// http://www.isthe.com/chongo/tech/comp/fnv/
class RowChecksum {
 public:
  RowChecksum& add(std::uint64_t value) {
    std::size_t bytes = 0;
    for (; value != 0; value >>= 8U, ++bytes) add_byte(static_cast<unsigned char>(value));
    value_ *= prime_powers[8 - bytes];  // bytes that are zero only multiply
    return *this;
  }
  RowChecksum& add(std::int64_t value) { return add(static_cast<std::uint64_t>(value)); }
  RowChecksum& add(std::string_view bytes) {
    add(std::uint64_t{bytes.size()});
    for (const char byte : bytes) add_byte(static_cast<unsigned char>(byte));
    return *this;
  }
  [[nodiscard]] std::int64_t value() const { return static_cast<std::int64_t>(value_); }

 private:
  static constexpr std::uint64_t prime = 0x100000001b3U;
  static constexpr std::array<std::uint64_t, 9> prime_powers = [] {
    std::array<std::uint64_t, 9> powers{1};
    for (std::size_t at = 1; at < powers.size(); ++at) powers[at] = powers[at - 1] * prime;
    return powers;
  }();

  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * prime; }

  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace tenon::journal
