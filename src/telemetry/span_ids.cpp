#include "telemetry/span_ids.h"

#include <fmt/format.h>

#include <cmath>

#include "base/sha256.h"

namespace tenon::telemetry {
namespace {

constexpr std::size_t trace_digits = 32;
constexpr std::size_t span_digits = 16;

SpanContext context_of(std::string_view text) {
  const std::string hex = sha256("tenon span\n", text).hex();
  return {hex.substr(0, trace_digits), hex.substr(trace_digits, span_digits)};
}

}  // namespace

SpanIds::SpanIds(const std::function<double()>& random_unit) : seed_{} {
  constexpr double bits_of_a_double = 0x1p53;
  for (std::uint64_t& part : seed_) part = static_cast<std::uint64_t>(random_unit() * bits_of_a_double);
}

SpanContext SpanIds::next() {
  return context_of(fmt::format("{}/{}/{}", seed_[0], seed_[1], ++count_));
}

SpanContext SpanIds::new_trace() {
  return next();
}

SpanContext SpanIds::new_span(const SpanContext& of_trace) {
  return {of_trace.trace_id, next().span_id};
}

SpanContext SpanIds::of_turn(std::string_view run, std::uint64_t turn) {
  return context_of(fmt::format("{}/turn/{}", run, turn));
}

}  // namespace tenon::telemetry
