#include "algebra/canonical.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/canonical_json.h"
#include "base/json_text.h"

namespace tenon::algebra {
namespace {

using Json = nlohmann::json;

/// Empty when the value has a canonical form.
std::string_view find_problem(const Json& value, std::size_t depth) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) return "a number is too large";
  if (!value.is_structured()) return {};
  if (depth == nesting_max) return "the text is nested too deep";
  for (const Json& part : value) {
    if (const std::string_view problem = find_problem(part, depth + 1); !problem.empty()) return problem;
  }
  return {};
}

}  // namespace

void append_canonical(const Json& value, std::string& out) {
  switch (value.type()) {
    case Json::value_t::null:
    case Json::value_t::discarded:
    case Json::value_t::binary:
      out += "null";
      return;
    case Json::value_t::boolean:
      out += value.get<bool>() ? "true" : "false";
      return;
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float:
      append_canonical_number(value.get<double>(), out);
      return;
    case Json::value_t::string:
      append_json_string(out, value.get_ref<const std::string&>());
      return;
    case Json::value_t::array: {
      out += '[';
      bool is_first = true;
      for (const Json& item : value) {
        if (!is_first) out += ',';
        is_first = false;
        append_canonical(item, out);
      }
      out += ']';
      return;
    }
    case Json::value_t::object: {
      std::vector<Json::const_iterator> entries;
      for (auto at = value.begin(); at != value.end(); ++at) entries.push_back(at);
      std::sort(entries.begin(), entries.end(),
                [](const auto& a, const auto& b) { return precedes_in_utf16(a.key(), b.key()); });
      out += '{';
      for (std::size_t at = 0; at < entries.size(); ++at) {
        if (at > 0) out += ',';
        append_json_string(out, entries[at].key());
        out += ':';
        append_canonical(entries[at].value(), out);
      }
      out += '}';
      return;
    }
  }
}

Result<std::string, CanonicalError> canonicalize(std::string_view text) {
  const Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) return failure(CanonicalError{"the text is no JSON"});
  if (const std::string_view problem = find_problem(value, 0); !problem.empty()) {
    return failure(CanonicalError{std::string(problem)});
  }
  std::string out;
  append_canonical(value, out);
  return out;
}

}  // namespace tenon::algebra
