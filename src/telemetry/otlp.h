#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/span.h"

namespace tenon::telemetry {

/// An ExportTraceServiceRequest as OTLP's JSON (protobuf's JSON mapping with ids in hexadecimal digits). `resource`: of
/// the process, as `service.name`. `version`: of Tenon. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string encode_otlp(const std::vector<Attribute>& resource, std::string_view version,
                                      std::span<const Span> spans);

}  // namespace tenon::telemetry
