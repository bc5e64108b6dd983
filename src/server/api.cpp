// Finds the route of a request, and refuses requests before a route handles them.
#include "server/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "diagnostics/nearest.h"
#include "engine/store_access.h"
#include "json/reader.h"
#include "json/text.h"
#include "server/host_name.h"
#include "server/routes.h"

namespace tenon::server {

namespace {

constexpr std::string_view not_a_path =
    "the request's target is not a path with an optional query; percent-encode other characters, such as `#` as `%23`";

/// TOKEN of `Bearer TOKEN`; empty for another scheme.
std::string_view bearer_token(std::string_view authorization) {
  const std::size_t blank = authorization.find(' ');
  if (blank == std::string_view::npos || !equal_ignoring_case(authorization.substr(0, blank), "bearer")) return {};
  const std::size_t begin = authorization.find_first_not_of(' ', blank);
  return begin == std::string_view::npos ? std::string_view() : authorization.substr(begin);
}

bool is_json(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return equal_ignoring_case(type, "application/json");
}

/// Why the query cannot be used: a parameter that the route does not have, or one that appears twice.
std::optional<std::string> find_query_problem(const Target& target, const Route& route) {
  if (target.repeated) return fmt::format("query parameter `{}` appears more than once", *target.repeated);
  std::vector<std::string_view> names;
  for (std::string_view rest = route.query; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    names.push_back(word.substr(0, word.find(':')));
    rest = rest.substr(std::min(rest.size(), word.size() + 1));
  }
  for (const auto& [name, value] : target.query) {
    if (std::ranges::find(names, name) != names.end()) continue;
    const auto nearest = diagnostics::find_nearest(name, names);
    return fmt::format("unknown query parameter `{}`; {}", name,
                       nearest         ? fmt::format("did you mean `{}`?", *nearest)
                       : names.empty() ? "this path takes none"
                                       : fmt::format("this path takes {}", fmt::join(names, ", ")));
  }
  return std::nullopt;
}

/// The segments that match the pattern's `{…}`; nothing when the path does not match.
std::optional<std::vector<std::string>> match(std::string_view pattern, const std::vector<std::string>& path) {
  std::vector<std::string> names;
  std::size_t at = 0;
  pattern = pattern.substr(1);
  while (!pattern.empty()) {
    const std::size_t slash = pattern.find('/');
    const std::string_view part = pattern.substr(0, slash);
    if (at >= path.size()) return std::nullopt;
    if (part.front() == '{') {
      if (path[at].empty()) return std::nullopt;
      names.push_back(path[at]);
    } else if (part != path[at]) {
      return std::nullopt;
    }
    ++at;
    pattern = slash == std::string_view::npos ? std::string_view() : pattern.substr(slash + 1);
  }
  if (at != path.size()) return std::nullopt;
  return names;
}

/// Why a request is not of this machine, or of a page of another origin.
std::optional<HttpResponse> refuse_origin(const HttpRequest& request, const Route& route, bool is_studio) {
  const std::string_view host = request.header("host");
  if (!is_local_host(host)) {
    return make_error(
        403, "forbidden",
        !is_studio ? "without a token this server answers only requests to `localhost`; start it with --token-env"
                   : "the studio answers only requests to `localhost`");
  }
  if (equal_ignoring_case(request.header("sec-fetch-site"), "cross-site")) {
    return make_error(403, "forbidden", "cross-site requests require a token");
  }
  const std::string* const origin = request.find_header("origin");
  if (origin == nullptr) return std::nullopt;
  const bool is_allowed = route.method == "GET" && !is_studio
                              ? is_local_origin(*origin)
                              : equal_ignoring_case(*origin, "http://" + std::string(host));
  if (is_allowed) return std::nullopt;
  return make_error(403, "forbidden",
                    fmt::format("requests from another origin (`{}`) require a token", origin->substr(0, 200)));
}

}  // namespace

/// Checks who sends the request. Without a token the server answers only this machine, and no web page of another
/// origin that a browser on it shows: such a page can send a POST without asking, although it cannot read the response.
/// So does one with the studio, which has a token as well.
std::optional<HttpResponse> Api::refuse_sender(const HttpRequest& request, const Route& route) const {
  if (parts_.token.empty() || !parts_.studio.empty()) {
    if (auto refusal = refuse_origin(request, route, !parts_.studio.empty())) return refusal;
  }
  if (!parts_.token.empty()) {
    if (route.is_open) return std::nullopt;
    const std::string_view given = bearer_token(request.header("authorization"));
    if (equal_in_constant_time(given, parts_.token)) return std::nullopt;
    HttpResponse response = make_error(401, "unauthorized", "this server requires `Authorization: Bearer TOKEN`");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  }
  return std::nullopt;
}

std::optional<HttpResponse> Api::refuse(const HttpRequest& request, const Target& target, const Route& route) const {
  if (auto refusal = refuse_sender(request, route)) return refusal;
  if (auto problem = find_query_problem(target, route)) return make_error(422, "wrong_input", *problem);
  if (route.method != "GET" && parts_.ownership.lease() != journal::LeaseState::Held) {
    return make_error(503, "unavailable", out_of_reach);
  }
  if (request.body.empty() || route.method == "GET" || is_json(request.header("content-type"))) return std::nullopt;
  return make_error(415, "unsupported_media_type",
                    "the body must be JSON; send it with the header `Content-Type: application/json`");
}

void Api::handle(const HttpRequest& request, const OnAnswer& answer) {
  ++parts_.counts.requests;
  if (parts_.changed != nullptr) {
    for (const std::size_t file : parts_.changed->take()) {
      static_cast<void>(reload(*parts_.programs, parts_.programs->files[file], parts_.catalog));
    }
  }
  const OnAnswer count = [this, answer](HttpAnswer given) {
    if (given.head.status >= 400) {
      ++parts_.counts.refused;
      const std::string escaped = make_json_string(parts_.store_file);
      given.head.body = engine::without_file(std::move(given.head.body), escaped.substr(1, escaped.size() - 2));
    }
    answer(std::move(given));
  };
  const auto target = parse_target(request.target);
  if (!target) return count({make_error(400, "bad_target", not_a_path), nullptr, true});
  std::string methods;
  for (const Route& route : routes()) {
    if (route.is_studio && parts_.studio.empty()) continue;
    const auto names = match(route.pattern, target->path);
    if (!names) continue;
    if (route.method != request.method) {
      methods += (methods.empty() ? "" : ", ") + std::string(route.method);
      continue;
    }
    if (auto refusal = refuse(request, *target, route)) return count(whole(std::move(*refusal)));
    try {
      if (route.question != nullptr) return route.question(parts_.programs, {request, *target, *names, count});
      if (route.inspection != nullptr) return (inspections_.*route.inspection)({request, *target, *names, count});
      return (this->*route.handler)({request, *target, *names, count});
    } catch (const std::exception& thrown) {
      report_thrown(fmt::format("{} {}", route.method, route.pattern), thrown);
      return count(
          whole(make_error(500, "internal", "an internal error, which the server has reported where it runs")));
    }
  }
  if (methods.empty()) {
    return count({make_error(404, "not_found", "unknown path; /openapi.json lists the paths"), nullptr, true});
  }
  HttpResponse response = make_error(405, "method_not_allowed", fmt::format("this path supports {}", methods));
  response.headers.emplace_back("Allow", methods);
  count({std::move(response), nullptr, true});
}

void Api::report_thrown(std::string_view where, const std::exception& thrown) const {
  parts_.hub.report(fmt::format("{}: {}", where, thrown.what()));
}

runtime::RequestKey key_of(const HttpRequest& request) {
  const std::string_view key = request.header("idempotency-key");
  if (key.empty()) return {};
  // The header that names the conversation is part of the request, as the body is.
  const std::string_view conversation = request.header("x-tenon-conversation");
  const std::string place = conversation.empty() ? std::string() : std::string(conversation) + "\n";
  return {"http/" + std::string(key), sha256(request.method + " " + request.target + "\n" + place, request.body)};
}

bool has_usable_key(const HttpRequest& request, const OnAnswer& answer) {
  constexpr std::size_t key_bytes_max = 255;
  if (request.header("idempotency-key").size() <= key_bytes_max) return true;
  answer({make_error(422, "wrong_input", fmt::format("the Idempotency-Key has more than {} bytes", key_bytes_max)),
          nullptr, true});
  return false;
}

HttpAnswer make_answer(const runtime::HostFailure& failure) {
  using Kind = runtime::HostFailure::Kind;
  const auto error = [&](int status, std::string_view code) {
    return HttpAnswer{make_error(status, code, failure.message), nullptr, true};
  };
  switch (failure.kind) {
    case Kind::NotFound:
      return error(404, "not_found");
    case Kind::Conflict:
    case Kind::Raced:
      return error(409, "conflict");
    case Kind::WrongInput:
      return error(422, "wrong_input");
    case Kind::KeyReused:
      return error(422, "idempotency_key_reused");
    case Kind::Unavailable:
    case Kind::Elsewhere:
    case Kind::Unequipped:
      return error(503, "unavailable");
    case Kind::Unknown: {
      HttpAnswer answer = error(503, "unknown");
      answer.head.headers = {{"X-Should-Retry", "false"}};  // in place of when to try again
      return answer;
    }
    case Kind::Damaged:
      return error(500, "damaged");
  }
  return error(500, "damaged");
}

std::optional<Json> read_body(const HttpRequest& request, const OnAnswer& answer,
                              const std::vector<std::string_view>& fields) {
  const auto wrong = [&](int status, std::string_view code, const std::string& message) {
    answer({make_error(status, code, message), nullptr, true});
    return std::nullopt;
  };
  auto json = parse_json(request.body.empty() ? "{}" : request.body);
  if (!json) {
    return wrong(400, "bad_json",
                 fmt::format("the body is not JSON: at byte {}: {}", json.error().offset, json.error().message));
  }
  if (!json->is_object()) {
    return wrong(422, "wrong_input", fmt::format("the body: expected an object, got {}", tenon::describe(*json)));
  }
  if (fields.empty()) return std::move(*json);
  for (const auto& member : json->members()) {
    if (std::find(fields.begin(), fields.end(), member.name) != fields.end()) continue;
    const auto nearest = diagnostics::find_nearest(member.name, fields);
    return wrong(422, "wrong_input",
                 fmt::format("unknown field `{}`; {}", member.name,
                             nearest ? fmt::format("did you mean `{}`?", *nearest)
                                     : fmt::format("expected: {}", fmt::join(fields, ", "))));
  }
  return std::move(*json);
}

std::optional<std::string> find_text(const Json& body, std::string_view name, const OnAnswer& answer, bool& is_wrong) {
  const Json* const value = body.find(name);
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (value->is_string()) return value->as_string();
  is_wrong = true;
  answer({make_error(422, "wrong_input", fmt::format("`{}`: expected a string, got {}", name, tenon::describe(*value))),
          nullptr, true});
  return std::nullopt;
}

}  // namespace tenon::server
