#include "server/request_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/ascii.h"
#include "server/host_name.h"

namespace tenon::server {
namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view line_end = "\r\n";
constexpr std::string_view head_end = "\r\n\r\n";

/// The fields of a head that decide where a request ends and whom it addresses.
struct FramingFields {
  std::vector<std::string_view> hosts, lengths, codings;
};

std::optional<HeadProblem> find_length_problem(const FramingFields& fields) {
  if (fields.lengths.empty()) return std::nullopt;
  if (fields.lengths.size() > 1) return HeadProblem{400, "the request has several Content-Length headers"};
  const std::string_view length = fields.lengths.front();
  const bool is_number = !length.empty() && length.find_first_not_of("0123456789") == std::string_view::npos;
  if (is_number) return std::nullopt;
  return HeadProblem{400, fmt::format("Content-Length: expected a number, got `{}`", length.substr(0, 100))};
}

std::optional<HeadProblem> find_coding_problem(const FramingFields& fields, bool is_http_1_0) {
  if (fields.codings.empty()) return std::nullopt;
  if (is_http_1_0) return HeadProblem{400, "an HTTP/1.0 request cannot have a Transfer-Encoding header"};
  if (!fields.lengths.empty()) {
    return HeadProblem{400, "the request has both a Transfer-Encoding and a Content-Length header"};
  }
  if (fields.codings.size() > 1) return HeadProblem{400, "the request has several Transfer-Encoding headers"};
  const std::string_view codings = fields.codings.front();
  if (equal_ignoring_case(codings, "chunked")) return std::nullopt;
  // Without `chunked` as the last coding, the end of the body cannot be found.
  const std::size_t comma = codings.find_last_of(',');
  const bool ends_chunked =
      comma != std::string_view::npos && equal_ignoring_case(trimmed(codings.substr(comma + 1), blanks), "chunked");
  return HeadProblem{ends_chunked ? 501 : 400,
                     fmt::format("unsupported Transfer-Encoding `{}`; `chunked` is supported", codings.substr(0, 100))};
}

std::optional<HeadProblem> find_host_problem(const FramingFields& fields, bool is_http_1_0) {
  if (fields.hosts.empty()) {
    if (is_http_1_0) return std::nullopt;
    return HeadProblem{400, "the request has no Host header"};
  }
  if (fields.hosts.size() > 1) return HeadProblem{400, "the request has several Host headers"};
  if (is_host(fields.hosts.front())) return std::nullopt;
  return HeadProblem{400, "the Host header is not a host with an optional port, such as `localhost:8080`"};
}

}  // namespace

bool is_forbidden_control(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return (value < 0x20 && byte != '\t' && byte != '\r' && byte != '\n') || value == 0x7F;
}

std::optional<Result<std::size_t, HeadProblem>> HeadScan::scan(std::string_view received) {
  const auto refused = [](std::string_view message) -> Result<std::size_t, HeadProblem> {
    return failure(HeadProblem{400, std::string(message)});
  };
  for (; scanned_ < received.size(); ++scanned_) {
    const char byte = received[scanned_];
    const char before = scanned_ == 0 ? '\0' : received[scanned_ - 1];
    if ((before == '\r') != (byte == '\n')) return refused("a line of the header does not end with CR LF");
    if (is_forbidden_control(byte)) return refused("the header contains a control character");
    if (before == '\n' && (byte == ' ' || byte == '\t')) return refused("a header is continued on a second line");
    if (byte != '\n' || !received.substr(0, scanned_ + 1).ends_with(head_end)) continue;
    const std::size_t size = ++scanned_;
    if (auto problem = find_head_problem(received.substr(0, size))) return failure(std::move(*problem));
    return size;
  }
  return std::nullopt;
}

std::optional<HeadProblem> find_head_problem(std::string_view head) {
  const std::string_view first = head.substr(0, head.find(line_end));
  const bool is_http_1_0 = first.ends_with(" HTTP/1.0");
  FramingFields fields;
  std::string_view rest = head.substr(std::min(head.size(), first.size() + line_end.size()));
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find(line_end));
    rest = rest.substr(std::min(rest.size(), line.size() + line_end.size()));
    if (line.empty()) break;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return HeadProblem{400, "a line of the header has no `:`"};
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = trimmed(line.substr(colon + 1), blanks);
    if (name.empty() || name != trimmed(name, blanks)) {
      return HeadProblem{400, "a line of the header has no name directly before its `:`"};
    }
    if (equal_ignoring_case(name, "host")) fields.hosts.push_back(value);
    if (equal_ignoring_case(name, "content-length")) fields.lengths.push_back(value);
    if (equal_ignoring_case(name, "transfer-encoding")) fields.codings.push_back(value);
  }
  if (auto problem = find_coding_problem(fields, is_http_1_0)) return problem;
  if (auto problem = find_length_problem(fields)) return problem;
  return find_host_problem(fields, is_http_1_0);
}

}  // namespace tenon::server
