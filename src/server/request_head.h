#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

/// The rules of RFC 9112 for the head of a request, checked on its bytes. A proxy in front of the server may read an
/// unclear head differently and see another number of requests, so everything unclear is refused, not repaired.
namespace tenon::server {

/// Why a head is refused. The connection must be closed after the response.
struct HeadProblem {
  int status = 400;  ///< 501 for a transfer coding that the server does not support
  std::string message;
  friend bool operator==(const HeadProblem&, const HeadProblem&) = default;
};

/// Finds the end of one request's head while its bytes arrive.
class HeadScan {
 public:
  /// `received`: everything from the request's first byte, which each call may extend. Returns the size of the head in
  /// bytes, including the empty line; a problem as soon as one is visible; nothing while the end has not arrived.
  [[nodiscard]] std::optional<Result<std::size_t, HeadProblem>> scan(std::string_view received);

 private:
  std::size_t scanned_ = 0;
};

/// Whether a line of a request, of its head or around its chunks, must not have the byte: a control character except a
/// tab and those of the line's end.
[[nodiscard]] bool is_forbidden_control(char byte);

/// What is wrong with the fields of a whole head: `Host`, and how the body is framed.
[[nodiscard]] std::optional<HeadProblem> find_head_problem(std::string_view head);

}  // namespace tenon::server
