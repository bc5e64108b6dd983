#include "telemetry/otlp.h"

#include "json/json.h"

namespace tenon::telemetry {
namespace {

/// 64-bit integers are strings in protobuf's JSON.
Json any_value(const AttributeValue& value) {
  struct Visitor {
    Json operator()(const std::string& text) const { return Json::object({{"stringValue", text}}); }
    Json operator()(std::int64_t number) const { return Json::object({{"intValue", std::to_string(number)}}); }
    Json operator()(double number) const { return Json::object({{"doubleValue", number}}); }
    Json operator()(bool truth) const { return Json::object({{"boolValue", truth}}); }
    Json operator()(const std::vector<std::string>& texts) const {
      Json values = Json::array();
      for (const std::string& text : texts) values.push_back(Json::object({{"stringValue", text}}));
      return Json::object({{"arrayValue", Json::object({{"values", std::move(values)}})}});
    }
  };
  return std::visit(Visitor{}, value);
}

Json attributes_json(const std::vector<Attribute>& attributes) {
  Json list = Json::array();
  for (const Attribute& attribute : attributes) {
    list.push_back(Json::object({{"key", attribute.key}, {"value", any_value(attribute.value)}}));
  }
  return list;
}

Json span_json(const Span& span) {
  Json json = Json::object({{"traceId", span.context.trace_id}, {"spanId", span.context.span_id}});
  if (!span.parent_id.empty()) json["parentSpanId"] = span.parent_id;
  json["name"] = span.name;
  json["kind"] = static_cast<int>(span.kind);
  json["startTimeUnixNano"] = std::to_string(span.began_at);
  json["endTimeUnixNano"] = std::to_string(span.ended_at);
  json["attributes"] = attributes_json(span.attributes);
  if (!span.links.empty()) {
    Json links = Json::array();
    for (const SpanContext& link : span.links)
      links.push_back(Json::object({{"traceId", link.trace_id}, {"spanId", link.span_id}}));
    json["links"] = std::move(links);
  }
  if (!span.error_type.empty()) {
    json["attributes"].push_back(Json::object({{"key", "error.type"}, {"value", any_value(span.error_type)}}));
    constexpr int status_error = 2;
    json["status"] = Json::object({{"code", status_error}});
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
  Json list = Json::array();
  for (const Span& span : spans) list.push_back(span_json(span));
  const Json scope =
      Json::object({{"scope", Json::object({{"name", "tenon"}, {"version", version}})}, {"spans", std::move(list)}});
  const Json of_resource = Json::object(
      {{"resource", Json::object({{"attributes", attributes_json(resource)}})}, {"scopeSpans", Json::array({scope})}});
  const Json request = Json::object({{"resourceSpans", Json::array({of_resource})}});
  return request.dump();
}

}  // namespace tenon::telemetry
