#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/request_head.h"

namespace tenon::server {

/// Reads a body in chunks (RFC 9112 section 7.1) while its bytes arrive. As for the head, everything unclear is refused
/// (400). Extensions of chunks and trailers are ignored, but limited: they count as a part of the header (431).
class ChunkedBody {
 public:
  /// `body_bytes_max`: of the chunks together. `header_bytes`: what the extensions and the trailers may have together.
  ChunkedBody(std::size_t body_bytes_max, std::size_t header_bytes)
      : body_bytes_max_(body_bytes_max), header_bytes_left_(header_bytes) {}

  /// Takes the bytes that have arrived since the last call, and returns how many of them belong to the body: all, until
  /// it `is_complete`. The statuses of a problem: 400, 413 for too large a body, 431.
  [[nodiscard]] Result<std::size_t, HeadProblem> take(std::string_view bytes);
  [[nodiscard]] bool is_complete() const { return part_ == Part::End; }
  /// The chunks that have arrived.
  [[nodiscard]] std::string& body() { return body_; }

 private:
  enum class Part : std::uint8_t { Size, BeforeExtension, Extension, Data, DataEnd, Trailer, End };

  [[nodiscard]] Result<void, HeadProblem> take_byte_of_line(char byte);
  [[nodiscard]] Result<void, HeadProblem> take_byte_of_size(char byte);
  [[nodiscard]] Result<void, HeadProblem> end_line();
  [[nodiscard]] Result<void, HeadProblem> read_trailer();
  /// Counts bytes as a part of the header.
  [[nodiscard]] Result<void, HeadProblem> count(std::size_t bytes);

  const std::size_t body_bytes_max_;
  std::size_t header_bytes_left_;
  Part part_ = Part::Size;
  bool has_cr_ = false;     ///< the line's last byte is a CR
  std::size_t digits_ = 0;  ///< of the size
  std::uint64_t left_ = 0;  ///< of the chunk, in bytes; of a size what its digits say
  std::string trailer_;     ///< the line, without its end
  std::string body_;
};

}  // namespace tenon::server
