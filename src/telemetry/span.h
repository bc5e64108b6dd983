#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

/// Events of a run as OpenTelemetry spans, and how they are sent to a collector.
namespace tenon::telemetry {

/// The globally unique id of a span. Both in lower-case hexadecimal digits.
struct SpanContext {
  std::string trace_id;  ///< 32 digits
  std::string span_id;   ///< 16 digits
  friend bool operator==(const SpanContext&, const SpanContext&) = default;
};

using AttributeValue = std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>>;
struct Attribute {
  std::string key;
  AttributeValue value;
};

/// The numbers are defined by OTLP.
enum class SpanKind : std::uint8_t { Internal = 1, Client = 3 };

/// An interval of time. Times are nanoseconds since 1970.
struct Span {
  SpanContext context;
  std::string parent_id;  ///< in the same trace; empty: none
  std::string name;
  SpanKind kind = SpanKind::Internal;
  std::int64_t began_at = 0;
  std::int64_t ended_at = 0;
  std::vector<Attribute> attributes;
  std::vector<SpanContext> links;
  std::string error_type;     ///< one of a closed set; empty: no error
  std::string error_message;  ///< for people; may be empty

  void set(std::string key, AttributeValue value) { attributes.push_back({std::move(key), std::move(value)}); }
};

/// The approximate memory that the span uses.
[[nodiscard]] std::size_t bytes_of(const Span& span);

/// Receives spans that have ended. Never waits.
class SpanSink {
 public:
  virtual ~SpanSink() = default;
  virtual void take(Span span) = 0;
};

}  // namespace tenon::telemetry
