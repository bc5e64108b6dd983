// The OpenAPI document: made from the table of routes and the schemas of the answers.
#include <algorithm>

#include "json/reader.h"
#include "server/openapi.h"
#include "server/routes.h"

namespace tenon::server {

namespace {

/// What the events of a stream contain as data: a stream itself is a text.
struct StreamData {
  std::string_view operation, schema;
};
constexpr StreamData stream_data[] = {{"readEvents", "Event"}, {"readChanges", "Change"}};

std::vector<std::string> split_at_blanks(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    parts.emplace_back(text.substr(0, blank));
    text = blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1);
  }
  return parts;
}

std::string_view meaning_of(std::string_view status) {
  struct Meaning {
    std::string_view status, text;
  };
  static constexpr Meaning meanings[] = {
      {"200", "Success"},
      {"201", "Started, durably"},
      {"202", "Accepted, durably"},
      {"204", "The run has ended, and there are no more events"},
      {"400", "The request breaks a rule of HTTP, its body is not JSON, or a field is not supported"},
      {"401", "The token is missing or wrong"},
      {"403", "Without a token: the request comes from another machine, or from a page of another origin"},
      {"404", "There is nothing with that name"},
      {"409", "The state of the run does not allow it, or the program has another version"},
      {"413", "The body is too long"},
      {"415", "The body is not sent as application/json"},
      {"422", "A value is missing or has the wrong type; or another request came with the same Idempotency-Key"},
      {"431", "The header is too long"},
      {"500", "The run cannot continue or be read; in a chat: its turn has failed"},
      {"501", "The body has a transfer coding other than chunked"},
      {"503", "Not available now"},
  };
  for (const Meaning& meaning : meanings) {
    if (meaning.status == status) return meaning.text;
  }
  return "";
}

Json reference_to(std::string_view schema) {
  return Json::object({{"$ref", "#/components/schemas/" + std::string(schema)}});
}

/// `type`: in terms of JSON Schema.
Json parameter(std::string_view name, std::string_view in, bool is_required, std::string_view type = "string") {
  Json schema = Json::object({{"type", type}});
  if (type == "integer") schema["minimum"] = 0;
  return Json::object({{"name", name}, {"in", in}, {"required", is_required}, {"schema", std::move(schema)}});
}

Json parameters_of(const Route& route) {
  Json parameters = Json::array();
  for (std::size_t at = route.pattern.find('{'); at != std::string_view::npos; at = route.pattern.find('{', at + 1)) {
    const auto name = route.pattern.substr(at + 1, route.pattern.find('}', at) - at - 1);
    parameters.push_back(parameter(name, "path", true));
  }
  // `name:type`; a string without a type.
  for (const std::string& word : split_at_blanks(route.query)) {
    const std::size_t colon = word.find(':');
    const std::string type = colon == std::string::npos ? "string" : word.substr(colon + 1);
    parameters.push_back(parameter(word.substr(0, colon), "query", false, type));
  }
  for (const std::string& word : split_at_blanks(route.headers)) {
    parameters.push_back(parameter(word, "header", false, word == "Last-Event-ID" ? "integer" : "string"));
  }
  return parameters;
}

/// The statuses with which requests are refused before a route handles them, and the route's own.
std::vector<std::string> statuses_of(const Route& route) {
  std::vector<std::string> statuses = split_at_blanks(route.statuses);
  statuses.insert(statuses.end(), {"400", "403", "422", "431", "503"});
  if (!route.is_open) statuses.emplace_back("401");
  if (route.method == "POST") statuses.insert(statuses.end(), {"413", "415", "501"});
  std::sort(statuses.begin(), statuses.end());
  statuses.erase(std::unique(statuses.begin(), statuses.end()), statuses.end());
  return statuses;
}

Json response_of(const Route& route, const std::string& status) {
  Json response = Json::object({{"description", meaning_of(status)}});
  if (status >= "400") {
    response["content"]["application/json"]["schema"] = reference_to("Error");
    return response;
  }
  for (const std::string& name : split_at_blanks(route.answer_headers)) {
    response["headers"][name]["schema"]["type"] = "string";
  }
  if (status == "204") return response;
  for (const std::string& content : split_at_blanks(route.content)) {
    response["content"][content]["schema"] = reference_to(content == "application/json" ? route.answer : "Text");
    if (content != "text/event-stream") continue;
    for (const auto& [operation, schema] : stream_data) {
      if (operation == route.operation) response["content"][content]["x-data"] = reference_to(schema);
    }
  }
  return response;
}

}  // namespace

Json make_openapi(StudioRoutes studio) {
  Json paths = Json::object();
  for (const Route& route : routes()) {
    if (route.is_studio && studio == StudioRoutes::LeftOut) continue;
    Json operation = Json::object({{"operationId", route.operation}, {"summary", route.summary}});
    if (Json parameters = parameters_of(route); parameters.size() > 0) {
      operation["parameters"] = std::move(parameters);
    }
    if (!route.body.empty()) {
      operation["requestBody"] = Json::object(
          {{"required", true},
           {"content", Json::object({{"application/json", Json::object({{"schema", parse_own_json(route.body)}})}})}});
    }
    if (route.is_open) operation["security"] = Json::array();
    for (const std::string& status : statuses_of(route)) {
      operation["responses"][status] = response_of(route, status);
    }
    paths[std::string(route.pattern)][route.method == "GET" ? "get" : "post"] = std::move(operation);
  }
  const Json token = Json::object({{"type", "http"}, {"scheme", "bearer"}});
  return Json::object({{"openapi", "3.1.0"},
                       {"info", Json::object({{"title", "Tenon"}, {"version", "1"}})},
                       {"paths", std::move(paths)},
                       {"components", Json::object({{"securitySchemes", Json::object({{"token", token}})},
                                                    {"schemas", make_schemas()}})},
                       {"security", Json::array({Json::object({{"token", Json::array()}})})}});
}

}  // namespace tenon::server
