#include "json/reader.h"

#include <optional>

#include "json/builder.h"
#include "json/scanner.h"

namespace tenon {
namespace {

/// A handler that only lets the scanner find out whether the text is JSON.
struct Checker {
  void null() {}
  void boolean(bool) {}
  void text(std::string_view) {}
  void integer(std::int64_t, std::string_view) {}
  void large(std::uint64_t, std::string_view) {}
  void number(double, std::string_view) {}
  void begin_list() {}
  void begin_object() {}
  void end_list() {}
  void end_object() {}
  bool key(std::string_view) { return true; }
};

}  // namespace

Result<Json, JsonError> parse_json(std::string_view text, const JsonLimits& limits) {
  if (std::optional<JsonError> error = check_json_bytes(text, limits)) return failure(std::move(*error));
  JsonBuilder builder;
  JsonScanner<JsonBuilder> scanner(text, 0, JsonDialect::Strict, limits, builder);
  if (!scanner.scan_document()) return failure(scanner.take_error());
  return builder.take();
}

Json parse_own_json(std::string_view text) {
  auto json = parse_json(text, own_json_limits);
  return json ? std::move(*json) : Json();
}

bool is_json(std::string_view text, const JsonLimits& limits) {
  if (check_json_bytes(text, limits)) return false;
  Checker checker;
  return JsonScanner<Checker>(text, 0, JsonDialect::Strict, limits, checker).scan_document();
}

}  // namespace tenon
