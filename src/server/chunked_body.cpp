#include "server/chunked_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/ascii.h"

namespace tenon::server {
namespace {

/// As many digits as a number of 64 bits has; leading zeros count.
constexpr std::size_t size_digits_max = 16;
constexpr std::size_t line_end_bytes = 2;
constexpr std::string_view chunk_blanks = " \t";

/// What a trailer must not be (RFC 9110 section 6.5.1): it says where the body ends, whom the request addresses, who
/// sends it, how it is treated, or what the body is. By then all this has been decided.
constexpr std::array<std::string_view, 31> not_trailers = {"authorization",
                                                           "cache-control",
                                                           "connection",
                                                           "content-encoding",
                                                           "content-length",
                                                           "content-range",
                                                           "content-type",
                                                           "cookie",
                                                           "expect",
                                                           "host",
                                                           "if-match",
                                                           "if-modified-since",
                                                           "if-none-match",
                                                           "if-range",
                                                           "if-unmodified-since",
                                                           "keep-alive",
                                                           "max-forwards",
                                                           "origin",
                                                           "pragma",
                                                           "proxy-authenticate",
                                                           "proxy-authorization",
                                                           "proxy-connection",
                                                           "range",
                                                           "set-cookie",
                                                           "te",
                                                           "trailer",
                                                           "transfer-encoding",
                                                           "upgrade",
                                                           "via",
                                                           "www-authenticate",
                                                           "x-forwarded-for"};

Result<void, HeadProblem> chunk_refusal(std::string message) {
  return failure(HeadProblem{400, std::move(message)});
}

/// The value of a hexadecimal digit; nothing for another character.
std::optional<std::uint64_t> hexadecimal_value(char byte) {
  const char lower = to_lower(byte);
  if (is_digit(byte)) return static_cast<std::uint64_t>(byte - '0');
  if (lower >= 'a' && lower <= 'f') return static_cast<std::uint64_t>(lower - 'a' + 10);
  return std::nullopt;
}

}  // namespace

Result<std::size_t, HeadProblem> ChunkedBody::take(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size() && part_ != Part::End) {
    if (part_ == Part::Data) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size() - at));
      body_.append(bytes.substr(at, size));
      at += size;
      left_ -= size;
      if (left_ == 0) part_ = Part::DataEnd;
      continue;
    }
    if (auto taken = take_byte_of_line(bytes[at]); !taken) return failure(std::move(taken.error()));
    ++at;
  }
  return at;
}

Result<void, HeadProblem> ChunkedBody::take_byte_of_line(char byte) {
  if (has_cr_ != (byte == '\n')) return chunk_refusal("a line of the chunked body does not end with CR LF");
  has_cr_ = byte == '\r';
  if (has_cr_) return {};
  if (byte == '\n') return end_line();
  if (is_forbidden_control(byte))
    return chunk_refusal("the chunked body contains a control character outside of its chunks");
  if (part_ == Part::DataEnd) return chunk_refusal("a chunk is longer than its size");
  if (part_ == Part::Size && hexadecimal_value(byte)) return take_byte_of_size(byte);
  if (part_ == Part::Trailer) {
    trailer_ += byte;
  } else if (byte == ';' && digits_ > 0) {
    part_ = Part::Extension;
  } else if (part_ != Part::Extension) {
    const bool is_blank = chunk_blanks.find(byte) != std::string_view::npos;
    if (digits_ == 0 || !is_blank) return chunk_refusal("the size of a chunk: expected hexadecimal digits");
    part_ = Part::BeforeExtension;
  }
  return count(1);
}

Result<void, HeadProblem> ChunkedBody::take_byte_of_size(char byte) {
  if (++digits_ > size_digits_max)
    return chunk_refusal(fmt::format("the size of a chunk has more than {} digits", size_digits_max));
  left_ = left_ * 16 + *hexadecimal_value(byte);
  return {};
}

Result<void, HeadProblem> ChunkedBody::end_line() {
  if (part_ == Part::Trailer) return read_trailer();
  if (part_ == Part::DataEnd) {
    part_ = Part::Size;
    digits_ = 0;
    return {};
  }
  if (digits_ == 0) return chunk_refusal("the size of a chunk: expected hexadecimal digits");
  if (left_ > body_bytes_max_ - body_.size()) return failure(HeadProblem{413, ""});
  part_ = left_ == 0 ? Part::Trailer : Part::Data;
  return {};
}

Result<void, HeadProblem> ChunkedBody::read_trailer() {
  if (trailer_.empty()) {
    part_ = Part::End;
    return {};
  }
  const std::size_t colon = trailer_.find(':');
  const std::string_view name = std::string_view(trailer_).substr(0, colon);
  if (colon == std::string::npos || name.empty() || name != trimmed(name, chunk_blanks))
    return chunk_refusal("a trailer of the chunked body has no name directly before its `:`");
  if (std::ranges::find(not_trailers, lower_case(name)) != not_trailers.end())
    return chunk_refusal(fmt::format("`{}` cannot be a trailer; send it in the header of the request", name));
  trailer_.clear();
  return count(line_end_bytes);
}

Result<void, HeadProblem> ChunkedBody::count(std::size_t bytes) {
  if (bytes > header_bytes_left_) return failure(HeadProblem{431, ""});
  header_bytes_left_ -= bytes;
  return {};
}

}  // namespace tenon::server
