#include "server/shown_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "effects/value_form.h"
#include "json/reader.h"
#include "protocol/run_values.h"
#include "runtime/recovery/recovery.h"

namespace tenon::server {
namespace {

constexpr std::string_view left_out_begin = R"({"left_out":{"hash":")";

}  // namespace

/// The text of a value that the event has left out; nothing for another value.
Result<std::optional<std::string>, std::string> ShownValues::find_left_out(const Json& value) const {
  const Json& left_out = value.get("left_out");
  const auto hash = value.size() == 1 ? Hash::from_hex(left_out.text_or("hash", "")) : std::nullopt;
  if (!hash) return std::optional<std::string>();
  const std::uint64_t bytes = left_out.count_or("bytes", 0);
  if (bytes > bytes_max_) {
    return failure(
        fmt::format("the answer has {} bytes (limit `answer_bytes`: {}); `tenon store export` returns all of it", bytes,
                    bytes_max_));
  }
  const bool is_in_pieces = left_out.boolean_or("in_pieces", false);
  const auto content = runtime::resolve(store_, run_, {{}, *hash, is_in_pieces});
  if (!content) return std::optional<std::string>();
  return std::optional(effects::name_secrets(*content));
}

Result<Json, std::string> ShownValues::turn_value(const Json& event) const {
  auto text = find_left_out(event.get("value"));
  if (!text) return failure(std::move(text.error()));
  if (!*text) return event.get("value");
  protocol::RunValues values;
  values.use(program_);
  return parse_own_json(values.turn_value(event.text_or("agent", ""), std::move(**text)));
}

Result<std::string, std::string> ShownValues::text(const Json& event) const {
  std::string text = event.text_or("text", "");
  if (!text.starts_with(left_out_begin)) return text;
  const auto arguments = find_left_out(parse_own_json(text));
  if (!arguments) return failure(arguments.error());
  if (!*arguments) return text;
  const Json json = parse_own_json(**arguments);
  const Json::Array& items = json.items_or_none();
  const bool has_text = !items.empty() && items.front().is_string();
  return has_text ? items.front().as_string() : text;
}

Json ShownValues::arguments(const Json& event) const {
  const Json& given = event.get("arguments");
  if (program_ == nullptr) return given;
  const auto& externs = program_->program().externs;
  const auto called = std::ranges::find(externs, event.text_or("tool", ""), &bytecode::Extern::name);
  if (called == externs.end()) return given;
  const std::vector<std::string>& names = called->parameter_names;
  if (!given.is_null() && (!given.is_array() || given.size() != names.size())) return given;
  Json shown = Json::object();
  for (std::size_t at = 0; at < given.size(); ++at) shown.set(names[at], given.items()[at]);
  return shown;
}

std::string shown(const Json& value) {
  if (value.is_string()) return value.as_string();
  return value.dump();
}

}  // namespace tenon::server
