#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "json/json.h"

namespace tenon {

/// Appends the text of the value. Texts that are not UTF-8 are written as `append_json_string` does.
void append_json(std::string& out, const Json& value, JsonForm form = JsonForm::Compact);

/// Writes compact JSON piece by piece to the end of a text, for output that is too frequent for a Json. The caller
/// begins and ends objects and lists in pairs and names each member of an object; commas are added as needed.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_list() { return open('['); }
  JsonWriter& end_list() { return close(']'); }
  JsonWriter& name(std::string_view name);

  JsonWriter& text(std::string_view value);
  JsonWriter& boolean(bool value) { return raw(value ? "true" : "false"); }
  JsonWriter& null() { return raw("null"); }
  JsonWriter& integer(std::integral auto value) {
    return std::signed_integral<decltype(value)> ? signed_integer(static_cast<std::int64_t>(value))
                                                 : unsigned_integer(static_cast<std::uint64_t>(value));
  }
  /// A value that is JSON already.
  JsonWriter& raw(std::string_view json);

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& signed_integer(std::int64_t value);
  JsonWriter& unsigned_integer(std::uint64_t value);
  void separate();

  std::string& out_;
  bool needs_comma_ = false;
};

}  // namespace tenon
