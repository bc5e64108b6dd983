#include "telemetry/otlp.h"

#include <nlohmann/json.hpp>

namespace tenon::telemetry {
namespace {

using nlohmann::ordered_json;

/// 64-bit integers are strings in protobuf's JSON.
ordered_json any_value(const AttributeValue& value) {
  struct Visitor {
    ordered_json operator()(const std::string& text) const { return {{"stringValue", text}}; }
    ordered_json operator()(std::int64_t number) const { return {{"intValue", std::to_string(number)}}; }
    ordered_json operator()(double number) const { return {{"doubleValue", number}}; }
    ordered_json operator()(bool truth) const { return {{"boolValue", truth}}; }
    ordered_json operator()(const std::vector<std::string>& texts) const {
      ordered_json values = ordered_json::array();
      for (const std::string& text : texts) values.push_back({{"stringValue", text}});
      return {{"arrayValue", {{"values", std::move(values)}}}};
    }
  };
  return std::visit(Visitor{}, value);
}

ordered_json attributes_json(const std::vector<Attribute>& attributes) {
  ordered_json list = ordered_json::array();
  for (const Attribute& attribute : attributes) {
    list.push_back({{"key", attribute.key}, {"value", any_value(attribute.value)}});
  }
  return list;
}

ordered_json span_json(const Span& span) {
  ordered_json json = {{"traceId", span.context.trace_id}, {"spanId", span.context.span_id}};
  if (!span.parent_id.empty()) json["parentSpanId"] = span.parent_id;
  json["name"] = span.name;
  json["kind"] = static_cast<int>(span.kind);
  json["startTimeUnixNano"] = std::to_string(span.began_at);
  json["endTimeUnixNano"] = std::to_string(span.ended_at);
  json["attributes"] = attributes_json(span.attributes);
  if (!span.links.empty()) {
    ordered_json links = ordered_json::array();
    for (const SpanContext& link : span.links) links.push_back({{"traceId", link.trace_id}, {"spanId", link.span_id}});
    json["links"] = std::move(links);
  }
  if (!span.error_type.empty()) {
    json["attributes"].push_back({{"key", "error.type"}, {"value", any_value(span.error_type)}});
    constexpr int status_error = 2;
    json["status"] = {{"code", status_error}};
    if (!span.error_message.empty()) json["status"]["message"] = span.error_message;
  }
  return json;
}

}  // namespace

std::size_t bytes_of(const Span& span) {
  struct Size {
    std::size_t operator()(const std::string& text) const { return text.size(); }
    std::size_t operator()(const std::vector<std::string>& texts) const {
      std::size_t bytes = 0;
      for (const std::string& text : texts) bytes += text.size() + sizeof(std::string);
      return bytes;
    }
    std::size_t operator()(std::int64_t) const { return 0; }
    std::size_t operator()(double) const { return 0; }
    std::size_t operator()(bool) const { return 0; }
  };
  std::size_t bytes = sizeof(Span) + span.name.size() + span.error_message.size();
  for (const Attribute& attribute : span.attributes) {
    bytes += sizeof(Attribute) + attribute.key.size() + std::visit(Size{}, attribute.value);
  }
  return bytes;
}

std::string encode_otlp(const std::vector<Attribute>& resource, std::string_view version, std::span<const Span> spans) {
  ordered_json list = ordered_json::array();
  for (const Span& span : spans) list.push_back(span_json(span));
  const ordered_json scope = {{"scope", {{"name", "tenon"}, {"version", version}}}, {"spans", std::move(list)}};
  const ordered_json of_resource = {{"resource", {{"attributes", attributes_json(resource)}}},
                                    {"scopeSpans", ordered_json::array({scope})}};
  const ordered_json request = {{"resourceSpans", ordered_json::array({of_resource})}};
  return request.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace tenon::telemetry
