#include <sys/random.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <tuple>

#include "base/ensure.h"
#include "journal/store.h"

namespace tenon::journal {
namespace {

constexpr std::string_view digits = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::array<bool, 256> is_digit = [] {
  std::array<bool, 256> result{};
  for (const char digit : digits) result[static_cast<unsigned char>(digit)] = true;
  return result;
}();

/// The parts of a UUID version 7 that are not fixed.
struct NameParts {
  std::uint64_t milliseconds = 0;  ///< 48 bits
  std::uint64_t high = 0;          ///< 12 bits
  std::uint64_t low = 0;           ///< 62 bits
};

NameParts random_parts(std::uint64_t milliseconds) {
  std::array<std::uint64_t, 2> bits{};
  auto* const bytes = reinterpret_cast<char*>(bits.data());
  for (std::size_t filled = 0; filled < sizeof bits;) {
    const ssize_t size = getrandom(bytes + filled, sizeof bits - filled, 0);
    if (size > 0) filled += static_cast<std::size_t>(size);  // a signal may cut it short
  }
  return {milliseconds, bits[0] >> 52U, bits[1] >> 2U};
}

std::string text_of(const NameParts& parts) {
  const std::uint64_t upper = (parts.milliseconds << 16U) | (0x7ULL << 12U) | parts.high;
  const std::uint64_t lower = (0x2ULL << 62U) | parts.low;
  // 128 bits as 26 digits of 5 bits, so the first digit has only 3.
  __extension__ using Wide = unsigned __int128;
  Wide rest = (static_cast<Wide>(upper) << 64U) | lower;
  std::string text(run_name_bytes, '0');
  for (std::size_t at = run_name_bytes; at-- > 0; rest >>= 5U) text[at] = digits[static_cast<std::size_t>(rest & 31U)];
  return text;
}

NameParts parts_of(std::string_view text) {
  __extension__ using Wide = unsigned __int128;
  Wide bits = 0;
  for (const char digit : text) bits = (bits << 5U) | digits.find(digit);
  const auto upper = static_cast<std::uint64_t>(bits >> 64U);
  return {upper >> 16U, upper & 0xFFFU, static_cast<std::uint64_t>(bits) & ((1ULL << 62U) - 1)};
}

/// A name of a later time leaves no room for those after it.
constexpr std::uint64_t last_followed_ms = 0xFFFF'FFFF'FFFFULL - std::uint64_t{24} * 60 * 60 * 1000;

/// The newest name that this process has made or is to follow.
struct NewestName {
  std::mutex mutex;
  NameParts parts;
};

NewestName& newest_name() {
  static NewestName newest;
  return newest;
}

}  // namespace

void make_run_names_after(const RunName& newest) {
  if (!is_run_name(newest.text)) return;
  NameParts parts = parts_of(newest.text);
  if (parts.milliseconds > last_followed_ms) return;
  if (text_of(parts) < newest.text) ++parts.milliseconds;  // it has other fixed bits than a UUID version 7
  const std::scoped_lock lock(newest_name().mutex);
  NameParts& last = newest_name().parts;
  const auto place = [](const NameParts& of) { return std::tie(of.milliseconds, of.high, of.low); };
  if (place(last) < place(parts)) last = parts;
}

RunName make_run_name(std::int64_t now_ms) {
  std::mutex& mutex = newest_name().mutex;
  NameParts& last = newest_name().parts;
  const auto milliseconds = static_cast<std::uint64_t>(now_ms) & 0xFFFF'FFFF'FFFFULL;
  const std::scoped_lock lock(mutex);
  if (milliseconds > last.milliseconds) {
    last = random_parts(milliseconds);
  } else {  // within one millisecond, or after the clock went back: a step of random width, carried upwards
    last.low += 1 + (random_parts(0).low >> 30U);
    if (last.low >> 62U != 0) {
      last.low &= (1ULL << 62U) - 1;
      if (++last.high >> 12U != 0) {
        last.high = 0;
        ++last.milliseconds;
      }
    }
  }
  return {text_of(last)};
}

bool is_run_name(std::string_view text) {
  if (text.size() != run_name_bytes || text.front() > '7') return false;
  return std::ranges::all_of(text, [](char digit) { return is_digit[static_cast<unsigned char>(digit)]; });
}

std::optional<RunName> find_name(const RunName& damaged, const Hash& chain) {
  if (chain_start(damaged) == chain) return damaged;
  for (std::size_t at = 0; at < damaged.text.size(); ++at) {
    RunName name = damaged;
    for (const char digit : digits) {
      name.text[at] = digit;
      if (is_run_name(name.text) && chain_start(name) == chain) return name;
    }
  }
  return std::nullopt;
}

}  // namespace tenon::journal
