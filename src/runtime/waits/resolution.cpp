#include "runtime/waits/resolution.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <vector>

#include "base/utf8.h"
#include "inference/answers/mismatch.h"
#include "inference/answers/schema_writer.h"
#include "json/reader.h"
#include "types/table/type_parts.h"
#include "vm/values/render.h"

namespace tenon::runtime {

using types::TypeId;
using types::TypeKind;
using types::TypeTable;

namespace {

/// Limit for a call's arguments in a question.
constexpr std::size_t shown_arguments_bytes_max = 200;

/// The type of the value that a person can give: of a Result that of its success. Nothing when none can be said.
std::optional<TypeId> value_type(const bytecode::Program& program, std::uint32_t subject) {
  const TypeTable& types = program.types;
  TypeId type = program.externs[subject].result;
  if (types.kind(type) == TypeKind::Result) type = types.get(type).arguments[0];
  const bool can_be_said = !types::find_unanswerable(types, type, types::Answerer::Person).exists();
  return can_be_said ? std::optional(type) : std::nullopt;
}

}  // namespace

std::string resolution_question(const OpenRequest& open, const bytecode::Program& program) {
  std::string all;
  for (const vm::Value& argument : open.request.arguments) {
    if (!all.empty()) all += ", ";
    if (!vm::to_json(argument, program.types, all)) all += "…";
    if (all.size() > shown_arguments_bytes_max) break;
  }
  std::string arguments(cut_utf8(all, shown_arguments_bytes_max));
  if (arguments.size() < all.size()) arguments += "…";
  return fmt::format(
      "Did `{}({})` happen? It was interrupted before its outcome was recorded and will not be retried unless you "
      "answer `{{\"retry\": true}}`.",
      open.described.subject, arguments);
}

std::string resolution_type(const bytecode::Program& program, std::uint32_t subject) {
  const auto type = value_type(program, subject);
  return (type ? fmt::format(R"({{"value": {}}} | )", program.types.describe(*type)) : std::string()) +
         R"({"retry": true} | {"fail": String})";
}

std::string resolution_schema(const bytecode::Program& program, std::uint32_t subject) {
  return inference::answers::make_verdict_schema(program.types, value_type(program, subject));
}

Result<CallResolution, std::string> read_resolution(const inference::answers::ValueReader& reader,
                                                    const bytecode::Program& program, std::uint32_t subject,
                                                    std::string_view input) {
  const auto json = parse_json(input);
  if (!json) return failure("the answer: invalid JSON: " + json.error().message);
  const bool has_one_member = json->is_object() && json->members().size() == 1;
  const std::string name = has_one_member ? json->members().front().name : std::string();
  if (name == "retry") {
    const Json& value = json->members().front().value;
    if (!value.is_boolean() || !value.as_boolean()) {
      return failure(std::string("`retry` must be `true`; otherwise use `value` or `fail`"));
    }
    return CallAgain{};
  }
  if (name == "fail") {
    const Json& value = json->members().front().value;
    if (!value.is_string()) return failure(std::string("`fail`: expected a string with the reason"));
    return CallFailed{value.as_string()};
  }
  const auto type = value_type(program, subject);
  if (name != "value" || !type) return failure("the answer: expected one of " + resolution_type(program, subject));
  auto value = reader.read(*type, json->members().front().value, "value");
  if (!value) return failure(inference::answers::describe_all(value.error(), "the answer"));
  const bool is_result = program.types.kind(program.externs[subject].result) == TypeKind::Result;
  return is_result ? vm::Value::ok(std::move(*value)) : std::move(*value);
}

}  // namespace tenon::runtime
