// What the server says of itself.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "protocol/event_schema.h"
#include "server/api.h"
#include "server/routes.h"

namespace tenon::server {

using nlohmann::ordered_json;

namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    words.emplace_back(text.substr(0, blank));
    text = blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1);
  }
  return words;
}

/// Three digits.
int status_of(std::string_view text) {
  return (text[0] - '0') * 100 + (text[1] - '0') * 10 + (text[2] - '0');
}

std::string_view meaning_of(int status) {
  switch (status) {
    case 200:
      return "Here it is";
    case 201:
      return "Started, durably";
    case 202:
      return "Taken, durably";
    case 204:
      return "The run has ended, and there are no more events";
    case 400:
      return "The body is no JSON";
    case 404:
      return "There is none of that name";
    case 409:
      return "The run is not in a state for it, or the program has another version";
    case 413:
      return "The body is too long";
    case 422:
      return "The body is JSON, but not what is asked for; or another request came with the same Idempotency-Key";
    case 503:
      return "Not now; nothing was done";
    default:
      return "";
  }
}

ordered_json parameter(std::string_view name, std::string_view in, bool is_required) {
  return {{"name", name}, {"in", in}, {"required", is_required}, {"schema", {{"type", "string"}}}};
}

}  // namespace

std::string Api::make_openapi() const {
  ordered_json paths = ordered_json::object();
  for (const Route& route : routes()) {
    ordered_json operation = {{"summary", route.summary}};
    ordered_json parameters = ordered_json::array();
    for (std::size_t at = route.pattern.find('{'); at != std::string_view::npos; at = route.pattern.find('{', at + 1)) {
      const auto name = route.pattern.substr(at + 1, route.pattern.find('}', at) - at - 1);
      parameters.push_back(parameter(name, "path", true));
    }
    for (const std::string& name : words_of(route.query)) parameters.push_back(parameter(name, "query", false));
    if (route.method == "POST" && route.pattern.starts_with("/v1/runs")) {
      parameters.push_back(parameter("Idempotency-Key", "header", false));
    }
    if (route.pattern == "/v1/runs/{run}/events") parameters.push_back(parameter("Last-Event-ID", "header", false));
    if (!parameters.empty()) operation["parameters"] = std::move(parameters);
    if (!route.body.empty()) {
      operation["requestBody"] = {{"required", true},
                                  {"content", {{"application/json", {{"schema", ordered_json::parse(route.body)}}}}}};
    }
    if (route.is_open) operation["security"] = ordered_json::array();
    ordered_json responses = ordered_json::object();
    for (const std::string& status : words_of(route.statuses)) {
      ordered_json response = {{"description", meaning_of(status_of(status))}};
      if (status < "300" && status != "204") response["content"][std::string(route.content)] = ordered_json::object();
      if (status >= "400") {
        response["content"]["application/json"]["schema"]["$ref"] = "#/components/schemas/Error";
      }
      responses[status] = std::move(response);
    }
    operation["responses"] = std::move(responses);
    paths[std::string(route.pattern)][route.method == "GET" ? "get" : "post"] = std::move(operation);
  }
  ordered_json event = ordered_json::parse(protocol::make_event_schema());
  ordered_json schemas = ordered_json::object();
  ordered_json any = ordered_json::array();
  for (auto& [name, schema] : event["$defs"].items()) {
    any.push_back({{"$ref", "#/components/schemas/event." + name}});
    schemas["event." + name] = std::move(schema);
  }
  schemas["Event"] = {{"oneOf", std::move(any)}};
  const ordered_json text = {{"type", "string"}};
  schemas["Error"] = {
      {"type", "object"},
      {"properties",
       {{"error", {{"type", "object"}, {"properties", {{"message", text}, {"type", text}, {"code", text}}}}}}}};
  const ordered_json document = {
      {"openapi", "3.1.0"},
      {"info", {{"title", "Tenon"}, {"version", "1"}}},
      {"paths", std::move(paths)},
      {"components",
       {{"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}}, {"schemas", std::move(schemas)}}},
      {"security", ordered_json::array({{{"token", ordered_json::array()}}})}};
  return document.dump();
}

void Api::show_openapi(const Call& call) {
  call.answer({make_json(make_openapi()), nullptr, true});
}

void Api::show_health(const Call& call) {
  if (is_draining_) return call.answer({make_error(503, "draining", "the server is stopping"), nullptr, true});
  call.answer({make_json(R"({"status":"ok"})"), nullptr, true});
}

void Api::show_metrics(const Call& call) {
  std::string text;
  const auto add = [&](std::string_view name, std::string_view type, std::string_view help, std::uint64_t value) {
    text += fmt::format("# HELP tenon_{} {}\n# TYPE tenon_{} {}\ntenon_{} {}\n", name, help, name, type, name, value);
  };
  const runtime::HostCounts& host = parts_.host.counts();
  const ServerCounts& server = parts_.counts;
  add("runs_started_total", "counter", "Runs that were started here.", host.runs_started);
  add("runs_ended_total", "counter", "Runs that have ended here.", host.runs_ended);
  add("runs_loaded_total", "counter", "Runs that were read from the store.", host.runs_loaded);
  add("runs_released_total", "counter", "Runs that have left the memory.", host.runs_released);
  add("runs_resident", "gauge", "Runs in memory.", host.resident);
  add("effects_under_way", "gauge", "Models and tools that are being waited for.", host.effects_under_way);
  add("answers_taken_total", "counter", "Answers of people that were taken.", host.answers_taken);
  add("commands_taken_total", "counter", "Commands of other processes that were answered.", host.commands_taken);
  add("records_total", "counter", "Records that have become durable.", host.records);
  add("http_requests_total", "counter", "Requests.", server.requests);
  add("http_refused_total", "counter", "Requests that were answered with an error.", server.refused);
  add("http_connections", "gauge", "Connections.", server.connections);
  add("http_connections_refused_total", "counter", "Connections beyond the limit.", server.connections_refused);
  add("event_readers", "gauge", "Streams of events that are being read.", server.readers);
  add("event_readers_cut_total", "counter", "Readers that were too slow and were cut.", server.readers_cut);
  if (parts_.spans != nullptr) {
    add("spans_exported_total", "counter", "Spans that the collector has taken.", parts_.spans->exported);
    add("spans_dropped_total", "counter", "Spans that did not fit or could not be delivered.", parts_.spans->dropped);
    add("span_requests_failed_total", "counter", "Requests to the collector that failed.",
        parts_.spans->requests_failed);
  }
  HttpResponse response;
  response.content_type = "text/plain; version=0.0.4";
  response.body = std::move(text);
  call.answer({std::move(response), nullptr, true});
}

}  // namespace tenon::server
