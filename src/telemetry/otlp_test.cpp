#include "telemetry/otlp.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "telemetry/span_ids.h"

namespace tenon::telemetry {
namespace {

TEST(Otlp, WritesASpanAsTheProtocolWantsIt) {
  Span span;
  span.context = SpanIds::of_turn("run", 1);
  span.parent_id = "00000000000000ab";
  span.name = "chat \xff";
  span.kind = SpanKind::Client;
  span.began_at = 1'700'000'000'000'000'001;
  span.ended_at = span.began_at + 1;
  span.set("count", std::int64_t{9'007'199'254'740'993});
  span.set("words", std::vector<std::string>{"a", "b"});
  span.links.push_back(SpanIds::of_turn("run", 2));
  span.error_type = "timeout";
  const std::vector<Span> spans{span};
  const auto json = nlohmann::json::parse(encode_otlp({{"service.name", std::string("x")}}, "1", spans));
  const auto& group = json["resourceSpans"][0];
  EXPECT_EQ(group["resource"]["attributes"][0]["value"]["stringValue"], "x");
  const auto& sent = group["scopeSpans"][0]["spans"][0];
  EXPECT_EQ(sent["traceId"].get<std::string>().size(), 32);
  EXPECT_EQ(sent["parentSpanId"], "00000000000000ab");
  EXPECT_EQ(sent["startTimeUnixNano"], "1700000000000000001") << "64-bit integers are texts";
  EXPECT_EQ(sent["attributes"][0]["value"]["intValue"], "9007199254740993");
  EXPECT_EQ(sent["attributes"][1]["value"]["arrayValue"]["values"][1]["stringValue"], "b");
  EXPECT_EQ(sent["attributes"][2]["key"], "error.type");
  EXPECT_EQ(sent["status"]["code"], 2);
  EXPECT_FALSE(sent["status"].contains("message"));
  EXPECT_EQ(sent["links"][0]["spanId"], SpanIds::of_turn("run", 2).span_id);
  EXPECT_EQ(sent["name"], "chat \xEF\xBF\xBD");
}

TEST(SpanIds, AreThoseOfTheTurnInEveryProcessAndOthersAreNew) {
  EXPECT_EQ(SpanIds::of_turn("a", 1), SpanIds::of_turn("a", 1));
  EXPECT_NE(SpanIds::of_turn("a", 1), SpanIds::of_turn("a", 2));
  EXPECT_NE(SpanIds::of_turn("a", 1), SpanIds::of_turn("b", 1));
  SpanIds one([] { return 0.25; });
  SpanIds other([] { return 0.5; });
  const SpanContext trace = one.new_trace();
  EXPECT_NE(trace, one.new_trace());
  EXPECT_NE(trace, other.new_trace());
  const SpanContext child = one.new_span(trace);
  EXPECT_EQ(child.trace_id, trace.trace_id);
  EXPECT_NE(child.span_id, trace.span_id);
}

}  // namespace
}  // namespace tenon::telemetry
