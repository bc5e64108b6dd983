// The OpenAPI document: made from the table of routes and the schemas of the answers.
#include <algorithm>

#include "json/reader.h"
#include "protocol/event_schema.h"
#include "server/api.h"
#include "server/routes.h"

namespace tenon::server {

namespace {

/// Schemas of the answers by name: Route::answer names one of these. Clients must ignore members that they do not know.
constexpr std::string_view answer_schemas = R"json({
"Error": {"type": "object", "required": ["error"], "properties": {"error": {"type": "object",
  "required": ["message", "type", "code"], "properties": {"message": {"type": "string"}, "type": {"type": "string"},
  "param": {"type": "string"}, "code": {"type": "string"}}}}},
"Agents": {"type": "object", "required": ["agents"], "properties": {"agents": {"type": "array", "items": {
  "type": "object", "required": ["name", "kind", "description", "input", "output", "takes_text"], "properties": {
    "name": {"type": "string"}, "kind": {"enum": ["agent", "function"]}, "description": {"type": "string"},
    "input": {"type": ["object", "boolean"], "description": "a JSON Schema"},
    "output": {"type": ["object", "boolean"], "description": "a JSON Schema"}, "takes_text": {"type": "boolean"}}}}}},
"Budget": {"type": "object", "additionalProperties": false, "properties": {"calls": {"type": "integer"},
  "tokens": {"type": "integer"}, "instructions": {"type": "integer"}, "depth": {"type": "integer"},
  "time": {"type": ["string", "integer"], "description": "as in 30s, or milliseconds"}}},
"Started": {"type": "object", "required": ["run"], "properties": {"run": {"type": "string"}}},
"ForkedRequest": {"type": "object", "required": ["kind", "name", "place"], "properties": {"kind": {"type": "string"},
  "name": {"type": "string"}, "place": {"type": "string"}, "record": {"type": "integer"}}},
"ForkEstimate": {"type": "object", "required": ["problems"], "properties": {
  "problems": {"type": "array", "items": {"$ref": "#/components/schemas/Problem"}}, "taken": {"type": "integer"},
  "model_requests": {"type": "integer"}, "tool_calls": {"type": "integer"}, "questions": {"type": "integer"},
  "requests": {"type": "array", "items": {"$ref": "#/components/schemas/ForkedRequest"}},
  "complete": {"type": "boolean"}, "turns_left": {"type": "integer"}, "failure": {"type": "string"},
  "parts": {"type": "object", "required": ["kind", "name", "place"], "properties": {"kind": {"type": "string"},
    "name": {"type": "string"}, "place": {"type": "string"},
    "recorded": {"$ref": "#/components/schemas/ForkedRequest"}}}}},
"Fork": {"anyOf": [{"$ref": "#/components/schemas/Started"},
  {"$ref": "#/components/schemas/ForkEstimate"}]},
"Replayed": {"type": "object", "required": ["same", "ended"], "properties": {"same": {"type": "boolean"},
  "ended": {"type": "boolean"}, "difference": {"type": "string"}, "value": {}, "failure": {"type": "string"}}},
"DifferingSide": {"type": "object", "properties": {"value": {}, "call": {"type": "integer"},
  "record": {"type": "integer"}}},
"Difference": {"type": "object", "required": ["a", "b", "same", "differences", "left_out"], "properties": {
  "a": {"type": "string"}, "b": {"type": "string"}, "same": {"type": "boolean"}, "left_out": {"type": "integer"},
  "differences": {"type": "array", "items": {"type": "object", "required": ["what", "turn", "a", "b"], "properties": {
    "what": {"enum": ["input", "choice", "argument", "context", "request", "pause", "result", "output", "place",
      "tools", "control"]},
    "turn": {"type": "integer"}, "tool": {"type": "string"}, "at": {"type": "string"}, "index": {"type": "integer"},
    "a": {"$ref": "#/components/schemas/DifferingSide"}, "b": {"$ref": "#/components/schemas/DifferingSide"}}}}}},
"RunProgram": {"type": "object", "required": ["file", "text"], "properties": {"program": {"type": "string"},
  "file": {"type": "string"}, "text": {"type": "string"}}},
"Accepted": {"type": "object", "required": ["run"], "properties": {"run": {"type": "string"},
  "wait": {"type": "string"}}},
"Wait": {"type": "object", "required": ["wait", "question", "type", "schema"], "properties": {
  "wait": {"type": "string"}, "question": {"type": "string"}, "type": {"type": "string"},
  "schema": {"type": ["object", "boolean"], "description": "a JSON Schema of the answer"},
  "until": {"type": "integer", "description": "milliseconds since 1970"}, "agent": {"type": "string"},
  "callers": {"type": "array", "items": {"type": "string"}}}},
"Run": {"type": "object", "required": ["run", "state", "agent", "records", "created_at", "updated_at"], "properties": {
  "run": {"type": "string"},
  "state": {"enum": ["running", "waiting", "idle", "done", "failed", "cancelled", "forgotten"]},
  "agent": {"type": "string"}, "records": {"type": "integer"},
  "created_at": {"type": "integer", "description": "milliseconds since 1970, as the other times"},
  "updated_at": {"type": "integer"}, "wakes_at": {"type": "integer"},
  "waits": {"type": "array", "items": {"$ref": "#/components/schemas/Wait"}},
  "unavailable": {"type": "array", "items": {"type": "object",
    "required": ["unavailable", "name", "reason", "attempts", "since", "effect"], "properties": {
    "unavailable": {"enum": ["model", "tool"]}, "name": {"type": "string"}, "reason": {"type": "string"},
    "attempts": {"type": "integer"}, "since": {"type": "integer"}, "next_at": {"type": "integer"},
    "effect": {"type": "string"}}}},
  "end": {"anyOf": [{"$ref": "#/components/schemas/Event"}, {"type": "null"}]}}},
"RunList": {"type": "object", "required": ["runs", "next"], "properties": {
  "runs": {"type": "array", "items": {"$ref": "#/components/schemas/Run"}}, "next": {"type": ["string", "null"]}}},
"EventList": {"type": "array", "items": {"$ref": "#/components/schemas/Event"}},
"Reports": {"type": "object", "required": ["reports"], "properties": {"reports": {"type": "array", "items": {
  "type": "object", "required": ["name", "type", "bytes"], "properties": {"name": {"type": "string"},
  "type": {"type": "string"}, "bytes": {"type": "integer"}}}}}},
"Model": {"type": "object", "required": ["id", "object", "created", "owned_by"],
  "properties": {"id": {"type": "string"}, "object": {"const": "model"}, "created": {"type": "integer"},
  "owned_by": {"type": "string"}}},
"Models": {"type": "object", "required": ["object", "data"], "properties": {"object": {"const": "list"},
  "data": {"type": "array", "items": {"$ref": "#/components/schemas/Model"}}}},
"ChatCompletion": {"type": "object",
  "required": ["id", "object", "created", "model", "conversation", "choices", "usage"], "properties": {
  "id": {"type": "string"}, "object": {"const": "chat.completion"}, "created": {"type": "integer"},
  "model": {"type": "string"}, "conversation": {"type": "string"},
  "wait": {"type": "object", "required": ["run", "wait", "schema"], "properties": {"run": {"type": "string"},
    "wait": {"type": "string"}, "schema": {"type": ["object", "boolean"]}}},
  "choices": {"type": "array", "items": {"type": "object", "required": ["index", "message", "finish_reason"],
    "properties": {"index": {"type": "integer"}, "finish_reason": {"type": "string"}, "message": {"type": "object",
    "required": ["role", "content"], "properties": {"role": {"const": "assistant"}, "content": {"type": "string"}}}}}},
  "usage": {"type": "object", "required": ["prompt_tokens", "completion_tokens", "total_tokens"], "properties": {
    "prompt_tokens": {"type": "integer"}, "completion_tokens": {"type": "integer"},
    "total_tokens": {"type": "integer"}}}}},
"Response": {"type": "object",
  "required": ["id", "object", "created_at", "status", "model", "output", "conversation", "error", "usage"],
  "properties": {"id": {"type": "string"}, "object": {"const": "response"}, "created_at": {"type": "integer"},
  "status": {"enum": ["in_progress", "completed", "failed", "cancelled"]}, "model": {"type": "string"},
  "background": {"type": "boolean"}, "previous_response_id": {"type": ["string", "null"]},
  "conversation": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
  "wait": {"type": "object", "required": ["run", "wait", "schema"], "properties": {"run": {"type": "string"},
    "wait": {"type": "string"}, "schema": {"type": ["object", "boolean"]}}},
  "error": {"type": ["object", "null"], "required": ["code", "message"], "properties": {"code": {"type": "string"},
    "message": {"type": "string"}}},
  "output": {"type": "array", "items": {"type": "object", "required": ["id", "type", "status", "role", "content"],
    "properties": {"type": {"const": "message"}, "role": {"const": "assistant"}, "content": {"type": "array", "items": {
    "type": "object", "required": ["type", "text"], "properties": {"type": {"const": "output_text"},
    "text": {"type": "string"}}}}}}},
  "usage": {"type": ["object", "null"], "required": ["input_tokens", "output_tokens", "total_tokens"], "properties": {
    "input_tokens": {"type": "integer"}, "output_tokens": {"type": "integer"}, "total_tokens": {"type": "integer"}}}}},
"Programs": {"type": "object", "required": ["programs"], "properties": {"programs": {"type": "array", "items": {
  "type": "object", "required": ["name", "file"],
  "properties": {"name": {"type": "string"}, "file": {"type": "string"}}}}}},
"Program": {"type": "object", "required": ["name", "version", "text", "graph"], "properties": {
  "name": {"type": "string"}, "version": {"type": "string"}, "text": {"type": "string"}, "graph": {"type": "object"},
  "problem": {"type": "string"}, "inverse": {"type": "array", "items": {"type": "object"}}}},
"Problem": {"type": "object", "required": ["code", "severity", "message", "labels", "hints"], "properties": {
  "code": {"type": "string"}, "severity": {"enum": ["error", "warning", "note"]}, "message": {"type": "string"},
  "file": {"type": "string"}, "line": {"type": "integer"}, "column": {"type": "integer"},
  "offset": {"type": "integer", "description": "in bytes of UTF-8, as the length"}, "length": {"type": "integer"},
  "labels": {"type": "array", "items": {"type": "object"}}, "hints": {"type": "array", "items": {"type": "string"}},
  "fix": {"type": "object"}}},
"Draft": {"type": "object", "required": ["version", "patches", "agents", "calls", "declarations", "problems"],
  "properties": {"calls": {"type": "object"},
  "declarations": {"type": "array", "items": {"type": "object", "required": ["kind", "name", "range"], "properties": {
    "kind": {"type": "string"}, "name": {"type": "string"}, "documentation": {"type": "string"},
    "range": {"type": "object"}}}},
  "version": {"type": "string"}, "patches": {"type": "array", "items": {"type": "object",
  "required": ["offset", "removed", "inserted"], "properties": {"offset": {"type": "integer"},
  "removed": {"type": "integer"}, "inserted": {"type": "string"}}}},
  "agents": {"type": "array", "items": {"type": "object"}},
  "problems": {"type": "array", "items": {"$ref": "#/components/schemas/Problem"}}}},
"Completions": {"type": "object", "required": ["from", "to", "complete", "suggestions"], "properties": {
  "from": {"type": "integer", "description": "in bytes of UTF-8, as the other places"}, "to": {"type": "integer"},
  "complete": {"type": "boolean", "description": "whether these are all"},
  "suggestions": {"type": "array", "items": {"type": "object", "required": ["label", "kind"], "properties": {
    "label": {"type": "string"}, "kind": {"type": "string"}, "detail": {"type": "string"},
    "documentation": {"type": "string"}, "inserted": {"type": "string"}}}}}},
"Meaning": {"type": "object", "properties": {"from": {"type": "integer"}, "to": {"type": "integer"},
  "title": {"type": "string"}, "documentation": {"type": "string"}}},
"Prompts": {"type": "object", "required": ["prompts", "tools", "has_errors"], "properties": {
  "has_errors": {"type": "boolean", "description": "then there are no prompts"},
  "prompts": {"type": "array", "items": {"type": "object",
    "required": ["kind", "function", "line", "column", "messages", "other_forms"], "properties": {
    "kind": {"type": "string"}, "function": {"type": "string"}, "line": {"type": "integer"},
    "column": {"type": "integer"}, "note": {"type": "string"}, "schema": {"type": "object"},
    "other_forms": {"type": "integer"}, "messages": {"type": "array", "items": {"type": "object",
    "required": ["role", "text"], "properties": {"role": {"type": "string"}, "text": {"type": "string"}}}}}}},
  "tools": {"type": "array", "items": {"type": "string"}}}},
"Plans": {"type": "object", "required": ["plans", "has_errors"], "properties": {
  "has_errors": {"type": "boolean", "description": "then there are no plans"},
  "plans": {"type": "array", "items": {"type": "object"}}}},
"Saved": {"type": "object", "required": ["version", "problems", "runs"], "properties": {
  "version": {"type": "string"}, "problems": {"type": "array", "items": {"$ref": "#/components/schemas/Problem"}},
  "runs": {"enum": ["new", "old"]}}},
"Moment": {"type": "object", "required": ["stack"], "properties": {
  "stack": {"type": "array", "items": {"type": "object", "required": ["function", "place"], "properties": {
    "function": {"type": "string"}, "place": {"type": "string"},
    "variables": {"type": "array", "items": {"type": "object", "required": ["name"], "properties": {
      "name": {"type": "string"}, "value": {}, "cut": {"type": "string"}, "origin": {"type": "string"}}}}}}},
  "agent": {"type": "string"}, "state": {"type": "object"}, "scratchpad": {"type": "object"},
  "before": {"type": "object", "properties": {"state": {"type": "object"}, "scratchpad": {"type": "object"}}},
  "prompt": {"type": "object", "required": ["generation", "label", "entries", "messages"], "properties": {
    "generation": {"type": "string"}, "label": {"type": "string"},
    "entries": {"type": "array", "items": {"type": "object", "required": ["origin", "role", "text"], "properties": {
      "origin": {"type": "string"},
      "role": {"enum": ["program", "instructions", "person", "assistant", "requirement", "refusal"]},
      "text": {"type": "string"}}}},
    "messages": {"type": "array", "items": {"type": "object", "required": ["role", "text"], "properties": {
      "role": {"enum": ["system", "user", "assistant"]}, "text": {"type": "string"}}}},
    "schema": {"type": "object"},
    "tokens": {"type": "object", "required": ["computed", "reused", "generated", "forced"], "properties": {
      "computed": {"type": "integer"}, "reused": {"type": "integer"}, "generated": {"type": "integer"},
      "forced": {"type": "integer"}}}}}}},
"Palette": {"type": "object", "required": ["kinds"], "properties": {"kinds": {"type": "array", "items": {
  "type": "object", "required": ["name", "meaning", "options", "parts", "has_statements", "is_restartable"],
  "properties": {"name": {"type": "string"}, "meaning": {"type": "string"}, "options": {"type": "array", "items": {
  "type": "object", "required": ["name", "required", "meaning"], "properties": {"name": {"type": "string"},
  "required": {"type": "boolean"}, "meaning": {"type": "string"}}}}, "parts": {"type": "array",
  "items": {"type": "string"}}, "has_statements": {"type": "boolean"}, "is_restartable": {"type": "boolean"}}}}}},
"Health": {"type": "object", "required": ["status"], "properties": {"status": {"const": "ok"}}},
"Readiness": {"type": "object", "required": ["status"], "properties": {"status": {"const": "ready"}}},
"Document": {"type": "object", "required": ["openapi", "info", "paths"]},
"Text": {"type": "string"}
})json";

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
  }
  return response;
}

}  // namespace

std::string Api::make_openapi() const {
  Json paths = Json::object();
  for (const Route& route : routes()) {
    if (route.is_studio && parts_.studio.empty()) continue;
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
  Json event = parse_own_json(protocol::make_event_schema());
  Json schemas = parse_own_json(answer_schemas);
  Json any = Json::array();
  for (auto& [name, schema] : event["$defs"].mutable_members()) {
    any.push_back(reference_to("event." + name));
    schemas["event." + name] = std::move(schema);
  }
  schemas["Event"] = Json::object({{"oneOf", std::move(any)}});
  const Json document = Json::object(
      {{"openapi", "3.1.0"},
       {"info", Json::object({{"title", "Tenon"}, {"version", "1"}})},
       {"paths", std::move(paths)},
       {"components", Json::object({{"securitySchemes",
                                     Json::object({{"token", Json::object({{"type", "http"}, {"scheme", "bearer"}})}})},
                                    {"schemas", std::move(schemas)}})},
       {"security", Json::array({Json::object({{"token", Json::array()}})})}});
  return document.dump();
}

}  // namespace tenon::server
