#include "server/http_message.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "json/writer.h"
#include "server/host_name.h"

namespace tenon::server {
namespace {

std::optional<int> hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return std::nullopt;
}

std::optional<std::string> decode_percent(std::string_view text, bool plus_is_space) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '+' && plus_is_space) {
      decoded += ' ';
    } else if (text[at] != '%') {
      decoded += text[at];
    } else {
      if (at + 2 >= text.size()) return std::nullopt;
      const auto high = hex_value(text[at + 1]);
      const auto low = hex_value(text[at + 2]);
      if (!high || !low) return std::nullopt;
      decoded += static_cast<char>(*high * 16 + *low);
      at += 2;
    }
  }
  return decoded;
}

}  // namespace

const std::string* HttpRequest::find_header(std::string_view name) const {
  const auto found = headers.find(std::string(name));
  return found == headers.end() ? nullptr : &found->second;
}

std::string_view HttpRequest::header(std::string_view name) const {
  const std::string* const value = find_header(name);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

void resolve_absolute_target(HttpRequest& request) {
  constexpr std::string_view scheme = "http://";
  const std::string_view target = request.target;
  if (!equal_ignoring_case(target.substr(0, scheme.size()), scheme)) return;
  const std::size_t end = std::min(target.find_first_of("/?", scheme.size()), target.size());
  std::string host(target.substr(scheme.size(), end - scheme.size()));
  std::string path(target.substr(end));
  if (host.empty() || !is_host(host)) return;
  if (!path.starts_with('/')) path.insert(0, "/");
  request.headers["host"] = std::move(host);
  request.target = std::move(path);
}

std::optional<Target> parse_target(std::string_view target) {
  if (target.empty() || target.front() != '/') return std::nullopt;
  if (const auto fragment = target.find('#'); fragment != std::string_view::npos) target = target.substr(0, fragment);
  Target result;
  const std::size_t question = target.find('?');
  std::string_view path = target.substr(1, question == std::string_view::npos ? question : question - 1);
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    auto segment = decode_percent(path.substr(0, slash), false);
    if (!segment) return std::nullopt;
    result.path.push_back(std::move(*segment));
    if (slash == std::string_view::npos) break;
    path = path.substr(slash + 1);
  }
  if (question == std::string_view::npos) return result;
  std::string_view query = target.substr(question + 1);
  while (!query.empty()) {
    const std::size_t ampersand = query.find('&');
    const std::string_view pair = query.substr(0, ampersand);
    const std::size_t equals = pair.find('=');
    auto name = decode_percent(pair.substr(0, equals), true);
    auto value = decode_percent(equals == std::string_view::npos ? "" : pair.substr(equals + 1), true);
    if (!name || !value) return std::nullopt;
    if (!name->empty()) {
      const auto [added, is_new] = result.query.emplace(std::move(*name), std::move(*value));
      if (!is_new) result.repeated = added->first;
    }
    if (ampersand == std::string_view::npos) break;
    query = query.substr(ampersand + 1);
  }
  return result;
}

HttpResponse make_error(int status, std::string_view code, std::string_view message, std::string_view param) {
  HttpResponse response;
  response.status = status;
  if (status == 409 || status == 500) response.headers.emplace_back("X-Should-Retry", "false");
  JsonWriter out(response.body);
  out.begin_object().name("error").begin_object().name("message").text(message);
  out.name("type").text(status < 500 ? "invalid_request_error" : "server_error");
  if (!param.empty()) out.name("param").text(param);
  out.name("code").text(code).end_object().end_object();
  response.body += '\n';
  return response;
}

HttpAnswer whole(HttpResponse response) {
  return {std::move(response), nullptr, true};
}

HttpResponse make_json(std::string body, int status) {
  HttpResponse response;
  response.status = status;
  response.body = std::move(body) + "\n";
  return response;
}

std::string make_sse(std::optional<std::uint64_t> id, std::string_view data) {
  std::string text;
  if (id) text = fmt::format("id: {}\n", *id);
  text += "data: ";
  text += data;
  text += "\n\n";
  return text;
}

bool equal_in_constant_time(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0U : 1U;
  for (std::size_t at = 0; at < given.size(); ++at) {
    const char expected = secret.empty() ? '\0' : secret[at % secret.size()];
    difference |= static_cast<unsigned>(static_cast<unsigned char>(given[at]) ^ static_cast<unsigned char>(expected));
  }
  return difference == 0 && !secret.empty();
}

}  // namespace tenon::server
