#include "server/http_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/url/parse.hpp>

#include "base/ascii.h"
#include "json/writer.h"
#include "server/host_name.h"

namespace tenon::server {

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
  const auto url = boost::urls::parse_origin_form(target);
  if (!url) return std::nullopt;
  Target result;
  std::string_view path = url->encoded_path();
  while (path.size() > 1) {
    const std::string_view segment = path.substr(1, path.find('/', 1) - 1);
    result.path.push_back(boost::urls::pct_string_view(segment).decode());
    path.remove_prefix(1 + segment.size());
  }
  boost::urls::encoding_opts as_form;
  as_form.space_as_plus = true;
  for (const auto& parameter : url->params(as_form)) {
    if (parameter.key.empty()) continue;
    const auto [added, is_new] = result.query.emplace(parameter.key, parameter.value);
    if (!is_new) result.repeated = added->first;
  }
  return result;
}

HttpResponse make_error(int status, std::string_view code, std::string_view message, std::string_view param) {
  HttpResponse response;
  response.status = status;
  if (status == 409 || status == 500) response.headers.emplace_back("X-Should-Retry", "false");
  if (status == 503) response.headers.emplace_back("Retry-After", "1");
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
