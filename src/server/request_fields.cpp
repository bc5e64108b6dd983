#include "server/request_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/duration.h"
#include "diagnostics/nearest.h"
#include "json/reader.h"

namespace tenon::server {

namespace {

/// Members that are null ask for nothing, at any depth.
Json without_nulls(const Json& value) {
  if (!value.is_object()) return value;
  Json::Object kept;
  for (const auto& [name, member] : value.members()) {
    if (!member.is_null()) kept.push_back({name, without_nulls(member)});
  }
  return kept;
}

bool is_neutral(const Json& value, std::string_view neutral) {
  const Json accepted = parse_own_json(neutral);
  return std::ranges::find(accepted.items(), without_nulls(value)) != accepted.items().end();
}

FieldProblem unsupported(const RequestField& field, std::string_view path) {
  FieldProblem problem;
  problem.param = std::string(path) + std::string(field.name);
  const bool has_neutral = field.neutral != "[]";
  problem.code = has_neutral ? "unsupported_value" : "unsupported_parameter";
  problem.message = has_neutral ? fmt::format("this value of `{}` is not supported", problem.param)
                                : fmt::format("`{}` is not supported", problem.param);
  if (!field.reason.empty()) problem.message += fmt::format(": {}", field.reason);
  return problem;
}

FieldProblem unknown(std::string_view name, std::span<const RequestField> fields, std::string_view path) {
  std::vector<std::string_view> names;
  for (const RequestField& field : fields) names.push_back(field.name);
  const auto nearest = diagnostics::find_nearest(name, names);
  FieldProblem problem;
  problem.param = std::string(path) + std::string(name);
  problem.code = "unknown_parameter";
  problem.message =
      fmt::format("unknown field `{}`{}", problem.param, nearest ? fmt::format("; did you mean `{}`?", *nearest) : "");
  return problem;
}

FieldProblem wrong_type(std::string_view name, std::string_view expected, const Json& value) {
  return {422, std::string(name), "wrong_input",
          fmt::format("`{}`: expected {}, got {}", name, expected, tenon::describe(value))};
}

std::string_view text_of(const Json* value) {
  return value != nullptr && value->is_string() ? std::string_view(value->as_string()) : std::string_view();
}

/// The text of a message's content: a string, or a list of parts.
Result<std::string, FieldProblem> read_content(const Json& message, const std::string& path,
                                               const MessageFormat& format) {
  const Json* const content = message.find("content");
  const std::string name = path + ".content";
  if (content != nullptr && content->is_string()) return content->as_string();
  if (content == nullptr || !content->is_array() || content->items().empty()) {
    return failure(FieldProblem{
        422, name, "wrong_input",
        fmt::format("`{}`: expected a string or a list of parts of the type `{}`", name, format.text_part)});
  }
  std::string text;
  for (std::size_t at = 0; at < content->items().size(); ++at) {
    const Json& part = content->items()[at];
    const std::string_view type = text_of(part.find("type"));
    const Json* const piece = part.find("text");
    if (type != format.text_part || piece == nullptr || !piece->is_string()) {
      const std::string part_name = fmt::format("{}[{}]", name, at);
      return failure(FieldProblem{400, part_name, "unsupported_value",
                                  fmt::format("`{}` is not supported: expected a part of the type `{}` with a `text`, "
                                              "because an agent's input is a text",
                                              part_name, format.text_part)});
    }
    text += piece->as_string();
  }
  return text;
}

}  // namespace

HttpResponse make_error(const FieldProblem& problem) {
  return make_error(problem.status, problem.code, problem.message, problem.param);
}

std::optional<FieldProblem> find_field_problem(const Json& body, std::span<const RequestField> fields,
                                               std::string_view path) {
  if (!body.is_object()) return std::nullopt;
  for (const auto& member : body.members()) {
    const auto field = std::ranges::find(fields, std::string_view(member.name), &RequestField::name);
    if (field == fields.end()) return unknown(member.name, fields, path);
    if (field->use != RequestField::Use::Neutral || member.value.is_null()) continue;
    if (!is_neutral(member.value, field->neutral)) return unsupported(*field, path);
  }
  return std::nullopt;
}

Result<bool, FieldProblem> read_flag(const Json& body, std::string_view name) {
  const Json* const value = body.find(name);
  if (value == nullptr || value->is_null()) return false;
  if (!value->is_boolean()) return failure(wrong_type(name, "true or false", *value));
  return value->as_boolean();
}

Result<std::string, FieldProblem> read_string(const Json& body, std::string_view name) {
  const Json* const value = body.find(name);
  if (value == nullptr || value->is_null()) return std::string();
  if (!value->is_string()) return failure(wrong_type(name, "a string", *value));
  return value->as_string();
}

Result<bytecode::Bounds, FieldProblem> read_budget(const Json& body, std::string_view name) {
  bytecode::Bounds bounds;
  const Json* const value = body.find(name);
  if (value == nullptr || value->is_null()) return bounds;
  if (!value->is_object()) return failure(wrong_type(name, "an object", *value));
  for (const auto& [key, amount] : value->members()) {
    const std::string path = fmt::format("{}.{}", name, key);
    const auto bound = bytecode::find_bound(key);
    // Prices of models are not known.
    if (!bound || *bound == &bytecode::Bounds::cost_millionths) {
      return failure(FieldProblem{
          422, path, "wrong_input",
          fmt::format("unknown field `{}`; a budget has `calls`, `tokens`, `instructions`, `depth` and `time`", path)});
    }
    const bool is_time = *bound == &bytecode::Bounds::milliseconds;
    auto& set = bounds.*(*bound);
    if (amount.is_integer() && amount.as_integer() >= 0) set = static_cast<std::uint64_t>(amount.as_integer());
    if (is_time && amount.is_string()) set = read_duration_ms(amount.as_string());
    if (!set) {
      return failure(wrong_type(
          path, is_time ? "a time with a unit, such as \"30s\", or milliseconds" : "a number from 0 on", amount));
    }
  }
  return bounds;
}

/// Whether the message has no text at all.
static bool is_empty(const Json& message) {
  const Json* const content = message.find("content");
  if (content == nullptr || content->is_null()) return true;
  if (content->is_array()) return content->items().empty();
  return text_of(content).empty() && content->is_string();
}

/// What is lost if a message other than the last one of the user is not read.
static std::optional<FieldProblem> find_lost(const Json& message, const std::string& name,
                                             const MessageFormat& format) {
  const std::string_view role = text_of(message.find("role"));
  if (role == "system" || role == "developer") {
    if (format.ignores_instructions || is_empty(message)) return std::nullopt;
    return FieldProblem{
        400, name, "unsupported_value",
        fmt::format("`{}`: a message of the role `{}` is not supported, because an agent's instructions "
                    "are in its program",
                    name, role)};
  }
  if (format.has_conversation) return std::nullopt;
  return FieldProblem{
      400, name, "unsupported_value",
      fmt::format(
          "`{}`: earlier messages are not read, because the server keeps the conversation; send the newest message "
          "alone, with the conversation that the first reply named",
          name)};
}

Result<std::string, FieldProblem> read_user_text(const Json* messages, const MessageFormat& format) {
  const std::string field(format.field);
  const auto missing = [&] {
    return failure(FieldProblem{422, field, "wrong_input",
                                fmt::format("`{}` has no message of the role `user` with a text", field)});
  };
  if (messages == nullptr || !messages->is_array()) return missing();
  const Json::Array& items = messages->items();
  for (std::size_t at = items.size(); at-- > 0;) {
    const Json& item = items[at];
    const std::string name = fmt::format("{}[{}]", field, at);
    const std::string_view type = text_of(item.find("type"));
    if (format.has_item_types && !type.empty() && type != "message") {
      return failure(FieldProblem{400, name, "unsupported_value",
                                  fmt::format("`{}`: an item of the type `{}` is not supported after the last message "
                                              "of the role `user`",
                                              name, type)});
    }
    const std::string_view role = text_of(item.find("role"));
    if (role == "user") {
      for (std::size_t earlier = 0; earlier < at; ++earlier) {
        auto lost = find_lost(items[earlier], fmt::format("{}[{}]", field, earlier), format);
        if (lost) return failure(std::move(*lost));
      }
      return read_content(item, name, format);
    }
    if (role == "system" || role == "developer") {
      if (auto lost = find_lost(item, name, format)) return failure(std::move(*lost));
    } else {
      return failure(FieldProblem{400, name, "unsupported_value",
                                  fmt::format("`{}`: expected a message of the role `user` as the last one", name)});
    }
  }
  return missing();
}

}  // namespace tenon::server
